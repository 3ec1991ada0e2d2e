"""The one HTML document: style inside, no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unbraid.report.colours import style_text
from unbraid.report.markup import Safe, join, tag

# The page forbids itself the network, so that mailing it is safe.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading."""

    key: str
    title: str
    body: Safe
    lead: str = ""


def document(title: str, summary: str, under: str, sections: Sequence[Section]) -> str:
    """The whole page."""
    style = (Path(__file__).parent / "page.css").read_text(encoding="utf-8") + style_text()
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · Unbraid"),
        tag("style", Safe(style)),
    )
    top = tag("header", tag("p", under, class_="under"), tag("h1", title), tag("p", summary, class_="summary"))
    links = [tag("a", section.title, href=f"#{section.key}") for section in sections]
    nav = tag("nav", *links, aria_label="Sections") if len(links) > 3 else None
    foot = tag("footer", tag("p", "Made by Unbraid. This page holds everything it shows; it fetches nothing."))
    body = tag("body", top, nav, tag("main", render(sections, 2)), foot)
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


def render(sections: Sequence[Section], level: int) -> Safe:
    """Sections under headings of one level."""
    return join(
        tag(
            "section",
            tag(f"h{level}", section.title, id=f"{section.key}-title"),
            tag("p", section.lead, class_="lead") if section.lead else None,
            section.body,
            id=section.key,
            aria_labelledby=f"{section.key}-title",
        )
        for section in sections
    )


def figure(caption: object, inner: object, note: object = None, class_: str | None = None) -> Safe:
    """A chart or picture under its caption, with a line of numbers below."""
    return tag(
        "figure",
        tag("figcaption", tag("b", caption), tag("span", note, class_="note") if note else None),
        inner,
        class_=class_,
    )


def figures(parts: Sequence[Safe]) -> Safe:
    """Figures side by side as the width allows."""
    return tag("div", *parts, class_="figures")


def fold(title: object, body: object, key: str | None = None, open_: bool = False) -> Safe:
    """Something to open."""
    return tag("details", tag("summary", title), tag("div", body), id=key, open=open_)
