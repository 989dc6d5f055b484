"""A piece of HTML that a notebook shows, and that reads as plain text elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field

FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"


@dataclass(frozen=True, slots=True)
class Html:
    """What is shown.

    Parameters
    ----------
    html : str
        Where there is HTML.
    text : str
        Where there is none.

    Examples
    --------
    >>> Html("<b>so</b>", "so")
    so
    """

    html: str = field(repr=False)
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


def tag(name: str, style: str, *content: str, attributes: str = "") -> str:
    """An element.

    Parameters
    ----------
    name : str
        Of the element.
    style : str
        Its CSS; empty for none.
    *content : str
        Markup, which is not escaped again.
    attributes : str
        Further attributes, as markup.

    Returns
    -------
    str

    Examples
    --------
    >>> tag("b", "color:red", text("a < b"))
    '<b style="color:red">a &lt; b</b>'
    """
    styled = f' style="{style}"' if style else ""
    more = f" {attributes}" if attributes else ""
    return f"<{name}{more}{styled}>{''.join(content)}</{name}>"


def text(content: object) -> str:
    """Text as markup that shows it.

    Parameters
    ----------
    content : object
        Anything; its `str` is shown.

    Returns
    -------
    str

    Examples
    --------
    >>> text("<script>")
    '&lt;script&gt;'
    """
    from html import escape  # brings the names of all characters

    return escape(str(content))
