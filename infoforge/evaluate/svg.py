"""Plots as SVG text, made by hand: the page opens from a file, with no network and no library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

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
        y_label: Beside the y axis.
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
