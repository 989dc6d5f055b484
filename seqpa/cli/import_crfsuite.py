"""``seqpa import-crfsuite``: a model that CRFsuite trained, as a model of seqpa."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

_SHOWN = 3  # so many attributes that are not found are named


def import_crfsuite(
    model: Annotated[Path, typer.Argument(help="Model file of CRFsuite.", metavar="MODEL")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Model file of seqpa to write.", metavar="OUT")
    ],
    features: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION",
            help="Your function from a sentence to the features of its tokens, as they were made "
            "for CRFsuite.",
        ),
    ] = None,
    templates: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Which template makes which attributes, a line for each, apart by a tab: "
            "lower[0] and word.lower():{}. Needs --data.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --templates: the text the model was trained on."),
    ] = None,
    columns: Annotated[
        str,
        typer.Option(help="Names of the columns of sentences, the label's included."),
    ] = "word,label",
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it is there.")] = False,
) -> None:
    """Bring a model that CRFsuite trained: the same tags, and marginals, but faster.

    With --templates the model reads words, which is fastest; with --features it calls your
    function, and wants --allow-imports. Without either it takes tokens that already are features,
    from Python.
    """
    from seqpa.errors import SeqpaError
    from seqpa.files import check_writable
    from seqpa.model import save_model
    from seqpa.pycrfsuite.crfsuite_file import read_crfsuite_file, to_trained
    from seqpa.pycrfsuite.importing import parameters_of, read_names, with_templates
    from seqpa.stored_parameters import import_function

    if features is not None and templates is not None:
        raise SeqpaError("give --features or --templates, not both")
    if (templates is None) != (data is None):
        raise SeqpaError("--templates and --data go together")
    if output.exists() and not force:
        raise SeqpaError(f"{output}: is there already; say --force to replace it")
    check_writable(output)
    read = read_crfsuite_file(model)
    names = [name.strip() for name in columns.split(",")]
    seen = [name for name in names if name not in ("label", "_")]
    missing: list[str] = []
    if templates is not None and data is not None:
        from seqpa.data import read as read_data

        told = read_names(templates, seen)
        corpus = read_data(data, columns=names)
        trained, missing = with_templates(read, told, corpus, seen)
        parameters = parameters_of(seen, told.templates)
    else:
        function = None if features is None else import_function(features)
        trained = to_trained(read, function)
        parameters = parameters_of(seen, function)
    save_model(output, trained, parameters)
    print(
        f"{output}: {len(read.labels)} labels, {len(read.attributes):,} attributes, "
        f"{len(read.states):,} weights",
        file=sys.stderr,
    )
    if missing:
        import warnings

        from seqpa.errors import SeqpaWarning

        shown = ", ".join(map(repr, missing[:_SHOWN]))
        warnings.warn(
            f"{len(missing):,} of {len(read.attributes):,} attributes are made by no template "
            f"from {data}, and tags may differ: {shown}{', ...' if missing[_SHOWN:] else ''}",
            SeqpaWarning,
            stacklevel=2,
        )
