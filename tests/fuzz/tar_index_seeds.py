"""Tar archives as seeds.

SPDX-License-Identifier: Apache-2.0
"""

import io
import tarfile


def archive(members, **options):
    """An archive of (name, data, pax headers) in memory."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", **options) as tar:
        for name, data, headers in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.pax_headers = headers
            info.mtime = 1700000000.25 if options.get("format") == tarfile.PAX_FORMAT else 1700000000
            tar.addfile(info, io.BytesIO(data))
    data = out.getvalue().rstrip(b"\0")
    return data + bytes(-len(data) % 512 + 1024)


def seeds():
    samples = [("a/0.jpg", b"\xff\xd8jpeg", {}), ("a/0.cls", b"7\n", {}), ("a/1.JPG", b"", {}), ("a/1.cls", b"-1", {})]
    long_names = [(f"{'d/' * 60}{n}.txt", b"text", {}) for n in range(3)]
    odd = [("__meta__", b"x", {}), ("README", b"x", {}), ("b.seg.png", b"x" * 600, {}), ("b.json", b"{}", {}), ("b.cls", b"no", {})]
    sized = [("c.jpg", b"x" * 10, {"size": "10", "path": "d.jpg", "comment": "c", "SCHILY.xattr.user.a": "b"})]
    for name, style in (("ustar", tarfile.USTAR_FORMAT), ("gnu", tarfile.GNU_FORMAT), ("pax", tarfile.PAX_FORMAT)):
        for what, members in (("samples", samples), ("long", long_names), ("odd", odd), ("sized", sized)):
            yield f"{what}-{name}", archive(members, format=style)
    yield "global-pax", archive(samples, format=tarfile.PAX_FORMAT, pax_headers={"comment": "all of them"})
    link = tarfile.TarInfo("link.jpg")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    yield "link", link.tobuf() + bytes(1024)
    big = tarfile.TarInfo("big.jpg")
    big.size = 1 << 40
    yield "base-256", big.tobuf(format=tarfile.GNU_FORMAT) + bytes(1024)
    yield "no-end", archive(samples)[:-1024]
    yield "empty", bytes(10240)
