"""Sphinx: ``sphinx-build -W --keep-going -b html docs build/docs``. Needs no network.

The pages are plain Markdown that also reads well on a forge, and the docstrings are plain text.
What only Sphinx needs (tables of contents, escapes) is therefore added here while it reads them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import seqpa

DOCS = Path(__file__).parent

project = "seqpa"
author = "The seqpa developers"
copyright = "the seqpa developers, MIT licence"
version = release = seqpa.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",  # numpydoc sections
    "sphinx.ext.viewcode",
]
html_theme = "alabaster"
html_theme_options = {
    "description": "Sequence labelling with online passive-aggressive learning",
    "page_width": "72rem",
    "sidebar_width": "15rem",
}
html_sidebars = {"**": ["about.html", "searchfield.html", "localtoc.html", "navigation.html"]}
html_copy_source = False

myst_enable_extensions = ["tasklist"]
myst_heading_anchors = 4  # links to headings, as forges have them
# Types in docstrings are words; that one of them is also the name of several things is no mistake.
suppress_warnings = ["ref.python"]

autodoc_default_options = {
    "members": True,
    "inherited-members": True,
}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
# Shown by their names, not by what they stand for.
autodoc_type_aliases = {
    name: name for name in ("ArrayLike", "Floats", "Indices", "Labels", "LabelLists", "Tagged")
}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

# --- Pages -----------------------------------------------------------------------------------

# What the side bar lists; the pages themselves link to each other in their text.
CONTENTS = {
    "index": {
        "Guides": [
            "teach",
            "guide-data",
            "guide-pos",
            "guide-ner",
            "guide-chunking",
            "accuracy",
            "online",
            "probabilities",
            "tuning",
            "scaling",
            "report",
            "notebooks",
            "serving",
            "teach-backends",
        ],
        "Coming from": [
            "migrating-from-sklearn-crfsuite",
            "migrating-from-crfsuite",
            "migrating-from-scikit-learn",
            "migrating-from-nltk",
            "migrating-from-spacy",
            "migrating-from-seqeval",
        ],
        "Reference": [
            "command-line",
            "templates",
            "costs-and-hierarchies",
            "configuration",
            "model-format",
            "algorithms",
            "references",
            "experiments/README",
            "api/index",
        ],
        "Inside": ["reliability", "architecture"],
    },
    "experiments/README": {
        "Reports": sorted(
            [path.parent.name + "/report" for path in DOCS.glob("experiments/*/report.md")]
            + ["teach/README"]
        )
    },
    "experiments/teach/README": {
        "Corpora": sorted(
            path.parent.name + "/report" for path in DOCS.glob("experiments/teach/*/report.md")
        )
    },
}
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s:#]+)(#[^)\s]*)?\)")


def add_contents(app: Any, docname: str, source: list[str]) -> None:
    """Append the tables of contents that a page has in the site alone."""
    for caption, pages in CONTENTS.get(docname, {}).items():
        here = (DOCS / docname).parent
        present = [page for page in pages if (here / f"{page}.md").exists()]
        lines = ["```{toctree}", ":hidden:", f":caption: {caption}", "", *present, "```"]
        source[0] += "\n\n" + "\n".join(lines) + "\n"


def name_files_outside(app: Any, docname: str, source: list[str]) -> None:
    """Write links to files that the site does not have (`../configs/`) as their text and path."""
    here = (DOCS / docname).parent

    def replaced(match: re.Match[str]) -> str:
        text, target = match[1], match[2]
        path = (here / target).resolve()
        if path.is_relative_to(DOCS) or not path.exists():
            return match[0]
        name = path.relative_to(DOCS.parent).as_posix() + ("/" if path.is_dir() else "")
        return f"`{name}`" if text.strip("`/") == name.strip("/") else f"{text} (`{name}`)"

    source[0] = _LINK.sub(replaced, source[0])


# --- Docstrings ------------------------------------------------------------------------------

_LITERAL = re.compile(r"(``.+?``|`[^`]+`)")
_UNDERLINE = re.compile(r"-{3,}$")  # of a numpydoc section's name
_NAMED = re.compile(r"\w[\w, ]* : ")


def as_restructured_text(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Escape what is no markup (`|x|`, `coef_`, `w*`); what is indented is set as it stands.

    Docstrings are plain text in which only backticks mean something; examples (>>>), tables and
    equations are told by their indentation.
    """
    if what == "property":
        lines.insert(0, "")  # or napoleon takes what stands before a colon for its type
    header = next((i for i, line in enumerate(lines) if _UNDERLINE.match(line.strip())), None)
    first_section = len(lines) if header is None else header - 1
    lines[:first_section] = listed(lines[:first_section])
    made: list[str] = []
    block: int | None = None  # the indentation around the literal block that we are in
    outer = 0  # the indentation of the last line of text
    blank, example = True, False
    for line in lines:
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if not text:
            blank, example = True, False
            made.append(line)
            continue
        if block is not None and indent <= block:
            block = None
        example = example or text.startswith(">>> ")
        opens = blank and made and indent >= outer + 3 and not example
        if block is None and opens and not made_ends_with_marker(made):
            block = outer
            made += [" " * outer + "::", ""]
        if block is None:
            outer = indent
            if not example:
                line = escaped(line)
        made.append(line)
        blank = False
    lines[:] = made


def listed(lines: list[str]) -> list[str]:
    """Lines before the first numpydoc section, with what is ``name : text`` there as a list."""
    made: list[str] = []
    example = False
    for line in lines:
        example = bool(line.strip()) and (example or line.startswith(">>> "))
        hangs = made and made[-1].strip() and line.startswith("    ")
        if example:
            made.append(line)
        elif hangs and not made[-1].startswith(" "):
            made[-1] += " " + line.strip()
        elif _NAMED.match(line):
            if made and made[-1].strip() and not made[-1].startswith("- "):
                made.append("")
            made.append(f"- {line}")
        else:
            if made and made[-1].startswith("- ") and line.strip():
                made.append("")
            made.append(line)
    return made


def made_ends_with_marker(made: list[str]) -> bool:
    """Whether the last line of text announces a literal block or a directive, or is an item."""
    last = next((line.strip() for line in reversed(made) if line.strip()), "")
    return last.endswith("::") or last.startswith((".. ", "- ", "* "))


def escaped(line: str) -> str:
    """A line of a docstring in which stars, bars and underscores at a word's end are letters."""
    parts = _LITERAL.split(line)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"(?<!\\)([*|])(?! )", r"\\\1", parts[i])
        parts[i] = re.sub(r"(?<=\w)_(?!\w)", r"\\_", parts[i])
    for i in range(1, len(parts), 2):
        parts[i] = re.sub(r"\s+(`+)$", r"\1", parts[i])  # no space before the closing backticks
    return "".join(parts)


def skip_foreign(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn, NLTK, pydantic or Python itself give to our classes."""
    if name == "model_config":
        return True
    home = getattr(obj, "__module__", None) or getattr(
        getattr(obj, "fget", None), "__module__", None
    )
    home = home or getattr(getattr(obj, "__func__", None), "__module__", None)
    if what in ("class", "exception") and home is not None and not home.startswith("seqpa"):
        return True
    return None


def setup(app: Any) -> None:
    """Connect the functions above."""
    app.connect("source-read", add_contents)
    app.connect("source-read", name_files_outside)
    app.connect("autodoc-process-docstring", as_restructured_text, priority=400)
    app.connect("autodoc-skip-member", skip_foreign)
