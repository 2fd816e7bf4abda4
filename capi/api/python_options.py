"""The options as types of Python, for editors and type checkers.

SPDX-License-Identifier: Apache-2.0
"""

import textwrap

from words import HEAD

FILE = "bindings/python/src/dataline/_option_types.py"

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

TYPES = {
    "bool": "Optional[bool]",
    "int": "Optional[int]",
    "size": "Union[None, int, str]",
    "text": "Optional[str]",
    "indices": "Optional[Iterable[int]]",
    "weights": "Optional[Iterable[float]]",
    "lengths": "Optional[Iterable[int]]",
}


def type_of(option):
    """What a keyword argument accepts; None leaves the default."""
    words = option.get("words", [])
    if words:
        made = "Literal[" + ", ".join(f'"{word}"' for word in words if word not in ("true", "false")) + "]"
        return f"Union[None, bool, {made}]" if "true" in words else f"Optional[{made}]"
    if option["type"] == "int" and option.get("auto"):
        return 'Union[None, int, Literal["auto"]]'
    return TYPES[option["type"]]


def members(options, keys):
    table = {option["key"]: option for option in options}
    for option in (table[key] for key in keys):
        yield f"    {option['key']}: {type_of(option)}"
        text = option["doc"] + (f" Default: {option['default']}." if "default" in option else "")
        text = text.replace("\\", "\\\\")
        yield from textwrap.wrap(f'"""{text}"""', 115, initial_indent="    ", subsequent_indent="    ")


def types(api):
    options = api["options"]
    others = [option["key"] for option in options if option["key"] not in (*ORDER, *PYTORCH)]
    classes = (
        ("_Order", "TypedDict", "What concerns the order.", ORDER),
        ("LoaderOptions", "_Order", "Options beside the arguments of ``dataline.torch.DataLoader``.", others),
        ("SamplerOptions", "_Order", "Options of ``dataline.torch.Sampler``.", ORDER_AS_PYTORCH),
        ("Options", "LoaderOptions", "All options: keyword arguments of ``Loader`` and ``open``.", PYTORCH),
    )
    lines = [
        '"""The options as types, for editors and type checkers.',
        "",
        HEAD,
        "",
        "SPDX-License-Identifier: Apache-2.0",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Iterable",
        "from typing import Literal, Optional, TypedDict, Union",
    ]
    for name, base, doc, keys in classes:
        lines += ["", "", f"class {name}({base}, total=False):", f'    """{doc}"""', "", *members(options, keys)]
    return lines


def files(api):
    return {FILE: types(api)}
