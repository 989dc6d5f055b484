"""A project as an ML backend of Label Studio's: it asks for predictions and tells of annotations.

- ``GET /health``: whether the service is there.
- ``POST /setup``: the labelling interface, as XML; its labels are known from then on.
- ``POST /predict``: tasks in, for each a list of regions out. While somebody draws, the request has
  what is drawn: the rest is decoded under it, and regions come only where there are none.
- ``POST /webhook``: an annotation that was made or changed teaches at once, before the answer; one
  that was deleted or skipped is unlearned.
- ``POST /train``: annotated tasks, as Label Studio exports them, teach as the webhook does.
- ``GET /versions``: what the model is called now.

A text is labelled by ``<Labels toName="...">`` on a ``<Text value="$field">``. An annotation is a
whole text's: a sentence without regions is known to have none. A prediction is asked for again when
the name of the model's version is new, so no two models may have the same one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from seqpa.errors import SeqpaError
from seqpa.serve.guard import Application
from seqpa.serve.logs import Log
from seqpa.serve.settings import Settings
from seqpa.teach.backend import Route, create_app, member
from seqpa.teach.cas import Mark
from seqpa.teach.plain_xml import read_elements
from seqpa.teach.store import NotKept
from seqpa.teach.suggesting import Suggester, cut

_WHO = "label-studio"
_MOST_CONFIG = 2**20  # characters of the labelling interface
_CREATED = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_CREATED")
_DELETED = ("ANNOTATIONS_DELETED", "ANNOTATION_DELETED")


class Interface(NamedTuple):
    """What is labelled, and how it is called.

    Parameters
    ----------
    from_name, to_name : str
        The names of the tags Labels and Text.
    field : str
        Where a task's data has the text.
    labels : list of str
        What can be chosen.

    Examples
    --------
    >>> Interface("label", "text", "text", ["PER"]).field
    'text'
    """

    from_name: str
    to_name: str
    field: str
    labels: list[str]


def read_interface(xml: str) -> Interface:
    """What a labelling interface says of the text to label.

    Parameters
    ----------
    xml : str
        As Label Studio's ``label_config``.

    Returns
    -------
    Interface
        Of the first Labels that belong to a Text.

    Raises
    ------
    SeqpaError
        If there are none, or it is no XML.

    Examples
    --------
    >>> read_interface('<View><Labels name="label" toName="text"><Label value="PER"/></Labels>'
    ...     '<Text name="text" value="$content"/></View>')
    Interface(from_name='label', to_name='text', field='content', labels=['PER'])
    """
    if len(xml) > _MOST_CONFIG:
        raise SeqpaError(f"label_config is longer than {_MOST_CONFIG:,} characters")
    elements = read_elements(xml, "label_config")
    texts = {one.attributes.get("name"): one.attributes for one in elements if one.name == "Text"}
    for number, one in enumerate(elements):
        name, to_name = one.attributes.get("name"), one.attributes.get("toName")
        if one.name != "Labels" or name is None or to_name is None or to_name not in texts:
            continue
        text = texts[to_name]
        value = text.get("value", "")
        if text.get("valueType", "text") != "text" or not value.startswith("$") or len(value) < 2:
            raise SeqpaError(
                "label_config: the text must be in the task itself: "
                '<Text name="..." value="$field"/>, not at an address'
            )
        own = [x for x in elements if x.parent == number and x.name == "Label"]
        # Where a label has an alias, annotations have that.
        labels = [x.attributes.get("alias") or x.attributes.get("value") for x in own]
        return Interface(name, to_name, value[1:], list(dict.fromkeys(filter(None, labels))))
    raise SeqpaError(
        'label_config: there is no text to label: <Labels name="..." toName="x"> and '
        '<Text name="x" value="$field"/>'
    )


def create_backend_app(
    suggester: Suggester,
    tokens: dict[str, str],
    settings: Settings,
    log: Log,
    language: str = "english",
) -> Application:
    """Make the backend.

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
        How texts are cut.

    Returns
    -------
    ASGI application
    """
    backend = _Backend(suggester, language, log)
    routes = [
        Route("GET", "/", backend.health),
        Route("GET", "/health", backend.health),
        Route("GET", "/versions", lambda _: {"versions": [suggester.version]}),
        Route("POST", "/setup", backend.setup),
        Route("POST", "/predict", backend.predict),
        Route("POST", "/webhook", backend.webhook),
        Route("POST", "/train", backend.train),
    ]
    return create_app(routes, tokens, settings, log)


class _Backend:
    def __init__(self, suggester: Suggester, language: str, log: Log) -> None:
        self._suggester = suggester
        self._language = language
        self._log = log
        self._interface: Interface | None = None  # of /setup

    def health(self, _: Any) -> dict[str, Any]:
        return {"status": "UP", "model_class": "seqpa"}

    def setup(self, body: Any) -> dict[str, Any]:
        # There may be an access token in it: nothing but the interface is looked at.
        try:
            interface = read_interface(member(body, "schema", str))
            self._suggester.meet(interface.labels, _WHO)
        except SeqpaError as error:
            # Label Studio shows no more than the status, and sends its users to our console.
            self._log.warning("setup_refused", reason=str(error))
            raise
        self._interface = interface
        return {"model_version": self._suggester.version}

    def _told(self, given: Any) -> Interface:
        """The interface that a request has with it, or that of the setup."""
        xml = given.get("label_config") if isinstance(given, dict) else None
        if isinstance(xml, str) and xml:
            return read_interface(xml)
        if self._interface is None:
            raise SeqpaError("label_config is missing, and there was no /setup before")
        return self._interface

    # Predictions

    def predict(self, body: Any) -> dict[str, Any]:
        interface = self._told(body)
        tasks = member(body, "tasks", list)
        drawn = _drawn(body)
        version = self._suggester.version  # before, so that a lesson meanwhile makes it old
        results: list[dict[str, Any]] = []
        errors: list[SeqpaError] = []
        for task in tasks:
            try:
                results.append(self._predicted(task, interface, drawn))
            except SeqpaError as error:
                # Label Studio sends all tasks at once: one bad one must not spoil the others.
                results.append({"result": [], "score": 0.0, "error": str(error)})
                errors.append(error)
        if errors and len(errors) == len(tasks):
            raise errors[0]
        if errors:
            self._log.warning("tasks_left_out", tasks=len(tasks), left_out=len(errors))
        for one in results:
            one["model_version"] = version
        return {"results": results, "model_version": version}

    def _predicted(
        self, task: Any, interface: Interface, drawn: list[Any] | None
    ) -> dict[str, Any]:
        text = _text(task, interface)
        pieces = cut(text, self._language)
        if drawn is None:
            found = self._suggester.suggest(pieces)
            marks = found.marks
        else:
            by_hand = [one for one in drawn if one.get("origin") != "prediction"]
            found = self._suggester.suggest(pieces, _all_marks(by_hand, text, interface))
            # The page adds what comes to what it has, so nothing may lie on what is there.
            there = [*_places(drawn, interface), *_places(_known_regions(task), interface)]
            marks = [
                mark
                for mark in found.marks
                if not any(mark.start < end and start < mark.end for start, end in there)
            ]
        wanted = set(interface.labels)
        result = [
            {
                "id": f"seqpa-{mark.start}-{mark.end}",
                "from_name": interface.from_name,
                "to_name": interface.to_name,
                "type": "labels",
                "value": {
                    "start": mark.start,
                    "end": mark.end,
                    "text": text[mark.start : mark.end],
                    "labels": [mark.label],
                },
                "score": mark.score,
            }
            for mark in marks
            if not wanted or mark.label in wanted
        ]
        return {"result": result, "score": found.sure}

    # Lessons

    def webhook(self, body: Any) -> dict[str, Any]:
        action = member(body, "action", str)
        if action in _DELETED:
            return {"unlearned": sum(map(self._unlearned, _listed(body, "annotation")))}
        if action not in _CREATED:
            return {"ignored": action[:80]}
        interface = self._told(body.get("project"))
        given = [task for task in _listed(body, "task") if isinstance(task, dict)]
        tasks = {_number(task.get("id")): task for task in given}
        first = next(iter(tasks.values()), None)
        annotations = _listed(body, "annotation")
        if not all(isinstance(one, dict) for one in annotations):
            raise SeqpaError("annotation: must be an object")
        return self._learned(
            ((one, tasks.get(_number(one.get("task")), first)) for one in annotations), interface
        )

    def train(self, body: Any) -> dict[str, Any]:
        interface = self._told(body)
        found = []
        for task in member(body, "annotations", list):
            for one in member(task, "annotations", list, "a task"):
                if not isinstance(one, dict):
                    raise SeqpaError("annotation: must be an object")
                found.append((one, task))
        return self._learned(found, interface)

    def _learned(
        self, found: Iterable[tuple[dict[str, Any], Any]], interface: Interface
    ) -> dict[str, Any]:
        """Learn annotations; one that cannot be taken is told when the others have been."""
        taught = left_out = unlearned = 0
        errors: list[SeqpaError] = []
        for annotation, task in found:
            try:
                if annotation.get("was_cancelled") is True:
                    # Skipped: nothing is said of the text, and nothing any more.
                    unlearned += self._unlearned(annotation)
                    continue
                lesson = self._teach(annotation, task, interface)
            except NotKept:
                raise
            except SeqpaError as error:
                errors.append(error)
                continue
            taught += lesson[0]
            left_out += lesson[1]
        if errors:
            raise errors[0]
        return {
            "taught": taught,
            "left_out": left_out,
            "unlearned": unlearned,
            "model_version": self._suggester.version,
        }

    def _teach(self, annotation: dict[str, Any], task: Any, interface: Interface) -> Any:
        text = _text(task, interface)
        result = member(annotation, "result", list, "annotation")
        marks = _all_marks(result, text, interface)
        seconds = annotation.get("lead_time")
        right = isinstance(seconds, int | float) and 0 <= seconds < 1e9
        number = annotation.get("id")
        return self._suggester.teach(
            f"{_WHO}/{_number(task.get('project'))}/{_number(task.get('id'))}",
            cut(text, self._language),
            marks,
            _user(annotation.get("completed_by")),
            seconds=float(seconds) if right and seconds is not None else None,
            of=f"{_WHO}/{_number(number)}",
        )

    def _unlearned(self, annotation: Any) -> int:
        number = annotation.get("id") if isinstance(annotation, dict) else annotation
        return self._suggester.take_back(_WHO, of=f"{_WHO}/{_number(number)}")


def _drawn(body: Any) -> list[Any] | None:
    """The regions that somebody is drawing; None if nobody is."""
    params = body.get("params")
    context = params.get("context") if isinstance(params, dict) else None
    result = context.get("result") if isinstance(context, dict) else None
    if not isinstance(result, list):
        return None
    return [one for one in result if isinstance(one, dict)]


def _known_regions(task: Any) -> Iterator[Any]:
    """All regions that a task comes with: drafts, annotations and former predictions."""
    for name in ("drafts", "annotations", "predictions"):
        found = task.get(name)
        for one in found if isinstance(found, list) else ():
            if isinstance(one, dict) and isinstance(one.get("result"), list):
                yield from one["result"]


def _places(regions: Iterable[Any], interface: Interface) -> Iterator[tuple[int, int]]:
    for region in regions:
        value = region.get("value") if isinstance(region, dict) else None
        if not isinstance(value, dict) or not _is_label(region, interface):
            continue
        start, end = value.get("start"), value.get("end")
        if isinstance(start, int) and isinstance(end, int):
            yield start, end


def _is_label(region: dict[str, Any], interface: Interface) -> bool:
    """Whether a region is what the interface labels; there may be other controls beside it."""
    return (
        region.get("type") == "labels"
        and region.get("to_name") == interface.to_name
        and region.get("from_name", interface.from_name) == interface.from_name
    )


def _all_marks(regions: list[Any], text: str, interface: Interface) -> list[Mark]:
    marks = []
    for region in regions:
        if not isinstance(region, dict):
            raise SeqpaError("annotation: result must have objects")
        if _is_label(region, interface):
            marks += _marks(region, text)
    return marks


def _listed(body: Any, name: str) -> list[Any]:
    """One thing, or several under the name of many."""
    found = body.get(name, body.get(f"{name}s"))
    if isinstance(found, list):
        return found
    if found is None:
        raise SeqpaError(f"the body: {name} is missing")
    return [found]


def _text(task: Any, interface: Interface) -> str:
    data = member(task, "data", dict, "a task")
    found: str = member(data, interface.field, str, "a task's data")
    return found


def _marks(region: dict[str, Any], text: str) -> list[Mark]:
    value = member(region, "value", dict, "a region")
    start = member(value, "start", int, "a region's value")
    end = member(value, "end", int, "a region's value")
    told = value.get("text")
    if isinstance(told, str) and text[start:end] != told:
        # Older versions of Label Studio's page count units of UTF-16.
        units = text.encode("utf-16-le", "surrogatepass")
        before, inside = units[: 2 * max(0, start)], units[2 * max(0, start) : 2 * max(0, end)]
        if inside == told.encode("utf-16-le", "surrogatepass"):
            start = len(before.decode("utf-16-le", "surrogatepass"))
            end = start + len(told)
    if not 0 <= start < end <= len(text):
        raise SeqpaError(f"a region at {start}-{end} is outside of the text")
    labels = member(value, "labels", list, "a region's value")
    if not all(isinstance(label, str) for label in labels):
        raise SeqpaError("a region's value: labels must be strings")
    return [Mark(start, end, label) for label in labels]


def _number(given: Any) -> str:
    return str(given) if isinstance(given, int | str) else "0"


def _user(given: Any) -> str:
    if isinstance(given, dict):
        given = given.get("email") or given.get("id")
    return f"{_WHO}/{_number(given)}"
