"""What every other loader's program shares: the line protocol of bench/rounds.py, timing, and the check of samples.

A program gives `main` a table {row: function(settings) -> [Variant]}. It prints one line when ready, then one line of
JSON for each line on stdin, as dataline_rows does. With `--make` it only writes the row's files, where its library is the
one that writes them: `makes` {row: function(settings, path)}.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import zlib

import numpy as np

ROW_BYTES = 784
BATCH_SIZE = 256
TOKEN_BATCH_SIZE = 16
TOKEN_LENGTH = 1024
DOCUMENT_BATCH_SIZE = 64
LABELS = 10
MNIST_MEAN, MNIST_DEVIATION = 0.1307, 0.3081
# x * SCALE + BIAS is ToTensor and Normalize in one step; every loader gets this cheaper form.
SCALE = np.float32(1 / (255 * MNIST_DEVIATION))
BIAS = np.float32(-MNIST_MEAN / MNIST_DEVIATION)


class Settings:
    def __init__(self, data_dir, seconds, small):
        self.data_dir, self.seconds, self.small = data_dir, seconds, small

    def _open(self, name):
        path = os.path.join(self.data_dir, name)
        return path if os.path.exists(path) else sys.exit(f"{path} is missing: dataline_rows makes it")

    def rows_path(self, row):
        few, many = (70_000, 6_000_000) if row == "rows_u8_4700mb" else (6_000, 60_000)
        return self._open(f"rows_{few if self.small else many}x{ROW_BYTES}.npy")

    def rows(self, row):
        """The rows as a mapped (n, 784) array; small sets in memory, as their users have them."""
        array = np.load(self.rows_path(row), mmap_mode="r")
        if array.nbytes < 1 << 28:
            return np.array(array)
        sum(int(array[at].sum()) for at in range(0, len(array), 4))  # hot
        return array

    def stored_path(self, row):
        """What `--make` writes: the rows with their labels, in the format that the row is named after; or a folder of files."""
        if row.startswith("audio"):
            return os.path.join(self.data_dir, f"{row}_{20 if self.small else 100}")
        own = {"megatron": f"documents_{self._token_count()}.megatron", "parquet_tokens": f"documents_{self._token_count()}.parquet",
               "parquet": f"numbers_{self.number_count()}x100.parquet", "parquet_images": f"photos_{64 if self.small else 1000}.parquet"}
        if row in own:
            return os.path.join(self.data_dir, own[row])
        return self.rows_path(row).removesuffix("npy") + row

    def lines_path(self):
        return self._open(f"lines_{6_000 if self.small else 60_000}.jsonl")

    def tiny_rows(self):
        return np.load(self._open(f"rows_{50_000 if self.small else 1_000_000}x4.npy"))

    def _token_count(self):
        return 2_000_000 if self.small else 100_000_000

    def number_count(self):
        return 48_000 if self.small else 480_000

    def tokens(self):
        return np.fromfile(self._open(f"tokens_{self._token_count()}.bin"), dtype=np.uint16)

    def documents(self):
        """Pieces of 64 to 1,087 tokens, one behind the other: those of bench/end_to_end/documents.cpp."""
        tokens = self.tokens()
        ends = np.cumsum(64 + np.arange(len(tokens) // 64, dtype=np.int64) * 389 % 1024)
        return np.split(tokens, ends[ends <= len(tokens)])[:-1]

    def sparse_path(self):
        return self._open(f"sparse_10000000x{ROW_BYTES}.npy")


def labels_of(rows):
    return np.arange(len(rows), dtype=np.int64) % LABELS


def token_windows(tokens):
    """Every window of length + 1, TOKEN_LENGTH apart, without a copy."""
    count = (len(tokens) - TOKEN_LENGTH - 1) // TOKEN_LENGTH + 1
    size = tokens.itemsize
    return np.lib.stride_tricks.as_strided(tokens, (count, TOKEN_LENGTH + 1), (TOKEN_LENGTH * size, size))


# ---- Equal samples ----

def row_digests(rows):
    """One u64 for each row; equal multisets of digests mean equal multisets of rows."""
    rows = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), -1)
    word = np.uint64 if rows.shape[1] % 8 == 0 else np.uint32 if rows.shape[1] % 4 == 0 else np.uint8
    words = rows.view(word)
    weights = np.random.default_rng(7).integers(1, 1 << 63, words.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    out = np.empty(len(rows), np.uint64)
    for at in range(0, len(rows), 4096):
        out[at:at + 4096] = (words[at:at + 4096].astype(np.uint64) * weights).sum(axis=1, dtype=np.uint64)
    return out


def labelled_digests(rows, labels):
    return row_digests(rows) ^ np.asarray(labels).astype(np.uint64)


def u8_of_normalized(batch):
    values = np.asarray(batch, np.float32).reshape(len(batch), -1)
    exact = (values - BIAS) / SCALE
    rounded = np.rint(exact)
    if np.abs(exact - rounded).max() > 0.01:
        raise AssertionError("normalised values are wrong")
    return rounded.astype(np.uint8)


def token_digests(x, y):
    return row_digests(np.asarray(x).astype(np.uint16)) * np.uint64(0x9E3779B97F4A7C15) + row_digests(
        np.asarray(y).astype(np.uint16))


def joined(documents):
    """Lengths, and all tokens."""
    return np.array([len(document) for document in documents]), np.concatenate(documents)


def document_digests(lengths, tokens):
    parts = np.split(np.asarray(tokens), np.cumsum(np.asarray(lengths))[:-1])
    return np.array([len(part) << 32 | zlib.crc32(part.astype(np.uint16).tobytes()) for part in parts], np.uint64)


class Check:
    """Collects an epoch and compares it with what the file holds."""

    def __init__(self, expected, digests, shuffled=True, whole=True):
        self.expected, self.digests, self.shuffled, self.whole = expected, digests, shuffled, whole

    def __call__(self, name, batches, arrays):
        got = []
        for count, batch in enumerate(batches):
            got.append(self.digests(*arrays(batch)))
            if not self.whole and count == 100:
                break
        got = np.concatenate(got)
        if self.whole and not np.array_equal(np.sort(got), np.sort(self.expected)):
            raise AssertionError(f"{name}: an epoch gave {len(got)} samples that are not the file's {len(self.expected)}")
        if not self.whole and not np.isin(got, self.expected).all():
            raise AssertionError(f"{name}: samples that are not in the file")
        if self.shuffled == np.array_equal(got, self.expected[:len(got)]):
            raise AssertionError(f"{name}: file order" if self.shuffled else f"{name}: not in file order")


def check_rows(rows):
    return Check(row_digests(rows), lambda batch: row_digests(np.asarray(batch).reshape(len(batch), -1)),
                 whole=rows.nbytes < 1 << 28)


def check_labelled(rows):
    return Check(labelled_digests(rows, labels_of(rows)), lambda images, labels: labelled_digests(images, labels))


def check_normalized(rows):
    return Check(row_digests(rows), lambda batch: row_digests(u8_of_normalized(batch)))


def check_tokens(tokens):
    windows = token_windows(tokens)
    return Check(token_digests(windows[:, :-1], windows[:, 1:]), token_digests)


def check_documents(settings):
    return Check(document_digests(*joined(settings.documents())), document_digests)


def check_in_order(rows):
    return Check(row_digests(rows), row_digests, shuffled=False, whole=False)


# ---- Measuring ----

def _descendants(pid):
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/children") as file:
                children = file.read().split()
        except OSError:
            continue
        for child in children:
            yield child
            try:
                yield from _descendants(child)
            except OSError:
                pass


def cpu_seconds():
    """Of this process and all that it started, those still running too."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = time.process_time() + ended.ru_utime + ended.ru_stime
    for pid in set(_descendants(os.getpid())):
        try:
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


def peak_rss_mib():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


class Variant:
    """`epoch(k)` gives the batches of epoch k, for ever new ones; `arrays(batch)` its fields as NumPy arrays. `lead`: so
    many batches of a turn are not counted, for where each takes long, those made ready before the turn would count most."""

    def __init__(self, name, epoch, arrays=lambda batch: (np.asarray(batch),), check=None, compute_s=0.0, lead=0):
        self.name, self.epoch, self.arrays, self.check, self.compute_s = name, epoch, arrays, check, compute_s
        self.stream, self.lead = None, lead

    def prepare(self):
        if self.check:
            self.check(self.name, iter(self.epoch(0)), self.arrays)
        self.stream = self._forever()
        first = self.arrays(next(self.stream))
        self.row_bytes = sum(array.nbytes for array in first) // len(first[0])

    def _forever(self):
        number = 1
        while True:
            empty = True
            for batch in self.epoch(number):
                empty = False
                yield batch
            if empty:
                raise AssertionError(f"{self.name}: an empty epoch")
            number += 1

    @staticmethod
    def _rows(batch):
        while isinstance(batch, (tuple, list, dict)):
            batch = batch[next(iter(batch))] if isinstance(batch, dict) else batch[0]
        return batch.shape[0]

    def round(self, seconds):
        stream, rows, batches, waited = self.stream, 0, 0, 0.0
        clock = time.perf_counter
        for _ in range(self.lead):
            next(stream)
        cpu, begin = cpu_seconds(), clock()
        now = begin
        while now - begin < seconds:
            asked = now
            batch = next(stream)
            now = clock()
            waited += now - asked
            rows += self._rows(batch)
            batches += 1
            if self.compute_s:
                first = self.arrays(batch)[0]
                until = now + self.compute_s
                while now < until:
                    first.sum()
                    now = clock()
        elapsed, used = now - begin, cpu_seconds() - cpu
        size = rows * self.row_bytes * 1e-9
        result = {"rows_per_s": rows / elapsed, "gb_per_s": size / elapsed, "cpu_s_per_gb": used / size,
                  "us_per_batch": elapsed * 1e6 / batches}
        return result | ({"wait_percent": 100 * waited / elapsed} if self.compute_s else {})


class FirstBatch:
    """Measured in a new process each time, with no page of the file in memory: `once()` makes everything and returns
    the first batch."""

    def __init__(self, name, path, once):
        self.name, self.path, self.once = name, path, once

    def prepare(self):
        pass

    def round(self, seconds):
        with open(self.path) as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        script = os.path.abspath(sys.modules["__main__"].__file__)
        words = [sys.executable, script, *sys.argv[1:], "--first-batch", self.name]
        out = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=300)
        if out.returncode != 0:
            raise AssertionError(f"{self.name}: the process for the first batch failed")
        return json.loads(out.stdout.strip().splitlines()[-1])

    def measure(self):
        before = peak_rss_mib()
        begin = time.perf_counter()
        batch = self.once()
        took = time.perf_counter() - begin
        if Variant._rows(batch) != BATCH_SIZE:
            sys.exit(f"{self.name}: the first batch is not whole")
        print(json.dumps({"first_batch_ms": took * 1e3, "peak_rss_mib": peak_rss_mib(),
                          "imported_rss_mib": before}))


def leave(status=0):
    """Ends this process and what it started: some loaders' threads and worker processes do not end by themselves."""
    sys.stdout.flush()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # PyTorch's handler would raise over a worker that is killed
    for pid in set(_descendants(os.getpid())):
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    os._exit(status)


def make(settings, row, write):
    """Under another name first, so that a run that is ended leaves nothing that looks whole."""
    path = settings.stored_path(row)
    if os.path.exists(path):
        return
    draft = f"{path}.draft"
    shutil.rmtree(draft, ignore_errors=True)
    write(settings, draft)
    os.rename(draft, path)


def main(table, versions, makes=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("row", choices=sorted(table))
    parser.add_argument("--data", required=True)
    parser.add_argument("--photos", help="dataline_rows makes the folders of them that are read here")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--rounds", type=int, default=0, help="run so many at once instead of one for each line")
    parser.add_argument("--only", default="", help="variants whose name has this in it")
    parser.add_argument("--first-batch", default="")
    parser.add_argument("--make", action="store_true", help="write the row's files, and no more")
    asked = parser.parse_args()
    settings = Settings(asked.data, asked.seconds, asked.small)
    if asked.make:
        make(settings, asked.row, makes[asked.row])
        leave()
    variants = [variant for variant in table[asked.row](settings) if asked.only in variant.name]
    if asked.first_batch:
        next(variant for variant in variants if variant.name == asked.first_batch).measure()
        leave()

    def each(turn, act):
        """What `act` gave for each variant, and why others failed: those do not take the rest with them."""
        done, failed = {}, {}
        for variant in turn:
            try:
                done[variant.name] = act(variant)
            except Exception as error:
                failed[variant.name] = f"{variant.name}: {type(error).__name__}: {error}"
                variants.remove(variant)
        return done, failed

    ready, failed = each(list(variants), lambda variant: variant.prepare())
    print(json.dumps({"ready": list(ready), "failed": failed, "versions": versions}), flush=True)
    lines = range(asked.rounds) if asked.rounds else sys.stdin
    for count, _ in enumerate(lines):
        done, failed = each(variants[::1 if count % 2 == 0 else -1], lambda variant: variant.round(asked.seconds))
        print(json.dumps({"round": done, "failed": failed}), flush=True)
    leave()
