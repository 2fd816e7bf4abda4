"""Manifests of sets as seeds.

SPDX-License-Identifier: Apache-2.0
"""

import json

FIELD = {"name": "image", "kind": "dense", "dtype": "u8", "shape": [28, 28], "axes": "HW"}


def seeds():
    head = json.dumps({"set": 1, "format": "arrow", "shard_bytes": 4096, "fields": [FIELD], "job": "transform \n\u00e9\""})
    shards = [json.dumps({"shard": f"part-{i:05}.arrow", "samples": 5 * i, "bytes": 4200 + i, "crc32c": f"{i * 0x9E3779B1 & 0xFFFFFFFF:08x}",
                          "position": f"0 {i}"}) for i in range(4)]
    end = json.dumps({"samples": 30, "bytes": 16806, "shards": 4})
    texts = {
        "whole": [head, *shards, end],
        "going": [head, *shards],
        "begun": [head],
        "spaces": [head, shards[0].replace(":", " : "), "  " + shards[1]],
        "strange": [head, shards[0].replace("5", "9" * 30), shards[1]],
        "names": [head, json.dumps({"shard": "../../etc/passwd", "samples": 0, "bytes": 0, "crc32c": "00000000", "position": ""})],
    }
    for name, lines in texts.items():
        text = "\n".join(lines)
        yield name, (text + "\n").encode()
        yield f"{name}-cut", text[:-3].encode()
