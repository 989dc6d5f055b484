"""The clients that docs/serving.md shows, in curl and in JavaScript, against a real service."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import LONG
from served import Service, names_tagger

pytest.importorskip("fastapi", reason='needs the extra "serve"')
pytest.importorskip("uvicorn", reason='needs the extra "serve"')

PAGE = (Path(__file__).parents[1] / "docs" / "serving.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8000/"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    model = tmp_path_factory.mktemp("clients") / "names.safetensors"
    names_tagger().save(model)
    with Service(model, "--allow-origin", "https://your.site") as one:
        yield one


def program(name: str) -> str:
    """Where a program is; the test is skipped, with a word, where it is not."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"needs {name}")
    return path


def ran(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", timeout=LONG, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def curls(service: Service) -> list[str]:
    """The page's commands, for this service."""
    found = re.findall("^curl .*$", PAGE, re.M)
    assert all(ADDRESS in command for command in found)
    return [command.replace(ADDRESS, service.url) for command in found]


def test_curl(service: Service, tmp_path: Path) -> None:
    program("curl")
    lines = [{"text": "Anna left Lyon."}, {"text": 7}, {"tokens": ["So", "it", "is"]}]
    (tmp_path / "lines.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    plain, stream = curls(service)
    assert json.loads(ran(["sh", "-c", plain], tmp_path)) == service.tag(text="Anna left Lyon.")
    first, wrong, last = map(json.loads, ran(["sh", "-c", stream], tmp_path).splitlines())
    assert first == service.tag(**lines[0])
    assert (wrong["status"], wrong["line"]) == (422, 2)
    assert last == service.tag(**lines[2])


def test_javascript(service: Service, tmp_path: Path) -> None:
    node = program("node")
    [script] = re.findall(r"^```js\n(.*?)^```", PAGE, re.M | re.S)
    assert ADDRESS in script
    own = script.replace(ADDRESS, service.url).replace("console.log(spans)", "write(spans)")
    write = "const write = (told) => console.log(JSON.stringify(told));\n"
    (tmp_path / "client.mjs").write_text(write + own, encoding="utf-8")
    told = ran([node, "client.mjs"], tmp_path)
    [sentence] = service.tag(text="Anna left Lyon.")["sentences"]
    assert [json.loads(line) for line in told.splitlines()] == [sentence["spans"]]
    # What is wrong is thrown, as one clear sentence.
    (tmp_path / "wrong.mjs").write_text(own.replace("text:", "txet:"), encoding="utf-8")
    done = subprocess.run(
        [node, "wrong.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=LONG, check=False
    )
    assert done.returncode == 1
    assert "did you mean" in done.stderr
