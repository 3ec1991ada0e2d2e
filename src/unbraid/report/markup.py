"""Markup that escapes by itself: whatever is not already `Safe` is text."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

VOID = {"img", "meta", "br", "hr", "col"}


class Safe(str):
    """A piece of finished markup."""


def text(value: object) -> Safe:
    """A value as markup: kept if it is finished, escaped if not."""
    return value if isinstance(value, Safe) else Safe(escape(str(value)))


def join(parts: Iterable[object], between: str = "") -> Safe:
    """Pieces one after another; None and empty ones fall away."""
    return Safe(between.join(text(part) for part in parts if part is not None and part != ""))


def tag(name: str, /, *children: object, **attributes: object) -> Safe:
    """One element; `class_` becomes `class`, `aria_label` becomes `aria-label`, None is left out."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID:
        return Safe(f"<{name}{written}>")
    return Safe(f"<{name}{written}>{join(children)}</{name}>")


def table(head: Iterable[object], rows: Iterable[Iterable[object]], caption: str, class_: str = "") -> Safe:
    """A table in a box that scrolls by itself; the first cell of each row is its heading."""
    top = tag("tr", *(tag("th", cell, scope="col") for cell in head))
    body = [
        tag("tr", *(tag("td", cell) if at else tag("th", cell, scope="row") for at, cell in enumerate(row)))
        for row in rows
    ]
    inner = tag("table", tag("caption", caption), tag("thead", top), tag("tbody", *body), class_=class_ or None)
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def svg(parts: Iterable[object], width: int, height: int, title: str, class_: str = "chart") -> Safe:
    """A drawing that says what it is."""
    size = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height}
    return tag("svg", tag("title", title), *parts, class_=class_, **size, role="img", aria_label=title)
