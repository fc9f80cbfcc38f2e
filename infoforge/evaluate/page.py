"""The report as one HTML page that needs nothing else: figures, plots, every miss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from infoforge.evaluate import report

Row = Mapping[str, Any]

_STYLE = """
:root{--ink:#1d2430;--soft:#5b6675;--paper:#fff;--edge:#dde2e9;--blue:#2563b0;--pale:#b9d0ee;
--red:#b3372c;--green:#2c7a4b}
@media(prefers-color-scheme:dark){:root{--ink:#e5e9f0;--soft:#9aa5b5;--paper:#14181f;--edge:#2c3440;
--blue:#7db0f0;--pale:#2b4a70;--red:#f08a7e;--green:#7fd0a0}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,sans-serif}main{max-width:1120px;margin:0 auto;padding:24px 20px 80px}
h1{font-size:1.5rem;margin:.2em 0}h2{font-size:1.15rem;margin:2.2em 0 .6em}
p.soft,.soft{color:var(--soft)}table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{text-align:right;padding:6px 10px;border-bottom:1px solid var(--edge);
font-variant-numeric:tabular-nums}th:first-child,td:first-child{text-align:left}
th{font-weight:600;color:var(--soft)}.wide{overflow-x:auto}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:20px 0}
.tile{border:1px solid var(--edge);border-radius:8px;padding:10px 14px}
.tile b{display:block;font-size:1.6rem;font-variant-numeric:tabular-nums}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:24px}
figure{margin:0}figcaption{font-weight:600;margin-bottom:4px}svg{width:100%;height:auto}
svg text{font:12px system-ui,sans-serif;fill:var(--soft)}.grid{stroke:var(--edge)}
.line{fill:none;stroke:var(--blue);stroke-width:2}.dot{fill:var(--blue)}
.mark{fill:none;stroke:var(--red);stroke-width:2}.p50{fill:var(--blue)}.p95{fill:var(--pale)}
details{border:1px solid var(--edge);border-radius:8px;margin:8px 0;padding:8px 14px}
summary{cursor:pointer}summary .why{display:block;color:var(--soft);font-size:.9rem}
ol,ul{margin:.3em 0 .6em;padding-left:1.4em}.passed{color:var(--green)}.failed{color:var(--red)}
code{font-size:.9em;overflow-wrap:anywhere}
"""


def page(data: Mapping[str, Any]) -> str:
    """Make the page.

    Args:
        data: ``data`` of ``eval`` (data/schemas/eval.schema.json).

    Returns:
        A whole HTML document.
    """
    rows: Sequence[Row] = data["questions"]
    figures = data["summary"]
    setting = data["run"]
    name = escape(setting["file"])
    corpora = ", ".join(escape(f"{c['name']} ({c['kind']})") for c in setting["corpora"])
    misses = [row for row in rows if row["why"] is not None]
    content = [
        f"<h1>infoforge eval: {name}</h1>",
        f'<p class="soft">{figures["questions"]} questions'
        + (f", a sample with seed {setting['seed']}" if setting["sample"] else "")
        + f" · {corpora} · {setting['sources']} sources in {setting['characters']:,} characters · "
        f"infoforge {escape(setting['version'])}</p>",
        _tiles(figures),
        _checks(data["checks"]),
        _plots(rows, figures),
        "<h2>By language</h2>",
        _languages(figures, data["by_language"]),
        f"<h2>Misses ({len(misses)})</h2>",
        "<p>Every question whose right article is not first, or whose answer is not in the "
        "passages, or for which nothing was found.</p>"
        if misses
        else "<p>None.</p>",
        *(_miss(row) for row in misses),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>infoforge eval: {name}</title><style>{_STYLE}</style></head><body><main>"
        + "\n".join(content)
        + "</main></body></html>\n"
    )


def share(value: float | None) -> str:
    """A percentage, or a dash for what could not be measured."""
    return "–" if value is None else f"{value:.1f}"


def _tiles(figures: Row) -> str:
    total = figures["milliseconds"].get("total", {"p50": 0.0, "p95": 0.0})
    tiles = [
        ("right article first", share(figures["hit1"]), "%"),
        ("among the first five", share(figures["hit5"]), "%"),
        (
            f"answer in {figures['characters']:,} characters",
            share(figures["answer_in_context"]),
            "%",
        ),
        ("nothing found", share(figures["empty"]), "%"),
        ("median / p95", f"{total['p50']:.0f} / {total['p95']:.0f}", "ms"),
        ("requests, median", f"{figures['requests']['median']:.0f}", ""),
        ("full-text searches, median", f"{figures['searches']['median']:.0f}", ""),
    ]
    answers = figures["answers"]
    if answers is not None:
        tiles += [
            ("answer's F1", share(answers["f1"]), "%"),
            ("answers that cite", share(answers["cited"]), "%"),
            ("with unsupported parts", share(answers["unsupported"]), "%"),
        ]
    inner = "".join(
        f'<div class="tile"><b>{value} <small>{unit}</small></b>{escape(label)}</div>'
        for label, value, unit in tiles
    )
    return f'<div class="tiles">{inner}</div>'


def _checks(checks: Sequence[Row]) -> str:
    if not checks:
        return ""
    items = "".join(
        f'<li class="{"passed" if c["passed"] else "failed"}">{escape(c["name"])} {c["wanted"]:g}: '
        f"{share(c['value'])}, {'passed' if c['passed'] else 'failed'}</li>"
        for c in checks
    )
    return f"<h2>Thresholds</h2><ul>{items}</ul>"


def _plots(rows: Sequence[Row], figures: Row) -> str:
    plots = []
    if figures["with_title"]:
        hits = report.recall(rows, 10)
        plots.append(
            (
                "Recall by rank: the right article is among the first k",
                line(
                    [(float(k), value) for k, value in enumerate(hits, 1)],
                    title="Recall by rank",
                    x_label="k",
                    y_label="percent",
                    x_most=10.0,
                    x_least=1.0,
                ),
            )
        )
    points = report.curve(rows)
    if points:
        here = (float(figures["characters"]), figures["answer_in_context"] or 0.0)
        plots.append(
            (
                "Answer in context against characters (ring: this run's budget)",
                line(
                    points,
                    title="Answer in context against characters",
                    x_label="median characters of all sources together",
                    y_label="percent",
                    x_most=nice(max(here[0], *(x for x, _ in points))),
                    mark=here,
                ),
            )
        )
    stages = [(s, t["p50"], t["p95"]) for s, t in figures["milliseconds"].items()]
    if stages:
        plots.append(
            (
                "Time by stage: median, and 95th percentile behind it",
                bars(stages, title="Time by stage", unit="ms"),
            )
        )
    inner = "".join(
        f"<figure><figcaption>{escape(caption)}</figcaption>{plot}</figure>"
        for caption, plot in plots
    )
    return f'<h2>Plots</h2><div class="plots">{inner}</div>'


def _languages(figures: Row, groups: Mapping[str, Row]) -> str:
    head = (
        "<tr><th>language</th><th>questions</th><th>hit@1</th><th>hit@3</th><th>hit@5</th>"
        "<th>empty</th><th>answer in context</th><th>characters</th><th>p50 ms</th><th>p95 ms</th>"
        "</tr>"
    )
    lines = []
    for name, own in [*groups.items(), ("all", figures)]:
        total = own["milliseconds"].get("total", {"p50": 0.0, "p95": 0.0})
        cells = [
            str(own["questions"]),
            *(share(own[key]) for key in ("hit1", "hit3", "hit5", "empty", "answer_in_context")),
            f"{own['characters']:,}",
            f"{total['p50']:.1f}",
            f"{total['p95']:.1f}",
        ]
        lines.append(
            f"<tr><td>{escape(name)}</td>" + "".join(f"<td>{c}</td>" for c in cells) + "</tr>"
        )
    return f'<div class="wide"><table>{head}{"".join(lines)}</table></div>'


def _miss(row: Row) -> str:
    why = row["why"]
    told = "; ".join(text for text in (why["article"], why["answer"]) if text) or "nothing found"
    tried = "".join(
        f"<li><code>{escape(t['query'])}</code> in {escape(t['corpus'])}: {t['kind']}, "
        f"{t['hits']:,} hits, {t['milliseconds']:.1f} ms</li>"
        for t in why["tried"]
    )
    found = "".join(
        f"<li>{escape(item['title'])} <span class=soft>{item['score']:.2f}: "
        + ", ".join(f"{name} {value:+.2f}" for name, value in item["parts"].items())
        + "</span></li>"
        for item in row["found"]
    )
    refused = "".join(
        f"<li>{escape(item['title'])} <span class=soft>{escape(item['reason'])}</span></li>"
        for item in why["refused"]
    )
    blocks = [
        ("Right article", escape(" or ".join(row["titles"]) or "not known")),
        ("Right answer", escape(" or ".join(row["answers"]) or "not known")),
        ("Tried", f"<ol>{tried}</ol>" if tried else "nothing"),
        ("Found", f"<ol>{found}</ol>" if found else "nothing"),
        ("Refused", f"<ul>{refused}</ul>" if refused else "nothing"),
    ]
    inner = "".join(f"<div><b>{label}</b>: {text}</div>" for label, text in blocks)
    return (
        f"<details><summary>{escape(row['question'])}"
        f'<span class="why">{escape(told)}</span></summary>{inner}</details>'
    )


WIDTH, HEIGHT = 520, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 28, 14, 44
_TICKS = 5
_ROW = 34


def nice(most: float) -> float:
    """A round number not below the given one, as the end of an axis (1, 2, 2.5 or 5 by tens)."""
    if most <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(most))
    return next(step * unit for step in (1, 2, 2.5, 5, 10) if step * unit >= most * (1 - 1e-9))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.1f}"


def _text(x: float, y: float, text: str, anchor: str = "middle", extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(text)}</text>'


def line(
    points: Sequence[tuple[float, float]],
    *,
    title: str,
    x_label: str,
    y_label: str,
    x_most: float = 0.0,
    y_most: float = 100.0,
    x_least: float = 0.0,
    mark: tuple[float, float] | None = None,
) -> str:
    """A line with a dot and its value at each point.

    Args:
        points: By x.
        title: What the plot shows, for readers who do not see it.
        x_label: Under the x axis.
        y_label: Next to the y axis.
        x_most: End of the x axis; a round number past the last point when 0.
        y_most: End of the y axis.
        x_least: Start of the x axis.
        mark: One more point that stands out.

    Returns:
        An ``<svg>`` element.
    """
    end = x_most or nice(max((x for x, _ in points), default=1.0))
    wide, high = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

    def at(x: float, y: float) -> tuple[float, float]:
        share = (x - x_least) / (end - x_least or 1.0)
        return _LEFT + share * wide, _TOP + (1 - min(1.0, y / y_most)) * high

    parts = [_frame(title)]
    for tick in range(_TICKS + 1):
        value = y_most * tick / _TICKS
        _, y = at(x_least, value)
        parts.append(
            f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{WIDTH - _RIGHT}" y2="{y:.1f}"/>'
        )
        parts.append(_text(_LEFT - 6, y + 4, _number(value), "end"))
        value = x_least + (end - x_least) * tick / _TICKS
        if end - x_least > 3 * _TICKS:
            parts.append(_text(at(value, 0)[0], HEIGHT - _BOTTOM + 16, _number(value)))
    if end - x_least <= 3 * _TICKS:
        parts += [_text(at(x, 0)[0], HEIGHT - _BOTTOM + 16, _number(x)) for x, _ in points]
    path = " ".join(
        f"{'L' if number else 'M'}{at(x, y)[0]:.1f},{at(x, y)[1]:.1f}"
        for number, (x, y) in enumerate(points)
    )
    if path:
        parts.append(f'<path class="line" d="{path}"/>')
    for x, y in points:
        left, top = at(x, y)
        told = f"{_number(x)}: {y:.1f}"
        parts.append(
            f'<circle class="dot" cx="{left:.1f}" cy="{top:.1f}" r="3.5"><title>{told}</title>'
            "</circle>"
        )
    if mark is not None:
        left, top = at(*mark)
        parts.append(f'<circle class="mark" cx="{left:.1f}" cy="{top:.1f}" r="6"/>')
    parts.append(_text(_LEFT + wide / 2, HEIGHT - 8, x_label))
    parts.append(
        _text(14, _TOP + high / 2, y_label, extra=f' transform="rotate(-90 14 {_TOP + high / 2})"')
    )
    return "".join(parts) + "</svg>"


def bars(rows: Sequence[tuple[str, float, float]], *, title: str, unit: str) -> str:
    """Two bars a row: the median, and behind it the 95th percentile.

    Args:
        rows: Name, p50, p95.
        title: What the plot shows.
        unit: Of the values.

    Returns:
        An ``<svg>`` element.
    """
    most = nice(max((high for _, _, high in rows), default=1.0))
    left = 92
    wide = WIDTH - left - 120
    height = _ROW * len(rows) + 20
    parts = [_frame(title, height)]
    for number, (name, middle, high) in enumerate(rows):
        top = 8 + number * _ROW
        parts.append(_text(left - 8, top + 17, name, "end"))
        for value, kind in ((high, "p95"), (middle, "p50")):
            parts.append(
                f'<rect class="{kind}" x="{left}" y="{top}" height="24" '
                f'width="{max(1.0, wide * value / most):.1f}" rx="2"/>'
            )
        told = f"{middle:.1f} / {high:.1f} {unit}"
        parts.append(_text(left + wide * high / most + 8, top + 17, told, "start"))
    return "".join(parts) + "</svg>"


def _frame(title: str, height: int = HEIGHT) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>"
    )
