"""Audio files a second: the plug-in for audio beside loops in Python on soundfile, soxr, librosa and torchaudio, all on one
thread.

  audio.py [--files 100] [--rounds 5]      DATALINE_LIB_DIR: the folder of libdataline-audio.so

Files are 10 s of tones and noise, from the page cache; programs take turns, and the medians of the rounds are printed. A
library that is not installed is left out, and said so. Run it on one core (taskset -c 0), so that no library has more.

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import importlib
import os
import pathlib
import statistics
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
import soundfile

import dataline

SECONDS = 10
# name: (suffix, subtype, rate of the files, transform)
ROWS = {
    "FLAC, 16 kHz: samples": ("flac", "PCM_16", 16000, "decode_audio"),
    "MP3, 16 kHz: samples": ("mp3", "MPEG_LAYER_III", 16000, "decode_audio"),
    "Opus, 48 kHz: samples at 16 kHz": ("ogg", "OPUS", 48000, "decode_audio"),
    "FLAC, 44.1 kHz stereo: samples at 16 kHz": ("flac", "PCM_16", 44100, "decode_audio"),
    "FLAC, 44.1 kHz stereo: a random second at 16 kHz": (
        "flac",
        "PCM_16",
        44100,
        "decode_audio(seconds=1, random=true)",
    ),
    "FLAC, 16 kHz: mel(80)": ("flac", "PCM_16", 16000, "decode_audio, mel(80)"),
}


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"left out: {name} ({error})")
        return None


def write_files(folder, suffix, subtype, rate, count):
    draw = np.random.default_rng(1)
    (folder / "class").mkdir(parents=True)
    times = np.arange(SECONDS * rate) / rate
    channels = 2 if rate == 44100 else 1
    for number in range(count):
        tones = sum(0.1 * np.sin(2 * np.pi * draw.uniform(80, 6000) * times + c) for c in range(5))
        samples = np.stack([tones + 0.01 * draw.standard_normal(times.size) for _ in range(channels)], 1)
        soundfile.write(folder / "class" / f"{number:03}.{suffix}", samples, rate, format=suffix, subtype=subtype)


def loader_pass(folder, suffix, transform, workers, extensions):
    loader = dataline.Loader(
        f"folder:{folder}?extensions=.{suffix}", extensions=extensions, transform=f"image: {transform}", batch_size=4,
        num_workers=workers, epochs=1, max_bytes_per_sample="2MiB",
    )  # fmt: skip
    return sum(batch.info.samples for batch in loader)


def piece_loops(rate, modules):
    """The same of a random second."""
    draw = np.random.default_rng(2)
    soxr, librosa = modules["soxr"], modules["librosa"]
    made = {}

    def read(path):
        start = int(draw.integers(0, (SECONDS - 1) * rate))
        return soundfile.read(path, dtype="float32", start=start, frames=rate)[0].mean(1)

    if soxr:
        made["soundfile and soxr"] = lambda path: soxr.resample(read(path), rate, 16000)
    if librosa:
        made["librosa"] = lambda path: librosa.load(path, sr=16000, offset=draw.uniform(0, SECONDS - 1), duration=1)[0]
    return made


def loops(rate, has_mel, modules):
    """name: what makes one sample of a path."""
    soxr, librosa, torch, torchaudio = (modules[name] for name in ("soxr", "librosa", "torch", "torchaudio"))

    def read(path):
        samples, _ = soundfile.read(path, dtype="float32")
        return samples if samples.ndim == 1 else samples.mean(1)

    made = {}
    if rate == 16000:
        made["soundfile"] = read
    elif soxr:
        made["soundfile and soxr"] = lambda path: soxr.resample(read(path), rate, 16000)
    if librosa:
        made["librosa"] = lambda path: librosa.load(path, sr=16000)[0]
    if torchaudio and rate != 16000:
        resample = torchaudio.transforms.Resample(rate, 16000)
        made["soundfile and torchaudio"] = lambda path: resample(torch.from_numpy(read(path)))
    if has_mel:
        made = {}
        if torchaudio:
            mel = torchaudio.transforms.MelSpectrogram(16000, n_fft=400, hop_length=160, n_mels=80)
            made["soundfile and torchaudio"] = lambda path: mel(torch.from_numpy(read(path)))
        if librosa:
            made["librosa"] = lambda path: librosa.feature.melspectrogram(
                y=librosa.load(path, sr=16000)[0], sr=16000, n_fft=400, hop_length=160, n_mels=80
            )
    return made


def timed(count, call):
    began = time.perf_counter()
    assert call() == count
    return count / (time.perf_counter() - began)


def row(name, asked, folder, extensions, modules):
    suffix, subtype, rate, transform = ROWS[name]
    write_files(folder, suffix, subtype, rate, asked.files)
    paths = sorted((folder / "class").iterdir())
    programs = {
        f"dataline, num_workers={workers}": lambda w=workers: loader_pass(folder, suffix, transform, w, extensions)
        for workers in (0, 1)
    }
    peers = piece_loops(rate, modules) if "seconds" in transform else loops(rate, "mel" in transform, modules)
    for library, call in peers.items():
        programs[library] = lambda call=call: sum(len(call(path)) > 0 for path in paths)
    rates = {program: [] for program in programs}
    for number in range(asked.rounds + 1):  # the first one warms up
        for program, call in programs.items():
            figure = timed(len(paths), call)
            if number > 0:
                rates[program].append(figure)
    for program, figures in rates.items():
        print(f"| {name} | {program} | {statistics.median(figures):.0f} ({min(figures):.0f} to {max(figures):.0f}) |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    extensions = dataline.Extensions()
    folder = os.environ.get("DATALINE_LIB_DIR")
    extensions.load(f"{folder}/libdataline-audio.so" if folder else "audio")
    modules = {name: optional(name) for name in ("soxr", "librosa", "torch", "torchaudio")}
    if modules["torch"]:
        modules["torch"].set_num_threads(1)
    print("| work | program | files/s, median (range) |\n|---|---|---|")
    for name in ROWS:
        with tempfile.TemporaryDirectory() as top:
            row(name, asked, pathlib.Path(top), extensions, modules)


if __name__ == "__main__":
    main()
