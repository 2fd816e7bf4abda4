"""Audio files of 10 s: FLAC of 44.1 kHz in stereo to one channel of 16 kHz, and FLAC of 16 kHz to mel spectrograms, by soundfile with soxr
(whose resampling is librosa's too), librosa, torchaudio and torchcodec, each under PyTorch's DataLoader with persistent workers.
Writes the files, and beside them the energies that `dataline_rows` and every loader here must give.
SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import ctypes
import os
import sysconfig
from importlib.metadata import version

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import librosa
import numpy as np
import soundfile
import soxr
import torch
import torchaudio
from torch.utils.data import DataLoader, Dataset

from contender import Variant, main

for library in ("libnppc.so.13", "libnppicc.so.13"):  # which torchcodec wants, and finds nowhere by itself
    with contextlib.suppress(OSError):
        ctypes.CDLL(os.path.join(sysconfig.get_path("purelib"), "nvidia", "cu13", "lib", library), ctypes.RTLD_GLOBAL)
try:
    from torchcodec.decoders import AudioDecoder
except (ImportError, OSError, RuntimeError) as error:  # it opens FFmpeg's libraries, of some versions
    AudioDecoder, why_not = None, str(error).strip().splitlines()[0]

torch.set_num_threads(1)
RATE, SECONDS, BATCH, CLASSES, PIECES, MELS = 16_000, 10, 4, 10, 50, 80
LEAD = 12  # batches that may have been ready before a turn
mel = torchaudio.transforms.MelSpectrogram(RATE, n_fft=400, hop_length=160, n_mels=MELS)


def sound(number, rate, channels):
    """Tones and noise, louder and softer in pieces of their own, so that each file is known by its energies."""
    draw = np.random.default_rng(number)
    times = np.arange(SECONDS * rate) / rate
    loud = np.repeat(draw.uniform(0.2, 1, PIECES), times.size // PIECES)
    tones = sum(0.1 * np.sin(2 * np.pi * draw.uniform(80, 6000) * times) for _ in range(5))
    return np.stack([loud * (tones + 0.01 * draw.standard_normal(times.size)) for _ in range(channels)], 1)


def sample_energies(samples):
    return np.square(samples.astype(np.float64)).reshape(len(samples), PIECES, -1).mean(2)


def mel_energies(spectrograms):
    """Of [rows, time, mels], the last frame left out."""
    frames = spectrograms.astype(np.float64).sum(2)
    return frames[:, :frames.shape[1] // PIECES * PIECES].reshape(len(frames), PIECES, -1).mean(2)


def whole(samples):
    """Of a resampler, which may give one more or one less."""
    return np.pad(samples[:RATE * SECONDS], (0, max(0, RATE * SECONDS - len(samples))))


def by_soundfile(path):
    samples, rate = soundfile.read(path, dtype="float32")
    samples = samples if samples.ndim == 1 else samples.mean(1)
    return samples if rate == RATE else whole(soxr.resample(samples, rate, RATE))


def by_librosa(path):
    return whole(librosa.load(path, sr=RATE)[0])


def by_torchaudio(path):
    samples, rate = soundfile.read(path, dtype="float32")
    return whole(resample(torch.from_numpy(samples.mean(1))).numpy())


def by_torchcodec(path):
    if AudioDecoder is None:
        raise RuntimeError(why_not)
    decoder = AudioDecoder(path, sample_rate=RATE, num_channels=1)
    samples = decoder.get_all_samples().data[0].numpy()
    # FFmpeg's one channel of two is their sum over the root of 2, the others' their mean.
    return whole(samples if decoder.metadata.num_channels == 1 else samples * np.float32(0.5 ** 0.5))


def mel_by_torchaudio(read):
    return lambda path: mel(torch.from_numpy(read(path))).T.contiguous().numpy()


def mel_by_librosa(path):
    made = librosa.feature.melspectrogram(y=by_librosa(path), sr=RATE, n_fft=400, hop_length=160, n_mels=MELS, htk=True, norm=None,
                                          pad_mode="reflect")
    return np.ascontiguousarray(made.T)


resample = torchaudio.transforms.Resample(44_100, RATE)
# row: (rate of its files, channels, energies, {name: what makes one sample of a path})
ROWS = {
    "audio": (44_100, 2, sample_energies, {"soundfile and soxr": by_soundfile, "librosa": by_librosa, "soundfile and torchaudio": by_torchaudio,
                                           "torchcodec": by_torchcodec}),
    "audio_mel": (RATE, 1, mel_energies, {"soundfile and torchaudio": mel_by_torchaudio(by_soundfile), "librosa": mel_by_librosa,
                                          "torchcodec and torchaudio": mel_by_torchaudio(by_torchcodec)}),
}


def files_of(folder):
    """In natural order, as every reader of folders of classes has them, with their labels."""
    return [(os.path.join(folder, name, file), label) for label, name in enumerate(sorted(os.listdir(folder)))
            if os.path.isdir(os.path.join(folder, name)) for file in sorted(os.listdir(os.path.join(folder, name)))]


def write(row):
    def files(settings, path):
        rate, channels, energies, made = ROWS[row]
        for number in range(20 if settings.small else 100):
            folder = os.path.join(path, f"c{number % CLASSES}")
            os.makedirs(folder, exist_ok=True)
            soundfile.write(os.path.join(folder, f"{number:03}.flac"), sound(number, rate, channels), rate, subtype="PCM_16")
        first = next(iter(made.values()))
        np.savetxt(os.path.join(path, "energies.txt"), energies(np.stack([first(file) for file, _ in files_of(path)])), "%.9g")
    return files


class Files(Dataset):
    def __init__(self, files, make):
        self.files, self.make = files, make

    def __len__(self):
        return len(self.files)

    def __getitem__(self, at):
        path, label = self.files[at]
        return self.make(path), label


class Check:
    """An epoch: each file once, known by its energies, which resamplers change by less than a hundredth, with its label."""

    def __init__(self, files, wanted, energies):
        self.files, self.wanted, self.energies = files, wanted, energies

    def __call__(self, name, batches, arrays):
        seen = []
        for batch in batches:
            values, labels = arrays(batch)
            if values.dtype != np.float32:
                raise AssertionError(f"{name}: batches of {values.dtype}")
            for got, label in zip(self.energies(values), labels):
                at = int(np.abs(self.wanted - got).sum(1).argmin())
                if not np.allclose(got, self.wanted[at], rtol=0.03) or self.files[at][1] != label:
                    raise AssertionError(f"{name}: a sample that is no file's")
                seen.append(at)
        if sorted(seen) != list(range(len(self.files))) or seen == sorted(seen):
            raise AssertionError(f"{name}: an epoch gave {len(seen)} samples that are not the folder's {len(self.files)}, shuffled")


def row_of(row):
    def variants(settings):
        _, _, energies, made = ROWS[row]
        folder = settings.stored_path(row)
        files = files_of(folder)
        check = Check(files, np.loadtxt(os.path.join(folder, "energies.txt")), energies)

        def loader(make, workers):
            more = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
            return DataLoader(Files(files, make), batch_size=BATCH, shuffle=True, num_workers=workers, **more)
        return [Variant(f"{name} w{workers}", lambda _, each=loader(make, workers): iter(each),
                        lambda batch: (batch[0].numpy(), batch[1].numpy()), check, lead=LEAD)
                for name, make in made.items() for workers in (0, 2)]
    return variants


if __name__ == "__main__":
    names = ("soundfile", "soxr", "librosa", "torchaudio", "torchcodec")
    main({row: row_of(row) for row in ROWS}, {name: version(name) for name in names}, {row: write(row) for row in ROWS})
