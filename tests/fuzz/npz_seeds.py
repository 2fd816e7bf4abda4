"""npz archives as seeds.

SPDX-License-Identifier: Apache-2.0
"""

import io
import zipfile

from npy_seeds import npy


class Pipe(io.RawIOBase):
    """What cannot seek: zipfile then writes sizes after the data."""

    def __init__(self):
        self.written = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.written += data
        return len(data)


def npz(members, method=zipfile.ZIP_STORED, zip64=True, comment=b"", out=None):
    file = io.BytesIO() if out is None else out
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.comment = comment
        for name, data in members:
            with archive.open(zipfile.ZipInfo(name), "w", force_zip64=zip64) as member:
                member.write(data)
    return file.getvalue() if out is None else bytes(out.written)


def deflated(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=zipfile.ZIP_DEFLATED)
    return file.getvalue()


def seeds():
    data = bytes(range(96))
    x, y = npy("<f4", False, (4, 6), data), npy("|u1", False, (4, 24), data)
    members = [("x.npy", x), ("some/y.npy", y)]
    seeds = {
        "stored": npz(members),
        "plain": npz(members, zip64=False),
        "comment": npz(members, comment=b"PK\x05\x06 and more"),
        "follow": npz(members, zip64=False, out=Pipe()),
        "deflated": deflated(members),
        "mixed": deflated([*members, ("z.npy", npy(">i2", True, (4, 12), data))]),
        "lengths": npz([("x.npy", x), ("step.npy", npy("<i8", False, (), data[:8]))]),
        "bf16": npz([("x.npy", npy("|V2", False, (4, 12), data))]),
        "others": npz([("readme.txt", b"text"), *members, ("object.npy", npy("|O", False, (3,), data))]),
        "lies": npz([("x.npy", npy("<f4", False, (1 << 40, 1 << 19), data))]),
        "zeros": deflated([("x.npy", npy("|u1", False, (1 << 20,), bytes(1 << 20)))]),
        "empty": npz([]),
        "twice": npz([("x.npy", x), ("y.npy", x)]).replace(b"y.npy", b"x.npy"),
    }
    yield from seeds.items()
