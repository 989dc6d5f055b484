"""``seqpa convert``: a labelled file in another format or scheme."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from seqpa.cli.inputs import OwnColumns


def convert(
    input: Annotated[str, typer.Argument(help="Labelled file; - is standard input.", metavar="IN")],
    output: Annotated[
        str, typer.Argument(help="File to write; - is standard output.", metavar="OUT")
    ],
    from_: Annotated[
        str | None,
        typer.Option("--from", metavar="FORMAT", help="Format of IN, if looking is not enough."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="Format of OUT, if its name does not say it: conll, conllu, jsonl, csv, tsv, "
            "slash, spans, huggingface, brackets.",
        ),
    ] = None,
    scheme: Annotated[
        str | None,
        typer.Option(
            help="Scheme of the labels in OUT: iob1, iob2, ioe1, ioe2, bioes, bilou, bmes, io."
        ),
    ] = None,
    labels: Annotated[
        str, typer.Option(help="Illegal chunk labels: repair (with --scheme), or strict.")
    ] = "repair",
    columns: OwnColumns = None,
    label: Annotated[
        str | None, typer.Option(help="Which column or key of IN is the label.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Of IN, if looking is not enough.")] = None,
    language: Annotated[
        str, typer.Option(help="Of texts with spans: english, german, french, spanish, any.")
    ] = "english",
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it is there.")] = False,
) -> None:
    """Convert a labelled file to another format or scheme.

    Formats: CoNLL columns, CoNLL-U, JSON lines, CSV, word/TAG lines, character spans (spaCy,
    Prodigy, doccano, Label Studio, Hugging Face), Parquet; brackets to look at.
    """
    from seqpa.data.conversion import convert_file, format_of, source_of

    names = None if columns is None else [name.strip() for name in columns.split(",")]
    source = source_of(input, from_, names, label, encoding)
    done = convert_file(
        input, output, source, format_of(output, to), scheme, labels, language, force
    )
    why = f" ({source.reason})" if source.reason else ""
    listed = f", columns {', '.join(source.columns)}" if source.columns else ""
    print(
        f"{input}: read as {source.format}{why}{listed}; {done.sentences:,} sentences, "
        f"{done.tokens:,} tokens written as {done.format}",
        file=sys.stderr,
    )
