"""The errors and warnings about what users gave, and the one "did you mean"."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

# How alike two words must be, as difflib measures it: "boi" and "bio" are, "x" and "bio" are not.
_LIKENESS = 0.5
# So many known words are listed in a message; the rest is counted.
_LISTED = 20


class SeqpaError(ValueError):
    """A mistake in the user's input: a file, a model, a configuration, a template.

    The message is one sentence that says where it is (file and line, or the character of a
    template), what is wrong and what would be right. The command line prints it and exits with 2.

    Examples
    --------
    >>> raise SeqpaError("train.conll:17: 2 columns where 3 are configured: word, pos, label")
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: train.conll:17: 2 columns where 3 are configured: word, pos, label
    """


class SeqpaWarning(UserWarning):
    """What a user should know though the work goes on: something in the input was not as it should.

    The command line prints it as one line, ``seqpa: warning: ...``.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     warnings.warn("a.conll:6: I-LOC begins a span", SeqpaWarning)
    >>> str(told[0].message)
    'a.conll:6: I-LOC begins a span'
    """


class NotTrainedError(SeqpaError, AttributeError):
    """A question that only a trained tagger can answer.

    What is raised (by `not_trained`) also is scikit-learn's NotFittedError, and as that one an
    AttributeError: `hasattr(tagger, "state_features_")` is False before training instead of an
    error.

    Examples
    --------
    >>> from seqpa import SequenceTagger
    >>> hasattr(SequenceTagger(["word[0]"]), "state_features_")
    False
    """


def not_trained(message: str) -> NotTrainedError:
    """The error for a question that comes before training.

    Parameters
    ----------
    message : str
        What is wrong, and what would be right.

    Returns
    -------
    NotTrainedError
        Also a NotFittedError of scikit-learn's, which is imported only here: it takes its time.

    Examples
    --------
    >>> from sklearn.exceptions import NotFittedError
    >>> isinstance(not_trained("call fit"), NotFittedError)
    True
    """
    return _not_fitted_class()(message)


@cache
def _not_fitted_class() -> type[NotTrainedError]:
    from sklearn.exceptions import NotFittedError

    def reduced(self: Exception) -> tuple[Callable[[str], NotTrainedError], tuple[str]]:
        return not_trained, (str(self),)  # its class has no place to be imported from

    members = {
        "__module__": __name__,
        "__doc__": NotTrainedError.__doc__,
        "__reduce__": reduced,
    }
    return type("NotTrainedError", (NotTrainedError, NotFittedError), members)


def did_you_mean(
    word: object,
    known: Iterable[object],
    *,
    listed: bool = True,
    shown: Callable[[object], str] = repr,
) -> str:
    """The end of a message about an unknown word: the known word that was probably meant.

    Upper and lower case are alike.

    Parameters
    ----------
    word : object
        What was given; compared by its text.
    known : iterable
        What would have been right.
    listed : bool
        Where nothing is near, list what is known; otherwise say nothing.
    shown : callable
        How the near word is written in the message.

    Returns
    -------
    str
        Begins with a semicolon, or is empty.

    Examples
    --------
    >>> did_you_mean("epoch", ["average", "epochs"])
    "; did you mean 'epochs'?"
    >>> did_you_mean("c", ["algorithm", "C"])
    "; did you mean 'C'?"
    >>> did_you_mean("x", ["average", "epochs"])
    '; there are average, epochs'
    >>> did_you_mean("x", ["average", "epochs"], listed=False)
    ''
    """
    from difflib import get_close_matches  # only where something is wrong

    by_text = {str(name).lower(): name for name in known}
    near = get_close_matches(str(word).lower(), by_text, 1, _LIKENESS)
    if near:
        return f"; did you mean {shown(by_text[near[0]])}?"
    if not listed or not by_text:
        return ""
    names = [str(name) for name in by_text.values()]
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"; there are {', '.join(names[:_LISTED])}{more}"
