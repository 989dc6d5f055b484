"""Fuzz everything that reads text of others, as long as you like.

With atheris (``pip install atheris``), guided by coverage; its options follow the target:

    python tests/attacks/fuzz_readers.py conll -max_total_time=600

Without it, by blind mutation of small examples, RUNS of them for each target (or for one):

    python tests/attacks/fuzz_readers.py --plain 50000 [TARGET]

Each input is read or refused with a SeqpaError. Anything else is a finding: the input is written to
the file that the last line names.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from seqpa.config import load_config
from seqpa.core import Hierarchy
from seqpa.data import read
from seqpa.errors import SeqpaError
from seqpa.sequence.resources import Clusters, Lexicon
from seqpa.sequence.templates import parse

FILE = Path(tempfile.mkdtemp(prefix="seqpa-fuzz-")) / "input"


def _of_file(function: Callable[[Path], object]) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        FILE.write_bytes(data)
        function(FILE)

    return run


def _template(data: bytes) -> None:
    template = parse(data.decode("utf-8", "surrogateescape"), ("word", "pos"))
    assert parse(str(template), ("word", "pos")) == template


CONLLU = b"# id = 1\n1-2\tim" + b"\t_" * 8 + b"\n1\tin\tin\tADP" + b"\t_" * 6 + b"\n"
YAML = b"data: &d {train: a.conll, columns: [word, label]}\nlearner:\n  C: 1e-3\n  epochs: 3\n"
TARGETS: dict[str, tuple[Callable[[bytes], None], bytes]] = {
    "conll": (
        _of_file(lambda path: read(path, scheme="iob2")),
        b"# id = 1\nAda B-x\n# O\n\n-DOCSTART- O\n\nx\tI-x\n",
    ),
    "conllu": (_of_file(lambda path: read(path, "conllu")), CONLLU),
    "jsonl": (
        _of_file(lambda path: read(path, "jsonl")),
        b'{"tokens": ["a", {"word": "b"}], "labels": ["O", "O"]}\n',
    ),
    "text": (
        _of_file(lambda path: read(path, "text", with_labels=False, tokenizer="whitespace")),
        b"Stay here .\n\n \t\nGo !\n",
    ),
    "utf-16": (_of_file(lambda path: read(path, encoding="utf-16")), "a O\n".encode("utf-16")),
    "yaml": (_of_file(load_config), YAML),
    "hierarchy": (_of_file(Hierarchy.from_yaml), b"place: {city: [port], river: }\nperson:\n"),
    "lexicon": (_of_file(Lexicon.read), b"New York\nGraz\n"),
    "clusters": (_of_file(Clusters.read), b"0110\tMonday\t3\n01\triver\n"),
    "template": (_template, b'pair:suffix(2, pos)[-1]|regex("^[0-9.]+$")[0]|cluster("b", 4)'),
}
SIGNS = b"\x00\n\r\t #-:[]{}&*!\"'\\|0\xff\xfe\x1f\x8b\xed\xa0\x80_\x1b\x85"


def mutated(data: bytes, draw: random.Random) -> bytes:
    """Some random changes: bytes set, inserted, removed; pieces repeated."""
    found = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 3, 8])):
        at = draw.randrange(len(found) + 1)
        kind = draw.randrange(4)
        if kind == 0 and at < len(found):
            found[at] = draw.choice([*SIGNS, draw.randrange(256)])
        elif kind == 1:
            found[at:at] = bytes([draw.choice(SIGNS)] * draw.choice([1, 1, 2, 300]))
        elif kind == 2:
            del found[at : at + draw.choice([1, 2, 10])]
        else:
            piece = found[at : at + draw.randrange(20)]
            found[at:at] = piece * draw.choice([1, 2, 200])
    return bytes(found)


def tried(target: str, data: bytes) -> None:
    """Read the input; what is no SeqpaError stays an error."""
    try:
        TARGETS[target][0](data)
    except SeqpaError as error:
        assert "\n" not in str(error) or target == "template", repr(str(error))  # noqa: PT017


def plain(runs: int, names: list[str], seed: int = 1) -> None:
    """Blind mutation, the same inputs for the same seed."""
    for target in names:
        draw = random.Random(f"{target} {seed}")
        for i in range(runs):
            data = mutated(TARGETS[target][1], draw)
            try:
                tried(target, data)
            except BaseException:
                found = FILE.with_name(f"{target}.found")
                found.write_bytes(data)
                print(f"{target}, run {i}: {found}")
                raise
        print(f"{target}: {runs:,} inputs read or refused")


def main() -> None:
    """Run what the arguments ask for."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--plain"]:
        plain(int(arguments[1]), arguments[2:] or list(TARGETS))
        return
    if not arguments or arguments[0] not in TARGETS:
        sys.exit(f"{__doc__}\nTargets: {', '.join(TARGETS)}")
    import atheris

    target = arguments[0]
    atheris.instrument_all()
    atheris.Setup([sys.argv[0], *arguments[1:]], lambda data: tried(target, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
