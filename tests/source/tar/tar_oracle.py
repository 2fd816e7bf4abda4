"""Archives and what others read in them: tar_oracle.py FOLDER MUTATED SEED.

Writes N.tar and N.list, with what Python's tarfile finds there (a line a member: name in hex, bytes, data offset,
kind; `!` where it fails), for archives by GNU tar, by tarfile in three formats and by a WebDataset-like
writer, and for MUTATED damaged and hostile ones; N.gnu, with GNU tar's names and sizes, for the first of them.

SPDX-License-Identifier: Apache-2.0
"""

import io
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile

GNU_VERDICTS = 120  # of damaged archives: each is two processes
BLOCK = 512


def checksummed(block):
    block = bytearray(block)
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padded(data):
    return data + bytes(-len(data) % BLOCK)


def record(key, value):
    rest = len(key) + len(value) + 3
    length = rest + 1
    while len(str(length)) + rest != length:
        length += 1
    return b"%d %s=%s\n" % (length, key, value)


def python_archive(style, **options):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=style, **options) as tar:
        for name, data in (("d/", None), ("d/a.jpg", b"J" * 700), ("d/a.cls", b"3"), ("é ü.txt", b"t"), ("d/b.jpg", b""),
                           ("deep/" * 12 + "b.json", b"{}"), ("n" * 90 + ".txt", b"n" * 512)):
            if style == tarfile.USTAR_FORMAT and not name.isascii():
                continue
            info = tarfile.TarInfo(name)
            info.mtime = 1700000000.5 if style == tarfile.PAX_FORMAT else 1700000000
            info.type = tarfile.DIRTYPE if data is None else tarfile.REGTYPE
            info.size = len(data or b"")
            tar.addfile(info, io.BytesIO(data or b""))
        if style == tarfile.GNU_FORMAT:
            info = tarfile.TarInfo("l" * 150 + ".txt")
            info.size = 5
            tar.addfile(info, io.BytesIO(b"long!"))
    return out.getvalue()


def gnu_archive(folder, style):
    tree = folder / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    for name, data in (("a/0.jpg", b"x" * 1000), ("a/0.cls", b"0\n"), ("a/1.jpg", b"y"), ("a/1.cls", b"1\n"), ("s p.txt", b"")):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(data)
    if style not in ("v7", "ustar"):
        (tree / ("w" * 120 + ".txt")).write_bytes(b"wide")
    subprocess.run(["tar", "-C", tree, f"--format={style}", "--sort=name", "-b1", "-cf", folder / "made.tar", "."], check=True)
    return (folder / "made.tar").read_bytes()


def trimmed(data):
    return data.rstrip(b"\0") + bytes(-len(data.rstrip(b"\0")) % BLOCK + 2 * BLOCK)


def seeds(folder):
    out = [gnu_archive(folder, style) for style in ("v7", "ustar", "gnu", "oldgnu", "pax")]
    out += [python_archive(style) for style in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)]
    out.append(python_archive(tarfile.PAX_FORMAT, pax_headers={"comment": "global"}))
    return [trimmed(data) for data in out]


def extension(rng):
    """A header that changes the next member, often wrongly."""
    kind = rng.choice("xxxxgLLK")
    if kind in "LK":
        data = rng.choice([b"other.txt\0", b"d/\0", b"", b"a\0b\0", b"n" * 600 + b"\0", b"unended"])
    else:
        size = rng.choice([b"0", b"1", b"512", b"513", b"1024", b"700", b"-1", b"9" * 30, b"", b" 5", b"5_0"])
        path = rng.choice([b"p.txt", b"d/", b"", b"a\0b", b"\xff.txt", b"/x", b"q" * 300])
        data = b"".join(rng.sample([record(b"size", size), record(b"path", path), record(b"mtime", b"1.5"), record(b"zz", b"1"),
                                    record(b"V.k", b"v"), record(b"GNU.sparse.size", b"9"), b"5 a=\n", b"junk"], rng.randrange(1, 4)))
    info = tarfile.TarInfo("ext")
    info.type, info.size = kind.encode(), len(data) + rng.choice([0, 0, 0, 0, -1, 1, 512])
    info.size = max(info.size, 0)
    return info.tobuf() + padded(data)


def headers_of(data):
    """Offsets of blocks that look like headers."""
    whole = range(0, len(data) - BLOCK + 1, BLOCK)
    return [at for at in whole if data[at + 257 : at + 262] == b"ustar" or at == 0]


def mutate(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2])):
        at = rng.choice(headers_of(data) or [0])
        kind = rng.randrange(9)
        if kind == 0:  # damage under the checksum
            data[at + rng.randrange(BLOCK)] ^= 1 << rng.randrange(8)
        elif kind in (1, 2):  # a field of another value, the checksum right
            first, last = rng.choice([(0, 100), (100, 108), (108, 116), (116, 124), (124, 136), (124, 136), (136, 148), (156, 157),
                                      (156, 157), (157, 257), (257, 265), (329, 337), (345, 500), (500, 512)])
            width = last - first
            values = [bytes(width), b"7" * width, b" " * width, b"-1", b"0x10", b"\x80" + bytes(width - 1) if width > 1 else b"L",
                      b"\xff" * width, b"\x80" + bytes(max(width - 2, 0)) + b"\2", b"1000 \0", b"d/", b"5", b"0", b"\0", b"x", b"2", b"1_0",
                      bytes([rng.randrange(256)]), b"00000001\0" + b"x", b" 12", b"ustar\0", b"ustar  \0", b"GNUtar"]
            value = rng.choice(values)[:width]
            data[at + first : at + first + len(value)] = value
            data[at : at + BLOCK] = checksummed(data[at : at + BLOCK])
        elif kind == 3:
            data = data[: rng.randrange(len(data))]
        elif kind == 4:
            data[at:at] = extension(rng)
        elif kind == 5:
            del data[at : at + BLOCK * rng.randrange(1, 3)]
        elif kind == 6:
            data[at:at] = data[at : at + BLOCK * rng.randrange(1, 4)]
        elif kind == 7:
            data[at:at] = rng.choice([bytes(BLOCK), bytes(2 * BLOCK), b"x" * BLOCK])
        else:
            data += rng.choice([b"\0", b"x", bytes(BLOCK), bytes(data[:1024])])
        if len(data) < BLOCK:
            return bytes(data)
    return bytes(data)


def tarfile_list(data):
    lines = []
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:", encoding="utf-8", errors="surrogateescape") as tar:
            for info in tar:
                kind = "d" if info.isdir() else "f" if info.isfile() and not info.issparse() else "?"
                # The old way to write a directory. Some versions of tarfile see one only where no extension header comes before.
                if info.type == tarfile.AREGTYPE and info.name.endswith("/") and info.size == 0:
                    info.type, info.name, kind = tarfile.DIRTYPE, info.name.rstrip("/"), "d"
                name = os.fsencode(info.name).hex()
                lines.append(f"{name or '-'} {info.size} {info.offset_data} {kind}")
    except Exception:  # whatever it is, it was refused
        lines.append("!")
    return lines


def gnu_output(path, verbosity):
    words = ["tar", "--quoting-style=escape", "--numeric-owner", "--full-time", verbosity, path]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
                          env={"LC_ALL": "C", "PATH": os.environ["PATH"], "TZ": "UTC"})
    return done.stdout.decode("ascii").split("\n")[:-1]


def gnu_list(path):
    # Names by themselves: in the long form they stand after columns padded with spaces.
    lines = []
    for name, line in zip(gnu_output(path, "-tf"), gnu_output(path, "-tvf")):
        raw = name.encode().decode("unicode_escape").encode("latin-1")
        lines.append(f"{raw.hex() or '-'} {line.split()[2]} {line[0].replace('C', '-')}")
    return lines


def main():
    folder, mutated = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    originals = seeds(folder)
    rng = random.Random(int(sys.argv[3]))
    gnu = shutil.which("tar") is not None
    for n in range(len(originals) + mutated):
        data = originals[n] if n < len(originals) else mutate(rng.choice(originals), rng)
        (folder / f"{n}.tar").write_bytes(data)
        (folder / f"{n}.list").write_text("".join(line + "\n" for line in tarfile_list(data)))
        if gnu and n < len(originals) + GNU_VERDICTS:
            (folder / f"{n}.gnu").write_text("".join(line + "\n" for line in gnu_list(folder / f"{n}.tar")))
    print(len(originals))


if __name__ == "__main__":
    main()
