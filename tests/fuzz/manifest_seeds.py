"""Manifests of sets for the fuzzer to begin with: manifest_seeds.py FOLDER.

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import sys

FIELD = {"name": "image", "kind": "dense", "dtype": "u8", "shape": [28, 28], "axes": "HW"}


def main():
    folder = pathlib.Path(sys.argv[1])
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
        (folder / name).write_text(text + "\n", encoding="utf-8")
        (folder / f"{name}-cut").write_text(text[:-3], encoding="utf-8")


if __name__ == "__main__":
    main()
