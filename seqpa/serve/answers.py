"""From the bodies of requests to the bodies of answers: checking, cutting text, tagging, JSON.

Pure functions of bytes and models, which run in threads: nothing here waits or knows of HTTP, but
for the statuses of problems. Requests that want labels alone are answered together, in one call of
the tagger, and get the same labels as alone: each is a document of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import ValidationError

from seqpa.data.sentences import tokenized
from seqpa.data.tokenizer import Place
from seqpa.errors import SeqpaError, did_you_mean
from seqpa.schemes import spans
from seqpa.sequence.elsewhere import around
from seqpa.sequence.encode import starts_of
from seqpa.serve.messages import REQUEST, TagRequest, Token
from seqpa.serve.problems import Problem, as_json, invalid, shortened
from seqpa.serve.settings import Limits

if TYPE_CHECKING:
    from seqpa.sequence.explain import TokenExplanation
    from seqpa.serve.models import ServedModel

Sentence: TypeAlias = list[Any]
Find: TypeAlias = "Callable[[str | None], ServedModel]"

# So many features of a token are explained; the rest is one sum.
_FEATURES = 12
# So many of the most probable labels are told.
_ALTERNATIVES = 5


@dataclass(slots=True)
class Question:
    """A request that was understood.

    Parameters
    ----------
    request : TagRequest
    model : ServedModel
    sentences : list of lists of tokens
        As the tagger takes them.
    places : list of lists of (start, end), or None
        Of the tokens, where they were cut out of a text.
    """

    request: TagRequest
    model: ServedModel
    sentences: list[Sentence]
    places: list[list[Place]] | None

    @property
    def n_tokens(self) -> int:
        """How many tokens it has."""
        return sum(map(len, self.sentences))


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back, and how much work it was.

    Parameters
    ----------
    body : bytes
    sentences, tokens : int
    model : str
        The name of the model.
    """

    body: bytes
    sentences: int
    tokens: int
    model: str


Outcome: TypeAlias = Answer | Problem


# Understanding


def understood(body: bytes, find: Find, language: str, limits: Limits) -> Question:
    """Check a body and cut its text.

    Parameters
    ----------
    body : bytes
        JSON.
    find : function
        From a model's name, or None, to the model.
    language : str
        For text, where the request names none.
    limits : Limits

    Returns
    -------
    Question

    Raises
    ------
    Problem
        If it is no request, or too large a one.
    """
    try:
        request = REQUEST.validate_json(body)
    except ValidationError as error:
        raise invalid(error, TagRequest.model_fields) from None
    model = find(request.model)
    places = None
    sentences: list[Sentence]
    if request.text is not None:
        if len(model.columns) > 1:
            raise _needs_columns(model, "text")
        text = request.text
        places = tokenized(text, request.language or language)
        sentences = [[text[a:b] for a, b in own] for own in places]
    else:
        given = [request.tokens] if request.sentences is None else request.sentences
        sentences = [_cells(own or [], model) for own in given]
    question = Question(request, model, sentences, places)
    _check_size(question, limits)
    return question


def _cells(tokens: list[Token], model: ServedModel) -> Sentence:
    """Tokens as the tagger takes them: words, or tuples of cells."""
    n = len(model.columns)
    if n == 1:
        if not all(type(token) is str for token in tokens):
            raise Problem(422, f"the model {model.name!r} takes words: a token must be a string")
        return tokens
    if not all(type(token) is list and len(token) == n for token in tokens):
        raise _needs_columns(model, "words alone")
    return [tuple(token) for token in tokens]


def _needs_columns(model: ServedModel, given: str) -> Problem:
    return Problem(
        422,
        f"the model {model.name!r} cannot tag {given}: a token must be a list of "
        f"{len(model.columns)} strings: {', '.join(model.columns)}",
    )


def _check_size(question: Question, limits: Limits) -> None:
    request = question.request
    n = len(question.sentences)
    if n > limits.sentences:
        raise Problem(
            413, f"{n:,} sentences are more than {limits.sentences:,}: send fewer at once"
        )
    tokens = question.n_tokens
    if tokens > limits.tokens:
        raise Problem(413, f"{tokens:,} tokens are more than {limits.tokens:,}: send fewer at once")
    for i in request.only or ():
        if not 0 <= i < n:
            raise Problem(422, f"only: there is no sentence {i}: the request has {n:,}")
    if request.n_best > limits.n_best:
        raise Problem(422, f"n_best: {request.n_best:,} is more than {limits.n_best}")
    wanted = question.sentences
    if request.only is not None:
        wanted = [question.sentences[i] for i in request.only]
        if len(wanted) > n:
            raise Problem(422, "only: names a sentence twice")
    detailed = sum(map(len, wanted))
    if detailed > limits.detailed_tokens and (
        request.n_best > 1 or request.probabilities or request.explain
    ):
        raise Problem(
            413,
            f"{detailed:,} tokens are more than the {limits.detailed_tokens:,} for which n_best, "
            "probabilities and explain are answered at once",
        )


# Answering


def answer_plain(questions: Sequence[Question]) -> list[Outcome]:
    """Answer questions that want labels alone, all of one model, in one call of its tagger.

    Parameters
    ----------
    questions : sequence of Question

    Returns
    -------
    list of Answer or Problem
    """
    tagger = questions[0].model.tagger
    sentences = [own for question in questions for own in question.sentences]
    documents = None
    if tagger.reach_:
        documents = [i for i, one in enumerate(questions) for _ in one.sentences]
    try:
        labels = tagger.predict(sentences, documents=documents)
    except SeqpaError as error:
        if len(questions) == 1:
            return [Problem(422, str(error))]
        return [answer_plain([question])[0] for question in questions]
    found: list[Outcome] = []
    first = 0
    for question in questions:
        last = first + len(question.sentences)
        records = [_record(question, i, labels[first + i]) for i in range(len(question.sentences))]
        found.append(_answer(question, records))
        first = last
    return found


def answer_detailed(question: Question) -> Outcome:
    """Answer a question of any kind.

    Parameters
    ----------
    question : Question

    Returns
    -------
    Answer or Problem
    """
    request, tagger, sentences = question.request, question.model.tagger, question.sentences
    only = list(range(len(sentences))) if request.only is None else request.only
    try:
        fixed = _fixed(question)
        labels = tagger.predict(sentences, fixed=fixed) if sentences else []
        # Without what is not asked for; with it where the tagger looks at it.
        kept = only if tagger.reach_ else list(range(len(only)))
        seen = sentences if tagger.reach_ else [sentences[i] for i in only]
        if fixed is not None and not tagger.reach_:
            fixed = [fixed[i] for i in only]
        marginals = alone = n_best = None
        if request.probabilities:
            marginals = tagger.predict_marginals(seen, fixed=fixed)
        if request.explain:  # the model on its own, whatever is fixed
            known = marginals if fixed is None else None
            alone = tagger.predict_marginals(seen) if known is None else known
        if request.n_best > 1:
            n_best = tagger.predict_nbest(seen, request.n_best, fixed=fixed)
        records = []
        for i, at in zip(only, kept, strict=True):
            record = _record(question, i, labels[i])
            if marginals is not None:
                record["probabilities"] = [
                    told[label] for told, label in zip(marginals[at], labels[i], strict=True)
                ]
            if n_best is not None:
                record["n_best"] = [_reading(question, i, *one) for one in n_best[at]]
            if alone is not None:
                record["explanations"] = [
                    _explanation(one, told)
                    for one, told in zip(_explained(question, i), alone[at], strict=True)
                ]
            records.append(record)
    except Problem as problem:
        return problem
    except SeqpaError as error:
        return Problem(422, str(error))
    return _answer(question, records)


def _fixed(question: Question) -> list[list[str | None]] | None:
    """The fixed labels as the tagger takes them."""
    if not question.request.fixed:
        return None
    sentences, labels = question.sentences, question.model.tagger.classes_
    known = set(labels)
    begins = {
        start: (i, t)
        for i, own in enumerate(question.places or ())
        for t, (start, _) in enumerate(own)
    }
    found: list[list[str | None]] = [[None] * len(own) for own in sentences]
    for k, one in enumerate(question.request.fixed):
        if one.start is not None:
            if one.start not in begins:
                raise Problem(422, f"fixed[{k}]: no token begins at character {one.start}")
            i, t = begins[one.start]
        else:
            i, t = one.sentence, one.token or 0
            if i >= len(sentences) or t >= len(sentences[i]):
                raise Problem(422, f"fixed[{k}]: there is no token {t} in sentence {i}")
        if one.label not in known:
            told, hint = shortened(repr(one.label)), did_you_mean(one.label, labels)
            raise Problem(422, f"fixed[{k}]: there is no label {told}{hint}")
        found[i][t] = one.label
    return found


def _record(question: Question, i: int, labels: list[str]) -> dict[str, Any]:
    """A sentence with its labels and spans."""
    record: dict[str, Any] = {"tokens": question.sentences[i], "labels": labels}
    if question.places is not None:
        record["offsets"] = question.places[i]
    if question.model.marks_spans:
        record["spans"] = _spans(question, i, labels)
    return record


def _spans(question: Question, i: int, labels: list[str]) -> list[dict[str, Any]]:
    """What labels of sentence i mark."""
    found: list[dict[str, Any]] = []
    for kind, first, last in spans(labels):
        span: dict[str, Any] = {"type": kind, "start": first, "end": last}
        if question.places is not None and question.request.text is not None:
            start, end = question.places[i][first][0], question.places[i][last - 1][1]
            text = question.request.text[start:end]
            span |= {"start_char": start, "end_char": end, "text": text}
        found.append(span)
    return found


def _reading(question: Question, i: int, score: float, labels: list[str]) -> dict[str, Any]:
    told: dict[str, Any] = {"score": score, "labels": labels}
    if question.model.marks_spans:
        told["spans"] = _spans(question, i, labels)
    return told


def _explained(question: Question, i: int) -> list[TokenExplanation]:
    """Why the tokens of sentence i have their labels, looked at in its context."""
    tagger, sentences = question.model.tagger, question.sentences
    before: list[Sentence] = []
    behind: list[Sentence] = []
    if tagger.reach_:
        starts = starts_of(list(map(len, sentences)), question.n_tokens)
        seen = around(starts, slice(i, i + 1), *tagger.hops_)
        before, behind = sentences[seen.start : i], sentences[i + 1 : seen.stop]
    return tagger.explain(sentences[i], before, behind)


def _explanation(one: TokenExplanation, told: dict[str, float]) -> dict[str, Any]:
    likely = sorted(told.items(), key=lambda pair: (-pair[1], pair[0]))[:_ALTERNATIVES]
    return {
        "label": one.label,
        "runner_up": one.runner_up,
        "margin": one.margin,
        "features": [
            {"name": part.name, "chosen": part.chosen, "runner_up": part.runner_up}
            for part in one.summed(_FEATURES).contributions
        ],
        "alternatives": [{"label": label, "probability": p} for label, p in likely],
    }


def _answer(question: Question, records: list[dict[str, Any]]) -> Answer:
    model = question.model
    body = as_json({"model": model.name, "version": model.version, "sentences": records})
    return Answer(body, len(records), question.n_tokens, model.name)
