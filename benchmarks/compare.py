"""Compares two checkouts bit for bit: model files, training states, tags and scores.

    python benchmarks/compare.py BEFORE AFTER [--data DIR] [--only NAME ...] [--keep DIR]

For changes that must not change what is learned. Each checkout is built in place
(``python setup.py build_ext --inplace``) and runs in processes of its own, with its folder on
PYTHONPATH and this Python. Only what every version has is used: the command ``seqpa``,
`SequenceTagger` and `PAClassifier`. With ``--data`` (or SEQPA_DATA) CoNLL-2000's chunks and the
treebank sample are trained too, which takes some minutes.

Configurations are those of this checkout; what their presets are is up to each version, and may
make these two rows differ. A row of the table is one run; "same" means that every file it wrote and
all that it printed is equal, but for times and speeds. The exit status is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
NEWS = PROJECT / "corpora" / "news"

# Settings of SequenceTagger, tried on every corpus. `bio` is for labels that mark spans.
SETTINGS: dict[str, dict[str, Any]] = {
    "pa-i, averaged": {},
    "pa-i, last weights": {"average": False},
    "pa": {"algorithm": "pa"},
    "pa-ii": {"algorithm": "pa-ii", "C": 0.01},
    "perceptron": {"algorithm": "perceptron"},
    "arow": {"algorithm": "arow", "C": 0.1},
    "n-best": {"update": "n-best", "n_best": 3, "epochs": 2},
    "max-loss, zero-one": {"update": "max-loss", "cost": "zero-one"},
    "span cost": {"cost": "span"},
    "batches of 4": {"batch_size": 4, "epochs": 2},
    "cutoff 2, not shuffled": {"cutoff": 2, "shuffle": False},
    "bio": {"constraints": "bio"},
}
# What is done beside training with a setting.
WAYS = ("dict features", "partial_fit", "resumed from a state", "pair templates")
# Fixed lists: the presets may change from version to version.
_LISTS = {
    "pos": (
        "bias word[-2] word[-1] word[0] word[1] word[2] lower[0] word[-1]|word[0] "
        "word[0]|word[1] prefix(1)[0] prefix(2)[0] prefix(3)[0] prefix(4)[0] suffix(1)[0] "
        "suffix(2)[0] suffix(3)[0] suffix(4)[0] suffix(5)[0] shape[0] shortshape[0] "
        "hashyphen[0] hasdigit[0] hasupper[0] shortshape[-1] shortshape[1] "
    ),
    "ner": (
        "bias word[-2] word[-1] word[0] word[1] word[2] lower[-1] lower[0] lower[1] "
        "word[-1]|word[0] word[0]|word[1] prefix(1)[0] prefix(2)[0] prefix(3)[0] "
        "prefix(4)[0] suffix(1)[0] suffix(2)[0] suffix(3)[0] suffix(4)[0] shape[0] "
        "shortshape[0] hashyphen[0] hasdigit[0] hasupper[0] istitle[0] isupper[0] "
        "shape[-1] shape[1] shortshape[-1]|shortshape[0] shortshape[0]|shortshape[1] "
        "shortshape[-1]|shortshape[0]|shortshape[1] "
    ),
    "chunk": (
        "bias word[-2] word[-1] word[0] word[1] word[2] lower[0] word[-1]|word[0] "
        "word[0]|word[1] suffix(2)[0] suffix(3)[0] shortshape[0] pos[-2] pos[-1] pos[0] "
        "pos[1] pos[2] pos[-2]|pos[-1] pos[-1]|pos[0] pos[0]|pos[1] pos[1]|pos[2] "
        "pos[-2]|pos[-1]|pos[0] pos[-1]|pos[0]|pos[1] pos[0]|pos[1]|pos[2] "
    ),
}
TEMPLATES = {name: texts.split() for name, texts in _LISTS.items()}
CONFIGS = ("pos", "ner")


# One run, in a process of its own with one checkout on its path


def corpora(data: Path | None) -> dict[str, dict[str, Any]]:
    """Name -> files, columns, features, and how many sentences are used."""
    known: dict[str, dict[str, Any]] = {
        "news, parts of speech": {
            "train": NEWS / "train.conll",
            "test": NEWS / "test.conll",
            "columns": ["word", "label", "_"],
            "features": TEMPLATES["pos"],
            "spans": False,
        },
        "news, names": {
            "train": NEWS / "train.conll",
            "test": NEWS / "test.conll",
            "columns": ["word", "pos", "label"],
            "features": TEMPLATES["ner"],
            "spans": True,
        },
    }
    if data is not None:
        known["CoNLL-2000"] = {
            "train": data / "conll2000" / "train.txt",
            "test": data / "conll2000" / "test.txt",
            "columns": ["word", "pos", "label"],
            "features": TEMPLATES["chunk"],
            "spans": True,
        }
        known["treebank sample"] = {
            "train": data / "ptb-sample" / "train.txt",
            "test": data / "ptb-sample" / "test.txt",
            "columns": ["word", "label"],
            "features": TEMPLATES["pos"],
            "spans": False,
        }
    return known


def run(corpus: dict[str, Any], name: str, folder: Path) -> dict[str, str]:
    """Train, tag and save as the row says; a digest for each thing that must not change."""
    from seqpa import SequenceTagger
    from seqpa.data import read

    train, test = (read(corpus[part], columns=corpus["columns"]) for part in ("train", "test"))
    columns = tuple(c for c in corpus["columns"] if c not in ("label", "_"))
    parameters = {"epochs": 3, "random_state": 1, **SETTINGS.get(name, {})}
    X, y = train.X, train.y
    seen: Any = test.X
    features: Any = corpus["features"]
    if name == "dict features":
        X, seen = dicts(X[:2000]), dicts(seen[:500])
        y, features, columns = y[:2000], None, ("word",)
    elif name == "pair templates":
        features = ["word[0]", "suffix(2)[0]", "pair:shortshape[0]", "pair:bias"]
    tagger = SequenceTagger(features, columns, **parameters)
    results: dict[str, str] = {}
    if name == "partial_fit":
        half = len(X) // 2
        tagger.fit(X[:half], y[:half])
        tagger.partial_fit(X[half:], y[half:])
    elif name == "resumed from a state":
        epochs = tagger.training(X, y)
        next(epochs)
        epochs.close()
        tagger.save_state(folder / "first.state")
        tagger = SequenceTagger(features, columns, **parameters)
        tagger.load_state(folder / "first.state")
        tagger.fit(X, y)
    else:
        tagger.fit(X, y, dev=(seen[:200], test.y[:200]))
        results["epoch kept"] = str(tagger.n_iter_)
    tagger.save(folder / "model.safetensors")
    tagger.save_state(folder / "last.state")
    if name != "pair templates":  # which float16 does not hold
        tagger.save(folder / "half.safetensors", half=True)
    loaded = SequenceTagger.load(folder / "model.safetensors")
    few = seen[:100]
    results["tags"] = digest(repr(tagger.predict(seen)))
    results["tags, loaded"] = digest(repr(loaded.predict(seen)))
    results["n-best and scores"] = digest(repr(loaded.predict_nbest(few, 3)))
    results["confidence"] = digest(repr(loaded.confidence(few)))
    results["explanation"] = digest("\n".join(map(str, loaded.explain(few[0]))))
    results["score"] = repr(loaded.score(seen, test.y[: len(seen)]))
    return results


def dicts(sentences: list[Any]) -> list[list[dict[str, Any]]]:
    """Tokens as features of every kind: texts, truth values, numbers."""

    def features(token: Any, i: int) -> dict[str, Any]:
        word = token if isinstance(token, str) else token[0]
        return {"word": word.lower(), "end": word[-2:], "title": word.istitle(), "place": i / 10}

    return [[features(token, i) for i, token in enumerate(s)] for s in sentences]


def run_config(name: str, folder: Path) -> dict[str, str]:
    """`seqpa train`, `tag` and `evaluate` with a shipped configuration; what they print."""
    model = folder / "model.safetensors"
    config = PROJECT / "configs" / f"{name}.yaml"
    test = NEWS / "test.conll"
    return {
        "seqpa train": command(folder, "train", config, "--set", f"output.model={model.name}"),
        "seqpa tag": command(folder, "tag", model.name, test, "-o", "tagged.conll"),
        "seqpa tag, n-best": command(folder, "tag", model.name, test, "--nbest", "2"),
        "seqpa evaluate": command(folder, "evaluate", model.name, test, "--json"),
        "seqpa inspect": command(folder, "inspect", model.name),
    }


def command(folder: Path, *words: Any) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "seqpa", *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"seqpa {' '.join(map(str, words))}: {done.stderr}")
    return digest(without_times(done.stdout))


def run_vectors() -> dict[str, str]:
    """Weights of a classifier on vectors, whose steps the taggers share."""
    from sklearn.datasets import load_digits

    from seqpa import PAClassifier

    X, y = load_digits(return_X_y=True)
    results = {}
    for variant in ("PA", "PA-I", "PA-II"):
        model = PAClassifier(C=0.05, variant=variant, average=True, random_state=1)
        results[variant] = digest(model.fit(X / 16, y).coef_.tobytes())
    return results


# What is compared

_TIMES = re.compile(r"[\d,]+ tokens/s +[\d.]+ s")
_VOLATILE = ("seconds", "tokens_per_second", "duration", "time")


def digest(value: str | bytes) -> str:
    return hashlib.sha256(value if isinstance(value, bytes) else value.encode()).hexdigest()[:16]


def without_times(text: str) -> str:
    return _TIMES.sub("", text)


def file_digest(path: Path) -> str:
    """Of a file's bytes; of JSON, without times."""
    if path.suffix == ".json":
        return digest(json.dumps(timeless(json.loads(path.read_text())), sort_keys=True))
    return digest(path.read_bytes())


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if k not in _VOLATILE}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def child(job: dict[str, Any]) -> None:
    """One row in one checkout: prints its digests as JSON."""
    import seqpa

    home = Path(seqpa.__file__).resolve().parents[1]
    assert home == Path(job["checkout"]).resolve(), f"{home} is imported, not {job['checkout']}"
    from seqpa import _kernel

    assert _kernel.COMPILED, f"{home}: the kernel is not compiled"
    folder = Path(job["folder"])
    if job["kind"] == "config":
        results = run_config(job["name"], folder)
    elif job["kind"] == "vectors":
        results = run_vectors()
    else:
        results = run(job["corpus"], job["name"], folder)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            results[path.relative_to(folder).as_posix()] = file_digest(path)
    print(json.dumps(results))


# The table


def rows(data: Path | None) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"title": f"seqpa train configs/{name}.yaml", "kind": "config", "name": name}
        for name in CONFIGS
    ]
    found.append({"title": "PAClassifier, digits", "kind": "vectors", "name": ""})
    for corpus, description in corpora(data).items():
        spans = description["spans"]
        for name in (*SETTINGS, *WAYS):
            if spans or name not in ("bio", "span cost"):
                kind = {"kind": "tagger", "name": name, "corpus": description}
                found.append({"title": f"{corpus}: {name}", **kind})
    return found


def results_of(checkout: Path, row: dict[str, Any], folder: Path) -> dict[str, str]:
    folder.mkdir(parents=True)
    job = {**row, "checkout": str(checkout), "folder": str(folder)}
    done = subprocess.run(
        [sys.executable, __file__, "--job", json.dumps(job, default=str)],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return {"it fails": done.stderr.strip().splitlines()[-1]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("before", type=Path, nargs="?")
    parser.add_argument("after", type=Path, nargs="?")
    parser.add_argument("--data", type=Path, default=os.environ.get("SEQPA_DATA"))
    parser.add_argument("--only", nargs="*", default=[], help="rows whose title has one of these")
    parser.add_argument("--keep", type=Path, help="write the files here and leave them")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        child(json.loads(given.job))
        return 0
    if given.before is None or given.after is None:
        parser.error("name two checkouts")
    checkouts = (given.before.resolve(), given.after.resolve())
    data = None if given.data is None else Path(given.data).resolve()
    chosen = [
        row
        for row in rows(data)
        if not given.only or any(part in row["title"] for part in given.only)
    ]
    different = 0
    with tempfile.TemporaryDirectory() as scratch:
        home = (given.keep or Path(scratch)).resolve()
        width = max(len(row["title"]) for row in chosen)
        for number, row in enumerate(chosen):
            before, after = (
                results_of(checkout, row, home / f"{number:02}-{side}")
                for checkout, side in zip(checkouts, ("before", "after"), strict=True)
            )
            names = [*before, *(name for name in after if name not in before)]
            changed = [name for name in names if before.get(name) != after.get(name)]
            if "it fails" in before or "it fails" in after:
                said = {before.get("it fails", "runs"), after.get("it fails", "runs")}
                changed = ["it fails: " + " | ".join(sorted(said))]
            different += bool(changed)
            verdict = "different: " + ", ".join(changed) if changed else f"same ({len(names)})"
            print(f"{row['title']:<{width}}  {verdict}", flush=True)
    print(f"\n{len(chosen)} runs, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
