"""What a configuration may say: one definition for YAML files, ``--set``, ``--help``, the JSON
Schema, the table in docs/configuration.md and the header of the model.

The docstrings of the sections and the descriptions of their keys are what users read there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PrivateAttr,
    Tag,
    model_validator,
)

from seqpa.config.yaml_lines import Loc, place_of
from seqpa.data import MAX_SENTENCE_TOKENS
from seqpa.data.remote import is_address
from seqpa.errors import SeqpaError
from seqpa.sequence.budget import bytes_of
from seqpa.sequence.folds import FOLDS, MOST_TAGGERS

Table = dict[str, dict[str, float]]
# What tells one form of a value from another, for messages; it is no part of a key's name.
FORMS = ("a scheme", "rules", "a file", "files", "a word", "a number", "values", "a range")
Files = Annotated[
    Annotated[str, Tag("a file")] | Annotated[list[str], Field(min_length=1), Tag("files")],
    Discriminator(lambda value: "files" if isinstance(value, list) else "a file"),
]
Lookahead = Annotated[
    Annotated[Literal["auto"], Tag("a word")]
    | Annotated[int, Field(ge=1, le=256), Tag("a number")],
    Discriminator(lambda value: "a word" if isinstance(value, str) else "a number"),
]


def _is_size(value: Any) -> Any:
    """Before its type is looked at: a number wants a unit."""
    try:
        bytes_of(value if isinstance(value, str) else "")
    except SeqpaError:
        raise ValueError(f"{value!r} is no size: give one such as 2GB or 500MB") from None
    return value


MemorySize = Annotated[str, BeforeValidator(_is_size)]
SchemeName = Literal["bio", "iob1", "iob2", "ioe1", "ioe2", "bioes", "bilou", "biluo", "bmes", "io"]


class Section(BaseModel):
    """A part of the configuration: no unknown keys, no silent conversions."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class DataSettings(Section):
    """What is learned from."""

    format: Literal[
        "conll", "conllu", "jsonl", "csv", "slash", "spans", "parquet", "teach", "nltk"
    ] = Field(
        default="conll",
        description="how the files are written; teach is a project of seqpa teach, nltk names "
        "corpora of NLTK's",
    )
    columns: list[str] | None = Field(
        default=None,
        min_length=1,
        max_length=1000,
        description="what the columns are, in the file's order; _ is one to ignore. Without it: "
        "word and label, or the word of CoNLL-U",
    )
    label: str | None = Field(
        default=None,
        description="the column to learn: label, or in CoNLL-U upos (also xpos, feats, upos+feats)",
    )
    train: Files = Field(
        description="what to learn from: a file, a pattern such as ~/news/*.conll, or a list of "
        "these; treebank[:3000] and the like for nltk"
    )
    dev: Files | None = Field(
        default=None, description="files whose score chooses the best epoch; likewise"
    )
    test: Files | None = Field(
        default=None, description="files for the scores at the end; likewise"
    )
    encoding: str = Field(default="utf-8", description="of the files: utf-8, cp1252, latin-1, ...")
    scheme: SchemeName | None = Field(
        default=None, description="convert chunk labels to this scheme, from any other"
    )
    labels: Literal["repair", "strict"] = Field(
        default="repair",
        description="illegal chunk labels are read as conlleval reads them, and blank ones of "
        "CoNLL-U left out, with a warning; or both are an error",
    )
    max_sentence_tokens: int = Field(
        default=MAX_SENTENCE_TOKENS,
        ge=1,
        description="a longer sentence is an error: blank lines are missing, or it is no text",
    )
    unlabelled: str | None = Field(
        default=None,
        min_length=1,
        description="what stands in the files in place of a label that is not known; training "
        "learns from the other labels of the sentence, and scores leave the token out",
    )

    weight: str | None = Field(
        default=None,
        min_length=1,
        description="the name of what weighs the training sentences, as factors of C: a column, a "
        "comment such as `# weight = 2` of conll and conllu, or a key of jsonl; others weigh 1",
    )

    @model_validator(mode="after")
    def _converts_whole_sentences(self) -> DataSettings:
        if self.scheme is not None and self.unlabelled is not None:
            raise ValueError("scheme converts whole sentences: leave out scheme or unlabelled")
        return self


class ColumnSettings(Section):
    """Where a column comes from that the text to be tagged does not have."""

    tagger: str = Field(
        description="model file that predicts the column, while training and while tagging; the "
        "new model holds it"
    )
    folds: int = Field(
        default=FOLDS,
        ge=0,
        description="if that model learned from the same text, the training text is cut into so "
        "many folds, each tagged by a model that learned from the others; 0 takes it as it is",
    )

    @model_validator(mode="after")
    def _more_than_one_fold(self) -> ColumnSettings:
        if self.folds == 1:
            raise ValueError("folds is 1: it must be 0, for none, or at least 2")
        return self


class FeatureSettings(Section):
    """What is seen of a token."""

    preset: Literal["pos", "ner", "chunk", "ner-document"] | None = Field(
        default=None,
        description="a ready list of templates; ner-document also looks at the same words "
        "elsewhere in the document. With neither preset nor templates: ner for "
        "B-/I- labels, else pos",
    )
    templates: list[str] | None = Field(
        default=None,
        min_length=1,
        description="the templates themselves, or some more beside the preset",
    )
    cutoff: int = Field(
        default=1, ge=1, description="leave out features seen fewer times in training"
    )
    lexicons: dict[str, str] = Field(
        default={},
        description='name: file of the word lists that lexicon("name") looks words up in',
    )
    clusters: dict[str, str] = Field(
        default={},
        description='name: file of the word clusters that cluster("name", 4) looks words up in',
    )


Update = Literal[
    "auto", "prediction-based", "near-max-loss", "loss-augmented", "max-loss", "n-best"
]


class LearnerSettings(Section):
    """How it is learned."""

    algorithm: Literal["perceptron", "pa", "pa-i", "pa-ii", "pa-ls", "arow"] = Field(
        default="pa-i", description="how far a step goes"
    )
    C: float = Field(
        default=0.05,
        gt=0,
        description="aggressiveness of all but perceptron and pa: small is careful",
    )
    batch_size: int = Field(
        default=1, ge=1, description="so many sentences make one step (pa-i, pa-ii, pa-ls)"
    )
    epochs: int = Field(default=20, ge=1, description="passes over the training sentences")
    average: bool = Field(
        default=True, description="keep the mean of all weight vectors, not the last"
    )
    update: Update = Field(
        default="auto",
        description="which wrong sequence is pushed down: the prediction (prediction-based), the "
        "one of largest score + cost (loss-augmented, for costs that are sums over tokens), the "
        "one of largest score + √cost (max-loss, for zero-one and for sums of whole numbers; "
        "near-max-loss, nearly that and much faster, for sums over tokens), or that among the n "
        "best. auto is near-max-loss where the cost is a sum over tokens and the algorithm pa-i, "
        "pa-ii or pa-ls, else (and online) prediction-based",
    )
    n_best: int = Field(default=10, ge=1, description="candidates of the update n-best")
    patience: int | None = Field(
        default=None, ge=1, description="stop after so many epochs without a better dev score"
    )
    shuffle: bool = Field(
        default=True, description="visit the sentences in a new random order each epoch"
    )
    seed: int = Field(
        default=1, ge=0, description="of the random order: the same seed, the same model"
    )
    n_jobs: int = Field(
        default=1,
        ge=1,
        description="threads: for tagging, for encoding a large text, and for training where "
        "lookahead is not 1; results do not depend on it",
    )
    lookahead: Lookahead = Field(
        default=1,
        description="so many sentences are decoded with the same weights, on n_jobs threads, "
        "before the first of them moves the weights: 1 is the serial algorithm, auto looks as far "
        "as some ten updates go",
    )
    memory: MemorySize | None = Field(
        default=None,
        description="train in so much memory, for example 2GB, on text that need not fit into it: "
        "it is kept on disk as numbers and learned block by block",
    )
    memory_folder: str | None = Field(
        default=None,
        description="where that disk is; if not given, the system's folder of temporary files",
    )
    calibration: Literal["dev", "cv", "none"] = Field(
        default="dev",
        description="on what the scale of probabilities is fitted: the dev set, if there is one; "
        "five parts of the training file, each with a model of the others (five times as long "
        "again); or nothing",
    )
    stages: int = Field(
        default=1,
        ge=1,
        le=2,
        description="2: a second tagger sees the labels of a first one, here and for the same "
        "words elsewhere in the document; six times the training",
    )
    seeds: int = Field(
        default=1,
        ge=1,
        description="train on so many random orders, at the same time where there are cores, and "
        "keep the mean of their weights",
    )


class CostSettings(Section):
    """What a mistake costs."""

    kind: Literal["auto", "hamming", "zero-one", "span", "hierarchy", "matrix", "python"] = Field(
        default="auto",
        description="wrong tokens, those of missed spans weighed by how often spans are missed, or "
        "wrong tokens (hamming), wrong sentences, wrong spans, distance in a tree of labels, a "
        "table of label pairs, or a Python function of two label lists",
    )
    missed: float | None = Field(
        default=None,
        gt=0,
        description="auto, hamming: a token of a span that is taken for outside counts so many "
        "times; above 1 more spans are found; auto measures it",
    )
    file: str | None = Field(
        default=None,
        description="hierarchy: YAML file of the tree; matrix: YAML file of the table; python: "
        "file of the function",
    )
    table: Table | None = Field(
        default=None,
        description="matrix: the table itself, {right: {predicted: cost}}; others cost 1",
    )
    function: str | None = Field(
        default=None, description="python: the function's name in file, or package.module:function"
    )

    @model_validator(mode="after")
    def _fits_kind(self) -> CostSettings:
        used = {
            "auto": ["missed"],
            "hamming": ["missed"],
            "hierarchy": ["file"],
            "matrix": ["file", "table"],
            "python": ["file", "function"],
        }
        for name in ("missed", "file", "table", "function"):
            if getattr(self, name) is not None and name not in used.get(self.kind, []):
                raise ValueError(f"the kind {self.kind} has no use for {name}; leave it out")
        if self.kind == "hierarchy" and self.file is None:
            raise ValueError("the kind hierarchy needs file, the YAML file of the tree of labels")
        if self.kind == "matrix" and (self.file is None) == (self.table is None):
            raise ValueError("the kind matrix needs either file or table")
        if self.kind == "python" and self.function is None:
            raise ValueError("the kind python needs function (and file, if it is in one)")
        if self.kind == "python" and self.file is None and ":" not in str(self.function):
            raise ValueError("without file, function is written package.module:function")
        return self


class TransitionRules(Section):
    """Which label may not follow which, and which are the only ones that may."""

    forbidden: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(
        default=[], description="pairs [label, next label] that never occur"
    )
    required: dict[str, list[str]] = Field(
        default={}, description="label: the only labels that may follow it"
    )


class DecodingSettings(Section):
    """Which label sequences are possible."""

    constraints: (
        Annotated[
            Annotated[SchemeName, Tag("a scheme")] | Annotated[TransitionRules, Tag("rules")],
            Discriminator(lambda value: "a scheme" if isinstance(value, str) else "rules"),
        ]
        | None
    ) = Field(
        default=None,
        description="bio, bioes or another scheme: only legal chunks; or {forbidden: ..., "
        "required: ...}",
    )


class ClusterSettings(Section):
    """How the text is shared out for `--dask`; without it the shards are trained here, to the same
    model."""

    shards: int = Field(
        default=4,
        ge=1,
        description="into how many shards the sentences are dealt, each trained apart for an epoch "
        "and then mixed: as many as there are workers or more; the fewer, the better the model",
    )
    mixing: Literal["uniform", "mistakes"] = Field(
        default="uniform",
        description="whether all shards count alike, or by the sentences they predicted wrongly",
    )
    deal: Literal["auto", "each-round", "once"] = Field(
        default="auto",
        description="whether sentences are dealt anew each round, which is better and sends most "
        "of the text each time; auto: up to 3 million tokens",
    )
    keep: Literal["auto", "mean", "last"] = Field(
        default="auto",
        description="keep the mean over all rounds, or the last weights; auto: the mean, but the "
        "last with loss-augmented updates",
    )
    timeout: float = Field(
        default=60.0,
        gt=0,
        description="seconds without the scheduler or any worker after which training is given up",
    )


class TuneRange(Section):
    """Between which numbers `seqpa tune` looks for the value of a key."""

    log: list[float] | None = Field(
        default=None,
        min_length=2,
        max_length=2,
        description="[lowest, highest], tried on a logarithmic scale; NAME is a key such as "
        "learner.C, and a list in place of the range names the values to choose from",
    )
    uniform: list[float] | None = Field(
        default=None, min_length=2, max_length=2, description="[lowest, highest], tried evenly"
    )
    whole: list[int] | None = Field(
        default=None, min_length=2, max_length=2, description="the same, of whole numbers"
    )

    @model_validator(mode="after")
    def _is_one_range(self) -> TuneRange:
        given = [own for own in (self.log, self.uniform, self.whole) if own is not None]
        if len(given) != 1:
            raise ValueError("give one of log, uniform and whole")
        if given[0][0] >= given[0][1]:
            raise ValueError(f"{given[0]} is no range: the first number must be the lower one")
        if self.log is not None and self.log[0] <= 0:
            raise ValueError(f"{self.log} has no logarithm: both numbers must be above 0")
        return self


class OutputSettings(Section):
    """What is written."""

    model: str = Field(default="model.safetensors", description="the model file")
    keep: bool = Field(
        default=False, description="never replace a model that is there: refuse to train"
    )
    half: bool = Field(default=False, description="store weights as float16: half the size")
    history: str | None = Field(
        default=None,
        description="what happened in each epoch; if not given, history.json beside "
        "model.safetensors, and NAME.history.json beside another NAME.safetensors",
    )
    metrics: str | None = Field(
        default=None,
        description="the scores at the end; if not given, metrics.json or NAME.metrics.json",
    )


class Config(Section):
    """A whole configuration, from a file (`load_config`) or from a mapping.

    Examples
    --------
    >>> config = Config.model_validate({"data": {"train": "a.conll"}, "learner": {"C": 0.3}})
    >>> config.learner.C, config.learner.epochs
    (0.3, 20)
    """

    data: DataSettings = Field(description="what is learned from")
    columns: dict[str, ColumnSettings] = Field(
        default={}, max_length=MOST_TAGGERS, description="columns that other models predict"
    )
    features: FeatureSettings = Field(
        default=FeatureSettings(), description="what is seen of a token"
    )
    learner: LearnerSettings = Field(default=LearnerSettings(), description="how it is learned")
    cost: CostSettings = Field(default=CostSettings(), description="what a mistake costs")
    decoding: DecodingSettings = Field(
        default=DecodingSettings(), description="which label sequences are possible"
    )
    output: OutputSettings = Field(default=OutputSettings(), description="what is written")
    cluster: ClusterSettings | None = Field(
        default=None, description="shards, for training on several machines"
    )
    tune: dict[
        str,
        Annotated[
            Annotated[list[Any], Field(min_length=1), Tag("values")]
            | Annotated[TuneRange, Tag("a range")],
            Discriminator(lambda value: "values" if isinstance(value, list) else "a range"),
        ],
    ] = Field(default={}, description="what seqpa tune tries: values, or a range, of each key")

    _file: Path | None = PrivateAttr(None)
    _folder: Path = PrivateAttr(Path())
    _places: dict[Loc, str] = PrivateAttr(default_factory=dict)
    _given: list[Loc] = PrivateAttr(default_factory=list)

    def path(self, *loc: str) -> Path:
        """The file that a key names.

        Parameters
        ----------
        *loc : str
            The key, for example ``"data", "train"``.

        Returns
        -------
        Path
            Relative to the configuration file, or to the current directory where the command line
            or a program set the key.

        Examples
        --------
        >>> Config.model_validate({"data": {"train": "a.conll"}}).path("data", "train")
        PosixPath('a.conll')
        """
        value: Any = self
        for name in loc:
            value = value[name] if isinstance(value, dict) else getattr(value, name)
        return self._resolved(loc, value)

    def paths(self, *loc: str) -> list[str | Path]:
        """The files that a key names, which may be a list.

        Parameters
        ----------
        *loc : str
            The key, for example ``"data", "train"``.

        Returns
        -------
        list of Path
            As `path` gives them; patterns are left as they are, and addresses (``s3://...``) are
            text.

        Examples
        --------
        >>> config = Config.model_validate({"data": {"train": ["a.conll", "b/*.conll"]}})
        >>> [str(path) for path in config.paths("data", "train")]
        ['a.conll', 'b/*.conll']
        """
        value = getattr(getattr(self, loc[0]), loc[1])
        names = value if isinstance(value, list) else [value]
        return [name if is_address(name) else self._resolved(loc, name) for name in names]

    def _resolved(self, loc: tuple[str, ...], name: str) -> Path:
        if name.startswith("~"):
            try:
                return Path(name).expanduser()
            except RuntimeError:  # no such user; a folder may be called so
                pass
        by_hand = any(loc[: len(given)] == given for given in self._given)
        # Without `..` where possible: people read it in messages.
        return _shortened(Path(name) if by_hand else self._folder / name)

    def place(self, *loc: str | int) -> str:
        """Where a key stands, as messages begin.

        Parameters
        ----------
        *loc : str or int
            The key, for example ``"features", "templates", 1``.

        Returns
        -------
        str
            ``FILE:LINE: ``, or nothing if the key was not read from a file.
        """
        return place_of(self._places, loc)

    @property
    def file(self) -> Path | None:
        """The file that it was read from, if it was."""
        return self._file

    def read_from(self, file: Path, places: Mapping[Loc, str], given: Sequence[Loc]) -> Config:
        """Note where the configuration was read; see `path` and `place`.

        Parameters
        ----------
        file : Path
            The configuration file.
        places : mapping
            ``FILE:LINE`` of each location.
        given : sequence of locations
            Keys that the command line set.

        Returns
        -------
        Config
            This one.
        """
        self._file = file
        self._folder = file.parent
        self._places = dict(places)
        self._given = list(given)
        return self


def _shortened(path: Path) -> Path:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts and parts[-1] not in ("..", "/"):
            folder = Path(*parts)
            if folder.is_symlink():  # `..` of a link leads elsewhere
                return path
            parts.pop()
        else:
            parts.append(part)
    return Path(*parts)
