"""Every file of apache/arrow-testing and apache/parquet-testing: column by column equal to what pyarrow reads, or refused
for a reason that the table says. Run by hand; what it showed is kept in tests/results.

  foreign_tables.py --arrow CHECKOUT --parquet CHECKOUT [--plugin libdataline-parquet.so] [--table FILE]

The repositories are in no package registry. Files that a fuzzer made must not end the process, nothing else.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dataline

# Of pyarrow's values, what the integers are that Dataline delivers.
TEMPORAL = (pa.types.is_date, pa.types.is_time, pa.types.is_timestamp, pa.types.is_duration)


def read_by_arrow(path: pathlib.Path) -> Any:
    if path.suffix == ".parquet":
        return pq.ParquetFile(path, page_checksum_verification=True).read()
    make = pa.ipc.open_stream if path.suffix == ".stream" else pa.ipc.open_file
    with pa.OSFile(str(path)) as file:
        return make(file).read_all()


def leaves(name: str, column: Any) -> dict[str, Any]:
    """The fields that a column becomes: leaves of structs, with the nulls of the structs around them."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = (
            column.cast(column.type.storage_type)
            if column.num_chunks == 0
            else pa.chunked_array([c.storage for c in column.chunks])
        )
    if not pa.types.is_struct(column.type):
        return {name: column}
    out = {}
    for leaf in range(column.type.num_fields):
        field = column.type.field(leaf)
        values = pa.chunked_array([part.flatten()[leaf] for part in column.chunks], field.type)
        out.update(leaves(f"{name}/{field.name}", values))
    return out


def as_stored(column: Any) -> list[Any]:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if any(test(kind) for test in TEMPORAL):
        wide = pa.int32() if kind.bit_width == 32 else pa.int64()
        column = pa.chunked_array([chunk.view(wide) for chunk in column.chunks], wide)
    values: list[Any] = column.to_pylist()
    return values


def has_null(value: Any) -> bool:
    return value is None or (isinstance(value, list) and any(has_null(item) for item in value))


def flat(value: Any) -> bytes | np.ndarray[Any, Any]:
    if isinstance(value, str):
        return value.encode()
    return value if isinstance(value, bytes) else np.asarray(value)


def compare(dataset: dataline.Dataset, name: str, values: list[Any]) -> str:
    """What differs; "" when nothing does."""
    if len(dataset) != len(values):
        return f"{len(dataset)} rows, pyarrow has {len(values)}"
    for i, value in enumerate(values):
        try:
            got = np.asarray(dataset[i][name])
        except dataline.Error as error:
            if has_null(value) and "null" in str(error):
                continue
            return f"row {i}: {error}"
        if has_null(value):
            return f"row {i}: {got}, pyarrow has a null"
        wanted = flat(value)
        if isinstance(wanted, bytes):
            if got.tobytes() != wanted:
                return f"row {i}: {got.tobytes()!r}, pyarrow has {wanted!r}"
        elif got.size != wanted.size or not np.array_equal(
            got, wanted.astype(got.dtype).reshape(got.shape), equal_nan=got.dtype.kind == "f"
        ):
            return f"row {i}: {got}, pyarrow has {wanted}"
    return ""


def reason(error: Exception, path: pathlib.Path) -> str:
    return str(error).replace(str(path), path.name).split("\n")[0][:160]


class Report:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.counts: collections.Counter[tuple[str, str]] = collections.Counter()

    def add(self, group: str, outcome: str, path: pathlib.Path, column: str = "", why: str = "") -> None:
        self.counts[group, outcome] += 1
        if outcome != "equal":
            self.lines.append(f"{group}\t{path.name}\t{column}\t{outcome}\t{why}")


def check_file(path: pathlib.Path, scheme: str, group: str, extensions: Any, report: Report) -> None:
    try:
        table = read_by_arrow(path)
        problem = ""
    except (pa.ArrowException, OSError, NotImplementedError) as error:
        table, problem = None, f"pyarrow: {reason(error, path)}"
    if table is None:
        try:
            dataset = dataline.open(f"{scheme}:{path}", extensions=extensions)
            for i in range(len(dataset)):
                dataset[i]
            report.add(group, "read, pyarrow refuses", path, why=problem)
        except dataline.Error as error:
            report.add(group, "refused by both", path, why=reason(error, path))
        return
    if table.num_columns == 0:
        try:
            dataline.open(f"{scheme}:{path}", extensions=extensions)
            report.add(group, "WRONG", path, why="no columns")
        except dataline.Error as error:
            report.add(group, "refused", path, why=reason(error, path))
        return
    for position, name in enumerate(table.column_names):
        if table.column_names.count(name) > 1:
            report.add(group, "not compared", path, name, "several columns have this name")
            continue
        try:
            fields = leaves(name, table.column(position))
        except (pa.ArrowException, NotImplementedError) as error:
            fields = {name: error}
        for field, column in fields.items():
            try:
                dataset = dataline.open(f"{scheme}:{path}?fields={field}", extensions=extensions)
            except dataline.Error as error:
                report.add(group, "refused", path, f"{field}: {getattr(column, 'type', '')}", reason(error, path))
                continue
            if isinstance(column, Exception):
                report.add(group, "read, pyarrow refuses", path, field, str(column)[:100])
                continue
            difference = compare(dataset, field, as_stored(column))
            report.add(group, "WRONG" if difference else "equal", path, f"{field}: {column.type}", difference)


def check_hostile(path: pathlib.Path, scheme: str, group: str, plugin: str | None, report: Report) -> None:
    """In a process of its own, which must end by itself."""
    code = (
        "import sys, dataline\n"
        "uri, plugin = sys.argv[1], sys.argv[2]\n"
        "extensions = dataline.Extensions()\n"
        "if plugin:\n"
        "    extensions.load(plugin)\n"
        "try:\n"
        "    dataset = dataline.open(uri, extensions=extensions)\n"
        "except dataline.Error:\n"
        "    sys.exit(3)\n"
        "for i in range(min(len(dataset), 100000)):\n"
        "    try:\n"
        "        dataset[i]\n"
        "    except dataline.Error:\n"
        "        pass\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, f"{scheme}:{path}", plugin or ""], check=False, capture_output=True, timeout=300
    )
    outcome = {0: "read", 3: "refused"}.get(ran.returncode, "WRONG")
    report.add(
        group,
        outcome if outcome == "WRONG" else "equal",
        path,
        why=f"ended with {ran.returncode}: {ran.stderr[-200:]!r}",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--arrow", type=pathlib.Path)
    parser.add_argument("--parquet", type=pathlib.Path)
    parser.add_argument("--plugin", help="libdataline-parquet.so")
    parser.add_argument("--table", type=pathlib.Path, help="where what is not equal is written, tab-separated")
    asked = parser.parse_args()
    report = Report()
    if asked.arrow:
        for path in sorted((asked.arrow / "data" / "arrow-ipc-stream" / "integration").glob("*/*")):
            if path.suffix in (".arrow_file", ".stream"):
                check_file(path, "arrow", f"arrow {path.parent.name}", None, report)
        for folder in ("arrow-ipc-file", "arrow-ipc-stream", "arrow-ipc-tensor-stream"):
            for path in sorted((asked.arrow / "data" / folder).glob("*fuzz*")):
                check_hostile(path, "arrow", "arrow, fuzzed", None, report)
    if asked.parquet and asked.plugin:
        extensions = dataline.Extensions()
        extensions.load(asked.plugin)
        for path in sorted((asked.parquet / "data").glob("*.parquet")):
            check_file(path, "parquet", "parquet", extensions, report)
        for path in sorted((asked.parquet / "bad_data").glob("*.parquet")):
            check_hostile(path, "parquet", "parquet, bad data", asked.plugin, report)
    if asked.parquet and asked.plugin and asked.arrow:
        for path in sorted((asked.arrow / "data" / "parquet" / "fuzzing").glob("*fuzz*")):
            check_hostile(path, "parquet", "parquet, fuzzed", asked.plugin, report)
    for (group, outcome), count in sorted(report.counts.items()):
        print(f"{group}\t{outcome}\t{count}")
    if asked.table:
        asked.table.write_text("\n".join(report.lines) + "\n", encoding="utf-8")
    wrong = [line for line in report.lines if "\tWRONG\t" in line]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
