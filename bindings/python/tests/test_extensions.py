"""Extensions in Python: the cases of tests/extensions, errors, lifetimes, tables.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import gc
import os
import struct
import threading
import weakref
from pathlib import Path
from typing import Any, Optional

import numpy as np
import pytest

import dataline
from conftest import numbers
from dataline import FormatKey, TransformArgument

FOLDER = Path(__file__).parents[3] / "tests" / "extensions"
MAGIC = b"DLREC1\n\0"

# ---- The extensions of tests/extensions/README.md ----


class Rows:
    """The rows of a dlrec file."""

    def __init__(self, file: dataline.File, count: int, width: int, sums: bool) -> None:
        self.file, self.count, self.width, self.sums = file, count, width, sums

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> dict[str, Any]:
        row = self.file.read(16 + index * self.width, self.width)
        if row[0] == 255:
            raise ValueError("the row is marked bad")
        return {"x": memoryview(row), "label": sum(row)} if self.sums else {"x": memoryview(row)}


def open_dlrec(request: dataline.FormatRequest) -> dataline.Dataset:
    file = request.file()
    count, width = struct.unpack("<II", file.read(8, 8)) if file.size >= 16 else (0, 0)
    if file.read(0, 8) != MAGIC or width == 0 or file.size != 16 + count * width:
        raise dataline.DataError(f"{request.path}: not a dlrec file, or a part of one")
    rows = Rows(file, count, width, request.values["labels"] == "sum")
    local = "://" not in request.path  # an object is known to the storage alone
    return dataline.from_reader(rows, files=[request.path] if local else [])


def sniff_dlrec(path: str, first: bytes, size: int) -> dataline.Sniff:
    return dataline.Sniff.CERTAIN if len(first) >= 16 and first[:8] == MAGIC else dataline.Sniff.NO


def prepare_offset(use: dataline.OperatorUse) -> Any:
    if use.field.ragged or use.field.dtype != "u8":
        raise use.error("expected a dense field of u8")
    for name, value in use.arguments.items():
        if not isinstance(value, float):
            raise use.error("expected a number", name)
    value, noise = use.arguments["value"], use.arguments["noise"]
    if noise < 0:
        raise use.error("expected 0 or more", "noise")
    use.result = use.field._replace(dtype="f32")
    use.draws = noise > 0

    def apply(row: dataline.OperatorRow) -> Any:
        drawn = row.uniform() if noise > 0 else 0.0
        return (np.asarray(row.data) + value + noise * drawn).astype(np.float32)

    return apply


class Xored:
    """A file with every byte XORed."""

    TABLE = bytes(byte ^ 0x5A for byte in range(256))

    def __init__(self, file: dataline.File) -> None:
        self.file, self.size = file, file.size

    def read(self, offset: int, length: int) -> bytes:
        return self.file.read(offset, length).translate(self.TABLE)


def open_xor(request: dataline.StorageRequest) -> Xored:
    path = request.path[len("xor://") :]
    if path.endswith(".gone"):
        raise FileNotFoundError("no such object")
    return Xored(request.file(path))


def samples() -> dataline.Extensions:
    made = dataline.Extensions()
    keys = [FormatKey("labels", "none|sum", "none", "sum: a field label, the sum of the row's bytes")]
    made.add_format("dlrec", open_dlrec, keys=keys, suffixes=[".dlrec"], sniff=sniff_dlrec, doc="rows of bytes")
    arguments = [TransformArgument("value", "number"), TransformArgument("noise", "number", "0")]
    made.add_operator("offset", prepare_offset, arguments=arguments, doc="Adds a number, and noise times a draw.")
    made.add_storage("xor", open_xor, doc="files with every byte XORed with 0x5A")
    return made


def read_cases() -> list[tuple[str, ...]]:
    lines = (FOLDER / "cases.txt").read_text().splitlines()
    return [tuple(part.strip() for part in line.split("|", 2)) for line in lines if line and line[0] != "#"]


CASES = read_cases()


def digest(loader: dataline.Loader) -> str:
    """FNV-1a-64 of all batches: their samples, then each field."""
    value = 0xCBF29CE484222325
    while True:
        try:
            batch = loader.next()
        except dataline.EndOfJob:
            return f"{value:016x}"
        if batch is None:
            continue
        parts = [bytes(batch.info.indices), *(np.asarray(batch[name]).tobytes() for name in batch)]
        for byte in b"".join(parts):
            value = (value ^ byte) * 0x100000001B3 & (1 << 64) - 1


def result_of(uri: str, options: str, extensions: dataline.Extensions) -> str:
    given: dict[str, Any] = dict(setting.split("=", 1) for setting in options.split())
    try:
        return digest(dataline.Loader(dataline.open(uri, extensions=extensions), extensions=extensions, **given))
    except dataline.Error as error:
        return f"{error.name} {error}"


@pytest.mark.parametrize(("name", "uri", "rest"), CASES, ids=[case[0] for case in CASES])
def test_the_samples_in_python_give_what_is_expected(name: str, uri: str, rest: str) -> None:
    options, expected = (part.strip() for part in rest.rsplit("|", 1))
    got = result_of(uri.replace("@", str(FOLDER / "files")), options, samples())
    if not expected.startswith("DL_"):
        assert got == expected
        return
    code, text = expected.split(" ", 1)
    assert got.split(" ", 1)[0] == code, got
    assert text in got


def test_there_are_cases() -> None:
    assert len(CASES) >= 20


# ---- Errors ----


class Failing(dataline.Extensions):
    """A format, an operator and a storage that raise."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()

        def fail(_: Any) -> Any:
            raise error

        self.add_format("failing", fail)
        self.add_operator("failing", fail)
        self.add_operator("failing_rows", lambda use: fail)
        self.add_storage("failing", fail)


@pytest.mark.parametrize(
    ("error", "kind", "name"),
    [
        (RuntimeError("no luck"), dataline.DataError, "DL_ERR_READER"),
        (FileNotFoundError("no luck"), dataline.NotFoundError, "DL_ERR_NOT_FOUND"),
        (PermissionError("no luck"), dataline.NoPermissionError, "DL_ERR_PERMISSION"),
        (OSError("no luck"), dataline.SystemCallError, "DL_ERR_IO"),
        (MemoryError("no luck"), dataline.MemoryShortError, "DL_ERR_NO_MEMORY"),
        (dataline.DataError("no luck"), dataline.DataError, "DL_ERR_CORRUPT"),
        (dataline.DataError("no luck", -48), dataline.DataError, "DL_ERR_CHANGED"),
    ],
)
def test_exceptions_keep_their_meaning_and_text(error: Exception, kind: type[dataline.Error], name: str) -> None:
    extensions = Failing(error)
    for uri in ("failing:x", "npy:failing://x"):
        with pytest.raises(kind, match="no luck") as caught:
            dataline.open(uri, extensions=extensions)
        assert caught.value.name == name
    # What has no meaning of its own is an error of the transform.
    with pytest.raises(kind if name != "DL_ERR_READER" else dataline.CallError, match="no luck"):
        dataline.Loader(numbers(3), transform="failing", extensions=extensions)


def test_an_exception_in_a_row_makes_a_bad_sample() -> None:
    loader = dataline.Loader(
        numbers(3), transform="failing_rows", extensions=Failing(KeyError("no luck")), on_error="quarantine"
    )
    with pytest.raises(dataline.DataError):
        list(loader)
    assert all("no luck" in bad.message for bad in loader.bad_samples())
    assert len(loader.bad_samples()) == 3


def test_what_callbacks_give_is_checked() -> None:
    class Wrong:
        size = 1000

        def read(self, offset: int, length: int) -> Any:
            return bytes(length - 1)

    extensions = dataline.Extensions()
    extensions.add_format("none", lambda request: None)  # type: ignore[arg-type, return-value]
    extensions.add_operator("none", lambda use: None)  # type: ignore[arg-type, return-value]
    extensions.add_operator("short", lambda use: lambda row: np.zeros(1, np.int64))
    extensions.add_operator("floats", lambda use: lambda row: np.float32(0))
    extensions.add_storage("short", lambda request: Wrong())
    extensions.add_storage("none", lambda request: None)  # type: ignore[arg-type, return-value]
    for uri, text in (
        ("none:x", "expected a Dataset"),
        ("npy:none://x", "AttributeError"),
        ("npy:short://x", r"read\(0, \d+\) returned \d+ bytes"),
    ):
        with pytest.raises(dataline.Error, match=text):
            dataline.open(uri, extensions=extensions)
    with pytest.raises(dataline.CallError, match="expected a function of a row, got NoneType"):
        dataline.Loader(numbers(3), transform="none", extensions=extensions)
    for operator, text in (("short", "expected shape"), ("floats", "expected i64, got f32")):
        with pytest.raises(dataline.DataError, match=text):
            dataline.Loader(numbers(3), transform=operator, extensions=extensions).next()


def test_a_name_that_is_taken_is_refused_and_what_was_given_is_let_go() -> None:
    extensions = samples()

    def open_it(request: dataline.FormatRequest) -> dataline.Dataset:
        return numbers(1)

    gone = weakref.ref(open_it)
    for name in ("dlrec", "npy", "No good"):
        with pytest.raises(dataline.CallError):
            extensions.add_format(name, open_it)
    del open_it
    gc.collect()
    assert gone() is None


def test_ctrl_c_in_a_callback_is_raised_where_it_was_opened() -> None:
    with pytest.raises(KeyboardInterrupt):
        dataline.open("failing:x", extensions=Failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        dataline.Loader(numbers(3), transform="failing", extensions=Failing(KeyboardInterrupt()))


# ---- Lifetimes ----


def test_callbacks_are_let_go_when_nothing_needs_them() -> None:
    class Opener:
        def __call__(self, request: dataline.FormatRequest) -> dataline.Dataset:
            return numbers(3)

    opener = Opener()
    gone = weakref.ref(opener)
    extensions = dataline.Extensions()
    extensions.add_format("mine", opener)
    del opener
    dataset = dataline.open("mine:x", extensions=extensions)
    del extensions
    gc.collect()
    assert gone() is not None
    del dataset
    gc.collect()
    assert gone() is None


def test_a_dataset_that_a_format_returned_stays_its_own() -> None:
    kept = numbers(3)
    extensions = dataline.Extensions()
    extensions.add_format("kept", lambda request: kept)
    dataline.open("kept:x", extensions=extensions).close()
    assert [batch["x"].tolist() for batch in dataline.Loader(kept)] == [[0, 1, 2]]


def test_a_request_cannot_be_used_after_its_call_or_on_another_thread() -> None:
    seen: list[dataline.FormatRequest] = []
    refused: list[BaseException] = []

    def open_it(request: dataline.FormatRequest) -> dataline.Dataset:
        def use() -> None:
            try:
                request.file("x")
            except dataline.WrongStateError as error:
                refused.append(error)

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        seen.append(request)
        return numbers(1)

    extensions = dataline.Extensions()
    extensions.add_format("leaky", open_it)
    dataline.open("leaky:x", extensions=extensions)
    assert len(refused) == 1
    for use in (seen[0].file, lambda: seen[0].open("leaky:y"), lambda: seen[0].cancelled):
        with pytest.raises(dataline.WrongStateError, match="after its call"):
            use()


def test_rows_may_be_kept_after_their_call() -> None:
    kept: list[Any] = []

    def prepare(use: dataline.OperatorUse) -> Any:
        def apply(row: dataline.OperatorRow) -> Any:
            kept.append(np.asarray(row.data))
            return row.data

        return apply

    extensions = dataline.Extensions()
    extensions.add_operator("keep", prepare)
    loader = dataline.Loader(numbers(100), transform="keep", extensions=extensions, epochs=1, num_workers=2)
    assert sum(len(batch["x"]) for batch in loader) == 100
    loader.close()
    assert sorted(int(row) for row in kept) == list(range(100))


def test_a_format_opens_others_with_the_callers_extensions(tmp_path: Path) -> None:
    data = (FOLDER / "files" / "x.dlrec").read_bytes()
    (tmp_path / "x.dlrec").write_bytes(data)
    extensions = samples()
    extensions.add_format("nested", lambda request: request.open(f"dlrec:xor://{request.path}"))
    assert len(dataline.open(f"nested:{tmp_path}/x.dlrec", extensions=extensions)) == 100


def test_later_additions_do_not_change_what_is_open() -> None:
    extensions = dataline.Extensions()
    with pytest.raises(dataline.CallError, match="unknown scheme"):
        dataline.open("later:x", extensions=extensions)
    extensions.add_format("later", lambda request: numbers(2))
    assert len(dataline.open("later:x", extensions=extensions)) == 2


# ---- Operators ----


def test_rows_come_as_the_field_is_and_may_leave_with_any_length() -> None:
    shapes: list[tuple[Any, ...]] = []

    def prepare(use: dataline.OperatorUse) -> Any:
        use.result = dataline.Field(use.field.name, "u8", (-1,), ragged=True, nbytes=64)

        def apply(row: dataline.OperatorRow) -> Any:
            shapes.append((row.data.format, row.data.shape, row.slot, row.epoch, row.seed))
            return b"a" * int(np.asarray(row.data)[0, 0])

        return apply

    extensions = dataline.Extensions()
    extensions.add_operator("letters", prepare)
    data = dataline.from_arrays({"x": np.arange(12, dtype=np.int32).reshape(3, 2, 2)})
    loader = dataline.Loader(data, transform="letters", extensions=extensions, epochs=1, seed=5, num_workers=1)
    (batch,) = list(loader)
    assert [len(row) for row in batch["x"]] == [0, 4, 8]
    assert sorted(shapes) == [("i", (2, 2), slot, 0, 5) for slot in range(3)]


def test_arguments_come_as_numbers_texts_or_none() -> None:
    seen: list[Any] = []

    def prepare(use: dataline.OperatorUse) -> Any:
        seen.append((dict(use.arguments), set(use.given)))
        return lambda row: row.data

    extensions = dataline.Extensions()
    arguments = [
        TransformArgument("size", "shape"),
        TransformArgument("mode", "word", "fast"),
        TransformArgument("limit", "number", "none"),
    ]
    extensions.add_operator("show", prepare, arguments=arguments)
    dataline.Loader(numbers(3), transform="show(3x4, mode=slow)", extensions=extensions)
    assert seen == [({"size": (3.0, 4.0), "mode": "slow", "limit": None}, {"size", "mode"})]


# ---- Plug-ins and tables ----


def plugin() -> Optional[Path]:
    folders = [os.environ.get("DATALINE_LIB_DIR", ""), str(FOLDER.parents[1] / "build" / "release" / "lib")]
    found = [Path(folder) / "libdataline-samples.so" for folder in folders if folder]
    return next((path for path in found if path.exists()), None)


def test_a_plugin_adds_to_the_tables_and_gives_what_python_gives() -> None:
    path = plugin()
    if path is None:
        pytest.skip("the plug-in of tests/extensions was not built (DATALINE_LIB_DIR)")
    extensions = dataline.Extensions()
    extensions.load(path)
    for made in (extensions, samples()):
        assert dataline.format_table(made)[:-1] == dataline.format_table()
        row = dataline.format_table(made)[-1]
        assert (row.name, row.keys[0].name, row.keys[0].default) == ("dlrec", "labels", "none")
        assert dataline.transform_table(made)[:-1] == dataline.transform_table()
        assert [argument.name for argument in dataline.transform_table(made)[-1].arguments] == ["value", "noise"]
        assert [storage.scheme for storage in dataline.storage_table(made)] == ["xor"]
    case = (f"{FOLDER}/files/x.dlrec", "xor://", "batch_size=10 epochs=1 transform=offset(0.25,noise=1) seed=5")
    results = [result_of(case[1] + case[0], case[2], made) for made in (extensions, samples())]
    assert results[0] == results[1]
    with pytest.raises(dataline.CallError, match="already exists"):
        extensions.load(path)


def test_a_plugin_that_is_not_there_says_why() -> None:
    with pytest.raises(FileNotFoundError, match="libdataline-surely_not_there"):
        dataline.Extensions().load("surely_not_there")


def test_formats_of_the_library_are_in_the_table() -> None:
    table = {row.name: row for row in dataline.format_table()}
    assert "trailing" in [key.name for key in table["npy"].keys]
    assert dataline.storage_table() == ()
    with pytest.raises(TypeError):
        dataline.format_table(3)  # type: ignore[arg-type]
