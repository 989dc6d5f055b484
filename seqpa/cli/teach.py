"""``seqpa teach``: label text in the browser, by a tagger that learns with every sentence."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqpa.cli.screen import screen
from seqpa.errors import SeqpaError

if TYPE_CHECKING:
    from seqpa.teach.store import Store

Options = dict[str, object]  # what options were told, None where not, by their names

_ENDING = ".seqpa"
_MODEL = ".safetensors"
_LARGE = 2_000_000  # bytes of text that take more than a moment
_LARGE_PROJECT = 10_000_000  # bytes of a project, which is read more quickly
_MANY = 20_000  # sentences that take more than a moment to be written
_NAMED = 5  # labels that are told, of a new project
_GIVEN, _SEED, _LANGUAGE = "auto", 1, "english"  # of a new project, unless told


def teach(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Texts or labelled files, of which a project is made; or a project, to go on.",
            metavar="FILE...",
        ),
    ],
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME,...",
            help="The labels to begin with; more can come on the page at any time.",
        ),
    ] = None,
    project: Annotated[
        Path | None,
        typer.Option(help="The project file to make; by default it is named after the first file."),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="spans|tokens",
            help="Spans of words (names), or one label for each word (parts of speech); by default "
            "as labels in the files say, else spans.",
        ),
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="A model file to go on from.", metavar="MODEL")
    ] = None,
    given: Annotated[
        str,
        typer.Option(
            metavar="auto|labelled|proposed|ignored",
            help="Labels in the files: count as labelled; are shown to be gone over; or are left "
            "out. auto is labelled where some sentences have none yet, else proposed.",
        ),
    ] = _GIVEN,
    guidelines: Annotated[
        Path | None, typer.Option(help="A text to show beside the sentences.")
    ] = None,
    user: Annotated[
        str | None, typer.Option(help="Your name; by default that of your account.")
    ] = None,
    add_user: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Let somebody else in: prints a link for them, once. May be repeated.",
        ),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="In a team, this share of sentences gets two readers; by default as the project "
            "was made, with 0.1 unless told.",
        ),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            help="Which sentences come first: coverage, doubt, margin, least-confident, entropy, "
            "n-best-entropy, density, random."
        ),
    ] = None,
    confirm: Annotated[
        str,
        typer.Option(
            metavar="all|unsure",
            help="Ask for whole sentences, or only for the words that the model is unsure of: the "
            "rest is left to it, and counts as labelled nowhere.",
        ),
    ] = "all",
    seed: Annotated[int, typer.Option(min=0, help="Of what is left to chance.")] = _SEED,
    host: Annotated[
        str, typer.Option(help="Address to listen at; any but this machine's own needs users.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="0 takes one that is free, as without it; a backend has 9090 (label-studio) or "
            "9091 (inception) if none is said.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A further name that this page is called by."),
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(
            metavar="label-studio|inception",
            help="Have no page: suggest for those who label there, and learn from them.",
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Open no browser; only print the address.")
    ] = False,
    format: Annotated[
        str | None, typer.Option(help="Format of the files; by default found by looking.")
    ] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="NAME,NAME,...", help="What the columns are.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="The column that has labels; of CoNLL-U, the field.")
    ] = None,
    unlabelled: Annotated[
        str | None,
        typer.Option(
            metavar="MARK",
            help="What stands in columns in place of a label that is not known; _ unasked.",
        ),
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Of the files.")] = None,
    language: Annotated[
        str, typer.Option(help="How text is cut: english, german, french, spanish, any.")
    ] = _LANGUAGE,
    export: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="Write what is labelled to -o FILE (- is standard output), and end: conll, "
            "conllu, jsonl, spacy, docbin, huggingface.",
        ),
    ] = None,
    scheme: Annotated[
        str,
        typer.Option(
            help="For --export: how spans are written, iob1, iob2, ioe1, ioe2, bioes, bilou, bmes "
            "or io."
        ),
    ] = "iob2",
    parts: Annotated[
        bool,
        typer.Option(
            "--parts",
            help="For --export: also sentences of which only unsure words were asked for, the rest "
            "as the model has it.",
        ),
    ] = False,
    train: Annotated[
        bool, typer.Option("--train", help="Train a model on what is labelled to -o FILE, and end.")
    ] = False,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate",
            help="Play an annotator who knows the labels of the files, with every strategy (or "
            "--strategy NAME,NAME; NAME/unsure asks for unsure words alone) and by chance; show "
            "what it took, and write a report to -o DIR.",
        ),
    ] = False,
    test: Annotated[
        Path | None,
        typer.Option(help="For --simulate: what taggers are tested on; else a fifth is held back."),
    ] = None,
    noise: Annotated[
        float,
        typer.Option(min=0.0, max=0.99, help="For --simulate: how often the annotator errs."),
    ] = 0.0,
    seeds: Annotated[
        int, typer.Option(min=1, help="For --simulate: sessions by each strategy.")
    ] = 5,
    budget: Annotated[
        int | None, typer.Option(min=1, help="For --simulate: tokens to be labelled at most.")
    ] = None,
    features: Annotated[
        str | None, typer.Option(help="For --simulate: a preset, such as chunk.")
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=0, help="For --simulate: sessions at once; 0 for one on each core.")
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The file of --export or --train; the folder of --simulate."
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace a file that --export, --train or --simulate finds."),
    ] = False,
) -> None:
    """Label text in the browser; the tagger learns with every sentence.

    From texts, with --labels: a project file is made and its page opened. From labelled files, with
    a --model to go on from or without. From a project file: it goes on where it was.

    Everything is in the project file before it is acknowledged; Ctrl-C ends at any time.
    """
    # What is asked for and would have no effect is refused, not passed over.
    of_reading: Options = {
        "--format": format,
        "--columns": columns,
        "--label": label,
        "--unlabelled": unlabelled,
        "--encoding": encoding,
    }
    of_making: Options = {
        "--project": project,
        "--labels": labels,
        "--kind": kind,
        "--model": model,
        "--given": given if given != _GIVEN else None,
        "--seed": seed if seed != _SEED else None,
        "--language": language if language != _LANGUAGE else None,
    }
    of_page: Options = {
        "--guidelines": guidelines,
        "--share": share,
        "--confirm": confirm if confirm != "all" else None,
    }
    of_end: Options = {"--export": export, "--train": train or None}
    if backend is not None:
        from seqpa.cli.teach_backend import serve_backend

        own: Options = {"--simulate": simulate or None, "--strategy": strategy, "--user": user}
        files_of = {name: of_making[name] for name in ("--project", "--model", "--given")}
        _refuse("--backend", own | of_end | of_page | of_reading | files_of)
        _check_serving()
        named = [name.strip() for name in labels.split(",")] if labels else []
        called = [name.lower() for name in allow_host or ()]
        return serve_backend(
            backend, files, named, kind, add_user or [], host, port, called, language, seed
        )
    if simulate:
        none = ("--project", "--labels", "--model", "--given", "--seed")
        others = {name: of_making[name] for name in none} | {"--unlabelled": unlabelled}
        _refuse("--simulate", of_end | of_page | others)
        from seqpa.cli.teach_simulate import simulate_teaching

        return simulate_teaching(
            _gathered(files),
            test,
            output,
            [name.strip() for name in strategy.split(",")] if strategy else None,
            noise,
            seeds,
            features,
            budget,
            kind,
            jobs,
            force,
            {
                "format": format,
                "columns": [name.strip() for name in columns.split(",")] if columns else None,
                "label": label,
                "encoding": encoding,
                "language": language,
            },
        )
    if test is not None or noise or budget is not None or features is not None:
        raise SeqpaError("--test, --noise, --budget and --features go with --simulate")
    existing = _existing(files)
    if existing is not None and (told := _told(of_making | of_reading)):
        raise SeqpaError(
            f"{existing}: is a project, which is as it was made: open it without {told}"
            + ("; labels are added on its page" if labels else "")
        )
    if export is not None or train:
        if existing is None or output is None or (export is not None and train):
            what = "--export FORMAT" if export is not None else "--train"
            raise SeqpaError(f"say: seqpa teach PROJECT {what} -o FILE")
        if train and str(output) == "-":
            raise SeqpaError("-o -: a model is no text; name a file for it")
        return (
            _export(existing, export, scheme, output, force, parts)
            if export
            else _train(existing, output, force)
        )
    if output is not None or parts:
        raise SeqpaError("-o FILE goes with --export FORMAT or --train, --parts with --export")
    from seqpa.data.languages import language_of
    from seqpa.teach.model import check_confirm

    _check_serving()
    language_of(language)
    check_confirm(confirm)
    text = _read_guidelines(guidelines)
    names = [name.strip() for name in labels.split(",")] if labels else []
    if existing is not None:
        from seqpa.teach.store import Store

        store = Store.open(existing)
    else:
        from seqpa.teach.project import create
        from seqpa.teach.queue import STRATEGY
        from seqpa.teach.team import SHARE

        target = project or _name(files)
        # What would keep the page from being served is told before anything is made.
        _check_address(host, port, bool(add_user))
        _tell_size(_gathered(files))
        sizes: list[int] = []

        def on_read(sentences: int) -> None:
            sizes.append(sentences)
            _tell_many(sentences)

        with _loading():
            store = create(
                target if target.suffix else target.with_suffix(_ENDING),
                _gathered(files),
                labels=names,
                kind=kind,
                model=model,
                given=given,
                seed=seed,
                strategy=strategy or STRATEGY,
                share=SHARE if share is None else share,
                format=format,
                columns=[name.strip() for name in columns.split(",")] if columns else None,
                label=label,
                encoding=encoding,
                language=language,
                unlabelled=unlabelled,
                on_read=on_read,
            )
        screen().note(f"made the project {store.path}: {_content(store.meta(), sizes[-1])}")
        if encoding is None:
            _tell_encodings(_gathered(files))
    _serve(
        store,
        user or _account(),
        add_user or [],
        host,
        port or 0,
        [name.lower() for name in allow_host or ()],
        no_browser,
        strategy,
        share,
        confirm,
        text,
    )


def _told(options: Options) -> str:
    """The names of the options that were told, for a message."""
    return ", ".join(name for name, value in options.items() if value is not None)


def _refuse(what: str, options: Options) -> None:
    """Raise if options were told with which something does not go."""
    if told := _told(options):
        raise SeqpaError(f"{what} goes without {told}")


def _existing(files: Sequence[Path]) -> Path | None:
    """The project among the files, if it is one alone."""
    from seqpa.data.teach_project import is_project

    for path in files:
        if path.suffix == _MODEL and path.is_file():
            raise SeqpaError(f"{path}: is a model: say seqpa teach FILE... --model {path}")
        try:
            with path.open("rb") as file:
                found = is_project(file.read(100))
        except OSError:
            continue  # its reader tells
        if found and len(files) > 1:
            raise SeqpaError(f"{path}: is a project: open it alone")
        if found:
            return path
    if len(files) == 1 and files[0].suffix == _ENDING and not files[0].is_dir():
        if not files[0].exists():
            raise SeqpaError(
                f"{files[0]}: there is no such project; make one from texts, with --labels"
            )
        raise SeqpaError(f"{files[0]}: is damaged, or no project of seqpa teach")
    return None


def _gathered(files: Sequence[Path]) -> list[Path]:
    """The files, those of folders included, in the order of their names."""
    found: list[Path] = []
    for path in files:
        if path.is_dir():
            inside = sorted(x for x in path.iterdir() if x.is_file() and x.name[0] != ".")
            if not inside:
                raise SeqpaError(f"{path}: there is no file in this folder")
            found += inside
        else:
            found.append(path)
    return found


def _tell_size(files: Sequence[Path]) -> None:
    """Say that much is read, since that takes some seconds."""
    size = sum(path.stat().st_size for path in files if path.exists())
    if size >= _LARGE:
        screen().note(f"reading {size / 1e6:,.0f} MB ...")


def _tell_many(sentences: int) -> None:
    """Say that many sentences are written."""
    if sentences >= _MANY:
        screen().note(f"writing {sentences:,} sentences ...")


def _content(meta: dict[str, Any], sentences: int) -> str:
    """What a new project has: what was taken for the labels is seen before the first decision."""
    labels = meta["labels"]
    more = f" and {len(labels) - _NAMED:,} more" if len(labels) > _NAMED else ""
    told = f"{sentences:,} sentence{'s' if sentences != 1 else ''}"
    if labels:
        told += f", label{'s' if len(labels) > 1 else ''} {', '.join(labels[:_NAMED])}{more}"
    if labels and meta["given"] == "proposed":
        told += "; those in the files are shown to be gone over"
    return told


def _tell_encodings(files: Sequence[Path]) -> None:
    """Say which files are taken for text of an older encoding, which may be a mistake."""
    from seqpa.data.recognise import look_at

    found = {path: look_at(path).encoding for path in files}
    guessed = [path for path, encoding in found.items() if not encoding.startswith("utf")]
    if guessed:
        more = f" and {len(guessed) - 1:,} more" if len(guessed) > 1 else ""
        screen().note(
            f"{guessed[0]}{more}: is no UTF-8, read as {found[guessed[0]]}; if letters are wrong, "
            "begin again with --encoding"
        )


def _name(files: Sequence[Path]) -> Path:
    """The project file's name: that of the one file or folder, else that of the files' folder."""
    first = files[0]
    if len(files) > 1 and first.absolute().parent.name:
        return Path(first.absolute().parent.name + _ENDING)
    return Path((first.name if first.is_dir() else first.stem) + _ENDING)


def _account() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "me"


def _check_serving() -> None:
    """Nothing is made or opened before it is known that the page can be served."""
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise SeqpaError(
            f'teach needs {error.name}: pip install "seqpa[serve]" brings it'
        ) from None


def _check_address(host: str, port: int | None, has_users: bool) -> None:
    """Whether a new project's page could be served there."""
    from seqpa.serve.running import bound
    from seqpa.serve.settings import Settings, is_loopback

    if not has_users and not is_loopback(host):
        raise _needs_users(host)
    with bound(Settings(models=(), host=host, port=port or 0)):
        pass


def _needs_users(host: str) -> SeqpaError:
    return SeqpaError(
        f"--host {host}: others can reach it, so it needs users: --add-user NAME for each"
    )


def _read_guidelines(path: Path | None) -> str | None:
    from seqpa.files import unreadable

    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError:
        raise SeqpaError(f"{path}: is no text in UTF-8") from None


@contextmanager
def _loading() -> Iterator[None]:
    """A hundred thousand sentences are lists that stay. The collector of garbage would go over all
    of them again and again while they are made, and later in the middle of a request."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _serve(
    store: Store,
    user: str,
    new_users: Sequence[str],
    host: str,
    port: int,
    hosts: Sequence[str],
    no_browser: bool,
    strategy: str | None,
    share: float | None,
    confirm: str,
    guidelines: str | None,
) -> None:
    from seqpa.serve.settings import Settings, is_loopback
    from seqpa.teach.running import run
    from seqpa.teach.session import Session
    from seqpa.teach.team import hashed, new_token

    try:
        tokens: dict[str, str] = {}
        if new_users or store.users():
            # Whoever starts the server comes in too, each time by a new token.
            for name in dict.fromkeys([*new_users, user]):
                tokens[name] = new_token()
                store.add_user(name, hashed(tokens[name]), time.time())
        elif not is_loopback(host):
            raise _needs_users(host)
        size = store.path.stat().st_size
        if size >= _LARGE_PROJECT:
            screen().note(f"opening {size / 1e6:,.0f} MB ...")
        with _loading():
            session = Session(
                store,
                strategy=strategy,
                share=share,
                confirm=confirm,
                users=store.users(),
                on_lesson=_learning(),
            )
    except BaseException:
        store.close()
        raise
    settings = Settings(
        models=(),
        host=host,
        port=port,
        hosts=tuple(hosts),
        quiet=not screen().verbose,
    )

    def ready(address: str) -> None:
        links = {name: f"{address}#token={token}" for name, token in tokens.items()}
        for name in new_users:
            if name != user:
                screen().note(f"the link for {name}, which is shown only now: {links[name]}")
        own = links.get(user, address)
        screen().note(f"teaching {store.path.name} at {own} (Ctrl-C ends)")
        if not no_browser:
            import webbrowser

            webbrowser.open(own)

    try:
        if guidelines is not None and guidelines != session.state.guidelines:
            session.guidelines(user, new_token(), guidelines)
        run(session, user, settings, ready)
    finally:
        session.close()


def _learning() -> Callable[[int, int], None]:
    """Tells of lessons that are learned again, where that takes longer than a moment."""
    begun = time.monotonic()
    told = False

    def tell(at: int, of: int) -> None:
        nonlocal told
        if not told and time.monotonic() - begun > 1.0 and at < of:
            told = True
            screen().note(f"learning from {of:,} labelled sentences ...")

    return tell


def _export(
    project: Path, format: str, scheme: str, target: Path, force: bool, parts: bool
) -> None:
    from seqpa.teach.events import State
    from seqpa.teach.files import export, rendered
    from seqpa.teach.project import Project
    from seqpa.teach.session import Session
    from seqpa.teach.store import Store

    with Store.open(project) as store:
        own = Project(store)
        if parts:  # the model is needed
            session = Session(store, on_lesson=_learning(), background=False)
            entries = session.views.entries(parts)
            session.close()
        else:
            state = State(own.labels, store.events())
            entries = [(one, state.current(one.id)) for one in own.sentences]
    if str(target) == "-":
        data, told = rendered(entries, own.kind, format, own.names, scheme, own.label)
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return screen().aside(str(told))
    told = export(
        target, entries, own.kind, format, own.names, scheme=scheme, label=own.label, force=force
    )
    return screen().note(f"{target}: {told}")


def _train(project: Path, target: Path, force: bool) -> None:
    from seqpa.teach.training import full_training

    for state in full_training(project, target, force):
        score = state["score"]
        best = "" if score is None else f"held out: {state['metric']} {100 * score:.2f}"
        if state["state"] == "running":
            screen().note(f"epoch {state['epoch']}/{state['epochs']}  {best}".rstrip())
        else:
            print(f"{target}: trained; {best or state['message']}")
