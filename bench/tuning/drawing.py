"""The two drawings of the page as SVG, 400 units wide, so that a phone shows their text as large as its own: bars of where
an epoch's time goes, and its length by num_workers. Colours follow the theme of the page, light and dark.
SPDX-License-Identifier: Apache-2.0
"""
import html

from findings import LOADERS

WIDTH, EDGE = 400, 4
PARTS = ("compute", "copy", "wait")
STYLE = """<style>
.NAME .compute{fill:#2a6fd0}.NAME .copy{fill:#d98a1f}.NAME .wait{fill:#c94a59}
.NAME .pytorch{stroke:#c94a59}.NAME .dataline{stroke:#2a6fd0}.NAME .tutorial{stroke:#d98a1f}
.NAME circle.pytorch{fill:#c94a59}.NAME circle.dataline{fill:#2a6fd0}.NAME circle.tutorial{fill:#d98a1f}
.NAME polyline,.NAME .tuned{fill:none;stroke-width:2}
.NAME .floor{stroke:#7b8794;stroke-dasharray:5 4}.NAME .axis{stroke:#7b8794;stroke-opacity:.35}
.NAME .t{fill:var(--color-foreground-primary,#3d4852)}.NAME .s{fill:var(--color-foreground-secondary,#5f6b78);font-size:12px}
@media (prefers-color-scheme: dark){.NAME .t{fill:var(--color-foreground-primary,#d5dbe1)}
.NAME .s{fill:var(--color-foreground-secondary,#a4b0bc)}}
</style>"""


def svg(name, height, label, lines):
    head = (f'<svg class="{name}" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
            f'aria-label="{html.escape(label)}" font-family="system-ui, sans-serif" font-size="13">')
    return "\n".join([head, STYLE.replace("NAME", name), *lines]) + "\n</svg>\n"


def word(x, y, text, look="t", anchor="start"):
    return f'<text class="{look}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>'


def bars(rows):
    """`rows`: (label, {part: seconds}, or a word where there is nothing to draw)."""
    most = max(sum(parts.values()) for _, parts in rows if isinstance(parts, dict))
    lines, x = [], EDGE
    for part in PARTS:
        lines += [f'<rect class="{part}" x="{x}" y="4" width="12" height="12" rx="2"/>', word(x + 17, 15, part)]
        x += 32 + 8 * len(part)
    lines.append(word(WIDTH - EDGE, 15, "seconds an epoch", "s", "end"))
    for at, (label, parts) in enumerate(rows):
        y = 42 + 40 * at
        lines.append(word(EDGE, y, label))
        if not isinstance(parts, dict):
            lines.append(word(WIDTH - EDGE, y, parts, "s", "end"))
            continue
        lines.append(word(WIDTH - EDGE, y, f"{sum(parts.values()):.2f}", anchor="end"))
        x = EDGE
        for part in PARTS:
            width = (WIDTH - 2 * EDGE) * parts[part] / most
            lines.append(f'<rect class="{part}" x="{x:.1f}" y="{y + 6}" width="{width:.1f}" height="14"/>')
            x += width
    return svg("dl-bars", 34 + 40 * len(rows), "seconds of an epoch by setting: computing, copying, waiting for data", lines)


class Axes:
    """num_workers, each at the same distance from the next, and seconds from 0."""

    def __init__(self, counts, most):
        self.counts, self.most = sorted(counts), most
        self.left, self.right, self.top, self.bottom = 36, 384, 34, 246

    def x(self, count):
        """Also of counts between those on the axis."""
        above = next((at for at, each in enumerate(self.counts) if each >= count), len(self.counts) - 1)
        place = float(above)
        if above > 0 and self.counts[above] > count:
            low, high = self.counts[above - 1:above + 1]
            place -= (high - count) / (high - low)
        return self.left + (self.right - self.left) * place / max(1, len(self.counts) - 1)

    def y(self, seconds):
        return self.bottom - (self.bottom - self.top) * seconds / self.most

    def lines(self):
        out = [word(self.x(count), self.bottom + 17, str(count), "s", "middle") for count in self.counts]
        step = next(step for step in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if self.most / step <= 6)
        at = 0.0
        while at <= self.most:
            out += [f'<path class="axis" d="M{self.left} {self.y(at):.1f}H{self.right}"/>',
                    word(self.left - 6, self.y(at) + 4, f"{at:g}", "s", "end")]
            at += step
        return out + [word(EDGE, 24, "seconds an epoch", "s"), word(WIDTH - EDGE, self.bottom + 36, "num_workers", "s", "end")]


def workers(sweeps, floor, tuned):
    """`sweeps`: {loader: {num_workers: seconds}}; `floor`: seconds; `tuned`: (num_workers that tune=on chose, seconds), or None."""
    counts = {count for sweep in sweeps.values() for count in sweep}
    values = [value for sweep in sweeps.values() for value in sweep.values()] + [floor, tuned[1] if tuned else 0]
    axes = Axes(counts, 1.08 * max(values))
    lines = axes.lines()
    lines.append(f'<path class="floor" d="M{axes.left} {axes.y(floor):.1f}H{axes.right}"/>')
    for loader, sweep in sweeps.items():
        places = [(axes.x(count), axes.y(value)) for count, value in sorted(sweep.items())]
        lines.append(f'<polyline class="{loader}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>')
        lines += [f'<circle class="{loader}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places]
    if tuned:
        x, y = axes.x(tuned[0]), axes.y(tuned[1])
        lines.append(f'<path class="tuned dataline" d="M{x:.1f} {y - 8:.1f}l8 8-8 8-8-8z"/>')
    label = "seconds of an epoch by num_workers, PyTorch and Dataline"
    legend = _legend([*sweeps], tuned)
    return svg("dl-workers", 290 + 19 * ((len(legend) // 2 + 1) // 2), label, lines + legend)


def _legend(loaders, tuned):
    """In two columns below the axis."""
    marks = [(f'class="{loader}" stroke-width="2" d="MX,Yh22"', LOADERS[loader]) for loader in loaders]
    marks.append(('class="floor" d="MX,Yh22"', "no loader"))
    if tuned:
        marks.append(('class="tuned dataline" d="MX,Ym11-8l8 8-8 8-8-8z"', "Dataline, tune=on"))
    out = []
    for at, (mark, text) in enumerate(marks):
        x, y = (EDGE, 212)[at % 2], 299 + 19 * (at // 2)
        out += [f"<path {mark}/>".replace("X", str(x)).replace("Y", str(y)), word(x + 29, y + 4, text)]
    return out
