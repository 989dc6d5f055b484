"""The first ten minutes of a new user, in one go: through commands alone, as they would be typed.

Nothing is installed here; what is installed is `seqpa`. The folder is a new one, with the project's
corpora in it and the user's own files beside them. Each step uses what the one before it left.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
EXPORT = [
    ("Anna Norvell flew from Lyon to Ohio.", [[0, 12, "PER"], [23, 27, "LOC"], [31, 35, "LOC"]]),
    ("Mark Osei lives in Leeds.", [[0, 9, "PER"], [19, 24, "LOC"]]),
    ("Rose Dunn met Anna Norvell in Lyon.", [[0, 9, "PER"], [14, 26, "PER"], [30, 34, "LOC"]]),
    ("Nobody lives in Ohio.", [[16, 20, "LOC"]]),
] * 6


@pytest.mark.skipif(os.name != "posix", reason="runs a shell")
def test_ten_minutes(tmp_path: Path) -> None:
    for name in ("corpora", "configs"):
        shutil.copytree(PROJECT / name, tmp_path / name)
    program = tmp_path / "seqpa"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m seqpa "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}

    def typed(command: str, status: int = 0) -> str:
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, f"{command}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr

    # Minute 1: what is this? The embedded corpus, as in the README.
    assert "train" in typed("seqpa --help")
    assert "news" in typed("seqpa corpora")
    told = typed("seqpa train configs/ner.yaml")
    assert "models/ner/model.safetensors" in told
    score = json.loads((tmp_path / "models/ner/metrics.json").read_text())["test"]
    assert score["span_micro"]["f1"] > 0.8

    # Minute 2: a sentence of one's own, in every form of output.
    text = "Anna Norvell flew from Lyon to the Norvell works in Ohio."
    model = "models/ner/model.safetensors"
    said = typed(f'echo "{text}" | seqpa tag {model} --to brackets')
    assert "[Anna Norvell person] flew from [Lyon city]" in said
    found = json.loads(typed(f'echo "{text}" | seqpa tag {model} --to huggingface').splitlines()[0])
    assert [text[one["start"] : one["end"]] for one in found["entities"]][:2] == [
        "Anna Norvell",
        "Lyon",
    ]
    assert "Lyon\tB-city" in typed(f'echo "{text}" | seqpa tag {model}')
    assert "B-person, not" in typed(f'echo "{text}" | seqpa tag {model} --explain')

    # Minute 3: how good is it, and what is in it?
    assert "81.6" in typed(f"seqpa evaluate {model} corpora/news/test.conll")
    assert "25" in typed(f"seqpa inspect {model} --top 1")

    # Minute 4: data of one's own, an export of an annotation tool.
    rows = [json.dumps({"text": words, "label": spans}) for words, spans in EXPORT]
    (tmp_path / "mine.jsonl").write_text("\n".join(rows) + "\n")
    told = typed("seqpa init mine.jsonl -o mine.yaml --yes")
    assert "54 spans" in told
    assert "seqpa train mine.yaml" in told

    # Minute 5: a slip, told in one line with its place; then it trains.
    config = (tmp_path / "mine.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(config.replace("preset: ner", "presett: ner"))
    told = typed("seqpa train mine.yaml", status=2)
    assert "mine.yaml:" in told
    assert "did you mean 'preset'?" in told
    (tmp_path / "mine.yaml").write_text(config)
    typed("seqpa train mine.yaml --set output.model=mine/model.safetensors")
    said = typed('echo "Rose Dunn left Leeds." | seqpa tag mine/model.safetensors --to brackets')
    assert "[Rose Dunn PER]" in said

    # Minute 6: the same data for another tool, in another scheme; and back.
    typed("seqpa convert mine.jsonl mine.conll --scheme bilou")
    assert "Anna\tB-PER\nNorvell\tL-PER\n" in (tmp_path / "mine.conll").read_text()
    told = typed("seqpa score mine.conll mine.jsonl")
    assert "100.00" in told

    # Minute 7: more data later, in several files, one with a label that is not quite right.
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.conll").write_text("Ada B-PER\nran O\n\nOhio I-LOC\nwon O\n")
    (tmp_path / "more" / "b.conll").write_text("Leeds B-LOC\nwon O\n")
    (tmp_path / "more.yaml").write_text(
        "data: {train: [more/*.conll], dev: mine.conll}\nfeatures: {preset: ner}\n"
        "decoding: {constraints: bio}\noutput: {model: more/model.safetensors}\n"
    )
    told = typed("seqpa train more.yaml")
    assert told.count("repaired") == 1
    assert "more/a.conll:4: I-LOC begins a span; 1 of 2 spans repaired" in told

    # Minute 8: parts of speech, and names that use them; still one command for text.
    typed("seqpa train configs/pos.yaml")
    assert "jackknifed in 5 folds" in typed("seqpa train configs/chained.yaml")
    shutil.rmtree(tmp_path / "models" / "pos")
    said = typed(f'echo "{text}" | seqpa tag models/chained/model.safetensors --to brackets')
    assert "[Anna Norvell person]" in said

    # Minute 9: is it better, or is it chance?
    told = typed(
        "seqpa evaluate models/chained/model.safetensors corpora/news/test.conll "
        f"--compare {model} --rounds 200"
    )
    assert "p = " in told

    # Minute 10: a whole file, tagged; nothing of it is lost.
    typed(f"seqpa tag {model} corpora/news/test.conll -o tagged.conll")
    before = (tmp_path / "corpora/news/test.conll").read_text().splitlines()
    after = (tmp_path / "tagged.conll").read_text().splitlines()
    assert [line.rsplit("\t", 1)[0] if "\t" in line else line for line in after] == before
