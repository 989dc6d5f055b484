"""What a tagger that has learned says of sentences: labels, probabilities, reasons, what to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqpa._kernel.strings import spell
from seqpa.data.corpus import Corpus
from seqpa.errors import SeqpaError
from seqpa.schemes import boundaries, marks_spans
from seqpa.sequence import training
from seqpa.sequence.arguments import check_whole, fixed_indices
from seqpa.sequence.constraints import penalties
from seqpa.sequence.encode import Encoded
from seqpa.sequence.explain import TokenExplanation, explain
from seqpa.sequence.inputs import given_labels, in_documents
from seqpa.sequence.live import LiveTagging
from seqpa.sequence.marginals import Probabilities, SpanProbability
from seqpa.sequence.select import Words, check_strategy, select, worths
from seqpa.sequence.tagging import Tagging
from seqpa.sequence.trained import Learned, Trained


def _plain_sentences(X: Any) -> Any:
    return X.X if isinstance(X, Corpus) else X


class Answers:
    """The half of `seqpa.SequenceTagger` that is asked; the other half learns.

    Attributes
    ----------
    average, constraints, n_jobs, n_best, random_state : parameters of the tagger
    """

    average: bool
    constraints: Any
    n_jobs: int
    n_best: int
    random_state: Any
    _learned: Learned
    # Labels by their text, where they were given as numbers or members of enums.
    _values: Mapping[str, Any]

    # Labels

    def predict(self, X: Any, fixed: Any = None, documents: Any = None) -> list[list[str]]:
        """The best label list of each sentence.

        Safe to call from many threads, also while one of them learns: a sentence is tagged with the
        weights before or after an update.

        Parameters
        ----------
        X : list of sentences, or a corpus
        fixed : None, or a list for each sentence
            The label that a token must get, or None where it is free.
        documents : None, or a list
            For each sentence the name of its document, for `elsewhere` in templates and for two
            stages; where nothing is known of documents, all sentences are one.

        Returns
        -------
        list of lists of str
        """
        tagging = self._tagging()
        X = in_documents(X, documents)
        given = None if fixed is None else fixed_indices(X, fixed, self.classes_)
        found = tagging.predict(X, given, self.n_jobs)
        return [self._as_given(labels) for labels in found] if self._values else found

    def predict_one(self, tokens: Sequence[Any]) -> list[str]:
        """The best labels of one sentence.

        Parameters
        ----------
        tokens : list of tokens

        Returns
        -------
        list of str

        Examples
        --------
        >>> from seqpa import SequenceTagger
        >>> tagger = SequenceTagger(["word[0]"]).fit([["so", "it"]], [["A", "P"]])
        >>> tagger.predict_one(["it"])
        ['P']
        """
        return self._as_given(self._tagging().predict([tokens])[0])

    def tag(self, tokens: Sequence[Any]) -> list[tuple[Any, str]]:
        """The tokens of one sentence, each with its label.

        Parameters
        ----------
        tokens : list of tokens

        Returns
        -------
        list of (token, label)
        """
        labels = self.predict_one(tokens)
        return list(zip(tokens, labels, strict=True))

    def predict_nbest(
        self, X: Any, k: int, documents: Any = None, fixed: Any = None
    ) -> list[list[tuple[float, list[str]]]]:
        """For each sentence the k best label lists with their scores, best first.

        Parameters
        ----------
        X : list of sentences, or a corpus
        k : int
        documents : None, or a list
            For each sentence the name of its document, for `elsewhere` in templates and for two
            stages; where nothing is known of documents, all sentences are one.
        fixed : None, or a list for each sentence
            The label that a token must get, or None where it is free.

        Returns
        -------
        list of lists of (score, labels)
            Fewer than k where a sentence has fewer (legal) label sequences.
        """
        check_whole("k", k, 1)
        labels = self.classes_  # their numbers never change, more may come
        tagging = self._tagging()
        X = in_documents(X, documents)
        given = None if fixed is None else fixed_indices(X, fixed, labels)
        encoded, decoder = tagging.prepared(X)
        return [
            [
                (score, self._as_given([labels[label] for label in path]))
                for score, path in decoder.nbest(encoded, i, int(k), given)
            ]
            for i in range(len(encoded.starts) - 1)
        ]

    def confidence(self, X: Any, documents: Any = None) -> list[tuple[float, list[float]]]:
        """For each sentence how sure the tagger is of it, and of each of its labels.

        A token's confidence is by how much the predicted sequence beats the best one that has
        another label there; the sentence's, by how much it beats every other: the least of them.
        Infinite where there is no alternative.

        Parameters
        ----------
        X : list of sentences, or a corpus
        documents : None, or a list
            For each sentence the name of its document, for `elsewhere` in templates and for two
            stages; where nothing is known of documents, all sentences are one.

        Returns
        -------
        list of (float, list of float)
        """
        encoded, decoder = self._tagging().prepared(in_documents(X, documents))
        result = []
        for i in range(len(encoded.starts) - 1):
            margins = decoder.margins(encoded, i)
            result.append((float(margins.min(initial=np.inf)), margins.tolist()))
        return result

    def explain(
        self, sentence: Sequence[Any], before: Any = (), after: Any = ()
    ) -> list[TokenExplanation]:
        """Why each token of one sentence got its label: see `seqpa.sequence.explain`.

        Parameters
        ----------
        sentence : list of tokens
        before, after : lists of sentences
            Those of its document, where the tagger looks beyond the sentence (see `reach_`).

        Returns
        -------
        list of TokenExplanation
        """
        evidence = self._tagging().evidence([*before, sentence, *after], len(before))
        return explain(sentence, evidence, penalties(self.constraints, evidence.labels))

    def score(self, X: Any, y: Any = None, documents: Any = None) -> float:
        """The share of tokens that get the right label, of those whose label is known.

        Parameters
        ----------
        X : list of sentences, or a corpus
        y : list of label lists
            Not needed where X is a corpus with labels.
        documents : None, or a list
            For each sentence the name of its document, for `elsewhere` in templates and for two
            stages; where nothing is known of documents, all sentences are one.

        Returns
        -------
        float
        """
        X = in_documents(X, documents)
        flat = given_labels(X, y)
        predicted = [label for labels in self._tagging().predict(X) for label in labels]
        known = len(flat) - flat.count(None)
        if not known:
            raise SeqpaError("there is no token to score: every sentence is empty")
        return sum(g == p for g, p in zip(flat, predicted, strict=True)) / known

    # Probabilities

    def predict_marginals(
        self, X: Any, documents: Any = None, fixed: Any = None
    ) -> list[list[dict[str, float]]]:
        """For each token of each sentence how probable each label is.

        Summed over all label sequences that the constraints allow. The probabilities are as good as
        the scale that makes them of scores: see `calibrate`.

        Parameters
        ----------
        X : list of sentences, or a corpus
        documents : None, or a list
            For each sentence the name of its document, for `elsewhere` in templates and for two
            stages; where nothing is known of documents, all sentences are one.
        fixed : None, or a list for each sentence
            The label that a token must get, or None where it is free: probabilities are then those
            among the label sequences that have these labels.

        Returns
        -------
        list of lists of {label: probability}

        Examples
        --------
        >>> from seqpa import SequenceTagger
        >>> tagger = SequenceTagger(["word[0]"]).fit([["so", "it"]], [["A", "P"]])
        >>> [round(token["P"], 3) for token in tagger.predict_marginals([["so", "it"]])[0]]
        [0.365, 0.635]
        """
        X = in_documents(X, documents)
        given = None if fixed is None else fixed_indices(X, fixed, self.classes_)
        probabilities, encoded, labels = self._probabilities(X)
        rows = probabilities.tokens(encoded, self.n_jobs, given).tolist()
        named = [dict(zip(labels, row, strict=True)) for row in rows]
        return [named[a:b] for a, b in pairwise(encoded.starts.tolist())]

    def predict_with_probability(
        self, X: Any, documents: Any = None
    ) -> list[list[tuple[str, float]]]:
        """The best label list of each sentence, each label with its probability.

        The labels are those of `predict`, the probabilities those of `predict_marginals`. The best
        sequence as a whole need not have the most probable label at every token.

        Parameters
        ----------
        X : list of sentences, or a corpus
        documents : None, or a list
            For each sentence the name of its document, for `elsewhere` in templates and for two
            stages; where nothing is known of documents, all sentences are one.

        Returns
        -------
        list of lists of (label, probability)

        Examples
        --------
        >>> from seqpa import SequenceTagger
        >>> tagger = SequenceTagger(["word[0]"]).fit([["so", "it"]], [["A", "P"]])
        >>> [(label, round(p, 3)) for label, p in tagger.predict_with_probability([["it"]])[0]]
        [('P', 0.591)]
        """
        probabilities, encoded, names = self._probabilities(in_documents(X, documents))
        path = probabilities.decoder.decode(encoded)
        told = probabilities.tokens(encoded, self.n_jobs)[np.arange(len(path)), path].tolist()
        ends = encoded.starts.tolist()
        return [
            list(zip(labels, told[a:b], strict=True))
            for labels, (a, b) in zip(
                spell(names, path, encoded.starts), pairwise(ends), strict=True
            )
        ]

    def predict_proba_spans(self, X: Any, documents: Any = None) -> list[list[SpanProbability]]:
        """The spans of each sentence's predicted labels, each with its probability.

        That is the probability of all label sequences together that have this span, with these very
        ends. The probabilities are as good as the scale that makes them of scores: see `calibrate`.

        Parameters
        ----------
        X : list of sentences, or a corpus
        documents : None, or a list
            For each sentence the name of its document, for `elsewhere` in templates and for two
            stages; where nothing is known of documents, all sentences are one.

        Returns
        -------
        list of lists of SpanProbability
            Type, start, end (not included) and probability.

        Examples
        --------
        >>> from seqpa import SequenceTagger
        >>> X, y = [["Ada", "of", "Lyon"]], [["B-PER", "O", "B-LOC"]]
        >>> tagger = SequenceTagger(["word[0]"], random_state=1).fit(X, y)
        >>> [span[:3] for span in tagger.predict_proba_spans(X)[0]]
        [('PER', 0, 1), ('LOC', 2, 3)]
        """
        probabilities, encoded, names = self._probabilities(in_documents(X, documents))
        if not marks_spans(names):
            raise SeqpaError(
                "the labels mark no spans (B-, I-, ...): for the probabilities of labels see "
                "predict_marginals"
            )
        path = probabilities.decoder.decode(encoded)
        labels = spell(names, path, encoded.starts)
        return probabilities.spans(encoded, labels, boundaries(names))

    # What to label next

    def select(
        self,
        X: Any,
        n: int,
        strategy: str = "margin",
        random_state: Any = None,
        labelled: Any = (),
    ) -> list[int]:
        """Which n sentences to label next, that which is asked for first first.

        Parameters
        ----------
        X : list of sentences, or a corpus
            Without labels; labels are not looked at.
        n : int
            How many; fewer come back where there are fewer. Empty sentences are never chosen.
        strategy : "margin", "least-confident", "entropy", "n-best-entropy", "density", "doubt",
            "coverage" or "random"
            The smallest margin of the best label sequence over the second by √length; the smallest
            probability of the best; the largest entropy of the probabilities of all sequences, or
            of the `n_best` best; that of all, weighed by how like the other sentences a sentence
            is; the most tokens that are probably wrong, for the work of a sentence; the same,
            weighed by how often the words are there for each time that they are labelled, those
            chosen before included; or chance. Probabilities want a scale: see `calibrate`.
        random_state : None, an int or a generator
            For "random"; None takes the tagger's own.
        labelled : list of sentences, or a corpus
            For "coverage": those that are labelled already.

        Returns
        -------
        list of int

        Examples
        --------
        >>> from seqpa import SequenceTagger
        >>> tagger = SequenceTagger(["word[0]"], average=False)
        >>> _ = tagger.learn_one(["so", "it", "is"], ["A", "P", "V"])
        >>> tagger.select([["so", "it"], ["new", "words"], []], 1)
        [1]
        """
        check_whole("n", n, 0)
        rng = training.generator(self.random_state if random_state is None else random_state)
        plain = self._tagging().encoded(X) if strategy == "density" else None
        probabilities, encoded, _ = self._probabilities(X)
        words = None
        if strategy == "coverage":
            words = Words(_plain_sentences(X), _plain_sentences(labelled))
        return select(encoded, probabilities, plain, n, strategy, self.n_best, rng, words)

    def worths(
        self, X: Any, strategy: str = "margin", token_weight: Any = None
    ) -> NDArray[np.float64]:
        """What each sentence would teach, by which `select` ranks them; −∞ for empty ones.

        Parameters
        ----------
        X : list of sentences, or a corpus
        strategy : str
            One of `select`, without "random". "density" compares the sentences with one another.
        token_weight : None, or for each sentence an array of numbers
            For "coverage": what each token is multiplied by; None counts the words of X.

        Returns
        -------
        array, (sentences,)

        Examples
        --------
        >>> from seqpa import SequenceTagger
        >>> tagger = SequenceTagger(["word[0]"], average=False)
        >>> _ = tagger.learn_one(["so", "it", "is"], ["A", "P", "V"])
        >>> int(tagger.worths([["so", "it"], ["new", "words"], []]).argmax())
        1
        """
        check_strategy(strategy)
        if strategy == "random":
            raise SeqpaError("chance ranks nothing: choose another strategy, or select")
        plain = self._tagging().encoded(X) if strategy == "density" else None
        probabilities, encoded, _ = self._probabilities(X)
        weights = None
        if strategy == "coverage":
            if token_weight is None:
                words = Words(_plain_sentences(X))
                token_weight = [words.weights(i) for i in range(len(X))]
            weights = np.concatenate([np.zeros(0), *token_weight])
            if len(weights) != encoded.starts[-1]:
                raise SeqpaError(
                    f"token_weight has {len(weights)} numbers for {encoded.starts[-1]} tokens"
                )
        return worths(encoded, probabilities, plain, strategy, self.n_best, weights)

    # What was learned

    @property
    def classes_(self) -> list[str]:
        """The labels."""
        return list(self._learned.labels)

    @property
    def n_iter_(self) -> int:
        """The epoch whose weights are kept."""
        return self._learned.epoch

    @property
    def reach_(self) -> int:
        """How many tokens before and behind a sentence tagging looks at; 0 for none."""
        return self._learned.source.reach

    @property
    def hops_(self) -> tuple[int, ...]:
        """`reach_` step by step, as `seqpa.sequence.streams` takes it.

        What is predicted for the sentences within the first number of tokens looks at those within
        the second around them, and so on.
        """
        return self._learned.source.hops

    @property
    def probability_scale_(self) -> float:
        """What scores are multiplied by to become exponents of probabilities.

        As `calibrate` fitted it, else 1: then probabilities tell which of two labels is the better
        one, and no more.
        """
        scale = self._learned.scale
        return 1.0 if scale is None else scale

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """(feature, label) -> weight, zeros left out."""
        return self._trained().state_features()

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """(label, next label) -> weight, zeros left out."""
        return self._trained().transition_features()

    @property
    def trained_(self) -> Trained:
        """What is learned, as a model file holds it."""
        return self._trained()

    def _trained(self) -> Trained:
        """The present weights and constraints, frozen."""
        return self._learned.take(self.average, self.constraints)

    def _tagging(self) -> Tagging | LiveTagging:
        """What tags with the present weights and constraints."""
        return self._learned.tagging(self.average, self.constraints)

    def _as_given(self, labels: list[str]) -> list[Any]:
        """Labels as they were given: numbers or enums where training had such."""
        values = self._values
        return [values.get(label, label) for label in labels] if values else labels

    def _probabilities(self, X: Any) -> tuple[Probabilities, Encoded, list[str]]:
        """What tells probabilities of sentences, the sentences, and the labels."""
        encoded, decoder = self._tagging().prepared(X)
        labels = self.classes_[: decoder.n_labels]  # their numbers never change, more may come
        return Probabilities(decoder, self.probability_scale_), encoded, labels
