"""Decoded pixels against Pillow's, bit for bit: the sample photographs, and a generated suite of JPEG, PNG and WebP files.

  pillow_oracle.py DECODE_IMAGES SHARED_DATA

Every file is compared in the modes rgb, gray and rgba, with and without its Exif orientation, whole and by random regions.
Skips (77) without Pillow.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    from PIL import Image, ImageOps, features
except ImportError:
    system = "/usr/bin/python3"
    if os.path.realpath(sys.executable) != os.path.realpath(system) and os.path.exists(system):
        os.execv(system, [system, *sys.argv])
    print("skipped: Pillow is not installed")
    sys.exit(77)

import image_suite

MODES = {"rgb": "RGB", "gray": "L", "rgba": "RGBA"}


class Decoder:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def decode(self, path, mode, orient=False, region=(0, 0, 0, 0)):
        """((height, width, channels, element bytes), pixels), or (None, the error)."""
        request = f"{mode} {int(orient)} {' '.join(map(str, region))} {path}\n"
        self.process.stdin.write(request.encode())
        self.process.stdin.flush()
        head = self.process.stdout.readline().decode()
        if head.startswith("error") or not head:
            return None, head.strip()
        height, width, channels, element_bytes = map(int, head.split())
        size = height * width * channels * element_bytes
        return (height, width, channels, element_bytes), self.process.stdout.read(size)


def expected(path, mode, orient):
    image = Image.open(path)
    if orient:
        image = ImageOps.exif_transpose(image)
    return image.convert(MODES[mode])


def difference(got, want):
    if len(got) != len(want):
        return f"{len(got)} bytes, expected {len(want)}"
    bad = [i for i in range(len(got)) if got[i] != want[i]]
    most = max(abs(got[i] - want[i]) for i in bad)
    return f"{len(bad)} of {len(want)} bytes differ, at most by {most}, first at {bad[0]}: {got[bad[0]]} for {want[bad[0]]}"


def check(decoder, path, mode, orient, draw, regions):
    """What is wrong, as a list of lines, and the number of comparisons."""
    image = expected(path, mode, orient)
    width, height = image.size
    wanted = [(0, 0, height, width)]
    for _ in range(regions):
        top, left = draw.randrange(height), draw.randrange(width)
        wanted.append((top, left, draw.randint(1, height - top), draw.randint(1, width - left)))
    wrong = []
    for top, left, h, w in wanted:
        shape, pixels = decoder.decode(path, mode, orient, (top, left, h, w))
        want = image.crop((left, top, left + w, top + h)).tobytes()
        place = f"{path.name} {mode}{' oriented' if orient else ''} {h}x{w} at {top},{left}"
        if shape is None:
            wrong.append(f"{place}: {pixels}")
        elif pixels != want:
            wrong.append(f"{place}: {difference(pixels, want)}")
    return wrong, len(wanted)


def check_all(decoder, paths, modes, orients, regions, title):
    draw = random.Random(1)
    wrong, count = [], 0
    for path in paths:
        for mode in modes:
            for orient in orients:
                bad, done = check(decoder, path, mode, orient, draw, regions)
                wrong += bad
                count += done
    print(f"{title}: {len(paths)} files, {count} comparisons, {len(wrong)} differ")
    for line in wrong[:20]:
        print("  " + line)
    return len(wrong) + (0 if paths else 1)


def check_unchanged(decoder, files):
    wrong = 0
    for path, shape, pixels in files:
        got_shape, got = decoder.decode(path, "unchanged")
        if got_shape != shape or got != pixels:
            print(f"  {path.name} unchanged: {got_shape} {got if got_shape is None else ''}, expected {shape}")
            wrong += 1
    print(f"unchanged: {len(files)} files, {wrong} differ")
    return wrong + (0 if files else 1)


def damaged(data, draw):
    """Flipped bits, a cut, an early end or twenty strange bytes, behind the first marker."""
    out, kind = bytearray(data), draw.randrange(5)
    place = draw.randrange(3, len(out))
    if kind < 2:
        for _ in range(draw.randint(1, 3)):
            out[draw.randrange(3, len(out))] ^= 1 << draw.randrange(8)
    elif kind == 2:
        out = out[:place]
    elif kind == 3:
        out = out[:place] + b"\xff\xd9"
    else:
        out = out[:place] + bytes(draw.randrange(256) for _ in range(20)) + out[place:]
    return bytes(out)


def check_damaged(decoder, paths, folder):
    """Damaged JPEGs: what Pillow shows is shown, with its pixels, and what it refuses is refused. Of progressive ones the
    last digit depends on libjpeg-turbo's version, which smooths what is missing: only files of one scan are taken."""
    draw, path = random.Random(3), folder / "damaged.jpg"
    sequential = [data for data in (one.read_bytes() for one in paths) if b"\xff\xc0" in data]
    shown, wrong = 0, []
    for number in range(600):
        path.write_bytes(damaged(draw.choice(sequential), draw))
        try:
            want = expected(path, "rgb", False).tobytes()
        except Exception:  # noqa: BLE001: Pillow lets many kinds through
            want = None
        shape, got = decoder.decode(path, "rgb")
        shown += want is not None
        if want is None and shape is not None or want is not None and got != want:
            wrong.append(f"damaged {number}: {'Pillow refuses it' if want is None else got[:100] if shape is None else difference(got, want)}")
    print(f"damaged: 600 files, {shown} shown by Pillow, {len(wrong)} differ")
    for line in wrong[:20]:
        print("  " + line)
    return len(wrong) + (0 if 100 < shown < 500 else 1)


def main():
    decoder = Decoder(sys.argv[1])
    wrong = 0
    print(f"Pillow {Image.__version__}, libjpeg-turbo {features.version('libjpeg_turbo')}, WebP {features.version('webp')}")
    with tempfile.TemporaryDirectory() as folder:
        suite = image_suite.write(pathlib.Path(folder))
        for kind, paths in suite.items():
            wrong += check_all(decoder, paths, MODES, (False, True), 4, kind)
        wrong += check_damaged(decoder, suite["jpeg"], pathlib.Path(folder))
        wrong += check_unchanged(decoder, image_suite.write_stored(pathlib.Path(folder)))
    photographs = sorted(pathlib.Path(sys.argv[2], "imagenet-sample").rglob("*.*"))
    if photographs:
        wrong += check_all(decoder, photographs, ["rgb"], [False], 2, "photographs")
        wrong += check_all(decoder, photographs[::10], ["gray", "rgba"], [False, True], 1, "photographs, other modes")
    else:
        print("the sample photographs are not there: only the generated files were compared")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
