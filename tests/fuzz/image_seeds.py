"""Small images as seeds: those of tests/transform/decode/golden_images.txt, and, where
Pillow is, all kinds that image_suite.py beside it writes.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import sys
import tempfile

DECODE = pathlib.Path(__file__).resolve().parent.parent / "transform" / "decode"
sys.path.insert(0, str(DECODE))


def need_pillow():
    """Goes on in the system's Python where this one has no Pillow and that one may have."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        system = "/usr/bin/python3"
        if os.path.realpath(sys.executable) != os.path.realpath(system) and os.path.exists(system):
            os.execv(system, [system, "-B", *sys.argv])


MOST_BYTES = 4096


def seeds(kinds):
    need_pillow()
    for line in (DECODE / "golden_images.txt").read_text(encoding="ascii").splitlines():
        name, *_, data = line.split()
        if name.split("-")[0] in kinds.split(","):
            yield f"golden-{name}", bytes.fromhex(data)
    try:
        import image_suite
    except ImportError:
        print("Pillow is not installed: only the stored seeds")
        return
    with tempfile.TemporaryDirectory() as folder:
        for kind, paths in image_suite.write(pathlib.Path(folder)).items():
            for path in paths if kind in kinds.split(",") else []:
                data = path.read_bytes()
                if len(data) <= MOST_BYTES:
                    yield f"{kind}-{path.name}", data
