"""The house stays in order: imports run downwards, nothing private crosses modules, and
docs/architecture.md names every module.

All imports count, those inside functions too: lazy ones are for speed, not for knots. Only what
stands under ``if TYPE_CHECKING:`` is left out of the order and of the cycles, since it never runs;
its names must be public all the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[1]

# Bottom to top. A module may import from layers below its own, and from its own package. A module
# may have another layer than its package: the model file is made of the parts of `sequence`, and
# `SequenceTagger`, the class that users meet, saves and loads it.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "locks", "pages"),
    ("file_locks",),
    ("files", "yaml_nodes"),
    ("array_files", "schemes"),
    ("colours",),
    ("display",),
    ("_kernel",),
    ("core",),
    ("data", "stored_parameters"),
    ("evaluate", "calibration"),
    ("sequence",),
    ("model",),
    ("sequence.tagger",),
    ("sequence.bounds",),
    ("estimators",),
    ("pycrfsuite",),
    ("nltk", "sklearn_crfsuite", "river", "spacy", "sklearn", "tables"),
    ("experiments",),
    ("config",),
    ("training_outputs", "training_notes", "opening"),
    ("training_run",),
    ("online_run", "streamed_run"),
    ("cluster",),
    ("tune",),
    ("report",),
    ("serve",),
    ("teach",),
    ("cli",),
    ("__main__",),
)
HEIGHTS = {name: height for height, names in enumerate(LAYERS) for name in names}

# (module, imported module): why it may look upwards. Each must be needed; cycles are never allowed.
ALLOWED_UPWARDS: dict[tuple[str, str], str] = {}
# (module, name): why a private name may be used there. Each must be needed.
ALLOWED_PRIVATE: dict[tuple[str, str], str] = {
    ("seqpa.estimators._parameters", "_get_param_names"): "of scikit-learn's BaseEstimator, "
    "which has no public name for the parameters of a class",
}
# Not private in spite of their underscore: the methods of named tuples.
OF_NAMED_TUPLES = {"_asdict", "_fields", "_make", "_replace"}


# What a module imports


class Import(NamedTuple):
    """One imported module, the name taken from it ("" for the module itself), and the line."""

    module: str
    name: str
    line: int
    for_types: bool


def module_name(path: Path) -> str:
    parts = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted((PROJECT / "seqpa").rglob("*.py"))}
PACKAGES = {name for name, path in MODULES.items() if path.name == "__init__.py"}


def parsed(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def imports_of(module: str) -> list[Import]:
    return list(imports(module, parsed(module)))


def for_types_only(test: ast.expr) -> bool:
    names = (getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(test))
    return "TYPE_CHECKING" in names


def imports(module: str, tree: ast.AST) -> Iterator[Import]:
    """The imports of seqpa's own modules; ``from package import module`` is that module."""
    typing_only = {
        id(node)
        for guard in ast.walk(tree)
        if isinstance(guard, ast.If) and for_types_only(guard.test)
        for statement in guard.body
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        for_types = id(node) in typing_only
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "seqpa":
                    yield Import(alias.name, "", node.lineno, for_types)
        elif isinstance(node, ast.ImportFrom):
            home = absolute(module, node)
            if home.split(".")[0] != "seqpa":
                continue
            for alias in node.names:
                inner = f"{home}.{alias.name}"
                if inner in MODULES:
                    yield Import(inner, "", node.lineno, for_types)
                else:
                    source = lazy_homes(home).get(alias.name, home) if home != module else home
                    yield Import(source, alias.name, node.lineno, for_types)


@cache
def lazy_homes(package: str) -> dict[str, str]:
    """Where a package that loads its names when they are asked for has them from."""
    if package not in PACKAGES:
        return {}
    found = imports_of(package)
    return {name: module for module, name, _, for_types in found if for_types and name}


def absolute(module: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    kept = parts[: len(parts) - node.level + (module in PACKAGES)]
    return ".".join([*kept, node.module] if node.module else kept)


def layer_name(module: str) -> str:
    """The part of a module's name that the table of layers has; "" for `seqpa` itself.

    Where the table has both a package and a module of it, the module's own row counts.
    """
    parts = module.split(".")[1:]
    own = ".".join(parts[:2])
    return own if own in HEIGHTS else "".join(parts[:1])


def is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


# Directions and cycles


def test_a_module_may_stand_above_its_package() -> None:
    assert layer_name("seqpa") == ""
    assert layer_name("seqpa.sequence.learner") == "sequence"
    assert HEIGHTS[layer_name("seqpa.sequence.learner")] < HEIGHTS["model"]
    assert HEIGHTS[layer_name("seqpa.sequence.tagger")] > HEIGHTS["model"]


def test_every_module_has_a_layer() -> None:
    unknown = {layer_name(module) for module in MODULES} - set(HEIGHTS) - {""}
    assert not unknown, f"put them into LAYERS: {sorted(unknown)}"


def test_imports_run_downwards() -> None:
    wrong = []
    for module in MODULES:
        own = layer_name(module)
        for found in imports_of(module):
            other = layer_name(found.module)
            if found.for_types or "" in (own, other) or other == own:
                continue
            if (module, found.module) in ALLOWED_UPWARDS:
                continue
            if HEIGHTS.get(other, -1) >= HEIGHTS.get(own, len(LAYERS)):
                wrong.append(f"{module}, line {found.line}: {found.module} is not below {own}")
    assert not wrong, "\n".join(wrong)


def test_the_package_imports_only_errors_at_once() -> None:
    """`import seqpa` is cheap: all other names are loaded when they are asked for."""
    found = [f for f in imports_of("seqpa") if not f.for_types]
    assert {f.module for f in found} <= {"seqpa.errors"}


def test_imported_modules_are_here() -> None:
    """Also those of tests, benchmarks and examples: another installed seqpa may still have them."""
    found = {module: imports_of(module) for module in MODULES}
    for folder in ("tests", "benchmarks", "examples"):
        for path in (PROJECT / folder).rglob("*.py"):
            module = f"{folder}.{path.stem}"
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found[module] = list(imports(module, tree))
    gone = [
        f"{module}, line {one.line}: {one.module}"
        for module, ones in found.items()
        for one in ones
        if one.module not in MODULES
    ]
    assert not gone, "; ".join(gone)


def test_there_are_no_cycles() -> None:
    """Between any two modules, within packages too; a package's ``__init__`` is a module.

    That importing ``a.b`` runs ``a/__init__.py`` first is left out: an ``__init__`` that gathers
    its package's names imports its modules, and is imported with them, without harm.
    """
    graph = {
        module: sorted(
            {
                found.module
                for found in imports_of(module)
                if not found.for_types and found.module in MODULES and found.module != module
            }
        )
        for module in MODULES
    }
    cycles = [group for group in connected(graph) if len(group) > 1]
    assert not cycles, "\n".join(" <-> ".join(group) for group in cycles)


def connected(graph: dict[str, list[str]]) -> list[list[str]]:
    """Groups of modules that all reach each other (Tarjan's strongly connected components)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for other in graph[module]:
            if other not in number:
                visit(other)
                lowest[module] = min(lowest[module], lowest[other])
            elif other in stack:
                lowest[module] = min(lowest[module], number[other])
        if lowest[module] == number[module]:
            start = stack.index(module)
            groups.append(sorted(stack[start:]))
            del stack[start:]

    for module in graph:
        if module not in number:
            visit(module)
    return groups


def test_groups_of_a_small_graph() -> None:
    graph = {"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": []}
    assert sorted(connected(graph)) == [["a"], ["b", "c"], ["d"]]


# Private names


def private_uses(module: str, tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Lines and names: private names imported, and private attributes of what may be another's.

    ``self._x`` and ``cls._x`` are a class's own, and so is ``other._x`` where a class of this
    module has a member ``_x`` (two objects of a class, or a class and its helper in one file).
    """
    for found in imports(module, tree):
        if is_private(found.name):
            yield found.line, found.name
        private = [part for part in found.module.split(".")[1:] if is_private(part)]
        same_package = found.module.rpartition(".")[0] in (module, module.rpartition(".")[0])
        if not same_package and private not in ([], ["_kernel"]):
            yield found.line, found.module
    own = members(tree) | OF_NAMED_TUPLES | {"_kernel"}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not is_private(node.attr):
            continue
        if is_name(node.value, "self") or is_name(node.value, "cls"):
            continue
        if isinstance(node.value, ast.Call) and is_name(node.value.func, "super"):
            continue
        if node.attr not in own:
            yield node.lineno, node.attr


def members(tree: ast.AST) -> set[str]:
    """Names of methods, fields, slots and attributes of self of a module's classes."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                    names.add(part.name)
                elif isinstance(part, ast.AnnAssign | ast.Assign):
                    texts = [n.value for n in ast.walk(part) if isinstance(n, ast.Constant)]
                    names |= {n.id for n in ast.walk(part) if isinstance(n, ast.Name)}
                    names |= {text for text in texts if isinstance(text, str)}  # of __slots__
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names |= {node.attr} if is_name(node.value, "self") else set()
    return names


def test_no_private_name_crosses_modules() -> None:
    uses = [
        f"{module}, line {line}: {name}"
        for module in MODULES
        for line, name in private_uses(module, parsed(module))
        if (module, name) not in ALLOWED_PRIVATE
    ]
    assert not uses, "\n".join(uses)


def test_every_allowance_is_needed_and_justified() -> None:
    for (module, imported), reason in ALLOWED_UPWARDS.items():
        assert reason.strip(), (module, imported)
        assert module in MODULES, f"{module} is gone"
        found = {f.module for f in imports_of(module) if not f.for_types}
        assert imported in found, f"{module} does not import {imported} any more"
    for (module, name), reason in ALLOWED_PRIVATE.items():
        assert reason.strip(), (module, name)
        assert module in MODULES, f"{module} is gone"
        found = {used for _, used in private_uses(module, parsed(module))}
        assert name in found, f"{module} does not use {name} any more"


def test_private_uses_are_seen() -> None:
    code = """
from seqpa.model import _checksum
class A:
    def __init__(self, other):
        self._mine = other._mine
        self.b = other._theirs
"""
    found = sorted(name for _, name in private_uses("seqpa.cli.tag", ast.parse(code)))
    assert found == ["_checksum", "_theirs"]


# The map

_ROW = re.compile(r"^(?:- |\| )`(seqpa/[\w/]+\.py)`(?::| \|) *(.*?) *\|?$", re.MULTILINE)


def test_the_architecture_names_every_module_with_a_sentence() -> None:
    """Rows ``- `seqpa/model.py`: the model file …`` or ``| `seqpa/model.py` | … |``."""
    page = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
    told = dict(_ROW.findall(page))
    present = {path.relative_to(PROJECT).as_posix() for path in MODULES.values()}
    present -= {path for path in present if path.endswith("/__main__.py")}
    assert not present - set(told), f"not in docs/architecture.md: {sorted(present - set(told))}"
    assert not set(told) - present, f"gone, but still there: {sorted(set(told) - present)}"
    short = [path for path, sentence in told.items() if len(sentence.split()) < 3]
    assert not short, f"say what they are for: {short}"


def test_the_architecture_has_every_layer() -> None:
    page = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.split("| layer, top to bottom |")[1].split("\n## ")[0]
    told = set(re.findall(r"`([\w/.]+)`", table))
    names = {name.replace(".", "/") for names in LAYERS for name in names} - {"__main__"}
    missing = {name for name in names if not {f"{name}.py", f"{name}/"} & told}
    assert not missing, f"not among the layers of docs/architecture.md: {sorted(missing)}"
