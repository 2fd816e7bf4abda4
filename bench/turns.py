"""Programs that take turns, round after round and in both directions, so that a slow moment of the machine affects all of them.
SPDX-License-Identifier: Apache-2.0
"""
import dataclasses
import statistics
from collections.abc import Callable


@dataclasses.dataclass
class Group:
    """Programs that do the same work. `turns`: each call runs one program and returns {variant: {figure: value}}."""

    name: str
    turns: list
    warm_up: int = 0  # rounds whose values do not count
    once: Callable = dict  # called after the rounds: {variant: {figure: [value, ...]}}
    ratios: Callable = lambda samples: []  # [(figure, variant, the variant beside it)]
    notes: list = dataclasses.field(default_factory=list)


def each(programs):
    """Turns of programs with one variant each: {variant: what returns its figures}."""
    return [lambda variant=variant, call=call: {variant: call()} for variant, call in programs.items()]


def measure(group, rounds):
    """{variant: {figure: [a value for each round]}}"""
    samples = {}
    for number in range(-group.warm_up, rounds):
        for turn in group.turns if number % 2 == 0 else group.turns[::-1]:
            for variant, figures in turn().items():
                for figure, value in figures.items() if number >= 0 else ():
                    samples.setdefault(variant, {}).setdefault(figure, []).append(value)
    for variant, figures in group.once().items():
        samples.setdefault(variant, {}).update(figures)
    return samples


def median_and_range(values):
    return f"{statistics.median(values):.4g} ({min(values):.4g} to {max(values):.4g})"


def tables(group, samples):
    """The medians, and the ratios: medians of the rounds' own."""
    out = [f"\n{group.name}", *group.notes, "| program | figure | median (range) |", "|---|---|---|"]
    out += [f"| {variant} | {figure} | {median_and_range(values)} |" for variant, figures in samples.items() for figure, values in figures.items()]
    ratios = group.ratios(samples)
    if ratios:
        out += ["", "| program | beside | figure | ratio (range) |", "|---|---|---|---|"]
    for figure, variant, beside in ratios:
        pairs = [a / b for a, b in zip(samples[variant][figure], samples[beside][figure]) if b > 0]
        out.append(f"| {variant} | {beside} | {figure} | {median_and_range(pairs) if pairs else '-'} |")
    return out
