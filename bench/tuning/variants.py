"""What takes part in the training run: the settings (a) to (g) of the guides, PyTorch's and Dataline's num_workers, and one
variant more for each of the other knobs that guides name.
SPDX-License-Identifier: Apache-2.0
"""
import importlib.util

from torch.utils.data import BatchSampler, DataLoader, RandomSampler

from digits import Digits, Stored, TutorialDigits, open_split
from sources import BATCH_SIZE, Moved, Prefetcher, WholeSet, dataline, dataline_torch

PYTORCH_WORKERS, DATALINE_WORKERS, LARGE_BATCH = (0, 1, 2, 4, 8, 16), (0, 1, 2, 4), 1000


class Variants:
    """`makers`: {name: function that makes the source}, in the order in which they take turns. `settings`: {letter: name};
    `sweeps`: {loader: {num_workers: name}}; `knobs`: {what is changed: [name without, name with]}."""

    def __init__(self):
        self.makers, self.settings, self.knobs = {}, {}, {}
        self.sweeps = {"tutorial": {}, "pytorch": {}, "dataline": {}}

    def add(self, name, make, setting=None, sweep=None, knob=None):
        """`sweep`: (loader, num_workers); `knob`: (what it changes, of which variant)."""
        self.makers.setdefault(name, make)
        if setting:
            self.settings[setting] = name
        if sweep:
            self.sweeps[sweep[0]][sweep[1]] = name
        if knob:
            self.knobs[knob[0]] = [knob[1], name]


def variants(folder, library, device, workers):
    """`workers`: of PyTorch's loader in the settings with workers."""
    out = Variants()
    _pytorch(out, folder, device, workers)
    _floor(out, folder, device)
    _dataline(out, folder, library, device)
    return out


def _pytorch(out, folder, device, workers):
    """PyTorch's sweeps have the settings that serve it best: workers that stay, and on a GPU pinned memory."""
    digits, on_gpu = open_split(folder, "train"), device.type != "cpu"

    def loader(count, pinned=False, dataset=digits, **options):
        if count > 0:
            options = {"num_workers": count, "persistent_workers": True, **options}
        options = {"batch_size": BATCH_SIZE, "shuffle": True, "pin_memory": pinned, **options}
        return lambda: Moved(DataLoader(dataset, **options), device, non_blocking=pinned)

    ways, many = ("", " pinned non_blocking"), f"pytorch w{workers} persistent"
    best = many + ways[on_gpu]
    out.add("pytorch w0", loader(0), setting="a", sweep=("pytorch", 0))
    for count in PYTORCH_WORKERS[1:]:
        out.add(f"pytorch w{count} persistent{ways[on_gpu]}", loader(count, on_gpu), sweep=("pytorch", count))
    if importlib.util.find_spec("torchvision"):
        tutorial = open_split(folder, "train", TutorialDigits)
        for count in PYTORCH_WORKERS:
            kept = f" persistent{ways[on_gpu]}" if count > 0 else ""
            out.add(f"pytorch tutorial w{count}{kept}", loader(count, on_gpu and count > 0, tutorial), sweep=("tutorial", count))
    out.add(f"pytorch w{workers}", loader(workers, persistent_workers=False))
    out.add(many, loader(workers), setting="b", knob=("persistent_workers", f"pytorch w{workers}"))
    out.add(many + ways[1], loader(workers, True), setting="c", knob=("pin_memory", many))
    out.add(f"{best} prefetch_factor=8", loader(workers, on_gpu, prefetch_factor=8), knob=("prefetch_factor", best))
    out.add(f"{best} batch={LARGE_BATCH}", loader(workers, on_gpu, batch_size=LARGE_BATCH), knob=("batch_size", best))
    whole = BatchSampler(RandomSampler(digits), BATCH_SIZE, drop_last=False)
    out.add("pytorch batched w0", lambda: Moved(DataLoader(digits, sampler=whole, batch_size=None), device),
            knob=("whole batches", "pytorch w0"))
    if on_gpu:
        stored = open_split(folder, "train", Stored)
        of_bytes = {"batch_size": BATCH_SIZE, "shuffle": True, "pin_memory": True, "prefetch_factor": 8,
                           "num_workers": workers, "persistent_workers": True}
        out.add(f"pytorch w{workers} pinned prefetcher", lambda: Prefetcher(DataLoader(stored, **of_bytes), device),
                setting="d", knob=("side stream", best))


def _floor(out, folder, device):
    where = "in memory" if device.type == "cpu" else "on the device"
    out.add(f"whole set {where}", lambda: WholeSet(open_split(folder, "train", Stored), device), setting="e",
            knob=("whole set", "pytorch w0"))


def _dataline(out, folder, library, device):
    on_gpu = device.type != "cpu"
    name, io = ("dataline cuda", "device") if on_gpu else ("dataline", "memory")

    def loader(**options):
        return lambda: dataline(library, folder, device, **options)

    out.add(name, loader(), setting="f")
    out.add(f"{name} io={io}", loader(io=io), setting="g")
    for count in DATALINE_WORKERS:
        out.add(f"{name} w{count}", loader(num_workers=count), sweep=("dataline", count))
    out.add(f"{name} tune=on", loader(tune="on"))
    if on_gpu and importlib.util.find_spec("dataline"):
        out.add("dataline.torch cuda", lambda: dataline_torch(folder, device), setting="f, by Python")
