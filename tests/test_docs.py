"""Every code block of README.md and docs/*.md runs, and every example does.

In each page the blocks run in order, in one directory with the project's corpora, configs and
examples in it: Python in one namespace; YAML is saved under the name of its first line's comment
(``# file: my.yaml``) or checked as part of a configuration; commands run in a shell.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from cases import SGD_HAS_PA

from seqpa.cli import main
from seqpa.config import load_config, settings_table

PROJECT = Path(__file__).parents[1]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
EXAMPLES = sorted((PROJECT / "examples").glob("*.py"))
_BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"# file: (\S+)\n")
# What installs, downloads or tests is not for a test to run.
_NOT_RUN = re.compile(
    r"\bpip\b|\bgit\b|\bvenv\b|nltk\.downloader|\bpytest\b|\.ci/|^cd |^#|^export |^\."
)


def blocks(page: Path) -> list[tuple[str, str]]:
    return _BLOCK.findall(page.read_text(encoding="utf-8"))


def commands(block: str) -> list[str]:
    """The commands of a shell block, without prompts, output and what is not run."""
    lines = block.replace("\\\n", " ").replace(".venv/bin/", "").splitlines()
    if any(line.startswith("$ ") for line in lines):
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    parts = [[part.strip() for part in line.split("&&")] for line in lines if line.strip()]
    kept = [[part for part in line if not _NOT_RUN.search(part)] for line in parts]
    return [" && ".join(line) for line in kept if line]


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


def run(command: str, environment: dict[str, str]) -> int:
    """The exit status of a command; a plain seqpa command needs no process of its own."""
    words = shlex.split(command, comments=True)
    if words[0] == "seqpa" and not {"|", ">", "<", "&&"} & set(words):
        return main(words[1:])
    return subprocess.run(["sh", "-c", command], env=environment, check=False).returncode


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
def test_every_block_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "scikit-learn" in page.name and not SGD_HAS_PA:
        pytest.skip("the page sets SGDClassifier's pa1 beside ours, as it is from 1.8 on")
    environment = prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__page__"}
    for number, (language, text) in enumerate(blocks(page), 1):
        if language in ("python", "py"):
            exec(compile(text, f"{page.name}, block {number}", "exec"), namespace)
        elif language in ("yaml", "yml"):
            check_yaml(text, tmp_path)
        elif language in ("bash", "sh", "console", "shell"):
            for command in commands(text):
                monkeypatch.delitem(sys.modules, "custom_cost", raising=False)
                assert run(command, environment) == 0, f"{page.name}: {command}"


def test_blocks_are_found() -> None:
    text = "$ pip install . && seqpa train \\\n  a.yaml\nepoch 1\n$ git pull\n"
    assert commands(text) == ["seqpa train    a.yaml"]
    assert commands("# a comment\nseqpa corpora\n") == ["seqpa corpora"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_example_runs(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(example)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert list(tmp_path.iterdir()) == []


def test_the_table_of_settings_is_up_to_date() -> None:
    page = (PROJECT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert settings_table() in page, "put the output of seqpa.config.settings_table() into it"


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
