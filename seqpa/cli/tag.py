"""``seqpa tag``: label a file or a stream, in order and in constant memory."""

from __future__ import annotations

import os
import stat
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqpa.cli.inputs import AllowImports, Columns, Encoding, Format, MaxSentence, Model
from seqpa.cli.screen import is_terminal, screen
from seqpa.errors import SeqpaError, SeqpaWarning

if TYPE_CHECKING:
    from seqpa.data import Corpus, Extras
    from seqpa.sequence.tagger import SequenceTagger

# How many features `--explain` shows for a token.
_SHOWN = 10


def tag(
    model: Model,
    input: Annotated[
        str, typer.Argument(help="File to tag; - is standard input.", metavar="INPUT")
    ] = "-",
    output: Annotated[
        str, typer.Option("-o", "--output", help="File to write; - is standard output.")
    ] = "-",
    format: Format = None,
    columns: Columns = None,
    encoding: Encoding = None,
    max_sentence_tokens: MaxSentence = None,
    tokenizer: Annotated[
        str,
        typer.Option(
            help="For the format text: builtin, punkt (NLTK's), whitespace (a sentence a line), "
            "or a function of your own, module:function."
        ),
    ] = "builtin",
    language: Annotated[
        str,
        typer.Option(
            help="For the format text: english, german, french, spanish, any; or Punkt's."
        ),
    ] = "english",
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="Format of the output, if not that of the input: conll, conllu, jsonl, csv, tsv, "
            "slash; brackets, or spans with their offsets: spans (spaCy's shape), huggingface.",
        ),
    ] = None,
    nbest: Annotated[
        int,
        typer.Option(
            metavar="K",
            min=1,
            help="Also write the second to K-th best labels of each sentence, "
            "behind the best: label2, label3, ...; _ where there are fewer.",
        ),
    ] = 1,
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence",
            help="Also write, last, by how much the labels beat the best ones with another label "
            "here; inf, in JSON null, where there is no other.",
        ),
    ] = False,
    probability: Annotated[
        bool,
        typer.Option(
            "--probability",
            help="Also write how probable each label is; calibrated, if the model was trained with "
            "a dev set.",
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Write why each token got its label, instead of the data."),
    ] = False,
    jobs: Annotated[
        int,
        typer.Option(
            "-j", "--jobs", metavar="N", min=0, help="Tag on N threads; 0 takes every core."
        ),
    ] = 1,
    allow_imports: AllowImports = False,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Tag many files (INPUT is a pattern in quotes, -o a folder) on a Dask cluster: "
            "the address of its scheduler, tcp://host:8786, or local:4 for four workers here. "
            "Outputs that are there and younger than input and model are left.",
        ),
    ] = None,
) -> None:
    """Tag a file or standard input.

    Columns stay as they are, with the label appended as the last; CoNLL-U gets it in its field,
    JSON lines as "labels"; plain text becomes columns. The format is found by looking, unless
    --format or --columns says it. Order is kept, and a file of any size takes the same memory.
    On a terminal names and chunks are shown in their text, in colours; --to conll shows columns
    there, too.
    """
    from seqpa.cli.inputs import cores, load, reading
    from seqpa.cli.looking import guess
    from seqpa.cli.tag_screen import Watch, on_terminal, paint
    from seqpa.data import CHUNK_BYTES, read_chunks, write_tagged
    from seqpa.data.sink import open_sink
    from seqpa.sequence.column_text import tagged_columns
    from seqpa.stored_parameters import import_function

    files = []
    if to == "brackets" and (nbest > 1 or confidence or probability):
        raise SeqpaError(
            "--to brackets shows spans in their text, without numbers or other labels: leave out "
            "--nbest, --confidence and --probability, or choose another format, such as jsonl"
        )
    if explain and (nbest > 1 or confidence or probability or to is not None):
        raise SeqpaError(
            "--explain writes reasons in place of the data: leave out --nbest, --confidence, "
            "--probability and --to"
        )
    if dask is None:
        _check_apart(model, input, output)
    else:
        from seqpa.cli.tag_dask import check_files
        from seqpa.data.several import files_of

        more = {"--nbest": nbest > 1, "--confidence": confidence, "--probability": probability}
        check_files(input, output, {**more, "--explain": explain})
        files = files_of(input)
        input = files[0]
    tagger, file = load(model, allow_imports)
    if probability and tagger.trained_.scale is None:
        warnings.warn(
            f"{model}: its probabilities were never fitted to data: they tell which of two labels "
            "is the surer one, and their size means little; train with a dev set, or with "
            "learner.calibration: cv",
            SeqpaWarning,
            stacklevel=2,
        )
    tagger.n_jobs = jobs or cores()
    if input == "-" and is_terminal(sys.stdin):
        screen().aside("type or paste a text: an empty line tags it, Ctrl-D ends")
    how = reading(tagger, file, format, columns, encoding, max_sentence_tokens)
    guessed = None
    if format is None and columns is None:
        guessed = guess(input, how, tagger.input_columns)
        if guessed is not None:
            known = guessed.format, guessed.columns
            how = reading(tagger, file, *known, encoding, max_sentence_tokens)
        screen().detail(f"read as {how.format}" + (f": {guessed.reason}" if guessed else ""))
    arguments = how.arguments()
    if how.format == "nltk" and format is None:  # trained on a corpus of NLTK's, used on files
        arguments["format"] = "conll"
    splitting: dict[str, Any] = {
        "tokenizer": import_function(tokenizer) if ":" in tokenizer else tokenizer,
        "language": language,
    }
    if dask is not None:
        from seqpa.cli.tag_dask import tag_on_cluster
        from seqpa.cluster.tagging import TaggingOptions

        how_read = arguments | splitting
        label = how.label or "upos"
        options = TaggingOptions(how_read, to, label, how.encoding, allow_imports, jobs or cores())
        return tag_on_cluster(dask, model, files, output, options)
    plain = to is None and nbest == 1 and not (confidence or probability)
    painted = plain and not explain and on_terminal(output, tagger.classes_)
    watch = Watch(input)
    if plain and not (explain or painted) and arguments["format"] == "conll":
        pieces = tagged_columns(
            tagger.trained_.tagging, tagger.input_columns, input, arguments, tagger.n_jobs
        )
        if pieces is not None:
            if guessed is not None:
                pieces = guessed.explained(pieces)
            with watch.shown(output), open_sink(output, how.encoding) as sink:
                for piece in watch.counted(pieces, CHUNK_BYTES):
                    sink.write(piece.text)
            return
    chunks = read_chunks(input, **arguments, **splitting, with_labels=False, keep_layout=True)
    if guessed is not None:
        chunks = guessed.explained(chunks)
    chunks = watch.counted(chunks, CHUNK_BYTES)
    tagged = _tagged(tagger, chunks, nbest, confidence, probability)
    with watch.shown(output):
        if explain:
            from seqpa.sequence.streams import in_context

            with open_sink(output) as sink:
                for _, around, own in in_context(chunks, *tagger.hops_):
                    for i in range(own.start, own.stop):
                        sink.write(_explained(tagger, around, i))
        elif painted:
            paint(tagged, tagger.classes_)
        else:
            label = how.label or "upos"
            write_tagged(output, tagged, format=to, label=label, encoding=how.encoding)


def _check_apart(model: Path, input: str, output: str) -> None:
    from seqpa.files import check_apart

    if output.endswith(("/", os.sep)):
        raise SeqpaError(
            f"{output} is a folder, and all that is tagged goes into one file: name a file in it, "
            f"or say --dask local:1 for a file of each input"
        )
    inputs = {"the model": str(model)} | ({} if input == "-" else {"the input": input})
    if output != "-":
        check_apart(inputs, {"the output": output})
    elif _is_standard_output(input):
        raise SeqpaError(f"{input} is the input, and standard output leads to it too")


def _is_standard_output(path: str) -> bool:
    """Whether what is written to standard output is added to a file, which would never end."""
    try:
        own, other = os.fstat(sys.stdout.fileno()), Path(path).stat()
    except (OSError, ValueError):
        return False
    return os.path.samestat(own, other) and stat.S_ISREG(own.st_mode)


def _tagged(
    tagger: SequenceTagger,
    chunks: Iterable[Corpus],
    nbest: int,
    confidence: bool,
    probability: bool,
) -> Iterator[tuple[Corpus, list[str], Extras]]:
    from seqpa.sequence.streams import in_context

    for corpus, around, own in in_context(chunks, *tagger.hops_):
        extras: dict[str, Sequence[str | float]] = {}
        if not len(corpus):
            yield corpus, [], extras
            continue
        labels = [label for sentence in tagger.predict(around)[own] for label in sentence]
        if nbest > 1:
            extras.update(_alternatives(tagger, around, own, nbest))
        if confidence:
            margins = tagger.confidence(around)[own]
            extras["confidence"] = [margin for _, several in margins for margin in several]
        if probability:
            likely = tagger.predict_with_probability(around)[own]
            extras["probability"] = [told for sentence in likely for _, told in sentence]
        yield corpus, labels, extras


def _alternatives(
    tagger: SequenceTagger, around: Corpus, own: slice, k: int
) -> dict[str, list[str]]:
    """The labels of the second to k-th best sequences; _ where a sentence has fewer."""
    columns: dict[str, list[str]] = {f"label{rank}": [] for rank in range(2, k + 1)}
    lengths = around.lengths[own].tolist()
    for length, best in zip(lengths, tagger.predict_nbest(around, k)[own], strict=True):
        for rank, column in enumerate(columns.values(), start=1):
            column.extend(best[rank][1] if rank < len(best) else ["_"] * length)
    return columns


def _explained(tagger: SequenceTagger, around: Corpus, i: int) -> str:
    """The explanation of sentence i, looked at in its context if the tagger does so."""
    from dataclasses import replace

    from seqpa.sequence.streams import near

    tokens = around[i].tokens
    found = tagger.explain(tokens, *near(around, i, *tagger.hops_))
    told = [
        str(
            replace(
                explanation.summed(_SHOWN),
                token=token if isinstance(token, str) else "/".join(token),
            )
        )
        for token, explanation in zip(tokens, found, strict=True)
    ]
    return "\n".join(told) + "\n\n"
