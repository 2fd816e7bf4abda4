"""What the table says: each line's work, what it compares, and the goal. Numbers come from a results file.

A variant's figure is the median of its rounds; a ratio is the median of the rounds' own ratios, because what ran in one
round shared the machine's mood.
SPDX-License-Identifier: Apache-2.0
"""
from statistics import median

# Loops that only copy, with the order made beforehand: limits, not loaders.
LIMITS = ("bare ", "memcpy", "numpy ", "torch index_select", "libtorch BatchDataset", "io_uring", "pread direct",
          "demand faults")
NATIVE = ("libtorch stack",)
NOT_LOADERS = LIMITS + ("dataline", "nanoGPT")


class Row:
    """The samples of one row: {variant: {metric: [value, ...]}}."""

    def __init__(self, samples):
        self.samples = samples

    def value(self, variant, metric):
        values = self.samples.get(variant, {}).get(metric)
        return median(values) if values else None

    def spread(self, variant, metric):
        values = self.samples.get(variant, {}).get(metric)
        return (min(values), max(values)) if values else None

    def best(self, metric, wanted, highest=True):
        """(value, variant) of the best variant that `wanted` takes."""
        found = [(self.value(name, metric), name) for name in self.samples
                 if wanted(name) and self.value(name, metric) is not None]
        return (max if highest else min)(found, default=(None, None))

    def ratio(self, ours, other, metric):
        first, second = self.samples.get(ours, {}).get(metric), self.samples.get(other, {}).get(metric)
        if not first or not second:
            return None
        if len(first) == len(second):
            return median(a / b for a, b in zip(first, second))
        return median(first) / median(second)


def is_loader(name):
    return not name.startswith(NOT_LOADERS)


def is_python_loader(name):
    return is_loader(name) and not name.startswith(NATIVE)


class Line:
    """One line of the table."""

    def __init__(self, work, ours, other="", ratio="", goal="", met=None):
        self.work, self.ours, self.other, self.ratio, self.goal, self.met = work, ours, other, ratio, goal, met

    @property
    def verdict(self):
        return "" if self.met is None else "yes" if self.met else "NO"


FORMATS = {"rows_per_s": lambda v: f"{v / 1e6:.3g} M/s", "us_per_batch": lambda v: f"{v:.3g} us",
           "cpu_s_per_gb": lambda v: f"{v:.3g} s/GB", "first_batch_ms": lambda v: f"{v:.3g} ms",
           "resume_ms": lambda v: f"{v:.3g} ms", "peak_rss_mib": lambda v: f"{v:.3g} MiB",
           "wait_percent": lambda v: f"{v:.3g} %", "next_epoch_us": lambda v: f"{v:.3g} us",
           "mb_per_s": lambda v: f"{v:.3g} MB/s", "life_us": lambda v: f"{v:.3g} us",
           **{name: lambda v: f"{v:.3g} s" for name in ("epoch_s", "wait_s", "cpu_s")}}


def text(value, metric, name=""):
    return "-" if value is None else FORMATS[metric](value) + (f" ({name})" if name else "")


def part_of(row, work, ours, limit, goal, metric="rows_per_s"):
    """At least `goal` of a limit."""
    ratio = row.ratio(ours, limit, metric)
    return Line(work, text(row.value(ours, metric), metric, ours.removeprefix("dataline ")),
                text(row.value(limit, metric), metric, limit), "-" if ratio is None else f"{ratio:.2f}",
                f">= {goal}" if goal else "", None if ratio is None or not goal else ratio >= goal)


def times(row, work, wanted, goal, metric="rows_per_s", ours=lambda name: name.startswith("dataline")):
    """At least `goal` times the best of others, each side at its best setting."""
    mine, mine_name = row.best(metric, ours)
    theirs, theirs_name = row.best(metric, wanted)
    ratio = row.ratio(mine_name, theirs_name, metric) if mine_name and theirs_name else None
    return Line(work, text(mine, metric, (mine_name or "").removeprefix("dataline ")), text(theirs, metric, theirs_name),
                "-" if ratio is None else f"{ratio:.1f}x", f">= {goal:g}x" if goal > 1 else "> 1x",
                None if ratio is None else ratio >= goal if goal > 1 else ratio > 1)


def reaches(row, work, ours, metric, goal, highest, wanted=is_loader):
    """At least (or at most) a fixed figure; the best other loader beside it."""
    mine = row.value(ours, metric)
    theirs, name = row.best(metric, wanted, highest)
    ratio = None if None in (mine, theirs) or 0 in (mine, theirs) else mine / theirs if highest else theirs / mine
    return Line(work, text(mine, metric, ours.removeprefix("dataline ")), text(theirs, metric, name),
                "-" if ratio is None else f"{ratio:.3g}x",
                "" if goal is None else (">= " if highest else "<= ") + FORMATS[metric](goal),
                None if None in (mine, goal) else mine >= goal if highest else mine <= goal)


def lowest(row, work, ours, metric):
    mine = row.value(ours, metric)
    theirs, name = row.best(metric, is_loader, highest=False)
    return Line(work, text(mine, metric, ours.removeprefix("dataline ")), text(theirs, metric, name),
                "-" if None in (mine, theirs) else f"{theirs / mine:.1f}x", "the lowest",
                None if None in (mine, theirs) else mine < theirs)


def u8_lines(row, size):
    work = f"u8 rows, {size}"
    return [
        part_of(row, f"{work}, caller's thread", "dataline w0", "bare gather 1", None),
        part_of(row, f"{work}, 1 worker", "dataline w1", "bare gather 1", 0.92),
        part_of(row, f"{work}, 2 workers", "dataline w2", "bare gather 2", 0.88),
        times(row, f"{work}, best Python loader", is_python_loader, 4),
        times(row, f"{work}, PyTorch as usual", lambda name: name.startswith("pytorch ordinary"), 30),
        times(row, f"{work}, native loaders", lambda name: name.startswith(NATIVE), 1),
    ]


def f32_lines(row):
    return [reaches(row, f"f32 normalised rows, {how}", f"dataline w{workers}", "rows_per_s", 3e6, True)
            for workers, how in ((0, "caller's thread"), (1, "1 worker"))] + [
        times(row, "f32 normalised rows, best loader", is_loader, 3)]


def token_lines(row):
    plain = lambda name: name.startswith("dataline w")
    return [
        part_of(row, "token windows as views, caller's thread", "dataline views w0", "bare gather 1", None),
        part_of(row, "token windows as views, 1 worker", "dataline views w1", "bare gather 1", 0.92),
        part_of(row, "token windows as views, 2 workers", "dataline views w2", "bare gather 2", None),
        reaches(row, "token windows as two tensors, caller's thread", "dataline w0", "rows_per_s", 1e6, True),
        reaches(row, "token windows as two tensors, 1 worker", "dataline w1", "rows_per_s", 1e6, True),
        times(row, "token windows, best loader", is_loader, 1.5, ours=plain),
        times(row, "token windows, nanoGPT's get_batch", lambda name: name == "nanoGPT get_batch", 20, ours=plain),
    ]


def overhead_lines(row):
    out = []
    for size in (1, 256):
        of_size = lambda name, size=size: is_loader(name) and name.endswith(f" b{size}")
        for workers, goal in ((0, 1.0), (1, 1.5)):
            out.append(reaches(row, f"a batch of {size} x 4 B, {('caller' + chr(39) + 's thread', '1 worker')[workers]}",
                               f"dataline w{workers} b{size}", "us_per_batch", goal, False, of_size))
    return out


def first_batch_lines(row):
    at_1e7 = lambda name: is_loader(name) and name.endswith(" 1e7")
    return [reaches(row, "first batch, 1e9 rows (peers: 1e7)", "dataline 1e9", "first_batch_ms", 10, False, at_1e7),
            reaches(row, "first batch, 1e9 rows, peak memory", "dataline 1e9", "peak_rss_mib", 64, False, at_1e7),
            reaches(row, "first batch, 1e7 rows", "dataline 1e7", "first_batch_ms", 10, False, at_1e7)]


def cold_lines(row):
    direct, direct_name = row.best("mb_per_s", lambda name: "direct" in name)
    faults, faults_name = row.best("mb_per_s", lambda name: name.startswith("demand faults"))
    ours, ours_name = row.best("mb_per_s", lambda name: name.startswith("dataline"))
    if None in (direct, faults, ours):
        return []
    return [part_of(row, "cold 3 KiB records, direct reads", ours_name, direct_name, 0.8, "mb_per_s"),
            times(row, "cold 3 KiB records, page faults", lambda name: name == faults_name, 4, "mb_per_s")]


def lines(results):
    """Every line whose row is in the results."""
    makers = {
        "rows_u8_47mb": lambda row: u8_lines(row, "47 MB"),
        "rows_u8_4700mb": lambda row: u8_lines(row, "4.7 GB"),
        "rows_f32": f32_lines,
        "tokens": token_lines,
        "overhead": overhead_lines,
        "first_batch": first_batch_lines,
        "cold": cold_lines,
        "next_epoch": lambda row: [
            reaches(row, "next epoch, 1 worker", "dataline w1", "next_epoch_us", 10, False)],
        "resume": lambda row: [reaches(row, f"resume at 1e9 samples, to the first batch, {how}", f"dataline w{workers}",
                                       "resume_ms", 1, False)
                               for workers, how in ((0, "caller's thread"), (1, "1 worker"))],
        "consumer_1ms": lambda row: [
            reaches(row, "waiting, consumer of 1 ms a batch, 1 worker", "dataline w1", "wait_percent", 0.5, False)],
        "tuning": lambda row: [
            reaches(row, f"5 epochs of MNIST, {what}, {how}", f"dataline w{workers}", metric, None, False)
            for metric, what in (("epoch_s", "an epoch"), ("wait_s", "waited"), ("cpu_s", "CPU"))
            for workers, how in ((0, "caller's thread"), (1, "1 worker"))],
        "allocator": lambda row: [part_of(row, "a loader's life on glibc's malloc, own = 1", "dataline own",
                                          "dataline on glibc", None, "life_us"),
                                  part_of(row, "a loader's life on mimalloc, own = 1", "dataline own",
                                          "dataline on mimalloc", None, "life_us")],
    }
    out = []
    for name, make in makers.items():
        if name in results["rows"]:
            out += make(Row(results["rows"][name]["samples"]))
    for name, what in (("rows_u8_47mb", "u8"), ("rows_f32", "f32")):
        if name in results["rows"]:
            row = Row(results["rows"][name]["samples"])
            out += [lowest(row, f"CPU per GB, {what} rows, {how}", f"dataline w{workers}", "cpu_s_per_gb")
                    for workers, how in ((0, "caller's thread"), (1, "1 worker"))]
    return out
