"""Audio files a second: the plug-in for audio beside loops in Python on soundfile, soxr, librosa and torchaudio, all on one
thread. DATALINE_LIB_DIR: the folder of libdataline-audio.so.

Files are 10 s of tones and noise, from the page cache. A library that is not installed is left out, with a line. Run it on one core
(taskset -c 0), so that no library has more.

SPDX-License-Identifier: Apache-2.0
"""

import importlib
import os
import pathlib
import tempfile
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import dataline
import numpy as np
import soundfile

from turns import Group, each

SECONDS = 10
STEREO = "flac", "PCM_16", 44100
# name: (suffix, subtype, rate of the files, transform)
ROWS = {
    "FLAC, 16 kHz: samples": ("flac", "PCM_16", 16000, "decode_audio"),
    "MP3, 16 kHz: samples": ("mp3", "MPEG_LAYER_III", 16000, "decode_audio"),
    "Opus, 48 kHz: samples at 16 kHz": ("ogg", "OPUS", 48000, "decode_audio"),
    "FLAC, 44.1 kHz stereo: samples at 16 kHz": (*STEREO, "decode_audio"),
    "FLAC, 44.1 kHz stereo: a random second at 16 kHz": (*STEREO, "decode_audio(seconds=1, random=true)"),
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
    loader = dataline.Loader(f"folder:{folder}?extensions=.{suffix}", extensions=extensions, transform=f"image: {transform}", batch_size=4,
                             num_workers=workers, epochs=1, max_bytes_per_sample="2MiB")
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
            made["librosa"] = lambda path: librosa.feature.melspectrogram(y=librosa.load(path, sr=16000)[0], sr=16000, n_fft=400, hop_length=160, n_mels=80)
    return made


def timed(paths, call):
    began = time.perf_counter()
    assert call() == len(paths)
    return {"files_per_s": len(paths) / (time.perf_counter() - began)}


def group(name, asked, folder, extensions, modules):
    suffix, subtype, rate, transform = ROWS[name]
    write_files(folder, suffix, subtype, rate, asked.files)
    paths = sorted((folder / "class").iterdir())
    calls = {f"dataline, num_workers={workers}": lambda w=workers: loader_pass(folder, suffix, transform, w, extensions) for workers in (0, 1)}
    peers = piece_loops(rate, modules) if "seconds" in transform else loops(rate, "mel" in transform, modules)
    calls |= {library: lambda call=call: sum(len(call(path)) > 0 for path in paths) for library, call in peers.items()}
    return Group(f"audio: {name}", each({program: lambda call=call: timed(paths, call) for program, call in calls.items()}), warm_up=1)


def arguments(parser):
    parser.add_argument("--files", type=int, default=100)


def groups(asked):
    extensions = dataline.Extensions()
    folder = os.environ.get("DATALINE_LIB_DIR")
    extensions.load(f"{folder}/libdataline-audio.so" if folder else "audio")
    modules = {name: optional(name) for name in ("soxr", "librosa", "torch", "torchaudio")}
    if modules["torch"]:
        modules["torch"].set_num_threads(1)
    for name in ROWS:
        with tempfile.TemporaryDirectory() as top:
            yield group(name, asked, pathlib.Path(top), extensions, modules)
