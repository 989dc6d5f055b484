"""A model file opened to tag words: what commands and services need of it is checked first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqpa.errors import SeqpaError
from seqpa.stored_parameters import UnloadedFunction

if TYPE_CHECKING:
    from seqpa.model import ModelFile
    from seqpa.sequence.tagger import SequenceTagger


def open_model(model: ModelFile, allow_imports: bool) -> SequenceTagger:
    """The tagger of a model file, for columns of words.

    Parameters
    ----------
    model : ModelFile
        As `seqpa.model.read_model` reads it.
    allow_imports : bool
        Whether the Python functions that it names may be imported.

    Returns
    -------
    SequenceTagger

    Raises
    ------
    SeqpaError
        If it needs a function that may not be imported, or tokens that are no words.

    Examples
    --------
    >>> import tempfile
    >>> from seqpa import SequenceTagger
    >>> from seqpa.model import read_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "so.safetensors")
    ...     SequenceTagger(["word[0]"]).fit([["so", "it"]], [["A", "P"]]).save(path)
    ...     open_model(read_model(path), allow_imports=False).tag(["it"])
    [('it', 'P')]
    """
    from seqpa.sequence.tagger import SequenceTagger

    path = model.path
    if allow_imports and model.config is not None:
        _load_cost_file(model.config)
    features = model.header.get("parameters", {}).get("features")
    own = isinstance(features, dict) and "function" in features
    if own and not allow_imports:
        raise SeqpaError(
            f"{path}: needs the feature function {features['function']!r}; if you trust the model, "
            "say --allow-imports"
        )
    if model.header.get("encoder", {}).get("encoder") == "dicts" and not own:
        raise SeqpaError(
            f"{path}: was trained on tokens that already are features, which files do not hold; "
            "use it from Python: SequenceTagger.load(...).predict(...)"
        )
    tagger = SequenceTagger.from_model(model, allow_imports=allow_imports)
    if isinstance(tagger.cost, UnloadedFunction) and allow_imports:
        raise SeqpaError(f"{path}: its cost is a function without a name, which nobody can import")
    return tagger


def _load_cost_file(config: dict[str, Any]) -> None:
    """Make the cost's own file importable under the name that the model knows."""
    from seqpa.config.build import load_function

    cost = config.get("cost", {})
    if cost.get("kind") == "python" and cost.get("file"):
        load_function(str(cost.get("function")), Path(cost["file"]))
