"""The charts' style sheet, and the fixed colours that stand in for a page's own."""

from __future__ import annotations

from pathlib import Path

FIXED = {"ink": "#777b82", "soft": "#777b82", "rule": "#8b909633", "paper": "none", "mark": "#c2611f"} | {
    f"s{at}": colour
    for at, colour in enumerate(
        ("#2f80c2", "#d3641c", "#2c9270", "#b0588f", "#a3801a", "#7a6cc4", "#c14b4b", "#5b8a2f", "#15889f", "#9a6148")
    )
}


def standalone(chart: str) -> str:
    """The chart as a file of its own, in colours that read on white and on dark pages."""
    style = style_text()
    for name, colour in FIXED.items():
        style = style.replace(f"var(--{name})", colour)
    for at in range(10):
        style = style.replace(f"var(--q{at})", f"hsl({250 - 23 * at} 55% 55%)")
    font = ".chart{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}"
    head, _, rest = chart.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{font}{style}</style>{rest}\n'


def style_text() -> str:
    """The style sheet that every chart relies on."""
    return (Path(__file__).parent / "chart.css").read_text(encoding="utf-8")
