"""What the table says: each line's work, what it compares, and the goal. Numbers come from a results file.

A variant's figure is the median of its rounds; a ratio is the median of the rounds' own ratios, because what ran in one
round shared the machine's mood. The spread beside it is the least and the greatest round.
SPDX-License-Identifier: Apache-2.0
"""
from statistics import median

# Loops that only copy, with the order made beforehand: limits, not loaders.
LIMITS = ("bare ", "memcpy", "whole set ", "numpy ", "torch index_select", "libtorch BatchDataset", "io_uring", "pread direct",
          "demand faults")
# shuffle=True over a TensorDataset, or over a class whose __getitem__ gives one row: as its tutorials have it.
USUAL = ("pytorch ordinary", "pytorch own dataset")
NATIVE = ("libtorch stack",)
NOT_LOADERS = LIMITS + ("dataline", "nanoGPT")
CALLER = "caller's thread"
HOW = ((0, CALLER), (1, "1 worker"))


class Row:
    """One row of a results file: its samples are {variant: {metric: [value, ...]}}."""

    def __init__(self, entry):
        self.samples, self.notes = entry["samples"], entry.get("notes", {})

    def values(self, variant, metric):
        return self.samples.get(variant, {}).get(metric)

    def value(self, variant, metric):
        values = self.values(variant, metric)
        return median(values) if values else None

    def best(self, metric, wanted, highest=True):
        """(value, variant) of the best variant that `wanted` takes."""
        found = [(self.value(name, metric), name) for name in self.samples
                 if wanted(name) and self.values(name, metric)]
        return (max if highest else min)(found, default=(None, None))

    def ratios(self, over, under, metric):
        """Of each round where both were measured in all of them."""
        first, second = self.values(over, metric), self.values(under, metric)
        if not first or not second or not all(second):
            return []
        if len(first) == len(second):
            return [a / b for a, b in zip(first, second)]
        return [median(first) / median(second)]


def is_loader(name):
    return not name.startswith(NOT_LOADERS)


def is_python_loader(name):
    return is_loader(name) and not name.startswith(NATIVE)


class Line:
    """One line of the table. `spread` holds the samples that its claim rests on: ratios, or a figure's own."""

    def __init__(self, work, ours, other="", ratio="", goal="", met=None, spread=()):
        self.work, self.ours, self.other, self.ratio, self.goal, self.met = work, ours, other, ratio, goal, met
        self.spread, self.short = f"{number(min(spread))} .. {number(max(spread))}" if spread else "", False

    @property
    def verdict(self):
        return "" if self.met is None else "yes" if self.met else "NO"


def short(line):
    """Marks a line that the short table (report.py --markdown) has too."""
    line.short = True
    return line


# metric: (unit, how many of the metric's own make one of it)
UNITS = {"rows_per_s": ("M/s", 1e6), "us_per_batch": ("us", 1), "cpu_s_per_gb": ("s/GB", 1), "first_batch_ms": ("ms", 1),
         "resume_ms": ("ms", 1), "peak_rss_mib": ("MiB", 1), "wait_percent": ("%", 1), "next_epoch_us": ("us", 1),
         "mb_per_s": ("MB/s", 1), "life_us": ("us", 1), "state_load_us": ("us", 1), "epoch_s": ("s", 1),
         "wait_s": ("s", 1), "cpu_s": ("s", 1), "between_steps_percent": ("%", 1), "upload_hidden_percent": ("%", 1),
         "gb_per_s": ("GB/s", 1), "bare_gb_per_s": ("GB/s", 1), "sent_gb_per_s": ("GB/s", 1),
         "delivered_gb_per_s": ("GB/s", 1), "gather_gb_per_s": ("GB/s", 1), "limit_gb_per_s": ("GB/s", 1),
         "process_cpu_us_per_batch": ("us", 1), "idle_percent": ("%", 1), "cpu_us_per_batch": ("us", 1),
         "pinned_bytes": ("MiB", 1 << 20), "held_mib": ("MiB", 1), "held_mib_per_worker": ("MiB", 1),
         "growth_mib": ("MiB", 1)}
# A picture is one row: what counts them in the table.
PICTURES = "images/s"
FILES = "files/s"



def text(value, metric, name="", unit=None):
    if value is None:
        return "-"
    unit, size = (unit, 1) if unit else UNITS[metric]
    return f"{number(value / size)} {unit}" + (f" ({name})" if name else "")


def number(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def plain_name(name):
    return (name or "").removeprefix("dataline ").removeprefix("dataline")


def part_of(row, work, ours, limit, goal, metric="rows_per_s", remark="", unit=None):
    """At least `goal` of a limit."""
    ratios = row.ratios(ours, limit, metric)
    return Line(work, text(row.value(ours, metric), metric, plain_name(ours), unit),
                text(row.value(limit, metric), metric, f"{limit}{remark}", unit), f"{median(ratios):.2f}" if ratios else "-",
                f">= {goal}" if goal else "", median(ratios) >= goal if ratios and goal else None, ratios)


def fair_part_of(row, work, ours, goal, limit="bare gather "):
    """Of as many bare threads as the loader kept cores busy; and of the bare loop's CPU seconds."""
    cores = row.value(ours, "cores")
    threads = max(1, round(cores)) if cores else 1
    line = part_of(row, work, ours, f"{limit}{threads}", goal)
    # Rows for a CPU second: views of one row count its bytes twice.
    of_cores = row.ratios(f"{limit}{threads}", ours, "cores")
    rates = row.ratios(ours, f"{limit}{threads}", "rows_per_s")
    if of_cores and len(of_cores) == len(rates):
        line.other += f"; {cores:.2f} cores busy, CPU seconds {median(a * b for a, b in zip(of_cores, rates)):.2f}"
    return line


def times(row, work, wanted, goal, metric="rows_per_s", ours=lambda name: name.startswith("dataline"), unit=None):
    """At least `goal` times the best of others, each side at its best setting."""
    mine, mine_name = row.best(metric, ours)
    theirs, theirs_name = row.best(metric, wanted)
    ratios = row.ratios(mine_name, theirs_name, metric)
    met = None
    if ratios:
        met = median(ratios) >= goal if goal > 1 else median(ratios) > 1
    return Line(work, text(mine, metric, plain_name(mine_name), unit), text(theirs, metric, theirs_name, unit),
                f"{number(median(ratios))}x" if ratios else "-", f">= {goal:g}x" if goal > 1 else "> 1x", met, ratios)


def reaches(row, work, ours, metric, goal, highest, wanted=is_loader, unit=None):
    """At least (or at most) a fixed figure; the best other loader beside it, and how many times better ours is."""
    mine, values = row.value(ours, metric), row.values(ours, metric) or ()
    theirs, name = row.best(metric, wanted, highest)
    ratios = row.ratios(ours, name, metric) if highest else row.ratios(name, ours, metric)
    told = unit
    unit, size = (unit, 1) if unit else UNITS[metric]
    return Line(work, text(mine, metric, plain_name(ours), told), text(theirs, metric, name, told),
                f"{number(median(ratios))}x" if ratios else "-",
                "" if goal is None else f"{'>=' if highest else '<='} {goal / size:,g} {unit}",
                None if None in (mine, goal) else mine >= goal if highest else mine <= goal,
                [value / size for value in values])


def lowest(row, work, ours, metric):
    theirs, name = row.best(metric, is_loader, highest=False)
    ratios = row.ratios(name, ours, metric)
    return Line(work, text(row.value(ours, metric), metric, plain_name(ours)), text(theirs, metric, name),
                f"{number(median(ratios))}x" if ratios else "-", "the lowest", median(ratios) > 1 if ratios else None, ratios)


def u8_lines(row, size):
    work = f"u8 rows, {size}"
    return [
        short(fair_part_of(row, f"{work}, {CALLER}", "dataline w0", 0.95)),
        short(fair_part_of(row, f"{work}, 1 worker", "dataline w1", 0.95)),
        short(fair_part_of(row, f"{work}, 2 workers", "dataline w2", 0.95)),
        *[short(fair_part_of(row, f"{work} in memory, {how}", f"dataline memory w{workers}", 0.95, "bare gather memory "))
          for workers, how in (*HOW, (2, "2 workers")) if row.values(f"dataline memory w{workers}", "rows_per_s")],
        short(times(row, f"{work}, best Python loader", is_python_loader, 4)),
        short(times(row, f"{work}, PyTorch as usual", lambda name: name.startswith(USUAL), 30)),
        short(times(row, f"{work}, native loaders", lambda name: name.startswith(NATIVE), 1)),
    ]


def f32_lines(row):
    return [reaches(row, f"f32 normalised rows, {CALLER}", "dataline w0", "rows_per_s", 3e6, True),
            short(reaches(row, "f32 normalised rows, 1 worker", "dataline w1", "rows_per_s", 3e6, True)),
            short(times(row, "f32 normalised rows, best loader", is_loader, 3)),
            part_of(row, f"f32 normalised rows, {CALLER}, bare loop", "dataline w0", "bare normalise 1", None)]


def token_lines(row):
    plain = lambda name: name.startswith("dataline w")
    return [
        short(fair_part_of(row, f"token windows as views, {CALLER}", "dataline views w0", 0.95)),
        short(fair_part_of(row, "token windows as views, 1 worker", "dataline views w1", 0.95)),
        fair_part_of(row, "token windows as views, 2 workers", "dataline views w2", 0.95),
        reaches(row, f"token windows as two tensors, {CALLER}", "dataline w0", "rows_per_s", 1e6, True),
        short(reaches(row, "token windows as two tensors, 1 worker", "dataline w1", "rows_per_s", 1e6, True)),
        short(times(row, "token windows, best loader", is_loader, 1.5, ours=plain)),
        short(times(row, "token windows, nanoGPT's get_batch", lambda name: name == "nanoGPT get_batch", 20, ours=plain)),
    ]


def packed_lines(row):
    return [part_of(row, f"packed rows of 2,048 tokens ({how}), {who}", f"dataline {kind} w{workers}", "bare gather 1", None)
            for kind, how in (("concat", "joined"), ("best_fit", "best fit")) for workers, who in HOW]


def overhead_lines(row):
    def line(size, workers, how, goal):
        return reaches(row, f"a batch of {size} x 4 B, {how}", f"dataline w{workers} b{size}", "us_per_batch", goal, False,
                       lambda name: is_loader(name) and name.endswith(f" b{size}"))
    return [short(line(size, workers, how, (1.0, 1.5)[workers])) for size in (1, 256) for workers, how in HOW]


# Rows of rows_u8_47mb in the formats of other libraries: (what it is called, least part of the gather from .npy).
STORED = {"tfrecord": ("TFRecord, Examples", None), "mds": ("MDS", None), "litdata": ("LitData chunks", None), "arrow": ("Arrow stream", 0.8),
          "safetensors": ("safetensors", None), "npz": ("stored .npz", None), "csv": ("CSV of 785 columns", None)}


def stored_lines(row, called, goal):
    return [*[fair_part_of(row, f"{called}, {how}, gather from .npy", f"dataline w{workers}", goal) for workers, how in HOW],
            short(times(row, f"{called}, best other loader", is_loader, 1))]


def arrow_memory_lines(row):
    called = "Arrow table in memory"
    return [*[short(fair_part_of(row, f"{called}, {how}, gather from the same memory", f"dataline w{workers}", None)) for workers, how in HOW],
            short(times(row, f"{called}, best other loader", is_loader, 1)),
            times(row, f"{called}, the best that `datasets` has", lambda name: name.startswith("datasets"), 1),
            times(row, f"{called}, NumPy's gather of arrays", lambda name: name.startswith("numpy "), 1)]


def parquet_lines(row, called):
    def decoded(name):
        return name.startswith("dataline") and "in the cache" not in name
    def kept(name):
        return name.startswith("dataline in the cache")
    return [short(times(row, f"{called} in windows of row groups, decoded once an epoch, best other loader", is_loader, 1, ours=decoded)),
            times(row, f"{called}, all in the cache, best other loader", is_loader, 1, ours=kept)]


def audio_lines(row, called):
    def others(workers):
        return lambda name: is_loader(name) and name.endswith(f" w{workers}")

    def mine(workers):
        return lambda name: name == f"dataline w{workers}"
    return [*[short(times(row, f"{called}, {how}, best loader", others(workers), 1, ours=mine(workers), unit=FILES))
              for workers, how in ((0, "one thread"), (2, "2 workers"))],
            lowest(row, f"CPU per GB, {called}, 2 workers", "dataline w2", "cpu_s_per_gb")]


def megatron_lines(row):
    return [short(times(row, "documents of Megatron's, best other loader", is_loader, 1))]


def jsonl_lines(row):
    return [short(times(row, "JSON lines of 1.1 KB, best other loader", is_loader, 1))]


def first_batch_lines(row):
    at_1e7 = lambda name: is_loader(name) and name.endswith(" 1e7")
    return [short(reaches(row, "first batch, 1e9 rows (others: 1e7)", "dataline 1e9", "first_batch_ms", 10, False, at_1e7)),
            short(reaches(row, "first batch, 1e9 rows, peak memory", "dataline 1e9", "peak_rss_mib", 64, False, at_1e7)),
            reaches(row, "first batch, 1e7 rows", "dataline 1e7", "first_batch_ms", 10, False, at_1e7)]


def cold_lines(row):
    # Direct reads by io_uring; where the machine forbids it, by 128 threads, and the line says so.
    direct = "io_uring direct 128" if row.values("io_uring direct 128", "mb_per_s") else "pread direct 128"
    remark = f"; {row.notes[direct]}" if direct in row.notes else ""
    stayed = max((value for name in row.samples for value in row.values(name, "resident_before_percent") or ()), default=0)
    work = f"cold 3 KiB records (at most {stayed:.1f} % in memory)"
    _, ours = row.best("mb_per_s", lambda name: name.startswith("dataline"))
    return [short(part_of(row, f"{work}, direct reads", ours, direct, 0.8, "mb_per_s", remark)),
            short(times(row, f"{work}, page faults", lambda name: name.startswith("demand faults"), 4, "mb_per_s"))]


def cold_window_lines(row):
    # What is open lies in the page cache, so that is the limit; direct reads tell what the drive gives.
    work, limit = "a cold file in windows of blocks, sequential reads", "sequential reads, page cache"
    return [short(part_of(row, work, name, limit, 0.9, "mb_per_s"))
            for name in ("dataline w1 window", "dataline w1 window of 32")] + [
                part_of(row, "the same in file order", "dataline w1 file order", limit, None, "mb_per_s"),
                part_of(row, "the same in a full shuffle", "dataline w1 full", limit, None, "mb_per_s"),
                part_of(row, "the same reads past the page cache", "sequential direct reads", limit, None, "mb_per_s")]


def next_epoch_lines(row):
    return [reaches(row, f"next epoch and its first batch loaded, {CALLER}", "dataline w0", "next_epoch_us", None, False),
            short(reaches(row, "next epoch, 1 worker", "dataline w1", "next_epoch_us", 10, False))]


def resume_lines(row):
    return [reaches(row, f"resume at 1e9 samples, to the first batch, {CALLER}", "dataline w0", "resume_ms", 1, False),
            short(reaches(row, "resume at 1e9 samples, to the first batch, 1 worker", "dataline w1", "resume_ms", 1, False)),
            reaches(row, "resume at 1e9 samples, loading the state alone", "dataline w1", "state_load_us", None, False)]


def consumer_lines(row):
    return [short(reaches(row, "waiting, consumer of 1 ms a batch, 1 worker", "dataline w1", "wait_percent", 0.5, False))]


def tuning_lines(row):
    def line(what, metric, workers, how):
        return reaches(row, f"training on MNIST, {what}, {how}", f"dataline w{workers}", metric, None, False)
    out = [line(what, metric, workers, how)
           for metric, what in (("epoch_s", "an epoch"), ("wait_s", "waiting"), ("cpu_s", "CPU")) for workers, how in HOW]
    return [short(out[1]), short(out[3])] + [each for at, each in enumerate(out) if at not in (1, 3)]


def tuning_cuda_lines(row):
    """On a GPU; the floor is an epoch over the whole set on the device."""
    def line(ours, how):
        floor, metric = "whole set on the device", "epoch_s"
        ratios = row.ratios(ours, floor, metric)
        return Line(f"training on MNIST on a GPU, an epoch, {how}, over the floor", text(row.value(ours, metric), metric),
                    text(row.value(floor, metric), metric, floor), f"{median(ratios):.3f}" if ratios else "-", "<= 1.02",
                    median(ratios) <= 1.02 if ratios else None, ratios)
    return [short(line("dataline cuda", "device=cuda")), line("dataline cuda io=device", "io=device"),
            short(reaches(row, "training on MNIST on a GPU, an epoch", "dataline cuda", "epoch_s", None, False)),
            reaches(row, "training on MNIST on a GPU, CPU", "dataline cuda", "cpu_s", None, False),
            reaches(row, "training on MNIST on a GPU, idle between steps", "dataline cuda", "between_steps_percent", None, False)]


def gpu_lines(row):
    """The accelerator path, beside bare copies of the same run. The ratios are the rounds' own."""
    def part(work, variant, metric, limit, share, goal):
        ratios = row.values(variant, share) or ()
        return Line(work, text(row.value(variant, metric), metric), text(*limit), f"{median(ratios):.3f}" if ratios else "-",
                    f">= {goal}", median(ratios) >= goal if ratios else None, ratios)

    def most(work, variant, metric, goal):
        values, unit = row.values(variant, metric) or (), UNITS[metric][0]
        mine = row.value(variant, metric)
        return Line(work, text(mine, metric), "", "", f"<= {goal} {unit}", None if mine is None else mine <= goal, values)

    def of(kind):
        """By size, as they were measured."""
        sizes = ("256 KiB", "1 MiB", "4 MiB", "16 MiB", "64 MiB")
        return [(f"{kind} {size}", size) for size in sizes if f"{kind} {size}" in row.samples]

    out = []
    for variant, size in of("transfer"):
        bare = row.value(variant, "bare_gb_per_s"), "bare_gb_per_s", "bare pinned copies"
        threads = max(1, round(row.value(variant, "cores")))
        limit = (row.value(variant, "limit_gb_per_s"), "limit_gb_per_s",
                 f"the lesser of bare copies and {threads} gathering, {text(row.value(variant, 'gather_gb_per_s'), 'gather_gb_per_s')}")
        cpu = text(row.value(variant, "process_cpu_us_per_batch"), "process_cpu_us_per_batch")
        out += [short(part(f"host to device, {size}: copies", variant, "sent_gb_per_s", bare, "sent_of_bare", 0.95)),
                short(part(f"host to device, {size}: whole loader, {cpu} CPU a batch", variant, "delivered_gb_per_s", limit,
                           "delivered_of_limit", 0.95))]
    out += [short(most(f"device idle, step longer than a batch of {size}", name, "idle_percent", 1)) for name, size in of("idle")]
    copied = row.value("device copy", "gb_per_s"), "gb_per_s", "device copy"
    out += [short(part(name, name, "gb_per_s", copied, "of_device_copy", 0.8)) for name in row.samples
            if name.startswith("kernel ")]
    out += [short(most(f"CPU of the consumer's thread, a batch of {size}", name, "cpu_us_per_batch", 2))
            for name, size in of("consumer")]
    out += [Line("page-locked over 100 epochs, unchanged", text(row.value("memory over 100 epochs", "pinned_bytes"),
                                                                "pinned_bytes"), "")]
    return out


def photo_lines(row):
    """A peer's name ends in the threads it has; one of ours without workers is one thread too."""
    def others(threads):
        return lambda name: is_loader(name) and name.endswith(f" {threads}")

    def mine(name):
        return lambda other: other == name
    return [
        short(part_of(row, "JPEG photographs, one thread, bare decoding", "dataline w0", "bare decode 1", 0.9, unit=PICTURES)),
        short(times(row, "JPEG photographs, one thread, best loader", others(1), 1.7, ours=mine("dataline w0"), unit=PICTURES)),
        part_of(row, "JPEG photographs, 2 workers, bare decoding", "dataline w2", "bare decode 2", None, unit=PICTURES),
        short(times(row, "JPEG photographs, two threads, best loader", others(2), 1.7, ours=mine("dataline w2"),
                    unit=PICTURES)),
        short(part_of(row, "JPEG photographs, 2 workers over one thread", "dataline w2", "dataline w0", 1.85, unit=PICTURES)),
        lowest(row, "CPU per GB, JPEG photographs, 2 workers", "dataline w2", "cpu_s_per_gb"),
        *[part_of(row, f"JPEG photographs, {how}, over libjpeg's Huffman decoder", f"dataline w{workers}",
                  f"dataline libjpeg w{workers}", None, unit=PICTURES)
          for workers, how in ((0, "one thread"), (2, "2 workers")) if row.values(f"dataline libjpeg w{workers}", "rows_per_s")],
    ]


def raw_photo_lines(row):
    raw = lambda name: name == "ffcv raw 1"
    return [
        short(reaches(row, "u8 pictures, random_crop, one thread", "dataline crop w0", "rows_per_s", 10_000, True,
                      lambda name: False, unit=PICTURES)),
        short(reaches(row, "u8 pictures, random_resized_crop, one thread", "dataline resized crop w0", "rows_per_s", 4_000,
                      True, raw, unit=PICTURES)),
        part_of(row, "u8 pictures, random_crop, 2 workers over one thread", "dataline crop w2", "dataline crop w0", None,
                unit=PICTURES),
    ]


def fused_pass_lines(row):
    same = lambda name: is_loader(name) and not name.endswith("no antialias")
    return [short(times(row, "decoded 350x260 to normalised 224x224, one thread", same, 3, unit=PICTURES)),
            times(row, "decoded 350x260 to normalised 224x224, others without antialias too", is_loader, 1, unit=PICTURES)]


def slow_file_lines(row):
    return [short(part_of(row, "1 file in 10 takes 50 times as long, 2 workers", "dataline w2", "bare decode 2", 0.9,
                          unit=PICTURES))]


def photo_memory_lines(row):
    def line(work, metric, variant, goal=None):
        return reaches(row, f"JPEG photographs, 2 workers: {work}", variant, metric, goal, False, lambda name: False)
    return [short(line("held at most, all in all", "held_mib", "dataline w2")),
            short(line("held for each worker", "held_mib_per_worker", "dataline w2")),
            short(line("growth over 20 epochs", "growth_mib", "dataline w2", 2)),
            line("peak memory of the program", "peak_rss_mib", "dataline w2")]


def allocator_lines(row):
    glibc = lambda name: name == "dataline on glibc"
    return [short(reaches(row, "a loader's life, mimalloc against glibc", "dataline on mimalloc", "life_us", None, False,
                          glibc)),
            reaches(row, "a loader's life, no allocator given, against glibc", "dataline own", "life_us", None, False, glibc)]


def cpu_lines(row, what, ours="dataline w"):
    return [lowest(row, f"CPU per GB, {what}, {how}", f"{ours}{workers}", "cpu_s_per_gb") for workers, how in HOW]


def is_fake(entry):
    """Made on the fake driver: it shows that the script works, and measures nothing."""
    return entry.get("driver") == "fake"


def lines(results):
    """Every line whose row is in the results. Of the fake driver nothing is claimed."""
    makers = (
        ("rows_u8_47mb", lambda row: u8_lines(row, "47 MB")),
        ("rows_u8_4700mb", lambda row: u8_lines(row, "4.7 GB")),
        ("rows_f32", f32_lines), ("tokens", token_lines), ("packed", packed_lines), ("overhead", overhead_lines),
        ("first_batch", first_batch_lines), ("cold", cold_lines), ("cold_window", cold_window_lines),
        ("next_epoch", next_epoch_lines),
        ("resume", resume_lines), ("consumer_1ms", consumer_lines),
        *((name, lambda row, told=told: stored_lines(row, *told)) for name, told in STORED.items()), ("arrow_memory", arrow_memory_lines), ("jsonl", jsonl_lines), ("megatron", megatron_lines),
        ("parquet", lambda row: parquet_lines(row, "3 of 100 columns of Parquet")),
        ("parquet_tokens", lambda row: parquet_lines(row, "documents in lists of Parquet")),
        ("parquet_images", lambda row: [short(times(row, "photographs in a binary column of Parquet, best other loader", is_loader, 1))]),
        ("audio", lambda row: audio_lines(row, "FLAC of 44.1 kHz in stereo to 16 kHz")),
        ("audio_mel", lambda row: audio_lines(row, "FLAC of 16 kHz to mel(80)")),
        ("rows_u8_47mb", lambda row: [short(line) for line in cpu_lines(row, "u8 rows")]),
        ("rows_u8_4700mb", lambda row: cpu_lines(row, "u8 rows, 4.7 GB")),
        ("rows_f32", lambda row: cpu_lines(row, "f32 rows")),
        # Views, because that is what the others deliver too: two overlapping tensors of one copied window.
        ("tokens", lambda row: cpu_lines(row, "token windows as views", "dataline views w")),
        ("photos", photo_lines), ("raw_photos", raw_photo_lines),
        ("fused_pass", fused_pass_lines), ("slow_files", slow_file_lines),
        ("photo_memory", photo_memory_lines), ("allocator", allocator_lines), ("tuning", tuning_lines), ("tuning_cuda", tuning_cuda_lines),
        ("gpu", gpu_lines))
    found = []
    for name, make in makers:
        entry = results["rows"].get(name)
        for line in make(Row(entry)) if entry else []:
            if is_fake(entry):
                line.met, line.short = None, False
            found.append(line)
    return found
