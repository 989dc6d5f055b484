"""A project as an external recommender of INCEpTION's: it asks for suggestions and sends documents.

- ``POST /NAME/predict``: a document as XMI in, the same with suggestions out.
- ``POST /NAME/train``: documents with annotations in; what is new in them teaches at once.

A project labels one feature of one layer, the first that teaches it. Sentences and words are those
of the document. A sentence in which nothing is annotated may not have been read yet: it teaches
only if its reader had annotated it before.
"""

from __future__ import annotations

from typing import Any

from seqpa.errors import SeqpaError
from seqpa.serve.guard import Application
from seqpa.serve.logs import Log
from seqpa.serve.settings import Settings
from seqpa.teach.backend import Collides, Route, create_app, member
from seqpa.teach.cas import SENTENCE, TOKEN, Cas
from seqpa.teach.suggesting import Piece, Suggester, cut, cut_by

_WHO = "inception"


def create_backend_app(
    suggester: Suggester,
    tokens: dict[str, str],
    settings: Settings,
    log: Log,
    language: str = "english",
) -> Application:
    """Make the recommender.

    Parameters
    ----------
    suggester : Suggester
        The project.
    tokens : dict of str to str
        The hash of each user's token, if there are any.
    settings : Settings
        Where it listens, and limits.
    log : Log
        What happens.
    language : str
        How documents are cut that have no sentences or words of their own.

    Returns
    -------
    ASGI application
    """
    recommender = _Recommender(suggester, language)
    routes = [
        Route("GET", "/health", lambda _: {"status": "UP"}),
        Route("POST", "/{name}/predict", recommender.predict),
        Route("POST", "/{name}/train", recommender.train),
    ]
    return create_app(routes, tokens, settings, log)


class _Recommender:
    def __init__(self, suggester: Suggester, language: str) -> None:
        self._suggester = suggester
        self._language = language

    def predict(self, body: Any) -> dict[str, Any]:
        layer, feature, single = self._asked(body)
        cas = Cas(member(member(body, "document", dict), "xmi", str, "document"))
        marks = self._suggester.suggest(self._cut(cas)).marks
        if single:
            words = set(cas.places(TOKEN))
            marks = [mark for mark in marks if not words or (mark.start, mark.end) in words]
        return {"document": cas.suggesting(layer, feature, marks)}

    def train(self, body: Any) -> None:
        layer, feature, _ = self._asked(body)
        project = str(member(body, "metadata", dict).get("projectId", 0))
        documents = []
        for one in member(body, "documents", list):
            cas = Cas(member(one, "xmi", str, "a document"))
            number, user = (str(one.get(name, 0)) for name in ("documentId", "userId"))
            # All are read before the first one teaches: a request is refused whole.
            documents.append((number, user, self._cut(cas), cas.marks(layer, feature)))
        for number, user, pieces, marks in documents:
            # Two readers of a document have one text: it is known by its number alone.
            self._suggester.teach(
                f"{_WHO}/{project}/{number}",
                pieces,
                marks,
                f"{_WHO}/{user}",
                whole=False,
                layer=f"{layer}:{feature}",
            )

    def _asked(self, body: Any) -> tuple[str, str, bool]:
        """The layer, its feature, and whether only single words may be suggested."""
        metadata = member(body, "metadata", dict)
        layer = member(metadata, "layer", str, "metadata")
        feature = member(metadata, "feature", str, "metadata")
        anchors = metadata.get("anchoringMode", "tokens")
        if anchors == "sentences":
            raise SeqpaError("metadata: words are labelled here, not sentences (anchoringMode)")
        known = self._suggester.noted("layer")
        if known is not None and known != f"{layer}:{feature}":
            raise Collides(
                f"this project labels {known}; begin another one for {layer}:{feature}"[:500]
            )
        return layer, feature, anchors == "singleToken"

    def _cut(self, cas: Cas) -> list[Piece]:
        sentences, words = cas.places(SENTENCE), cas.places(TOKEN)
        if not sentences or not words:
            return cut(cas.text, self._language)
        return cut_by(cas.text, sentences, words)
