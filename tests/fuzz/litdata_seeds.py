"""Chunks of LitData with their index as seeds, two bytes of settings before each.

SPDX-License-Identifier: Apache-2.0
"""

import itertools
import json
import struct

from arrow_seeds import INT, UTF8, batch, field, files, i32

LEAF = {"type": None, "context": None, "children_spec": []}


def tree(keys):
    return json.dumps([1, {"type": "builtins.dict", "context": json.dumps(keys), "children_spec": [LEAF] * len(keys)}])


def chunk(formats, items, spec=None, loader="PyTreeLoader", dim=None):
    sized = loader == "PyTreeLoader"
    rows = [b"".join(struct.pack("<I", len(v)) for v in item if sized) + b"".join(item) for item in items]
    begins = itertools.accumulate([4 * (len(rows) + 2), *map(len, rows)])
    data = struct.pack(f"<{len(rows) + 2}I", len(rows), *begins) + b"".join(rows)
    config = {"chunk_bytes": None, "chunk_size": 9, "compression": None, "data_format": formats, "data_spec": spec,
              "encryption": None, "item_loader": loader}
    return data, {"chunk_bytes": len(data), "chunk_size": len(rows), "dim": dim, "filename": "c.bin"}, config


def in_batches(made):
    """The chunk with all items in one frame of Zstandard, as they are: a block of raw bytes."""
    data, entry, config = made
    count = entry["chunk_size"]
    begins = struct.unpack_from(f"<{count + 1}I", data, 4)
    plain = data[begins[0]:]
    frame = struct.pack("<IBI", 0xFD2FB528, 0xA0, len(plain)) + struct.pack("<I", 1 | len(plain) << 3)[:3] + plain
    tables = 24 + 4 * (count + 1) + 24
    packed = struct.pack("<8sHHIII", b"LDFZ01\0\0", 1, 0, count, count, 1) + struct.pack(
        f"<{count + 1}I", *(begin - begins[0] for begin in begins)) + struct.pack("<IIQII", 0, count, tables, len(frame), len(plain)) + frame
    return packed, entry | {"chunk_bytes": len(packed)}, config | {"compression": "zstd", "compression_level": "batch"}


def with_rows(rows, arrow):
    """A chunk whose items are the rows of an Arrow file or stream."""
    head = 4 * (rows + 2)
    data = struct.pack(f"<{rows + 2}I", rows, *[head] * (rows + 1)) + arrow + struct.pack("<I", len(arrow)) + b"LDARW01\0"
    _, entry, config = chunk(["int"], [(bytes(8),)] * rows)
    return data, entry | {"chunk_bytes": len(data)}, config


def seeds():
    numpy, tensor = struct.pack("<4I", 4, 2, 1, 2) + b"ab", struct.pack(">5I", 13, 3, 1, 2, 1) + b"abcd"
    sets = {
        "texts": chunk(["int", "str"], [(struct.pack("<q", i), b"x" * i) for i in range(9)], tree(["label", "text"])),
        "arrays": chunk(["numpy", "tensor", "no_header_numpy:5"], [(numpy, tensor, b"abcd"), (numpy, tensor, b"")]),
        "scalars": chunk(["float", "bool"], [(bytes(8), b"\1")] * 5),
        "tokens": chunk(["no_header_tensor:20"], [(b"abcd",), (b"",), (b"ef",)], json.dumps([1, LEAF]), "TokensLoader", 3),
        "pickle": chunk(["pickle"], [(b"cos\nsystem\n",)]),
    }
    sets |= {f"{name}-batches": in_batches(sets[name]) for name in ("texts", "arrays", "scalars")}
    table = files([field("x", INT, {0: i32(32), 1: b"\1"}), field("t", UTF8)],
                  [batch(2, [(2, 0), (2, 1)], [b"", i32(4, 5), b"\1", i32(0, 3, 3), b"abc"]), batch(1, [(1, 0)] * 2, [b"", i32(6), b"", i32(0, 1), b"d"])])
    sets |= {"rows-stream": with_rows(3, table[0]), "rows-file": with_rows(3, table[1])}
    for name, (data, entry, config) in sets.items():
        for chunks in ([entry], [entry, entry]):
            index = json.dumps({"chunks": chunks, "config": config, "updated_at": "1"}).encode()
            yield f"{name}-{len(chunks)}", struct.pack(">H", len(data)) + data + index
