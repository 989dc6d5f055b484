"""What requests and answers hold: one definition for checking, for OpenAPI and for the docs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from seqpa.data.languages import LANGUAGES
from seqpa.serve.problems import shortened

Token = str | list[str]
_TEXT = "Anna Norvell flew to Lyon."
_EXAMPLES: dict[str, dict[str, Any]] = {
    "a text": {"text": _TEXT},
    "tokens, in detail": {"tokens": ["Anna", "left"], "n_best": 3, "probabilities": True},
    "sentences": {"sentences": [["Anna", "left"], ["Lyon", "too"]]},
    "a fixed label": {"text": _TEXT, "fixed": [{"start": 21, "label": "O"}], "explain": True},
}


def _known_language(name: str) -> str:
    if name not in LANGUAGES:
        raise ValueError(f"{shortened(repr(name))} is none of {', '.join(LANGUAGES)}")
    return name


Language = Annotated[
    str, AfterValidator(_known_language), Field(json_schema_extra={"enum": list(LANGUAGES)})
]


class FixedLabel(BaseModel):
    """A label that a token must get."""

    model_config = ConfigDict(extra="forbid", strict=True)

    label: str
    sentence: Annotated[int, Field(ge=0, description="Counted from 0.")] = 0
    token: Annotated[
        int | None, Field(ge=0, description="Counted from 0, within its sentence.")
    ] = None
    start: Annotated[
        int | None, Field(ge=0, description="Of a text: the character at which the token begins.")
    ] = None

    @model_validator(mode="after")
    def _one_place(self) -> FixedLabel:
        if (self.token is None) == (self.start is None):
            raise ValueError('say which token: by "token" (and "sentence"), or by "start"')
        return self


class TagRequest(BaseModel):
    """A text, the tokens of one sentence, or many sentences, and what is wanted of them."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": list(_EXAMPLES.values())},
    )

    text: Annotated[str | None, Field(description="Cut into sentences and words here.")] = None
    tokens: Annotated[
        list[Token] | None,
        Field(
            description="One sentence; a token is a word, or a list with a cell for each column."
        ),
    ] = None
    sentences: Annotated[list[list[Token]] | None, Field(description="Several.")] = None
    model: Annotated[str | None, Field(description="Its name; the first if not given.")] = None
    language: Annotated[
        Language | None, Field(description="How text is cut; as the service was told if not given.")
    ] = None
    n_best: Annotated[
        int, Field(ge=1, description="So many readings of each sentence, best first.")
    ] = 1
    probabilities: Annotated[bool, Field(description="How probable each label is.")] = False
    explain: Annotated[
        bool, Field(description="Why each token got its label: what spoke for and against it.")
    ] = False
    fixed: Annotated[
        list[FixedLabel],
        Field(
            description="Labels that tokens must get; the others, readings and probabilities "
            "follow. Explanations stay those of the model on its own."
        ),
    ] = []
    only: Annotated[
        list[int] | None,
        Field(description="Answer these sentences alone; the others are what stands around them."),
    ] = None

    @model_validator(mode="after")
    def _one_kind(self) -> TagRequest:
        given = (self.text is not None) + (self.tokens is not None) + (self.sentences is not None)
        if given != 1:
            raise ValueError(
                'give exactly one of "text", "tokens" and "sentences"'
                + (", here there are several" if given else "")
            )
        return self

    @property
    def is_plain(self) -> bool:
        """Whether only labels are wanted, so that it can be answered together with others."""
        wants_more = self.n_best > 1 or self.probabilities or self.explain or self.fixed
        return not wants_more and self.only is None


REQUEST: TypeAdapter[TagRequest] = TypeAdapter(TagRequest)


class Span(BaseModel):
    """A span that the labels mark."""

    type: str
    start: Annotated[int, Field(description="Its first token.")]
    end: Annotated[int, Field(description="The token behind its last.")]
    start_char: Annotated[int | None, Field(description="In the text, in characters.")] = None
    end_char: int | None = None
    text: Annotated[str | None, Field(description="As it stands in the text.")] = None


class Reading(BaseModel):
    """One of the best label sequences of a sentence."""

    score: float
    labels: list[str]
    spans: Annotated[list[Span] | None, Field(description="Where labels mark spans.")] = None


class FeatureShare(BaseModel):
    """What one feature gave to either label."""

    name: str
    chosen: float
    runner_up: float


class Alternative(BaseModel):
    """A label and how probable it is."""

    label: str
    probability: float


class Explanation(BaseModel):
    """Why the model gives a token its label."""

    label: str
    runner_up: Annotated[str | None, Field(description="The best other label.")]
    margin: Annotated[
        float | None,
        Field(description="By how much the best reading beats the best one with another label."),
    ]
    features: Annotated[list[FeatureShare], Field(description="Those that matter most first.")]
    alternatives: Annotated[list[Alternative], Field(description="The most probable labels.")]


class TaggedSentence(BaseModel):
    """A sentence with its labels."""

    tokens: list[Token]
    labels: list[str]
    offsets: Annotated[
        list[tuple[int, int]] | None,
        Field(description="Where the tokens stand in the text: characters, the end not included."),
    ] = None
    spans: Annotated[list[Span] | None, Field(description="Where labels mark spans.")] = None
    probabilities: list[float] | None = None
    n_best: list[Reading] | None = None
    explanations: list[Explanation] | None = None


class TagAnswer(BaseModel):
    """The sentences of a request, in their order."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "ner",
                    "version": "7f0c2a91b3de",
                    "sentences": [
                        {
                            "tokens": ["Anna", "left", "Lyon"],
                            "labels": ["B-PER", "O", "B-LOC"],
                            "spans": [
                                {"type": "PER", "start": 0, "end": 1},
                                {"type": "LOC", "start": 2, "end": 3},
                            ],
                        }
                    ],
                }
            ]
        }
    )

    model: Annotated[str, Field(description="The name of the model that answered.")]
    version: Annotated[str, Field(description="The beginning of its file's checksum.")]
    sentences: list[TaggedSentence]


class LabelColour(BaseModel):
    """The colours of a label, or of a type of spans, as CSS writes them."""

    ground: str
    ink: str
    dark_ground: str
    dark_ink: str


class ModelCard(BaseModel):
    """What is known of a model."""

    name: str
    version: Annotated[str, Field(description="The beginning of its file's checksum.")]
    file: str
    bytes: int
    loaded: Annotated[str, Field(description="When, in UTC.")]
    labels: list[str]
    columns: Annotated[list[str], Field(description="What tokens must have.")]
    spans: Annotated[bool, Field(description="Whether labels mark spans.")]
    reach: Annotated[int, Field(description="How many tokens beyond a sentence are looked at.")]
    calibrated: Annotated[bool, Field(description="Whether probabilities were fitted to data.")]
    kinds: Annotated[dict[str, str], Field(description="What the colour of a label stands for.")]
    colours: Annotated[dict[str, LabelColour], Field(description="By these kinds.")]
    refused: Annotated[
        str | None, Field(description="Why a newer file was not taken; the old one goes on.")
    ] = None


class ModelCards(BaseModel):
    """All models; the first answers where a request names none."""

    default: str
    language: str
    languages: list[str]
    limits: Annotated[dict[str, float], Field(description="Of one request.")]
    models: list[ModelCard]


class State(BaseModel):
    """Whether the service is well."""

    status: Literal["ok", "ending"]


class ProblemRecord(BaseModel):
    """What is wrong, as RFC 9457 writes it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "about:blank",
                    "title": "Unprocessable Content",
                    "status": 422,
                    "detail": "tokens[3]: should be a valid string",
                }
            ]
        }
    )

    type: str
    title: str
    status: int
    detail: str


def request_body(media_type: str, note: str) -> dict[str, Any]:
    """The body of a route in OpenAPI, where the route reads it itself.

    Parameters
    ----------
    media_type : str
    note : str
        What it is.

    Returns
    -------
    dict
    """
    schema = {"$ref": "#/components/schemas/TagRequest"}
    content: dict[str, Any] = {"schema": schema}
    if media_type == "application/json":
        content["examples"] = {name: {"value": value} for name, value in _EXAMPLES.items()}
    else:
        content = {"schema": {"type": "string"}, "example": '{"text": "Anna left Lyon."}\n'}
    return {
        "requestBody": {"required": True, "description": note, "content": {media_type: content}}
    }
