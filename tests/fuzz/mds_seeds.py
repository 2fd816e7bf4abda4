"""Shards of MDS with their index as seeds, two bytes of settings before each.

SPDX-License-Identifier: Apache-2.0
"""

import itertools
import json
import struct


def shard(columns, samples):
    rows = []
    for sample in samples:
        values = list(zip(columns, sample))
        rows.append(b"".join(struct.pack("<I", len(v)) for c, v in values if c[2] is None) + b"".join(sample))
    config = b'{"format": "mds"}'
    begins = itertools.accumulate([4 * (len(rows) + 2) + len(config), *map(len, rows)])
    data = struct.pack(f"<{len(rows) + 2}I", len(rows), *begins) + config + b"".join(rows)
    entry = {"column_names": [c[0] for c in columns], "column_encodings": [c[1] for c in columns],
             "column_sizes": [c[2] for c in columns], "compression": None, "format": "mds", "hashes": [],
             "raw_data": {"basename": "s.mds", "bytes": len(data), "hashes": {}}, "samples": len(rows), "size_limit": None,
             "version": 2, "zip_data": None}
    return data, entry


def seeds():
    label, text, array = ("label", "int", 8), ("text", "str", None), ("a", "ndarray:uint16", None)
    sets = {
        "texts": shard([label, text], [(struct.pack("<q", i), b"x" * i) for i in range(9)]),
        "arrays": shard([array, text], [(b"\x04\x02abcd", b"t"), (b"\x05\x01\x00ab", b"")]),
        "fixed": shard([label, ("f", "ndarray:float32:2,2", 16)], [(bytes(8), bytes(16))] * 5),
        "empty": shard([label], []),
        "pickle": shard([("p", "pkl", None)], [(b"cos\nsystem\n",)]),
    }
    data, entry = sets["texts"]
    frame = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data)) + struct.pack("<I", 1 | len(data) << 3)[:3] + data
    entry = {**entry, "compression": "zstd", "raw_data": {**entry["raw_data"], "basename": "r.mds"}, "zip_data": {"basename": "s.mds", "bytes": len(frame)}}
    sets["compressed"] = frame, entry
    for name, (data, entry) in sets.items():
        for shards in ([entry], [entry, entry]):
            index = json.dumps({"shards": shards, "version": 2}).encode()
            yield f"{name}-{len(shards)}", struct.pack(">H", len(data)) + data + index
