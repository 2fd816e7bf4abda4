"""Writes src/dataline/_option_types.py from the library's own table: the options as types, for editors and type checkers.

    option_types.py [--check]     with the installed package; --check writes nothing, and fails where the file differs

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

import dataline

FILE = Path(__file__).parent / "src" / "dataline" / "_option_types.py"

# What dataline.torch.DataLoader has as arguments of its own, as PyTorch's has.
PYTORCH = ("batch_size", "shuffle", "num_workers", "drop_last", "pin_memory", "pin_memory_device", "device")
# What concerns the order, less the batch size, which dataline.torch.Sampler has as an argument.
ORDER = (
    "sample_indices",
    "weights",
    "replacement",
    "samples_per_epoch",
    "seed",
    "last_batch",
    "rank",
    "world_size",
    "shuffle_block",
    "shuffle_blocks",
)
ORDER_AS_PYTORCH = ("shuffle", "drop_last")
# Numbers that may be "auto" without being that by default.
AUTO = ("rank", "world_size")

HEAD = '''"""The options as types, for editors and type checkers. Written by option_types.py from the library's table.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Optional, TypedDict, Union
'''


def type_of(option: dataline.OptionInfo) -> str:
    """What a keyword argument takes; None leaves the default."""
    if option.choices:
        words = ", ".join(f'"{word}"' for word in option.choices if word not in ("true", "false"))
        made = f"Literal[{words}]"
        return f"Union[None, bool, {made}]" if "true" in option.choices else f"Optional[{made}]"
    if option.type == "int" and (option.default == "auto" or option.key in AUTO):
        return 'Union[None, int, Literal["auto"]]'
    kinds = {
        "bool": "Optional[bool]",
        "int": "Optional[int]",
        "size": "Union[None, int, str]",
        "text": "Optional[str]",
        "indices": "Optional[Iterable[int]]",
        "weights": "Optional[Iterable[float]]",
        "lengths": "Optional[Iterable[int]]",
    }
    return kinds[option.type]


def members(keys: Iterable[str]) -> str:
    table = {option.key: option for option in dataline.option_table()}
    lines = []
    for key in keys:
        option = table[key]
        lines.append(f"    {key}: {type_of(option)}")
        text = option.doc + (f" Default: {option.default}." if option.default else "")
        text = text.replace("\\", "\\\\")
        lines += textwrap.wrap(f'"""{text}"""', 115, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def text() -> str:
    keys = [option.key for option in dataline.option_table()]
    classes = (
        ("_Order", "TypedDict", "What concerns the order.", ORDER),
        (
            "LoaderOptions",
            "_Order",
            "Options beside the arguments of ``dataline.torch.DataLoader``.",
            [key for key in keys if key not in (*ORDER, *PYTORCH)],
        ),
        ("SamplerOptions", "_Order", "Options of ``dataline.torch.Sampler``.", ORDER_AS_PYTORCH),
        ("Options", "LoaderOptions", "All options: keyword arguments of ``Loader`` and ``open``.", PYTORCH),
    )
    made = [
        f'class {name}({base}, total=False):\n    """{doc}"""\n\n{members(keys_of)}\n'
        for name, base, doc, keys_of in classes
    ]
    return HEAD + "\n\n" + "\n\n".join(made)


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        if FILE.read_text() == text():
            return 0
        print(f"{FILE} is not up to date: run bindings/python/option_types.py with the package installed")
        return 1
    FILE.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
