"""What guides say about a loader's knobs, each held against the rows of the training run that turned that knob.

A change counts where the median of the epochs' own ratios differs from 1 by more than 3 %, and three quarters of them
differ in that direction. There is none where that median differs by less, and half of the ratios by less than 10 %.
Otherwise nothing is claimed.
SPDX-License-Identifier: Apache-2.0
"""
from statistics import median

LEAST, AGREEING, NEAR = 0.03, 0.75, 0.1
LOADERS = {"tutorial": "PyTorch, tutorials' dataset", "pytorch": "PyTorch, a lean dataset", "dataline": "Dataline"}
ONLY_ON_A_GPU = ("not visible on a CPU: PyTorch pins nothing without an accelerator, and `.to(\"cpu\")` copies nothing; "
                 "row (c) on a GPU shows it")
# What a change did: what that says of a sentence, where the knob has no words of its own.
UNCLEAR = "not clear: the epochs differ by more than this"
VERDICTS = {"less": "confirmed", "more": "corrected: slower here", "same": "no difference here", "unclear": UNCLEAR}
# knob: (what guides say, the words of its own on a CPU)
KNOBS = {
    "persistent_workers": ("`persistent_workers=True`", {
        "less": "confirmed: workers are not restarted in each epoch",
        "same": "no difference here: starting the workers takes little time compared with an epoch"}),
    "prefetch_factor": ("raise `prefetch_factor`", {
        "same": "corrected: a longer queue does not make workers faster; it evens out steps of unequal length"}),
    "pin_memory": ("`pin_memory=True` and `non_blocking=True`", dict.fromkeys(VERDICTS, ONLY_ON_A_GPU)),
    "batch_size": ("larger batches", {
        "less": "confirmed for the speed, but the training result differs",
        "same": "corrected: each sample costs the loader as much as before"}),
    "whole batches": ("index whole batches (`sampler=BatchSampler(...)`, `batch_size=None`), without workers", {}),
    "whole set": ("move the whole set to the GPU", {
        "less": "confirmed, here in CPU memory: this is the floor. The set must fit, without augmentation; see row (e) on a GPU"}),
    "side stream": ("copy the next batch on a side stream", {}),
}


def change(row, before, after, metric="epoch_s"):
    """"less", "more", "same" or "unclear", and the median of the epochs' own ratios; nothing where one was not measured."""
    ratios = row.ratios(after, before, metric)
    if not ratios:
        return None, None
    middle = median(ratios)
    agreeing = sum((ratio < 1) == (middle < 1) for ratio in ratios) / len(ratios)
    if abs(middle - 1) <= LEAST:
        near = sum(abs(ratio - 1) <= NEAR for ratio in ratios)
        return ("same" if 2 * near >= len(ratios) else "unclear"), middle
    if agreeing < AGREEING:
        return "unclear", middle
    return ("less" if middle < 1 else "more"), middle


def seconds(row, name):
    return f"{row.value(name, 'epoch_s'):.2f} s"


def percent(ratio):
    return f"{100 * (ratio - 1):+.0f} %".replace("-", "−")


def measured(sweep, row):
    """{num_workers: seconds} of those that were measured."""
    found = {int(count): row.value(name, "epoch_s") for count, name in sweep.items()}
    return {count: value for count, value in sorted(found.items()) if value}


def enough(row, sweep):
    """The least number of workers that no other beats; the one that has the shortest epoch; the greatest."""
    values = measured(sweep, row)
    best = min(values, key=values.get)
    least = next(count for count in values if change(row, sweep[str(count)], sweep[str(best)])[0] != "less")
    return least, best, max(values)


def raise_workers(row, sweep):
    """What "raise num_workers until it stops helping" found."""
    least, best, most = enough(row, sweep)
    said = "; ".join(f"{count}: {value:.2f} s" for count, value in measured(sweep, row).items())
    more_costs = change(row, sweep[str(least)], sweep[str(most)])[0] == "more"
    if change(row, sweep[str(least)], sweep[str(best)])[0] == "unclear":
        return said, UNCLEAR
    if least == 0:
        return said, ("corrected: it is fastest without workers, which cost more here than they save" if more_costs
                      else "nothing to raise: no number makes it faster")
    if least == most:
        return said, f"confirmed: it helped as far as {most}"
    return said, f"confirmed: it stops at {least}; " + (f"{most} cost time again" if more_costs else "more do no harm here")


def workers_like_cpus(row, sweep, cpus):
    least, best, _ = enough(row, sweep)
    if str(cpus) not in sweep:
        return "", ""
    kind, ratio = change(row, sweep[str(best)], sweep[str(cpus)])
    said = f"{cpus} CPUs: {seconds(row, sweep[str(cpus)])}; the best, {best}: {seconds(row, sweep[str(best)])}"
    if kind == "more":
        return said, f"corrected: {percent(ratio)} compared with the best"
    if kind == "unclear":
        return said, UNCLEAR
    return said, "confirmed" if least == cpus else f"as good as any; so is {least}"


def tune_itself(row, sweep, name, tuned):
    _, best, _ = enough(row, sweep)
    kind, ratio = change(row, sweep[str(best)], name)
    workers = "1 worker" if tuned["num_workers"] == 1 else f"{tuned['num_workers']} workers"
    said = (f"`tune=on`: {seconds(row, name)} with {workers} and {tuned['prefetch_depth']} batches; "
            f"the best by hand, {best}: {seconds(row, sweep[str(best)])}")
    verdict = {"more": "not reached", "unclear": "not clear"}.get(kind, "confirmed")
    return said, f"{verdict}: {percent(ratio)} compared with the best setting by hand"


def knob(row, name, before, after, on_gpu):
    kind, ratio = change(row, before, after)
    if kind is None:
        return None
    text, own = KNOBS[name]
    said = f"`{before}`: {seconds(row, before)}; `{after}`: {seconds(row, after)} ({percent(ratio)})"
    if name == "batch_size":
        ends = [row.values(each, "accuracy_percent")[-1] for each in (before, after)]
        said += f"; accuracy at the end {ends[0]:.1f} % and {ends[1]:.1f} %"
    return text, said, {**VERDICTS, **({} if on_gpu else own)}[kind]


def findings(entry, row, cpus, on_gpu=False):
    """Lines of the table: (what guides say, what was measured, what that says of it)."""
    sweeps = [(LOADERS[loader], sweep) for loader, sweep in entry["sweeps"].items() if measured(sweep, row)]
    out = [(f"raise `num_workers` until it stops helping: {name}", *raise_workers(row, sweep)) for name, sweep in sweeps]
    out += [(f"`num_workers` = the number of CPUs: {name}", *workers_like_cpus(row, sweep, cpus)) for name, sweep in sweeps]
    out += [found for name, pair in entry["knobs"].items() if (found := knob(row, name, *pair, on_gpu))]
    ours = entry["sweeps"]["dataline"]
    out += [("let the loader tune itself", *tune_itself(row, ours, name, tuned)) for name, tuned in entry["tuned"].items()]
    return [line for line in out if line[1]]
