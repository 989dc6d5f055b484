"""``seqpa schema``: the configuration's JSON Schema."""

from __future__ import annotations


def schema() -> None:
    """Print the JSON Schema of the configuration.

    Editors complete and check a configuration with it.
    """
    import json

    from seqpa.config import json_schema

    print(json.dumps(json_schema(), indent=2, ensure_ascii=False))
