"""The configuration of a training: read, checked, explained, and made into the things it names.

- `schema`: what a configuration may say, and the descriptions that people read.
- `yaml_lines`: YAML with the line of every key.
- `messages`: mistakes in one line, the keys as help text, table and JSON Schema.
- `load`: a file and settings of the command line in, a checked `Config` out.
- `build`: the data, features, costs and constraints that a `Config` names. It imports the taggers,
  so it is not loaded here.
"""

from __future__ import annotations

from seqpa.config.load import load_config
from seqpa.config.messages import (
    Setting,
    description,
    dotted,
    json_schema,
    known_keys,
    settings,
    settings_help,
    settings_table,
)
from seqpa.config.schema import (
    Config,
    CostSettings,
    DataSettings,
    DecodingSettings,
    FeatureSettings,
    LearnerSettings,
    OutputSettings,
    Section,
    TransitionRules,
)

__all__ = [
    "Config",
    "CostSettings",
    "DataSettings",
    "DecodingSettings",
    "FeatureSettings",
    "LearnerSettings",
    "OutputSettings",
    "Section",
    "Setting",
    "TransitionRules",
    "description",
    "dotted",
    "json_schema",
    "known_keys",
    "load_config",
    "settings",
    "settings_help",
    "settings_table",
]
