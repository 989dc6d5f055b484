"""Which format a file is in, by looking at its first lines.

`recognise` is a pure function of the text; `look_at` reads the beginning of a file, decodes and
unpacks it, and asks. A guess comes with its reason in a few words, for the line that tells users
what was seen and which option says otherwise.
"""

from __future__ import annotations

import codecs
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from seqpa.data.csv_table import header_of
from seqpa.data.names import LABELS, SENTENCES, WORDS, find_column
from seqpa.data.slash import SIGNS, split_word
from seqpa.data.teach_project import MAGIC, is_project
from seqpa.errors import SeqpaError
from seqpa.files import unreadable

LOOKED_AT = 1 << 16
_LINES = 400
_DOCSTART = "-DOCSTART-"
_LABEL = re.compile(r"(?:[BIESLUM]-\S+|-?[A-Z][A-Z0-9]*(?:[-$+|=_:.][\w$.]*)*|[^\w\s]+|_)$")
_CONLLU_ID = re.compile(r"[0-9]+(?:[-.][0-9]+)?$")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What the beginning of a file looks like.

    Parameters
    ----------
    format : str
        One of `seqpa.data.FORMATS`.
    reason : str
        Why, in a few words.
    separator : str
        Between columns: a tab, a space, a comma, ...; empty where there are none.
    columns : tuple of str
        The names of the columns where the file says them, or as many as it has: ``column 1``, ...
    encoding : str
        Of the file.
    """

    format: str
    reason: str
    separator: str = ""
    columns: tuple[str, ...] = ()
    encoding: str = "utf-8"


def recognise(text: str) -> Seen:
    """The format of a text.

    Parameters
    ----------
    text : str
        The beginning of a file; its last line may be cut off.

    Returns
    -------
    Seen

    Examples
    --------
    >>> recognise("Ada\\tNNP\\nwon\\tVBD\\n\\nStop\\tVB\\n").reason
    '2 tab-separated columns a line, blank lines between sentences'
    >>> recognise("Ada won. She had to.").format
    'text'
    """
    lines = text.split("\n")[:_LINES]
    if len(lines) > 3 and not text.endswith("\n"):
        lines.pop()  # perhaps cut off
    filled = [line for line in lines if line.strip()]
    if not filled:
        raise SeqpaError("there is nothing in it; is it the right file?")
    found = (
        _json(text, filled)
        or _conllu(filled)
        or _csv(filled)
        or _conll(lines, filled)
        or _slash(filled)
    )
    return found or Seen("text", "running text")


def look_at(path: str | Path, encoding: str | None = None) -> Seen:
    """The format and the encoding of a file, or of what standard input begins with.

    Parameters
    ----------
    path : str or Path
        The file; ``-`` is standard input, of which nothing is consumed.
    encoding : str, optional
        If it is known.

    Returns
    -------
    Seen

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = file.write_bytes("Köln\\tNE\\n".encode("latin-1"))
    >>> look_at(file).encoding
    'cp1252'
    """
    name = "<stdin>" if str(path) == "-" else str(path)
    data = _beginning(path)
    if data.startswith(b"PAR1"):
        return Seen("parquet", "Parquet's four first bytes")
    if is_project(data):
        return Seen("teach", "a project of seqpa teach", "", ("word", "label"))
    if data.startswith(MAGIC):
        raise SeqpaError(f"{name}: is an SQLite file, but no project of seqpa teach")
    known, text = _decoded(data, encoding, name)
    try:
        seen = recognise(text.replace("\r\n", "\n"))
    except SeqpaError as error:
        raise SeqpaError(f"{name}: {error}") from None
    return Seen(seen.format, seen.reason, seen.separator, seen.columns, known)


# The formats


def _json(text: str, filled: Sequence[str]) -> Seen | None:
    first = filled[0].strip()
    if first[0] not in "{[":
        return None
    objects = []
    for line in filled[:5]:
        try:
            objects.append(json.loads(line))
        except (ValueError, RecursionError):
            break
    if not objects:
        # A list over many lines: text and spans. Brackets of running text are neither.
        start = re.match(r"\s*\[\s*(?:\{|\[|$)", text)
        return Seen("spans", "a JSON list") if start else None
    for value in objects:
        if isinstance(value, dict) and any(isinstance(value.get(key), list) for key in WORDS):
            if any(isinstance(value.get(key), str) for key in ("text", "data")):
                break  # tokens beside a text: places, not words
            return Seen("jsonl", "a JSON object a line, with tokens")
    value = objects[0]
    if isinstance(value, dict) and set(value) <= {"names", "label_names", "label_list"}:
        return Seen("jsonl", "a JSON object a line, with tokens")
    if isinstance(value, (dict, list)):
        return Seen("spans", "JSON with texts and spans")
    return None


def _conllu(filled: Sequence[str]) -> Seen | None:
    rows = [line.split("\t") for line in filled if not line.startswith("#")]
    if rows and all(len(row) == 10 and _CONLLU_ID.match(row[0]) for row in rows):
        return Seen("conllu", "ten tab-separated fields that begin with a number", "\t")
    return None


def _csv(filled: Sequence[str]) -> Seen | None:
    separator, header = header_of(filled[0])
    low = [name.lower() for name in header]
    if len(header) < 2 or len(set(low)) != len(low) or find_column(low, WORDS) is None:
        return None
    if len(filled) > 1 and len(header_of(filled[1])[1]) < 2:
        return None
    if find_column(low, (*LABELS, *SENTENCES)) is None:
        # Nothing but a word's name: a sentence with commas may have that, too.
        rows = [line.split(separator) for line in filled[:2]]
        alike = len(rows) == 2 and len(rows[0]) == len(rows[1])
        if not alike or any(cell[:1].isspace() for row in rows for cell in row):
            return None
    shown = "tab" if separator == "\t" else repr(separator)
    reason = f"a header, {', '.join(header)}, separated by {shown}"
    return Seen("csv", reason, separator, tuple(header))


def _conll(lines: Sequence[str], filled: Sequence[str]) -> Seen | None:
    tokens = [line for line in filled if not line.startswith(("# ", "#begin", "#end", _DOCSTART))]
    if not tokens:
        return None
    for separator, kind in (("\t", "tab"), (" ", "space")):
        if separator not in tokens[0]:
            continue
        widths = Counter(len(_cells(line, separator)) for line in tokens)
        width, often = widths.most_common(1)[0]
        # A line that is not as the others is a mistake in it, which its reader tells; running text
        # has no tabs, but many lines with as many words as others.
        if width < 2 or often < (0.5 if separator == "\t" else 0.9) * len(tokens):
            continue
        if separator == " " and not _has_labels(tokens, width, len(lines)):
            continue
        blank = ", blank lines between sentences" if len(filled) < len(lines) - 1 else ""
        reason = f"{width} {kind}-separated columns a line{blank}"
        names = tuple(f"column {i + 1}" for i in range(width))
        return Seen("conll", reason, separator, names)
    words = sum(len(line.split()) == 1 for line in tokens)
    if words == len(tokens) and len(tokens) > 3:
        return Seen("conll", "one word a line", "", ("column 1",))
    return None


def _cells(line: str, separator: str) -> list[str]:
    return line.split("\t") if separator == "\t" else line.split()


def _has_labels(tokens: Sequence[str], width: int, n_lines: int) -> bool:
    """Whether the last cells between spaces look like labels, not like the ends of sentences."""
    last = [cells[-1] for line in tokens if len(cells := line.split()) == width]
    if all(_LABEL.match(cell) for cell in last):
        return len(tokens) > 1 and any(cell[0].isalpha() for cell in last)
    few = len(last) > 20 and len(set(last)) <= len(last) / 3
    return few and n_lines > len(tokens)


def _slash(filled: Sequence[str]) -> Seen | None:
    words = [word for line in filled[:50] for word in line.split()]
    for sign in SIGNS:
        for names in (("word", "pos", "label"), ("word", "label")):
            rows = [split_word(word, sign, len(names) - 1) for word in words]
            whole = [
                row
                for row in rows
                if len(row) == len(names) and row[0] and all(map(_LABEL.match, row[1:]))
            ]
            if len(whole) > 1 and len(whole) >= 0.9 * len(words):
                return Seen("slash", f"words like {words[0]}", sign, names)
    return None


# Bytes


def _beginning(path: str | Path) -> bytes:
    if str(path) == "-":
        stream = sys.stdin.buffer
        peek = getattr(stream, "peek", None)
        return b"" if peek is None else _unpacked(peek(LOOKED_AT)[:LOOKED_AT])
    try:
        with Path(path).open("rb") as file:
            return _unpacked(file.read(LOOKED_AT))
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def _unpacked(data: bytes) -> bytes:
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return zlib.decompressobj(wbits=31).decompress(data, LOOKED_AT)
    except zlib.error:
        return data


def _decoded(data: bytes, encoding: str | None, name: str) -> tuple[str, str]:
    from seqpa.data.source import checked_encoding

    if encoding is None:
        encoding = next((known for bom, known in _BOMS if data.startswith(bom)), "utf-8")
        try:
            return encoding, _incremental(data, encoding)
        except UnicodeDecodeError:
            encoding = "cp1252"  # what text that is not Unicode mostly is
    checked_encoding(encoding, name)
    return encoding, _incremental(data, encoding, "replace")


def _incremental(data: bytes, encoding: str, errors: str = "strict") -> str:
    """Decode data whose last character may be cut off."""
    known = "utf-8-sig" if encoding in ("utf-8", "utf8") else encoding
    return codecs.getincrementaldecoder(known)(errors).decode(data, len(data) < LOOKED_AT)
