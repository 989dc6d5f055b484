"""README.md and docs/*.md tell the truth: their blocks run, and print what the pages show.

In each page the blocks run in order, in one directory with the project's corpora, configs and
examples in it: Python in one namespace; YAML is saved under the name of its first line's comment
(``# file: my.yaml``) or checked as part of a configuration; commands run in a shell.

Two things are output, and are compared with what is printed: in a console block, what stands below
a line that begins with ``$``; and a ``text`` block right below a block of Python or of commands. In
it ``...`` stands for what differs from run to run (times, speeds), and alone on a line for any
number of lines.
"""

from __future__ import annotations

import importlib
import inspect
import io
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from cases import SGD_HAS_PA

from seqpa.cli import main
from seqpa.config import load_config, settings_table

PROJECT = Path(__file__).parents[1]
DOCS = PROJECT / "docs"
PAGES = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", PROJECT / "SECURITY.md"]
PAGES += sorted(DOCS.glob("*.md"))
EXAMPLES = sorted((PROJECT / "examples").glob("*.py"))
SMALLEST = {"custom_cost.py": ["2"]}  # what makes an example short that repeats what it does
SHELL = ("bash", "sh", "console", "shell")
# The last digits of a sum depend on the compiler and the processor: elsewhere the pages only run.
EXACT = sys.platform == "linux" and platform.machine() == "x86_64"
_BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\n(?:\n?^```text\n(.*?)^```)?", re.M | re.S)
_NAMED = re.compile(r"# file: (\S+)\n")
# What installs, downloads, tests or serves until it is ended is not for a test to run.
_NOT_RUN = re.compile(
    r"\bpip\b|\bgit\b|\bvenv\b|nltk\.downloader|\bpytest\b|sphinx-build|\bruff\b|\bmypy\b"
    r"|pre-commit|benchmarks/|setup\.py|-m build|\.ci/|^cd |^#|^export |^\.|^seqpa (serve|teach)"
)


# Blocks, commands and what is shown of their output


class Block(NamedTuple):
    """A fenced block, and the text block right below it, empty if there is none."""

    language: str
    text: str
    shown: str


class Command(NamedTuple):
    """A command, and what the page shows of its output: None if nothing."""

    text: str
    shown: str | None


def blocks(page: Path) -> list[Block]:
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [Block(*parts) for parts in found]


def commands(block: str) -> list[Command]:
    """The commands of a shell block, without prompts and what is not run."""
    lines = block.replace("\\\n", " ").replace(".venv/bin/", "").splitlines()
    prompted = any(line.startswith("$ ") for line in lines)
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        if not prompted:
            found.append((line, []))
        elif line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    kept = [(runnable(text), shown) for text, shown in found]
    return [Command(text, "\n".join(shown) if shown else None) for text, shown in kept if text]


def runnable(line: str) -> str:
    """The parts of a command line that a test may run."""
    parts = [part.strip() for part in line.split("&&")]
    return " && ".join(part for part in parts if part and not _NOT_RUN.search(part))


def agrees(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed, with ``...`` for what it leaves open."""
    pattern = ""
    for line in shown.strip("\n").splitlines():
        if line.strip() == "...":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += r"[^\n]*?".join(map(re.escape, line.rstrip().split("..."))) + "\n"
    lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    return re.fullmatch(pattern, "\n".join(lines) + "\n") is not None


def check(place: str, shown: str, printed: str) -> None:
    if EXACT:
        assert agrees(shown, printed), f"{place} shows\n{shown}\nbut this is printed\n{printed}"


# Running them


def prepare(folder: Path) -> dict[str, str]:
    """A directory as a reader has it, and an environment in which `seqpa` is a command."""
    for name in ("corpora", "configs", "examples"):
        shutil.copytree(PROJECT / name, folder / name)
    # What README.md calls the reader's own.
    own = (folder / "configs" / "ner.yaml").read_text().replace("../models/ner", "models/my")
    (folder / "my.yaml").write_text(own.replace("../", ""))
    for name in ("new.conll", "test.conll"):
        shutil.copy(folder / "corpora" / "news" / "test.conll", folder / name)
    programs = folder / ".bin"
    programs.mkdir()
    for name, arguments in (("seqpa", " -m seqpa"), ("python", "")):
        script = programs / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}"{arguments} "$@"\n')
        script.chmod(0o755)
    return {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


def run(command: str, environment: dict[str, str]) -> tuple[int, str]:
    """Exit status and output of a command; a plain seqpa command needs no process of its own."""
    words = shlex.split(command, comments=True)
    if words[0] == "seqpa" and not {"|", ">", "<", "&&"} & set(words):
        data = io.BytesIO()
        terminal = io.TextIOWrapper(data, encoding="utf-8", write_through=True)
        with redirect_stdout(terminal), redirect_stderr(terminal):
            status = main(words[1:])
        return status, data.getvalue().decode()
    done = subprocess.run(
        ["sh", "-c", command],
        env=environment,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    return done.returncode, done.stdout


def check_yaml(text: str, folder: Path) -> None:
    named = _NAMED.match(text)
    if named:
        (folder / named[1]).write_text(text, encoding="utf-8")
        if "data:" in text:
            load_config(folder / named[1])
        return
    content = yaml.safe_load(text)
    if isinstance(content, dict) and set(content) & {"data", "features", "learner", "cost"}:
        content.setdefault("data", {"train": "train.conll"})
        part = folder / ".part.yaml"
        part.write_text(yaml.safe_dump(content, sort_keys=False))
        load_config(part)


@pytest.mark.skipif(os.name != "posix", reason="runs a shell")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_runs_and_prints_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "scikit-learn" in page.name and not SGD_HAS_PA:
        pytest.skip("the page sets SGDClassifier's pa1 beside ours, as it is from 1.8 on")
    if page.name == "online.md":
        pytest.importorskip("river", reason="the page has a stream of river's")
    environment = prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__page__"}
    for number, block in enumerate(blocks(page), 1):
        place = f"{page.name}, block {number}"
        output = ""
        if block.language in ("python", "py"):
            printed = io.StringIO()
            with redirect_stdout(printed):
                exec(compile(block.text, place, "exec"), namespace)
            output = printed.getvalue()
        elif block.language in ("yaml", "yml"):
            check_yaml(block.text, tmp_path)
        elif block.language in SHELL:
            for command in commands(block.text):
                status, said = run(command.text, environment)
                sys.modules.pop("custom_cost", None)  # or the next would take it for its own
                shows_error = "seqpa: error:" in (command.shown or "")
                assert status == (2 if shows_error else 0), f"{place}: {command.text}\n{said}"
                if command.shown is not None:
                    check(f"{place}: {command.text}", command.shown, said)
                output += said
        if block.shown and block.language in (*SHELL, "python", "py"):
            check(place, block.shown, output)


def test_blocks_and_their_output_are_found(tmp_path: Path) -> None:
    text = "$ pip install . && seqpa train \\\n  a.yaml\nepoch 1\n$ git pull\n$ seqpa schema\n"
    assert commands(text) == [("seqpa train    a.yaml", "epoch 1"), ("seqpa schema", None)]
    assert commands("# a comment\nseqpa corpora\n") == [("seqpa corpora", None)]
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n\n```text\n1\n```\n\nand\n\n```text\nfree\n```\n")
    assert blocks(page) == [("python", "print(1)\n", "1\n"), ("text", "free\n", "")]


def test_dots_stand_for_what_differs() -> None:
    printed = "epoch 1  0.25 s\nepoch 2  0.19 s\n\ndone\n"
    assert agrees("epoch 1  ... s\n...\ndone", printed)
    assert agrees("...", printed)
    assert not agrees("epoch 1  ... s\ndone", printed)
    assert not agrees("epoch 1  0.25 s", printed)
    assert not agrees("epoch 3 ...\n...", printed)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_example_runs(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(example), *SMALLEST.get(example.name, [])],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert list(tmp_path.iterdir()) == []


# Tables, figures and links


def test_the_table_of_settings_is_up_to_date() -> None:
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    assert settings_table() in page, "put the output of seqpa.config.settings_table() into it"


def test_every_benchmark_is_in_their_readme() -> None:
    readme = (PROJECT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    files = sorted((PROJECT / "benchmarks").glob("*.py"))
    assert len(files) > 20
    assert [file.name for file in files if f"`{file.name}`" not in readme] == []


def test_the_readme_has_the_figures_of_the_benchmarks() -> None:
    """Each figure of "Measured" is in benchmarks/RESULTS.md, where it may have more digits."""
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    measured = text.split("\n## Measured\n")[1].split("\n## ")[0]
    results = (PROJECT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    known = set(map(float, figures(results)))
    for line in measured.splitlines():
        for figure in figures(line):
            digits = len(figure.partition(".")[2]) or -(len(figure) - len(figure.rstrip("0")))
            close = 0.5001 * 10.0**-digits
            found = any(abs(number - float(figure)) <= close for number in known)
            assert found, f"README.md: {figure} in {line} is not in benchmarks/RESULTS.md"


def figures(text: str) -> list[str]:
    return re.findall(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w-])", re.sub(r"(?<=\d),(?=\d{3})", "", text))


def test_links_lead_somewhere() -> None:
    pages = [*PAGES, PROJECT / "CHANGELOG.md", *DOCS.glob("*/**/*.md")]
    for page in pages:
        text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
        for target, heading in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", text):
            if "://" in target:
                continue
            file = page.parent / target if target else page
            assert file.exists(), f"{page.name}: {target}"
            assert not heading or heading in anchors(file), f"{page.name}: {target}#{heading}"


def anchors(page: Path) -> set[str]:
    """The names by which forges and the site let the headings of a page be linked to."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_contributing_names_every_test_file() -> None:
    page = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.split("\n## Module → tests\n")[1].split("\n## ")[0]
    named = set(re.findall(r"`(test_\w+\.py)`", table))
    present = {path.name for path in (PROJECT / "tests").glob("test_*.py")}
    assert named == present, f"not named, or gone: {sorted(named ^ present)}"


# The reference of the API

PUBLIC = (  # modules all of whose public names the reference has
    "seqpa",
    "seqpa.calibration",
    "seqpa.config",
    "seqpa.core",
    "seqpa.core.bounds",
    "seqpa.data",
    "seqpa.errors",
    "seqpa.estimators",
    "seqpa.evaluate",
    "seqpa.model",
    "seqpa.nltk",
    "seqpa.schemes",
    "seqpa.sequence.bounds",
    "seqpa.pycrfsuite.items",
    "seqpa.pycrfsuite.log",
    "seqpa.pycrfsuite.tagger",
    "seqpa.pycrfsuite.trainer",
    "seqpa.sklearn",
    "seqpa.sklearn_crfsuite.estimator",
    "seqpa.sklearn_crfsuite.metrics",
    "seqpa.sklearn_crfsuite.utils",
    "seqpa.stored_parameters",
    "seqpa.tables",
)
# Without an underscore, but tools of the package itself.
INTERNAL = {
    "seqpa.config": {
        "Loc",
        "Section",
        "Setting",
        "description",
        "dotted",
        "known_keys",
        "settings",
        "settings_help",
    },
}
_DIRECTIVE = re.compile(
    r"^\.\. auto(module|class|function|data|exception):: (\S+)"
    r"(?:\n   :exclude-members: ([^\n]+))?",
    re.MULTILINE,
)


def public_names(module: str) -> set[str]:
    """What a module offers: its ``__all__``, or what it defines without an underscore."""
    home = importlib.import_module(module)
    if hasattr(home, "__all__"):
        return {name for name in home.__all__ if not name.startswith("_")}
    return {
        name
        for name, value in vars(home).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__.startswith(module)
    }


def test_every_public_name_is_in_the_reference() -> None:
    documented: list[Any] = []
    for page in sorted((DOCS / "api").glob("*.md")):
        for kind, name, excluded in _DIRECTIVE.findall(page.read_text(encoding="utf-8")):
            module, _, attribute = name.rpartition(".")
            if kind == "module":
                home = importlib.import_module(name)
                names = public_names(name) - set(excluded.split(", "))
                documented += [getattr(home, public) for public in sorted(names)]
            else:
                documented.append(getattr(importlib.import_module(module), attribute))
    for module in PUBLIC:
        home = importlib.import_module(module)
        for name in sorted(public_names(module) - INTERNAL.get(module, set())):
            value = getattr(home, name)
            assert any(value is other for other in documented), f"docs/api: {module}.{name}"


def test_the_pages_of_the_reference_are_listed() -> None:
    index = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    for page in (DOCS / "api").glob("*.md"):
        assert page.name == "index.md" or f"({page.name})" in index, page.name
