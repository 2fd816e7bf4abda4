"""Every function of the header reaches Python, by generation or by hand.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import dataline
from dataline import _status

ROOT = Path(__file__).parents[3]
CORE = ROOT / "bindings" / "python" / "src" / "core"
API = json.loads((ROOT / "capi" / "api.json").read_text())

# Functions that the extension does not call, and why.
NOT_CALLED = {
    "dl_version_number": "dl_version_string",
    "dl_options_set_i64": "options are text",
    "dl_options_copy": "options live for one call",
    "dl_options_set_allocator": "memory is the library's",
    "dl_loader_work": "`next` works without workers",
    "dl_loader_begin_epoch": "`for` does it",
    "dl_loader_stream": "`next` continues with the next epoch",
    "dl_extensions_set_threads": "threads are the library's",
    "dl_writer_format_count": "the writer's documentation lists them",
    "dl_writer_format_name": "see dl_writer_format_count",
    "dl_writer_format_doc": "see dl_writer_format_count",
}


def test_every_function_of_the_header_is_called_or_listed_with_the_reason() -> None:
    code = "\n".join(path.read_text() for path in CORE.glob("*.[ch]"))
    called = set(re.findall(r"\bdl_\w+", re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL)))
    declared = {one["name"] for one in API["functions"]}
    assert declared - called == set(NOT_CALLED)


def test_every_status_code_has_an_exception_of_its_band() -> None:
    bands = {
        "The call.": dataline.CallError,
        "The machine.": dataline.MachineError,
        "The data.": dataline.DataError,
        "Saved state.": dataline.StateError,
        "The accelerator.": dataline.DeviceError,
        "The library.": dataline.InternalError,
        "Soft results.": dataline.Error,
    }
    for one in API["status_codes"]:
        assert _status.NUMBERS[one["name"]] == one["value"]
        if one["name"] not in ("DL_OK", "DL_END_OF_EPOCH"):
            error = dataline.errors.from_status(one["value"], one["name"], "x", -1, 0, 0)
            assert isinstance(error, bands[one["band"]]), one["name"]
            # A later library's code of this band, which these tables do not have.
            later = dataline.errors.from_status(one["value"], "DL_ERR_LATER", "x", -1, 0, 0)
            assert one["value"] > 0 or isinstance(later, bands[one["band"]]), one["name"]


@pytest.mark.parametrize("kind", ["Stats", "Tuned", "OpenProgress", "Part", "Stall"])
def test_named_tuples_have_the_members_of_their_struct(kind: str) -> None:
    made = getattr(dataline, kind, None) or getattr(dataline.metrics, kind)
    name = {"OpenProgress": "dl_progress"}.get(kind, f"dl_{kind.lower()}")
    struct = next(one for one in API["structs"] if one["name"] == name)
    members = [one["name"] for one in struct["members"] if one["name"] not in ("struct_size", "reserved")]
    assert list(made._fields) == members
