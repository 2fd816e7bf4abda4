"""PyTorch's DataLoader: ordinary; with a BatchSampler passed as the sampler (`batched`) or a dataset that has __getitems__,
so that whole batches are fetched; the same with a sampler of the user's own that cuts one permutation into arrays
(`array sampler`); torchdata.nodes; nanoGPT's get_batch; and bare index_select as a limit. One intra-op thread.

Whole batches are gathered by NumPy, which was the fastest of what was tried for 256 rows of 784 u8: rows[list] in
torch 254 us, torch.index_select 61 us, NumPy 39 us. `ordinary` is TensorDataset; `own dataset` is a class whose
__getitem__ returns a row, which PyTorch collates faster.
SPDX-License-Identifier: Apache-2.0
"""
import numpy as np
import torch
import torchdata.nodes as nodes
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler, SequentialSampler, TensorDataset

from contender import (BATCH_SIZE, BIAS, SCALE, TOKEN_BATCH_SIZE, TOKEN_LENGTH, FirstBatch, Variant,
                       check_in_order, check_normalized, check_rows, check_tokens, main, token_windows)

torch.set_num_threads(1)


class Rows(Dataset):
    """Takes one index or a list of them."""

    def __init__(self, array, convert=None):
        self.array, self.rows, self.convert = array, torch.from_numpy(array), convert

    def __len__(self):
        return len(self.array)

    def __getitem__(self, index):
        out = self.rows[index] if isinstance(index, int) else torch.from_numpy(self.array[index])
        return self.convert(out) if self.convert else out


class WholeRows(Rows):
    """Asked by DataLoader for a whole batch, which `collate_fn` then leaves alone."""

    def __getitems__(self, indices):
        return self[indices]


class ArraySampler:
    """Batches of indices, from one permutation of NumPy's."""

    def __init__(self, count, batch_size):
        self.count, self.batch_size, self.rng = count, batch_size, np.random.default_rng(0)

    def __len__(self):
        return -(-self.count // self.batch_size)

    def __iter__(self):
        order = self.rng.permutation(self.count)
        return (order[at:at + self.batch_size] for at in range(0, self.count, self.batch_size))


def normalize(rows):
    return rows.to(torch.float32).mul_(float(SCALE)).add_(float(BIAS))


def both(window):
    return window[..., :-1], window[..., 1:]


def epochs(loader):
    return lambda _: iter(loader)


def ordinary(dataset, workers, batch_size):
    return DataLoader(dataset, batch_size=batch_size, shuffle=True, num_workers=workers,
                      persistent_workers=workers > 0)


def batched(dataset, workers, batch_size, shuffle=True):
    order = RandomSampler(dataset) if shuffle else SequentialSampler(dataset)
    return DataLoader(dataset, sampler=BatchSampler(order, batch_size, drop_last=False), batch_size=None,
                      num_workers=workers, persistent_workers=workers > 0)


def by_getitems(dataset, workers, batch_size):
    return DataLoader(WholeRows(dataset.array, dataset.convert), batch_size=batch_size, shuffle=True,
                      num_workers=workers, collate_fn=lambda batch: batch)


def by_arrays(dataset, workers, batch_size):
    return DataLoader(dataset, sampler=ArraySampler(len(dataset), batch_size), batch_size=None, num_workers=workers)


def node_loader(dataset, threads, batch_size):
    """torchdata.nodes: whole batches mapped by threads."""
    indices = nodes.SamplerWrapper(BatchSampler(RandomSampler(dataset), batch_size, drop_last=False))
    fetch = nodes.ParallelMapper(indices, map_fn=dataset.__getitem__, num_workers=threads, method="thread")
    return nodes.Loader(nodes.Prefetcher(fetch, prefetch_factor=4))


def loaders(dataset, batch_size, check, arrays, compute_s=0.0, with_workers=True):
    def variant(name, loader):
        return Variant(name, epochs(loader), arrays, check, compute_s)

    out = [variant(f"pytorch batched w{workers}", batched(dataset, workers, batch_size)) for workers in (0, 2)]
    out += [variant("pytorch __getitems__ w0", by_getitems(dataset, 0, batch_size)),
            variant("pytorch array sampler w0", by_arrays(dataset, 0, batch_size))]
    out += [variant(f"pytorch own dataset w{workers}", ordinary(dataset, workers, batch_size))
            for workers in ((0, 2) if with_workers else (0,))]
    out += [variant(f"torchdata.nodes {threads}", node_loader(dataset, threads, batch_size)) for threads in (1, 2)]
    return out


def as_arrays(batch):
    return (batch.numpy(),)


def index_select(rows, threads):
    """Bare: one permutation, one call a batch, the result's memory new each time."""
    def epoch(_):
        torch.set_num_threads(threads)
        try:
            for chosen in torch.randperm(len(rows)).split(BATCH_SIZE):
                yield torch.index_select(rows, 0, chosen)
        finally:
            torch.set_num_threads(1)
    return Variant(f"torch index_select {threads}", epoch, as_arrays)


def rows_u8(row):
    def make(settings):
        array = np.asarray(settings.rows(row))
        small = array.nbytes < 1 << 28
        check = check_rows(array)
        plain = TensorDataset(torch.from_numpy(array))
        return loaders(Rows(array), BATCH_SIZE, check, as_arrays, with_workers=small) + [
            Variant(f"pytorch ordinary w{workers}", epochs(ordinary(plain, workers, BATCH_SIZE)),
                    lambda batch: (batch[0].numpy(),), check) for workers in ((0, 2) if small else (0,))
        ] + [index_select(torch.from_numpy(array), threads) for threads in (1, 2)]
    return make


def rows_f32(settings, compute_s=0.0, row="rows_f32"):
    array = settings.rows(row)
    dataset = Rows(array, normalize)
    return loaders(dataset, BATCH_SIZE, check_normalized(array), as_arrays, compute_s)


def tokens(settings):
    values = settings.tokens()
    dataset = Rows(token_windows(values).view(np.int16), both)  # few operators know u16; the bits are the same

    def arrays(batch):
        return tuple(part.numpy().view(np.uint16) if part.dtype == torch.int16 else part.numpy() for part in batch)

    def get_batch(_):
        # As nanoGPT has it: random places, each widened to i64 by itself.
        for _ in range(1000):
            places = torch.randint(len(values) - TOKEN_LENGTH, (TOKEN_BATCH_SIZE,))
            x = torch.stack([torch.from_numpy(values[i:i + TOKEN_LENGTH].astype(np.int64)) for i in places])
            y = torch.stack([torch.from_numpy(values[i + 1:i + 1 + TOKEN_LENGTH].astype(np.int64)) for i in places])
            yield x, y
    return loaders(dataset, TOKEN_BATCH_SIZE, check_tokens(values), arrays) + [
        Variant("nanoGPT get_batch", get_batch, arrays)]


def overhead(settings):
    rows = Rows(settings.tiny_rows())
    out = []
    for size in (1, 256):
        check = check_in_order(rows.array)
        plain = DataLoader(rows, batch_size=size)
        for name, loader in (("pytorch own dataset", plain), ("pytorch batched", batched(rows, 0, size, False))):
            out.append(Variant(f"{name} b{size}", epochs(loader), as_arrays, check))
    return out


def first_batch(settings):
    path = settings.sparse_path()

    def once(make):
        rows = Rows(np.asarray(np.load(path, mmap_mode="r")))
        return next(iter(make(rows, 0, BATCH_SIZE)))
    return [FirstBatch("pytorch batched w0 1e7", path, lambda: once(batched)),
            FirstBatch("pytorch array sampler w0 1e7", path, lambda: once(by_arrays)),
            FirstBatch("pytorch own dataset w0 1e7", path, lambda: once(ordinary))]


def consumer_1ms(settings):
    return rows_f32(settings, compute_s=1e-3, row="consumer_1ms")


if __name__ == "__main__":
    main({"rows_u8_47mb": rows_u8("rows_u8_47mb"), "rows_u8_4700mb": rows_u8("rows_u8_4700mb"),
          "rows_f32": rows_f32, "tokens": tokens, "overhead": overhead, "first_batch": first_batch,
          "consumer_1ms": consumer_1ms}, {"torch": torch.__version__})
