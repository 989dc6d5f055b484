"""``seqpa export-crfsuite``: a model of seqpa, as a model file that CRFsuite opens."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from seqpa.cli.inputs import AllowImports

_SHOWN = 3  # so many templates are named


def export_crfsuite(
    model: Annotated[Path, typer.Argument(help="Model file of seqpa.", metavar="MODEL")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Model file of CRFsuite to write.", metavar="OUT")
    ],
    templates: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What the attributes of each template are called, a line for each, apart by a "
            "tab: lower[0] and word.lower():{}. Without it they are called as `seqpa inspect` "
            "shows them: lower[0]=the.",
        ),
    ] = None,
    allow_imports: AllowImports = False,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it is there.")] = False,
) -> None:
    """Write a model for CRFsuite and python-crfsuite: the same tags, the same probabilities.

    Whoever tags with it makes the attributes: the model has their names, and not what makes them
    of words. Models of two stages, features of label pairs and of documents cannot be written.
    """
    import warnings

    from seqpa.errors import SeqpaError, SeqpaWarning
    from seqpa.files import check_writable, write_atomically
    from seqpa.model import read_model
    from seqpa.pycrfsuite.crfsuite_writer import to_bytes
    from seqpa.pycrfsuite.exporting import FIRST, to_crfsuite
    from seqpa.pycrfsuite.importing import read_names
    from seqpa.sequence.encode import FeatureEncoder

    if output.exists() and not force:
        raise SeqpaError(f"{output}: is there already; say --force to replace it")
    check_writable(output)
    _, trained = read_model(model).open(allow_imports=allow_imports)
    names = None
    encoder = trained.source.encoder
    if templates is not None:
        columns = encoder.columns if isinstance(encoder, FeatureEncoder) else ("word",)
        names = read_names(templates, columns)
    try:
        exported = to_crfsuite(trained, names)
        content = to_bytes(exported.model)
    except SeqpaError as error:
        raise SeqpaError(f"{model}: {error}") from None
    write_atomically(output, content)
    made = exported.model
    print(
        f"{output}: {len(made.labels)} labels, {len(made.attributes):,} attributes, "
        f"{len(made.states):,} weights",
        file=sys.stderr,
    )
    for name in exported.ends:
        place, does = ("first", "begin") if name == FIRST else ("last", "end")
        warnings.warn(
            f"give the {place} item of each sequence the attribute {name!r} too: it says which "
            f"labels may not {does} one",
            SeqpaWarning,
            stacklevel=2,
        )
    if exported.known:
        shown = ", ".join(exported.known[:_SHOWN])
        warnings.warn(
            f"only the model of seqpa can tell the values of {len(exported.known)} templates "
            f"({shown}{', ...' if exported.known[_SHOWN:] else ''}): lexicons, clusters, labels "
            "seen in training, predicted columns",
            SeqpaWarning,
            stacklevel=2,
        )
