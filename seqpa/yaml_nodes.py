"""YAML that others wrote, as nodes: read with bounds on all that could take long or go wrong.

Plain data needs little of YAML: mappings, lists and texts. Tags (``!!python/...``, ``!!int``) are
refused; an alias may name a value again, but what all of them stand for may not grow beyond what
was written; nesting has an end; and texts hold no control characters. Each mistake is a
`SeqpaError` with its line.

>>> compose("data: {train: a.conll}", "a.yaml").value[0][0].value
'data'
>>> compose("a: &a [x, x]\\nb: !!int 3", "a.yaml")
Traceback (most recent call last):
    ...
seqpa.errors.SeqpaError: a.yaml:2: the tag !!int has no place here; write the value without it
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from seqpa.errors import SeqpaError

MAX_DEPTH = 100
# Of a file; at some 40 microseconds a node, a machine-made table of 300 labels takes its time.
MAX_NODES = 500_000
MAX_BYTES = 1 << 25
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
_TEXT = "tag:yaml.org,2002:str"


class _Composer(yaml.SafeLoader):
    """Composes nodes and keeps count of them."""

    def __init__(self, text: str, source: str, most: int) -> None:
        super().__init__(text)
        self._source = source
        self._most = most
        self._depth = 0
        self._nodes = 0  # those that aliases stand for too
        self._sizes: dict[str, int] = {}  # of what has an anchor and is complete

    def fail(self, mark: Any, problem: str) -> SeqpaError:
        """The error for a place."""
        return SeqpaError(f"{_place(self._source, mark.line)}: {problem}")

    def compose_node(self, parent: Any, index: Any) -> Any:
        """One node with all below it, as yaml does it, between our checks."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        mark = event.start_mark
        if isinstance(event, yaml.AliasEvent):
            name = str(event.anchor)
            if name in self.anchors and name not in self._sizes:
                raise self.fail(mark, f"the alias *{name} stands inside what it names")
            self._count(mark, self._sizes.get(name, 0))
            return super().compose_node(parent, index)
        if event.tag not in (None, "!", _TEXT):
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            raise self.fail(mark, f"the tag {tag} has no place here; write the value without it")
        if isinstance(event, yaml.ScalarEvent):
            found = _CONTROL.search(event.value)
            if found:
                raise self.fail(mark, f"a text with the character {found.group()!a}, which is none")
        before = self._nodes
        self._count(mark, 1)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.fail(mark, f"nested more than {MAX_DEPTH} deep")
        node: Any = super().compose_node(parent, index)
        self._depth -= 1
        if isinstance(event, yaml.ScalarEvent) and event.tag is not None:
            node.style = node.style or "'"  # called a text, which quotes do as well
        if event.anchor is not None:
            self._sizes[event.anchor] = self._nodes - before
        return node

    def _count(self, mark: Any, more: int) -> None:
        self._nodes += more
        if self._nodes > self._most:
            raise self.fail(mark, f"more than {self._most:,} values, with all that aliases repeat")


def compose(text: str, source: str, most: int = MAX_NODES) -> Any:
    """The root node of a YAML document.

    Parameters
    ----------
    text : str
        The document.
    source : str
        What messages call it; ``--set ...`` has no lines.
    most : int
        How many values it may have, keys included; what an alias repeats counts again.

    Returns
    -------
    yaml.Node or None
        None where there is nothing. Scalars are not resolved: their tags tell nothing.

    Examples
    --------
    >>> compose("a: [b\\nc: 3", "a.yaml")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: a.yaml:2: not YAML: expected ',' or ']', but got ':'
    >>> compose("a: &x [*x]", "a.yaml")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: a.yaml:1: the alias *x stands inside what it names
    """
    try:
        composer = _Composer(text, source, most)
        try:
            root = composer.get_single_node()
        finally:
            composer.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = source if mark is None else _place(source, mark.line)
        raise SeqpaError(f"{place}: not YAML: {error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position)
        sign = chr(error.character) if isinstance(error.character, int) else error.character
        raise SeqpaError(
            f"{_place(source, line)}: the character {sign!a} has no place in YAML"
        ) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        if isinstance(error, SeqpaError):
            raise
        # Numbers in an escape or a directive that no character or version has.
        raise SeqpaError(f"{source}: not YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise SeqpaError(f"{source}: nested more than {MAX_DEPTH} deep") from None
    return root


def check_keys(root: Any, source: str) -> None:
    """Refuse keys that are no texts, and those that stand twice in one mapping.

    Parameters
    ----------
    root : yaml.Node or None
        As `compose` returns it.
    source : str
        What messages call it.

    Examples
    --------
    >>> check_keys(compose("a: 1\\na: 2", "a.yaml"), "a.yaml")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: a.yaml:2: the key 'a' stands here twice
    """
    looked_at: set[int] = set()  # what aliases repeat is looked at once
    ahead = [] if root is None else [root]
    while ahead:
        node = ahead.pop()
        if id(node) in looked_at or isinstance(node, yaml.ScalarNode):
            continue
        looked_at.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            ahead += reversed(node.value)
            continue
        seen: set[str] = set()
        for key, _ in node.value:
            place = _place(source, key.start_mark.line)
            if not isinstance(key, yaml.ScalarNode):
                raise SeqpaError(f"{place}: a key must be a text")
            if key.value in seen:
                raise SeqpaError(f"{place}: the key '{key.value}' stands here twice")
            seen.add(key.value)
        ahead += [value for _, value in reversed(node.value)]


def _place(source: str, line: int) -> str:
    return source if source.startswith("--") else f"{source}:{line + 1}"
