"""Golden digests of decoded images, for machines without Pillow: golden_images.txt holds small encoded images and what
Pillow decodes from them in each mode.

  golden_images.py --check    the stored images, decoded by the Pillow of this machine, still give the stored digests
  golden_images.py --write    makes the file anew

A line: NAME RGB GRAY RGBA ORIENTED BYTES; digests are the CRC-32 of the pixels, ORIENTED is rgb turned by its Exif
orientation, BYTES the file in hexadecimal digits.

SPDX-License-Identifier: Apache-2.0
"""

import io
import os
import pathlib
import sys
import tempfile
import zlib

try:
    from PIL import Image, ImageOps
except ImportError:
    system = "/usr/bin/python3"
    if os.path.realpath(sys.executable) != os.path.realpath(system) and os.path.exists(system):
        os.execv(system, [system, "-B", *sys.argv])
    print("skipped: Pillow is not installed")
    sys.exit(77)

import image_suite

FILE = pathlib.Path(__file__).resolve().parent / "golden_images.txt"
MOST_BYTES = 1000


def digests(data):
    image = Image.open(io.BytesIO(data))
    turned = ImageOps.exif_transpose(image)
    made = [image.convert("RGB"), image.convert("L"), image.convert("RGBA"), turned.convert("RGB")]
    return [f"{zlib.crc32(one.tobytes()):08x}" for one in made]


def chosen():
    """Every kind of the suite once or twice, the smaller files of it."""
    with tempfile.TemporaryDirectory() as folder:
        for kind, paths in image_suite.write(pathlib.Path(folder)).items():
            for number, path in enumerate(paths):
                data = path.read_bytes()
                if len(data) <= MOST_BYTES and (number % 3 == 0 or number > len(paths) - 20):
                    yield f"{kind}-{path.name}", data


def main():
    if sys.argv[1] == "--write":
        lines = [" ".join([name, *digests(data), data.hex()]) for name, data in chosen()]
        FILE.write_text("\n".join(lines) + "\n", encoding="ascii")
        print(len(lines), "images")
        return 0
    wrong = 0
    lines = FILE.read_text(encoding="ascii").splitlines()
    for line in lines:
        name, *stored, data = line.split()
        if digests(bytes.fromhex(data)) != stored:
            print(f"{name}: {digests(bytes.fromhex(data))}, stored {stored}")
            wrong += 1
    print(f"Pillow {Image.__version__}: {len(lines)} images, {wrong} differ")
    return 1 if wrong or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
