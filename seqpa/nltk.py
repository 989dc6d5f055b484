"""The tagger with the interface of NLTK's own taggers and chunkers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nltk.chunk.api import ChunkParserI
from nltk.chunk.util import conlltags2tree, tree2conlltags
from nltk.tag.api import TaggerI
from nltk.tree import Tree

from seqpa.errors import NotTrainedError, SeqpaError
from seqpa.pycrfsuite.items import as_items
from seqpa.pycrfsuite.parameters import PARAMETERS, find, tagger_parameters
from seqpa.sequence.tagger import SequenceTagger

FeatureFunction = Callable[[Sequence[Any], int], Any]


class _Train:
    """A method that is also one of the class, where it trains a new tagger."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __get__(self, tagger: Any, kind: type) -> Callable[..., Any]:
        bound = partial(self._function, kind() if tagger is None else tagger)
        bound.__doc__ = self.__doc__
        return bound


class SeqpaTagger(TaggerI):
    """A `SequenceTagger` behind NLTK's tagger interface: ``tag``, ``tag_sents``, ``accuracy``, ...

    It stands where NLTK's own taggers stand: ``SeqpaTagger(train_sents)`` as
    ``UnigramTagger(train_sents)``, ``SeqpaTagger().train(sents)`` as ``PerceptronTagger``,
    ``SeqpaTagger(function).train(sents, path)`` as ``CRFTagger``. Tokens are words, or tuples of
    columns where the SequenceTagger has several.

    Parameters
    ----------
    tagger : SequenceTagger, function, iterable of sentences or None, default None
        A trained tagger; the same as `feature_func`; or sentences of (token, tag) pairs to train
        on.
    feature_func : function or None, default None
        From the tokens of a sentence and the place of one to its features: a list of strings or a
        dict.
    verbose : bool, default False
        Print a line for each epoch.
    training_opt : mapping or None, default None
        Parameters of CRFsuite's "lbfgs", as NLTK's CRFTagger takes them; see
        `seqpa.pycrfsuite.parameters`.
    **parameters : object
        Parameters of `SequenceTagger`.

    Examples
    --------
    >>> sentences = [[("the", "D"), ("dog", "N"), ("barks", "V")], [("a", "D"), ("bark", "N")]]
    >>> tagger = SeqpaTagger(random_state=1).train(sentences)
    >>> tagger.tag(["a", "dog"])
    [('a', 'D'), ('dog', 'N')]
    >>> tagger.accuracy([[("the", "D"), ("bark", "N")]])
    1.0
    >>> ends = SeqpaTagger(lambda tokens, i: [tokens[i][-1:], f"place={i}"]).train(sentences)
    >>> ends.tag(["the", "frog"])
    [('the', 'D'), ('frog', 'N')]
    """

    def __init__(
        self,
        tagger: Any = None,
        feature_func: FeatureFunction | None = None,
        verbose: bool = False,
        training_opt: Mapping[str, Any] | None = None,
        **parameters: Any,
    ) -> None:
        if callable(tagger) and not isinstance(tagger, SequenceTagger):
            tagger, feature_func = None, tagger
        self.feature_func = feature_func
        self.verbose = verbose
        if training_opt:
            parameters = {**_options(training_opt), **parameters}
        if feature_func is not None:
            parameters["features"] = None
        if isinstance(tagger, SequenceTagger):
            self.tagger = tagger
            return
        self.tagger = SequenceTagger(**parameters)
        if tagger is not None:
            self.train(tagger)

    @_Train
    def train(
        self: SeqpaTagger,
        tagged_sents: Iterable[Iterable[tuple[Any, str]]],
        path: Any = None,
        nr_iter: int | None = None,
        dev: Iterable[Iterable[tuple[Any, str]]] | None = None,
        **parameters: Any,
    ) -> SeqpaTagger:
        """Train on sentences of (token, tag) pairs, as ``corpus.tagged_sents()`` gives them.

        Of the class, ``SeqpaTagger.train(...)``, it trains a new tagger.

        Parameters
        ----------
        tagged_sents : iterable of sentences
            Lists of (token, tag) pairs.
        path : str, Path or None, default None
            Where to write the model. Sentences here are taken for `dev`.
        nr_iter : int or None, default None
            How many epochs.
        dev : iterable of sentences or None, default None
            Sentences on which the best epoch is chosen.
        **parameters : object
            Parameters of `SequenceTagger`.

        Returns
        -------
        SeqpaTagger
            The trained tagger.
        """
        if path is not None and not isinstance(path, str | Path):
            path, dev = None, path
        if nr_iter is not None:
            parameters["epochs"] = nr_iter
        self.tagger.set_params(**parameters)
        X, y = self._split(tagged_sents)
        for epoch in self.tagger.training(X, y, None if dev is None else self._split(dev)):
            if self.verbose:
                print(f"epoch {epoch.number}: loss {epoch.loss:.4f}", flush=True)
        if path is not None:
            self.save(path)
        return self

    def _split(
        self, sentences: Iterable[Iterable[tuple[Any, str]]]
    ) -> tuple[list[list[Any]], list[list[str]]]:
        held = [list(sentence) for sentence in sentences]
        tokens = [[token for token, _ in sentence] for sentence in held]
        return self._seen(tokens), [[tag for _, tag in sentence] for sentence in held]

    def _seen(self, sentences: list[list[Any]]) -> list[list[Any]]:
        """What the SequenceTagger is given of sentences."""
        function = self.feature_func
        if function is None:
            return sentences
        return [as_items(function(tokens, i) for i in range(len(tokens))) for tokens in sentences]

    def tag(self, tokens: Iterable[Any]) -> list[tuple[Any, str]]:
        """Tag one sentence.

        Parameters
        ----------
        tokens : iterable
            Its tokens.

        Returns
        -------
        list of (token, tag)
            The tokens with their tags.
        """
        return self.tag_sents([tokens])[0]

    def tag_sents(self, sentences: Iterable[Iterable[Any]]) -> list[list[tuple[Any, str]]]:
        """Tag many sentences at once, which is faster than one by one.

        Parameters
        ----------
        sentences : iterable of iterables
            Their tokens.

        Returns
        -------
        list of lists of (token, tag)
            The tokens of each sentence with their tags.
        """
        given = [list(sentence) for sentence in sentences]
        tags = self.tagger.predict(self._seen(given))
        return [list(zip(*pair, strict=True)) for pair in zip(given, tags, strict=True)]

    def save(self, path: str | Path) -> None:
        """Write the model file; a feature function is not in it.

        Parameters
        ----------
        path : str or Path
            Where to.
        """
        self.tagger.save(path)

    @classmethod
    def load(cls, path: str | Path, feature_func: FeatureFunction | None = None) -> SeqpaTagger:
        """Read a model file.

        Parameters
        ----------
        path : str or Path
            The file.
        feature_func : function or None, default None
            That with which it was trained, if there was one.

        Returns
        -------
        SeqpaTagger
            The tagger in it.
        """
        return cls(SequenceTagger.load(path), feature_func)

    def set_model_file(self, model_file: str | Path) -> None:
        """Tag with the model in a file from now on, as NLTK's CRFTagger does.

        Parameters
        ----------
        model_file : str or Path
            The file.
        """
        self.tagger = SequenceTagger.load(model_file)


class SeqpaChunker(ChunkParserI):
    """A chunker over trees: ``SeqpaChunker(train_trees).parse(tagged_sentence)``.

    It learns IOB tags from the chunks of trees, as ``conll2000.chunked_sents()`` has them, and
    makes trees of the tags that it predicts. Leaves are (word, tag) pairs, or words.

    Parameters
    ----------
    train : iterable of trees or None, default None
        To train on.
    tagger : SequenceTagger or None, default None
        A trained one, of IOB tags.
    root_label : str, default "S"
        The label of the trees that `parse` makes.
    **parameters : object
        Parameters of `SequenceTagger`; features are "chunk", or "ner" where leaves are words.

    Examples
    --------
    >>> text = "(S (NP the/D dog/N) saw/V (NP a/D cat/N))"
    >>> tree = Tree.fromstring(text, read_leaf=lambda leaf: tuple(leaf.split("/")))
    >>> chunker = SeqpaChunker([tree], random_state=1)
    >>> print(chunker.parse([("a", "D"), ("dog", "N"), ("saw", "V")]))
    (S (NP a/D dog/N) saw/V)
    >>> chunker.accuracy([tree]).f_measure()
    1.0
    """

    def __init__(
        self,
        train: Iterable[Tree] | None = None,
        tagger: SequenceTagger | None = None,
        root_label: str = "S",
        **parameters: Any,
    ) -> None:
        self.root_label = root_label
        self.tagger = tagger
        self._parameters = parameters
        if train is not None:
            self.train(train)

    def train(self, trees: Iterable[Tree], dev: Iterable[Tree] | None = None) -> SeqpaChunker:
        """Learn the chunks of trees.

        Parameters
        ----------
        trees : iterable of trees
            Each with its chunks below the root.
        dev : iterable of trees or None, default None
            Trees on which the best epoch is chosen.

        Returns
        -------
        SeqpaChunker
            Itself.
        """
        X, y = _chunks(trees)
        word_only = all(isinstance(token, str) for tokens in X for token in tokens)
        given: dict[str, Any] = {"features": "ner" if word_only else "chunk"}
        given["columns"] = ("word",) if word_only else ("word", "pos")
        tagger = SequenceTagger(**{**given, **self._parameters})
        self.tagger = tagger.fit(X, y, dev=None if dev is None else _chunks(dev))
        return self

    def parse(self, tokens: Iterable[Any]) -> Tree:
        """The chunks of one sentence.

        Parameters
        ----------
        tokens : iterable
            (word, tag) pairs, or words, as the leaves were in training; a tree stands for its
            leaves.

        Returns
        -------
        Tree
            With a subtree for each chunk.
        """
        return self.parse_sents([tokens])[0]

    def parse_sents(self, sentences: Iterable[Iterable[Any]]) -> list[Tree]:
        """The chunks of many sentences at once, which is faster than one by one.

        Parameters
        ----------
        sentences : iterable of iterables
            As for `parse`.

        Returns
        -------
        list of trees
            One for each sentence.
        """
        if self.tagger is None:
            raise NotTrainedError("this SeqpaChunker is not trained yet: give it trees")
        held = [list(s.leaves()) if isinstance(s, Tree) else list(s) for s in sentences]
        leaves = [[tuple(leaf) if isinstance(leaf, list) else leaf for leaf in s] for s in held]
        tags = self.tagger.predict(leaves)
        return [self._tree(*pair) for pair in zip(leaves, tags, strict=True)]

    def _tree(self, leaves: list[Any], tags: list[str]) -> Tree:
        # NLTK's own function wants pairs.
        triples = [(*_pair(leaf), tag) for leaf, tag in zip(leaves, tags, strict=True)]
        tree = conlltags2tree(triples, root_label=self.root_label)
        if leaves and isinstance(leaves[0], str):
            for place, leaf in zip(tree.treepositions("leaves"), leaves, strict=True):
                tree[place] = leaf
        return tree

    def save(self, path: str | Path) -> None:
        """Write the model file.

        Parameters
        ----------
        path : str or Path
            Where to.
        """
        if self.tagger is None:
            raise NotTrainedError("this SeqpaChunker is not trained yet: give it trees")
        self.tagger.save(path)

    @classmethod
    def load(cls, path: str | Path, root_label: str = "S") -> SeqpaChunker:
        """Read a model file.

        Parameters
        ----------
        path : str or Path
            The file.
        root_label : str, default "S"
            The label of the trees that `parse` makes.

        Returns
        -------
        SeqpaChunker
            The chunker in it.
        """
        return cls(tagger=SequenceTagger.load(path), root_label=root_label)


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a SequenceTagger for those of CRFsuite's default trainer."""
    values = {parameter.name: parameter.default for parameter in PARAMETERS["lbfgs"]}
    values |= {name: find("lbfgs", name).read(value) for name, value in given.items()}
    made = tagger_parameters("lbfgs", values)
    del made["features"]
    return made


def _pair(leaf: Any) -> tuple[str, str]:
    return (leaf, "") if isinstance(leaf, str) else (leaf[0], leaf[1])


def _chunks(trees: Iterable[Tree]) -> tuple[list[list[Any]], list[list[str]]]:
    X: list[list[Any]] = []
    y: list[list[str]] = []
    for number, tree in enumerate(trees, start=1):
        leaves = list(tree.leaves())
        paired = tree.copy(deep=True)
        for place, leaf in zip(tree.treepositions("leaves"), leaves, strict=True):
            paired[place] = _pair(leaf)
        try:
            tags = [tag for _, _, tag in tree2conlltags(paired)]
        except ValueError as error:
            raise SeqpaError(f"tree {number}: {error}") from None
        X.append([leaf if isinstance(leaf, str) else tuple(leaf) for leaf in leaves])
        y.append(tags)
    return X, y
