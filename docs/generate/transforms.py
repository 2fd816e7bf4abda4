"""The page of transforms: the library's table, and for each operator an example that the program `dataline` runs.

docs/reference/transforms.json has the examples, by operator:
  {"text": "hflip(1)", "size": [w, h, channels], "draws": 3}      on a drawn picture; draws: epochs shown
  {"text": "cast(u8)", "shape": "4", "from": ["f32", [..]], "to": "u8"}   on numbers

SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import struct
import tempfile

import pictures
from tables import MADE, about, version

CODES = {"u8": "B", "u16": "H", "i64": "q", "f32": "f", "i32": "i"}


def signature(row):
    parts = [one["name"] if one["default"] is None else f"{one['name']}={one['default']}" for one in row["arguments"]]
    return f"{row['name']}({', '.join(parts)})" if parts else row["name"]


def shown(numbers):
    return "[" + ", ".join(f"{x:g}" if isinstance(x, float) else str(x) for x in numbers) + "]"


class Examples:
    def __init__(self, shell, folder, scratch):
        self.shell, self.folder, self.scratch = shell, folder, pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for name, drawn in (("a/house", pictures.house()), ("b/rings", pictures.rings())):
            width, height, pixels = drawn
            path = self.scratch / f"photos/{name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(pictures.png(width, height, 3, pixels))
        house = (self.scratch / "photos/a/house.png").read_bytes()
        (folder / "before.png").write_bytes(house)
        (self.scratch / "one/a").mkdir(parents=True)
        (self.scratch / "one/a/house.png").write_bytes(house)

    def picture(self, name, example):
        """Markdown with the picture before and what epochs make of it."""
        width, height, channels = example.get("size", [144, 108, 3])
        draws, data = example.get("draws", 1), "photos" if example.get("both") else "one"
        text = example.get(
            "whole", f"image: decode, {example['text']}" if example["text"] != "decode" else "image: decode"
        )
        pixels = self.shell.bytes(
            "cat",
            f"folder:{self.scratch / data}",
            "--transform",
            text,
            "--field",
            "image",
            "--seed",
            "1",
            "--epochs",
            str(draws),
        )
        if example.get("floats"):
            pixels = bytes(min(255, max(0, round(x))) for (x,) in struct.iter_unpack("<f", pixels))
        count = draws * (2 if example.get("both") else 1)
        each = width * height * channels
        if len(pixels) != count * each:
            raise SystemExit(f"docs: transforms.json: {name}: {len(pixels)} bytes, expected {count} pictures of {each}")
        images = []
        for i in range(count):
            file = f"{name}_{i}.png"
            (self.folder / file).write_bytes(pictures.png(width, height, channels, pixels[i * each : (i + 1) * each]))
            images.append(f"![after {text}](../_static/transforms/{file})")
        return [
            "| before | after |",
            "|---|---|",
            f"| ![before](../_static/transforms/before.png) | {' '.join(images)} |",
            "",
            f"`{text}`",
            "",
        ]

    def numbers(self, name, example):
        dtype, values = example["from"]
        flat = [x for row in values for x in row] if isinstance(values[0], list) else values
        path = self.scratch / f"{name}.bin"
        path.write_bytes(struct.pack(f"<{len(flat)}{CODES[dtype]}", *flat))
        shape = example.get("shape", "")
        uri = f"raw:{path}?dtype={dtype}" + (f"&shape={shape}" if shape else "") + example.get("keys", "")
        out = self.shell.bytes("cat", uri, "--transform", example["text"])
        to = example["to"]
        after = struct.unpack(f"<{len(out) // struct.calcsize(CODES[to])}{CODES[to]}", out)
        return [
            "| | dtype | shape | values |",
            "|---|---|---|---|",
            f"| before | {dtype} | {shape or 'scalar'} | {shown(flat)} |",
            f"| after | {to} | {example['became']} | {shown(after)} |",
            "",
            f"`{example['text']}`",
            "",
        ]


def page(shell, examples_file, folder):
    examples = json.loads(examples_file.read_text(encoding="utf-8"))
    rows = shell.table("transforms")
    missing = sorted({row["name"] for row in rows} - set(examples))
    if missing:
        raise SystemExit(f"docs: {examples_file.name} has no example of {', '.join(missing)}")
    lines = ["# Transforms", "", MADE.format(version=version(shell)), about("transforms")]
    with tempfile.TemporaryDirectory() as scratch:
        made = Examples(shell, folder, scratch)
        for row in rows:
            example = examples[row["name"]]
            lines += [
                f"## {row['name']}",
                "",
                f"`{signature(row)}`",
                "",
                row["doc"].replace("<", "&lt;").replace("*", "\\*"),
                "",
            ]
            lines += made.numbers(row["name"], example) if "from" in example else made.picture(row["name"], example)
            lines += [f"Behaves like `{row['source']}`. Since {row['since']}.", ""]
    return "\n".join(lines)
