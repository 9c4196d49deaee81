"""What notebooks show."""

from __future__ import annotations

import base64
import html
from typing import TYPE_CHECKING, Any, List, Mapping, Sequence

if TYPE_CHECKING:
    from ._profile import Profile
    from ._results import Advice

# Grey on any background: notebooks are light or dark.
_STYLE = (
    "border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.5em 0;text-align:left"
)
_CELL = "padding:.1em .8em .1em 0;text-align:left"
_NUMBER = "padding:.1em .8em .1em 0;text-align:right"


def image(svg: str) -> str:
    """An SVG as an image of its own: its scripts and names stay apart from those of the page."""
    coded = base64.b64encode(svg.encode()).decode()
    return f'<img alt="flame graph" style="max-width:100%;background:#fff" src="data:image/svg+xml;base64,{coded}">'


def picture(svg: str) -> str:
    """An SVG in a frame of its own, where its scripts run: a click makes a frame of the flame graph wider."""
    coded = base64.b64encode(svg.encode()).decode()
    size = 'style="width:100%;height:40em;border:1px solid #8888;background:#fff"'
    return f'<iframe title="flame graph" sandbox="allow-scripts" {size} src="data:image/svg+xml;base64,{coded}"></iframe>'


def table(names: Sequence[str], rows: Sequence[Sequence[str]], count: int) -> str:
    """The first rows of a table."""

    def line(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f'<{tag} style="{_CELL}">{html.escape(cell)}</{tag}>' for cell in cells) + "</tr>"

    more = f"<p>{count:,} rows</p>" if count > len(rows) else ""
    return f'<div><table style="{_STYLE}">{line("th", names)}{"".join(line("td", row) for row in rows)}</table>{more}</div>'


def advice(advice: "Advice") -> str:
    """The changes that save cycles, and how many."""
    rows: List[List[str]] = [
        [str(change["number"]), change["what"], f"{change['on_top']:,}", change["class"]] for change in advice.changes
    ]
    told = f"{advice.data['design']}: {advice.cycles:,} cycles, {advice.data['with_all']:,} with all advice"
    return f"<div><strong>{html.escape(told)}</strong>{table(['', 'change', 'cycles less', ''], rows, len(rows))}</div>"


def page(text: str) -> str:
    """A page in a frame of its own."""
    return f'<iframe style="width:100%;height:45em;border:1px solid #8888" srcdoc="{html.escape(text)}"></iframe>'


def reason(spot: Mapping[str, Any]) -> str:
    """Why a statement costs cycles, and what to do next."""
    return "; ".join(part for part in (spot["why"], spot.get("next")) if part)


def profile(profile: "Profile") -> str:
    """The summary, the most expensive statements and the flame graph of a profile."""
    summary = profile.summary
    cycles = summary["cycles"]

    def figure(name: str, value: int) -> str:
        share = f"{100 * value / cycles:.1f} %" if cycles else ""
        return (
            f'<tr><td style="{_CELL}">{html.escape(name)}</td>'
            f'<td style="{_NUMBER}">{value:,}</td><td style="{_NUMBER}">{share}</td></tr>'
        )

    figures = [("cycles", cycles), ("useful", summary["useful_cycles"]), ("overhead", summary["overhead_cycles"])]
    kinds = [(f"\u2003{kind}", value) for kind, value in summary["overhead"].items() if value]
    rows = "".join(figure(name, value) for name, value in [*figures, *kinds])
    hotspots = "".join(
        f'<tr><td style="{_CELL}"><code>{html.escape(spot["name"])}</code></td>'
        f'<td style="{_NUMBER}">{spot["cost"]:,}</td><td style="{_CELL}">{html.escape(reason(spot))}</td></tr>'
        for spot in summary["hotspots"]
        if spot["kind"] == "cost"
    )
    stopped = summary.get("stopped")
    notes = [f"partial profile: {stopped}"] if stopped else []
    notes += summary["warnings"]
    told = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    most = (
        f'<table style="{_STYLE}"><tr><th style="{_CELL}">what costs</th><th style="{_NUMBER}">cycles</th>'
        f'<th style="{_CELL}">why</th></tr>{hotspots}</table>'
        if hotspots
        else ""
    )
    return (
        f"<div><strong>{html.escape(summary['design'])}</strong>"
        f'<table style="{_STYLE}">{rows}</table>{most}{told}{image(profile.flame())}</div>'
    )
