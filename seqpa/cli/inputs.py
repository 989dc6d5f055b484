"""How a command reads its data: as the model was trained, unless options say otherwise."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from seqpa.data import Corpus
    from seqpa.model import ModelFile
    from seqpa.sequence.tagger import SequenceTagger

Model = Annotated[Path, typer.Argument(help="Model file.", metavar="MODEL")]
Format = Annotated[
    str | None,
    typer.Option(help="Format of the data, if not the training data's: see seqpa corpora."),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,NAME,...",
        help="What the columns are, if not as in training; _ is one to ignore.",
    ),
]
# Where no model tells how the data are.
OwnColumns = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,NAME,...",
        help="What the columns are, such as word,_,label; _ is one to ignore.",
    ),
]
Encoding = Annotated[str | None, typer.Option(help="Of the data, if not the training data's.")]
MaxSentence = Annotated[
    int | None,
    typer.Option(
        "--max-sentence-tokens",
        min=1,
        help="A longer sentence is an error; as in training if not given.",
    ),
]
AllowImports = Annotated[
    bool,
    typer.Option(
        "--allow-imports",
        help="Run the Python functions that the model names (a cost, a feature function). "
        "Only for models that you trust.",
    ),
]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How data is read: arguments of `seqpa.data.read` and `seqpa.data.read_chunks`."""

    format: str
    columns: list[str] | None
    label: str | None
    encoding: str
    scheme: str | None
    max_sentence_tokens: int
    unlabelled: str | None = None  # what stands in place of a label that is not known

    def arguments(self) -> dict[str, Any]:
        """The same as keyword arguments.

        Returns
        -------
        dict
        """
        found = asdict(self)
        del found["unlabelled"]
        return found

    def labelled(self, path: str | Path) -> Corpus:
        """A file with labels, None where one is not known.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        Corpus
        """
        from seqpa.data import read
        from seqpa.data.labels import with_gaps

        return with_gaps(read(path, **self.arguments()), self.unlabelled)


def load(path: Path, allow_imports: bool) -> tuple[SequenceTagger, ModelFile]:
    """Load a model for tagging columns of words; its file is read once.

    Parameters
    ----------
    path : Path
        The model file.
    allow_imports : bool
        Whether the Python functions that it names may be imported.

    Returns
    -------
    tagger : SequenceTagger
    model : ModelFile
    """
    from seqpa.model import read_model
    from seqpa.opening import open_model

    model = read_model(path)
    return open_model(model, allow_imports), model


def reading(
    tagger: SequenceTagger,
    model: ModelFile,
    format: str | None,
    columns: str | None,
    encoding: str | None,
    max_sentence_tokens: int | None = None,
) -> ReadOptions:
    """How to read data for a model: as in training, unless an option says otherwise.

    Parameters
    ----------
    tagger : SequenceTagger
    model : ModelFile
        Its file, which tells how it was trained.
    format, columns, encoding : str or None
        The options of the command line.
    max_sentence_tokens : int or None
        Another one.

    Returns
    -------
    ReadOptions
    """
    from seqpa.data import MAX_SENTENCE_TOKENS

    trained = None if model.config is None else _trained_on(model.config)
    chosen = format or (trained.format if trained else "conll")
    same = trained is not None and chosen == trained.format
    label = trained.label if trained and same else None
    names = trained.columns if trained and same else None
    if columns is not None:
        names = [name.strip() for name in columns.split(",")]
    elif not same and chosen not in ("conllu", "text"):
        names = [*tagger.input_columns, "label"]
    return ReadOptions(
        format=chosen,
        columns=names,
        label=label,
        encoding=encoding or (trained.encoding if trained else "utf-8"),
        scheme=trained.scheme if trained else None,
        max_sentence_tokens=max_sentence_tokens
        or (trained.max_sentence_tokens if trained else MAX_SENTENCE_TOKENS),
        unlabelled=trained.unlabelled if trained else None,
    )


def _without(weight: Any, columns: Any, format: Any) -> Any:
    """The columns, that of the sentences' weights to be ignored: only training looks at it."""
    if weight is None or not isinstance(columns, list):
        return columns
    if format in ("csv", "parquet"):  # which know their columns by name
        return [name for name in columns if name != weight]
    return ["_" if name == weight else name for name in columns]


def _trained_on(config: dict[str, Any]) -> ReadOptions:
    """The `data` section in a model's header, which was checked when it was trained.

    Constraints by a scheme made training read its labels in that scheme.

    Read without `seqpa.config`, which takes longer to import than a page of text to tag.
    """
    from seqpa.data import MAX_SENTENCE_TOKENS
    from seqpa.errors import SeqpaError

    data, decoding = config.get("data"), config.get("decoding")
    told = data if isinstance(data, dict) else {}
    constraints = decoding.get("constraints") if isinstance(decoding, dict) else None
    unlabelled = told.get("unlabelled")
    legal = constraints if isinstance(constraints, str) and unlabelled is None else None
    found = ReadOptions(
        format=told.get("format", "conll"),
        columns=_without(told.get("weight"), told.get("columns"), told.get("format")),
        label=told.get("label"),
        encoding=told.get("encoding", "utf-8"),
        scheme=told.get("scheme") or legal,
        max_sentence_tokens=told.get("max_sentence_tokens", MAX_SENTENCE_TOKENS),
        unlabelled=unlabelled,
    )
    most = found.max_sentence_tokens
    names = [] if found.columns is None else found.columns
    texts = (found.format, found.encoding, found.label or "", found.scheme or "", unlabelled or "")
    fits = isinstance(names, list) and type(most) is int and most > 0
    if not (told and fits and {str}.issuperset(map(type, (*texts, *names)))):
        raise SeqpaError("the model is damaged: its header does not tell its data")
    return found


def cores() -> int:
    """How many cores this process may use.

    Returns
    -------
    int
    """
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1
