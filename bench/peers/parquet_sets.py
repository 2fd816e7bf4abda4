"""What the programs that load Parquet share: numbers, documents and photographs as pyarrow writes them, and the checks of an epoch.
SPDX-License-Identifier: Apache-2.0
"""
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from contender import Check, joined, row_digests

# Rows of a row group; a tenth of them in small sets. What a loader mixes at a time: as many row groups as Dataline has open with the cache of
# bench/end_to_end/parquet.cpp and photos.cpp.
NUMBER_GROUP, DOCUMENT_GROUP, PHOTO_GROUP = 10_000, 2_500, 25
NUMBER_WINDOW, DOCUMENT_WINDOW, PHOTO_WINDOW = 4, 5, 2
COLUMNS, CHOSEN = 100, ["c3", "c50", "c97"]


def column(count, number):
    """Column `number`: 64-bit numbers that look random, those of bench/end_to_end/parquet.cpp."""
    bits = (np.arange(count, dtype=np.uint64) * np.uint64(COLUMNS) + np.uint64(number)) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return (bits ^ (bits >> np.uint64(32))).view(np.int64)


def group_rows(settings, rows):
    return rows // 10 if settings.small else rows


def write_numbers(settings, path):
    table = pa.table({f"c{number}": column(settings.number_count(), number) for number in range(COLUMNS)})
    pq.write_table(table, path, row_group_size=group_rows(settings, NUMBER_GROUP))


def check_numbers(settings):
    digests = lambda *columns: row_digests(np.stack([np.asarray(each) for each in columns], axis=1))
    return Check(digests(*(column(settings.number_count(), int(name[1:])) for name in CHOSEN)), digests)


def document_table(settings):
    lengths, tokens = joined(settings.documents())
    return pa.table({"tokens": pa.ListArray.from_arrays(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32), tokens)})


def write_documents(settings, path):
    pq.write_table(document_table(settings), path, row_group_size=group_rows(settings, DOCUMENT_GROUP))


def joined_lists(lists):
    """Of an Arrow array of lists: lengths, and all tokens."""
    if isinstance(lists, pa.ChunkedArray):
        lists = lists.combine_chunks()
    return np.diff(lists.offsets.to_numpy()), lists.flatten().to_numpy()


def photo_table(photos):
    files = []
    for path in photos.paths:
        with open(os.path.realpath(path), "rb") as file:
            files.append(file.read())
    return pa.table({"image": pa.array(files, pa.binary()), "label": pa.array(photos.labels, pa.int64())})


def write_photos(photos, settings, path):
    # The set has each photograph several times, which a dictionary would hold once, as of a real set it could not.
    pq.write_table(photo_table(photos), path, row_group_size=group_rows(settings, PHOTO_GROUP), compression="none", use_dictionary=["label"])
