"""Casts by NumPy, for cases where its rule is the same as ours.

  numpy_oracle.py FOLDER    reads FOLDER/FROM.bin for each dtype, writes FOLDER/FROM-TO.bin for each pair

Left to others: bf16 (NumPy has none), and values that an integer type does not hold (undefined in NumPy, saturated
by us): integers come out of sources named FROM.small.bin, which hold numbers that every type holds in part.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import sys
import warnings

import numpy

warnings.simplefilter("ignore")
FLOATS = {"f16": "f2", "f32": "f4", "f64": "f8"}
INTEGERS = {"u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8"}
COMPLEX = {"c64": "c8", "c128": "c16"}
ALL = {"bool": "?", **INTEGERS, **FLOATS, **COMPLEX}

folder = pathlib.Path(sys.argv[1])
for source, source_type in ALL.items():
    for target, target_type in ALL.items():
        if source in COMPLEX and target not in COMPLEX:
            continue
        small = target in INTEGERS and source != "bool"
        path = folder / (f"{source}.small.bin" if small else f"{source}.bin")
        values = numpy.frombuffer(path.read_bytes(), source_type)
        (folder / f"{source}-{target}.bin").write_bytes(values.astype(target_type).tobytes())
