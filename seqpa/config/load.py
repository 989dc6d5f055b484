"""From a YAML file, and settings of the command line, to a checked configuration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from seqpa.config.messages import explained
from seqpa.config.schema import Config
from seqpa.config.yaml_lines import read_mapping, set_value
from seqpa.errors import SeqpaError

_WANTED = "not a configuration: a mapping with the section data is needed, see configs/ner.yaml"


def load_config(path: str | Path, settings: Sequence[str] = ()) -> Config:
    """Read a configuration file.

    Parameters
    ----------
    path : str or Path
        The YAML file.
    settings : sequence of str
        ``key=value`` settings on top of it, as ``--set`` takes them.

    Returns
    -------
    Config

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.yaml"
    >>> _ = file.write_text("data: {train: a.conll}\\nlearner:\\n  epoch: 3\\n")
    >>> load_config(file)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    seqpa.errors.SeqpaError: ...a.yaml:3: unknown key 'learner.epoch'; did you mean 'epochs'?
    >>> _ = file.write_text("data: {train: a.conll}\\n")
    >>> load_config(file, ["learner.C=0.3"]).learner.C
    0.3
    """
    values, places = read_mapping(Path(path), _WANTED)
    given = [set_value(values, places, setting) for setting in settings]
    # A section whose keys are all commented out is as good as absent.
    absent = {name for name, field in Config.model_fields.items() if field.default is None}
    values = {
        name: {} if value is None and name not in absent else value
        for name, value in values.items()
    }
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        raise SeqpaError(explained(error, places, str(path))) from None
    return config.read_from(Path(path), places, given)
