"""The tagger with the interface of NLTK's own taggers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from nltk.tag.api import TaggerI

from seqpa.sequence.tagger import SequenceTagger


class SeqpaTagger(TaggerI):
    """A `SequenceTagger` behind NLTK's tagger interface: ``tag``, ``tag_sents``, ``accuracy``, ...

    Tokens are words, or tuples of columns where the SequenceTagger has several.

    Parameters
    ----------
    tagger : SequenceTagger
        A trained tagger.

    Examples
    --------
    >>> sentences = [[("the", "D"), ("dog", "N"), ("barks", "V")], [("a", "D"), ("bark", "N")]]
    >>> tagger = SeqpaTagger.train(sentences, random_state=1)
    >>> tagger.tag(["a", "dog"])
    [('a', 'D'), ('dog', 'N')]
    >>> tagger.accuracy([[("the", "D"), ("bark", "N")]])
    1.0
    """

    def __init__(self, tagger: SequenceTagger) -> None:
        self.tagger = tagger

    @classmethod
    def train(
        cls,
        tagged_sents: Iterable[Sequence[tuple[Any, str]]],
        dev: Iterable[Sequence[tuple[Any, str]]] | None = None,
        **parameters: Any,
    ) -> SeqpaTagger:
        """Train on sentences of (token, tag) pairs, as ``corpus.tagged_sents()`` gives them.

        Parameters
        ----------
        tagged_sents : iterable of sentences
            Lists of (token, tag) pairs.
        dev : iterable of sentences or None, default None
            Sentences on which the best epoch is chosen.
        **parameters : object
            Parameters of `SequenceTagger`.

        Returns
        -------
        SeqpaTagger
            The trained tagger.
        """
        tagger = SequenceTagger(**parameters)
        tagger.fit(*_split(tagged_sents), dev=None if dev is None else _split(dev))
        return cls(tagger)

    def tag(self, tokens: Sequence[Any]) -> list[tuple[Any, str]]:
        """Tag one sentence.

        Parameters
        ----------
        tokens : sequence
            Its tokens.

        Returns
        -------
        list of (token, tag)
            The tokens with their tags.
        """
        return self.tagger.tag(tokens)

    def tag_sents(self, sentences: Iterable[Sequence[Any]]) -> list[list[tuple[Any, str]]]:
        """Tag many sentences at once, which is faster than one by one.

        Parameters
        ----------
        sentences : iterable of sequences
            Their tokens.

        Returns
        -------
        list of lists of (token, tag)
            The tokens of each sentence with their tags.
        """
        given = [list(sentence) for sentence in sentences]
        tags = self.tagger.predict(given)
        return [list(zip(*pair, strict=True)) for pair in zip(given, tags, strict=True)]

    def save(self, path: str | Path) -> None:
        """Write the model file.

        Parameters
        ----------
        path : str or Path
            Where to.
        """
        self.tagger.save(path)

    @classmethod
    def load(cls, path: str | Path) -> SeqpaTagger:
        """Read a model file.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        SeqpaTagger
            The tagger in it.
        """
        return cls(SequenceTagger.load(path))


def _split(
    sentences: Iterable[Sequence[tuple[Any, str]]],
) -> tuple[list[list[Any]], list[list[str]]]:
    held = [list(sentence) for sentence in sentences]
    tokens = [[token for token, _ in sentence] for sentence in held]
    return tokens, [[tag for _, tag in sentence] for sentence in held]
