"""The one exception that tells a user what is wrong with what they gave."""

from __future__ import annotations


class SeqpaError(ValueError):
    """A mistake in the user's input: a file, a model, a configuration, a template.

    The message is one sentence that says where it is (file and line, or the character of a
    template), what is wrong and what would be right. The command line prints it and exits with 2.

    >>> raise SeqpaError("train.conll:17: 2 columns where 3 are configured: word, pos, label")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: train.conll:17: 2 columns where 3 are configured: word, pos, label
    """


class NotTrainedError(SeqpaError, AttributeError):
    """A question that only a trained tagger can answer.

    Also an AttributeError, as scikit-learn's NotFittedError: `hasattr(tagger, "state_features_")`
    is False before training instead of an error.
    """
