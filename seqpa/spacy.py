"""seqpa in spaCy: the pipeline components `seqpa_ner` and `seqpa_tagger`.

Where seqpa is installed, ``nlp.add_pipe("seqpa_ner")`` finds them by itself (entry points). A
component is trained by `nlp.initialize`, or from `Doc` objects or a `DocBin` by its own `train`; it
learns online in `nlp.update`. It reads the words of a `Doc`, sentence by sentence where it has
sentences, and writes entities or tags.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

try:
    from spacy.language import Language
    from spacy.scorer import Scorer, get_ner_prf
    from spacy.tokens import Doc, DocBin, Span
    from spacy.training import Example, validate_examples
    from spacy.vocab import Vocab
except ImportError as error:  # pragma: no cover
    raise ImportError("seqpa.spacy needs spaCy: pip install spacy") from error

from seqpa.errors import NotTrainedError, SeqpaError
from seqpa.schemes import spans
from seqpa.sequence.inputs import in_documents
from seqpa.sequence.tagger import SequenceTagger

__all__ = ["SeqpaNER", "SeqpaTagger", "make_ner", "make_tagger"]

_FILE = "model.safetensors"
# A document: its words, a label for each or None, and where its sentences begin and end.
_Lesson = tuple[list[str], list[str | None], list[tuple[int, int]]]


class _Component(ABC):
    """What both components share: a tagger of words, its training, its file."""

    def __init__(
        self, vocab: Vocab, name: str, model: str | None, parameters: dict[str, Any]
    ) -> None:
        self.vocab = vocab
        self.name = name
        self.parameters = dict(parameters)
        self.tagger: SequenceTagger | None = None if model is None else SequenceTagger.load(model)
        self.model = None  # spaCy moves on the weights of components that have one
        self._added: list[str] = []

    @abstractmethod
    def _labels(self, doc: Doc) -> list[str | None]:
        """The label of each token, None where it is not known."""

    @abstractmethod
    def _aligned(self, example: Example) -> list[str | None]:
        """The label of each token of the predicted document, None where it is not known."""

    def _named(self) -> list[str]:
        """The labels that were learned, as users of spaCy name them."""
        return [] if self.tagger is None else list(self.tagger.classes_)

    @abstractmethod
    def _set(self, doc: Doc, sentences: list[tuple[int, list[str]]]) -> None:
        """Write the labels of sentences, which begin at these tokens, into a Doc."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it gives: those that it has learned, and those that were added."""
        return tuple(dict.fromkeys([*self._named(), *self._added]))

    @property
    def is_trainable(self) -> bool:
        """True: `nlp.update` teaches it."""
        return True

    def add_label(self, label: str) -> int:
        """Announce a label. It is learned where examples have it, announced or not.

        Parameters
        ----------
        label : str
            The label.

        Returns
        -------
        int
            1 if it is new, else 0.
        """
        if label in self.labels:
            return 0
        self._added.append(label)
        return 1

    def train(self, docs: Any, dev: Any = None) -> Any:
        """Train on annotated documents.

        Parameters
        ----------
        docs : iterable of Doc, DocBin, or path of a .spacy file
            What to learn from. Tokens without an annotation are left out.
        dev : the same or None, default None
            On which the best epoch is chosen.

        Returns
        -------
        object
            Itself.
        """
        X, y = _data(map(self._lesson, _documents(docs, self.vocab)))
        if not X:
            raise SeqpaError(f"{self.name}: no token of the documents has a label to learn")
        self._fit(X, y, dev)
        return self

    def _fit(self, X: Any, y: list[list[str | None]], dev: Any) -> None:
        held = None
        if dev is not None:
            held = _data(map(self._lesson, _documents(dev, self.vocab)))
        self.tagger = SequenceTagger(**self.parameters).fit(X, y, dev=held)

    def _lesson(self, doc: Doc) -> _Lesson:
        return [token.text for token in doc], self._labels(doc), _sentences(doc)

    def _lesson_of(self, example: Example) -> _Lesson:
        """Of an example: the tokens of the predicted document, which later ones will have too."""
        right, words = self._lesson(example.reference), [t.text for t in example.predicted]
        if words == right[0]:
            return right
        return words, self._aligned(example), _sentences(example.predicted)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
        dev: str | None = None,
        train: bool = True,
    ) -> None:
        """Begin anew, as `nlp.initialize` asks for it, and train to the end.

        Parameters
        ----------
        get_examples : function
            Gives the examples. Where they have no labels, nothing is learned yet.
        nlp : Language or None, default None
            Not used.
        labels : list of str or None, default None
            Announced as by `add_label`.
        dev : str or None, default None
            A .spacy file on which the best epoch is chosen.
        train : bool, default True
            False leaves all learning to `update`.
        """
        self.tagger = None
        for label in labels or ():
            self.add_label(label)
        X, y = _data(map(self._lesson_of, get_examples() if train else ()))
        if X:  # without examples of the user's, spaCy gives one that has no labels
            self._fit(X, y, dev)

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Any = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from a batch of examples, as `nlp.update` and ``spacy train`` ask for it.

        A sentence after the other is learned online; nothing learned before is forgotten, and new
        labels are taken up as they come.

        Parameters
        ----------
        examples : iterable of Example
            Sentences without a label are left out.
        drop : float, default 0.0
            Not used: there is nothing to drop out.
        sgd : object, default None
            Not used: a sentence tells itself how far to move.
        losses : dict or None, default None
            To which the losses of the batch are added, under the component's name.

        Returns
        -------
        dict
            The same.
        """
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.update")
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        X, y = _data(map(self._lesson_of, examples))
        if X:
            if self.tagger is None:
                self.tagger = SequenceTagger(**self.parameters)
            before = self._suffered()
            self.tagger.partial_fit(X, y)
            losses[self.name] += self._suffered() - before
        return losses

    def _suffered(self) -> float:
        """The loss of all that was learned online; a loaded model begins with none."""
        try:
            return 0.0 if self.tagger is None else self.tagger.online_loss_
        except NotTrainedError:
            return 0.0

    def finish_update(self, sgd: Any) -> None:  # noqa: B027 (spaCy calls it)
        """Nothing is left to do: `update` has moved the weights.

        Parameters
        ----------
        sgd : object
            Not used.
        """

    def __call__(self, doc: Doc) -> Doc:
        """Annotate a document.

        Parameters
        ----------
        doc : Doc
            Its tokens are read.

        Returns
        -------
        Doc
            The same.
        """
        return next(iter(self.pipe([doc])))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate a stream of documents, many at once, which is faster.

        Parameters
        ----------
        stream : iterable of Doc
            The documents.
        batch_size : int, default 128
            So many are tagged together.

        Yields
        ------
        Doc
            Each of them, annotated.
        """
        if self.tagger is None:
            raise NotTrainedError(
                f"{self.name} is not trained yet: call nlp.initialize with examples, or its train"
            )
        waiting = iter(stream)
        while docs := list(islice(waiting, batch_size)):
            texts = [([token.text for token in doc], _sentences(doc)) for doc in docs]
            X = [words[begin:end] for words, places in texts for begin, end in places]
            names = [number for number, (_, places) in enumerate(texts) for _ in places]
            found = iter(self.tagger.predict(X, documents=names))
            for doc, (_, places) in zip(docs, texts, strict=True):
                self._set(doc, [(begin, next(found)) for begin, _ in places])
                yield doc

    # Files

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder.

        Parameters
        ----------
        path : str or Path
            The folder, which is made.
        exclude : iterable of str, default ()
            Not used.
        """
        Path(path).mkdir(parents=True, exist_ok=True)
        if self.tagger is not None:
            self.tagger.save(Path(path) / _FILE)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Any:
        """Read the model from a folder.

        Parameters
        ----------
        path : str or Path
            The folder.
        exclude : iterable of str, default ()
            Not used.

        Returns
        -------
        object
            Itself.
        """
        file = Path(path) / _FILE
        self.tagger = SequenceTagger.load(file) if file.exists() else None
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The model as bytes.

        Parameters
        ----------
        exclude : iterable of str, default ()
            Not used.

        Returns
        -------
        bytes
            The content of the model file; empty before training.
        """
        with TemporaryDirectory() as folder:
            self.to_disk(folder)
            file = Path(folder) / _FILE
            return file.read_bytes() if file.exists() else b""

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Any:
        """Read the model from bytes.

        Parameters
        ----------
        data : bytes
            As `to_bytes` gives them.
        exclude : iterable of str, default ()
            Not used.

        Returns
        -------
        object
            Itself.
        """
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            if data:
                (Path(folder) / _FILE).write_bytes(data)
            return self.from_disk(folder)


class SeqpaNER(_Component):
    """Writes the entities of a `Doc`; made by ``nlp.add_pipe("seqpa_ner")``.

    Parameters
    ----------
    vocab : Vocab
        Of the pipeline.
    name : str, default "seqpa_ner"
        Of the component.
    model : str or None, default None
        A model file of seqpa to tag with.
    parameters : dict or None, default None
        Parameters of `SequenceTagger`; features are "ner".

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> ner = nlp.add_pipe("seqpa_ner")
    >>> doc = nlp.make_doc("Ada saw Ohio")
    >>> doc.set_ents([Span(doc, 0, 1, "PER"), Span(doc, 2, 3, "LOC")])
    >>> _ = ner.train([doc])
    >>> [(entity.text, entity.label_) for entity in nlp("Ada saw Ohio").ents]
    [('Ada', 'PER'), ('Ohio', 'LOC')]
    """

    def __init__(
        self,
        vocab: Vocab,
        name: str = "seqpa_ner",
        model: str | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(vocab, name, model, {"features": "ner", **(parameters or {})})

    def score(self, examples: Iterable[Example], **_more: Any) -> dict[str, Any]:
        """How well it finds entities, as `nlp.evaluate` asks for it.

        Parameters
        ----------
        examples : iterable of Example
            Predicted and right documents.
        **_more : object
            Not used.

        Returns
        -------
        dict
            ents_p, ents_r, ents_f, ents_per_type.
        """
        return dict(get_ner_prf(examples))

    def _labels(self, doc: Doc) -> list[str | None]:
        return [
            None
            if not token.ent_iob_
            else "O"
            if token.ent_iob_ == "O"
            else f"{token.ent_iob_}-{token.ent_type_}"
            for token in doc
        ]

    def _aligned(self, example: Example) -> list[str | None]:
        return [
            None if tag is None else _BIO.get(tag[:2], tag[:2]) + tag[2:]
            for tag in example.get_aligned_ner()
        ]

    def _named(self) -> list[str]:
        return list(dict.fromkeys(label[2:] for label in super()._named() if label != "O"))

    def _set(self, doc: Doc, sentences: list[tuple[int, list[str]]]) -> None:
        found = [
            Span(doc, first + begin, first + end, label=kind)
            for first, labels in sentences
            for kind, begin, end in spans(labels)
        ]
        doc.set_ents(found, default="outside")


class SeqpaTagger(_Component):
    """Writes the tags of a `Doc` (``token.tag_``); made by ``nlp.add_pipe("seqpa_tagger")``.

    Parameters
    ----------
    vocab : Vocab
        Of the pipeline.
    name : str, default "seqpa_tagger"
        Of the component.
    model : str or None, default None
        A model file of seqpa to tag with.
    parameters : dict or None, default None
        Parameters of `SequenceTagger`; features are "pos".

    Examples
    --------
    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> tagger = nlp.add_pipe("seqpa_tagger")
    >>> doc = Doc(nlp.vocab, words=["Rain", "fell"], tags=["NN", "VBD"])
    >>> _ = tagger.train([doc])
    >>> [token.tag_ for token in nlp("Rain fell")]
    ['NN', 'VBD']
    """

    def __init__(
        self,
        vocab: Vocab,
        name: str = "seqpa_tagger",
        model: str | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(vocab, name, model, {"features": "pos", **(parameters or {})})

    def score(self, examples: Iterable[Example], **_more: Any) -> dict[str, Any]:
        """How well it tags, as `nlp.evaluate` asks for it.

        Parameters
        ----------
        examples : iterable of Example
            Predicted and right documents.
        **_more : object
            Not used.

        Returns
        -------
        dict
            tag_acc.
        """
        return dict(Scorer.score_token_attr(examples, "tag"))

    def _labels(self, doc: Doc) -> list[str | None]:
        return [token.tag_ or None for token in doc]

    def _aligned(self, example: Example) -> list[str | None]:
        return [tag or None for tag in example.get_aligned("TAG", as_string=True)]

    def _set(self, doc: Doc, sentences: list[tuple[int, list[str]]]) -> None:
        for first, labels in sentences:
            for place, label in enumerate(labels, start=first):
                doc[place].tag_ = label


_BIO = {"U-": "B-", "L-": "I-"}  # what spaCy writes of entities, as BIO
_DEFAULTS: dict[str, Any] = {"model": None, "parameters": {}}


@Language.factory(
    "seqpa_ner",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config=_DEFAULTS,
    # By which `spacy train` chooses the best model, and what it shows beside it.
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
)
def make_ner(nlp: Language, name: str, model: str | None, parameters: dict[str, Any]) -> SeqpaNER:
    """What ``nlp.add_pipe("seqpa_ner", config={...})`` calls.

    Parameters
    ----------
    nlp : Language
        The pipeline.
    name : str
        Of the component.
    model : str or None
        A model file of seqpa to tag with.
    parameters : dict
        Parameters of `SequenceTagger`.

    Returns
    -------
    SeqpaNER
        The component.
    """
    return SeqpaNER(nlp.vocab, name, model, parameters)


@Language.factory(
    "seqpa_tagger",
    assigns=["token.tag"],
    default_config=_DEFAULTS,
    default_score_weights={"tag_acc": 1.0},
)
def make_tagger(
    nlp: Language, name: str, model: str | None, parameters: dict[str, Any]
) -> SeqpaTagger:
    """What ``nlp.add_pipe("seqpa_tagger", config={...})`` calls.

    Parameters
    ----------
    nlp : Language
        The pipeline.
    name : str
        Of the component.
    model : str or None
        A model file of seqpa to tag with.
    parameters : dict
        Parameters of `SequenceTagger`.

    Returns
    -------
    SeqpaTagger
        The component.
    """
    return SeqpaTagger(nlp.vocab, name, model, parameters)


def _data(lessons: Iterable[_Lesson]) -> tuple[Any, list[list[str | None]]]:
    """The sentences that have labels, with the documents that they are of."""
    X: list[list[str]] = []
    y: list[list[str | None]] = []
    names: list[int] = []
    for number, (words, labels, places) in enumerate(lessons):
        for begin, end in places:
            if any(label is not None for label in labels[begin:end]):
                X.append(words[begin:end])
                y.append(labels[begin:end])
                names.append(number)
    return in_documents(X, names), y


def _documents(given: Any, vocab: Vocab) -> list[Doc]:
    if isinstance(given, str | Path):
        if not Path(given).is_file():
            raise SeqpaError(f"{given}: no such file; give a .spacy file, as DocBin writes it")
        given = DocBin().from_disk(given)
    return list(given.get_docs(vocab) if isinstance(given, DocBin) else given)


def _sentences(doc: Doc) -> list[tuple[int, int]]:
    """Where its sentences begin and end; the whole of it where they are not known."""
    if doc.has_annotation("SENT_START"):
        return [(sentence.start, sentence.end) for sentence in doc.sents]
    return [(0, len(doc))] if len(doc) else []
