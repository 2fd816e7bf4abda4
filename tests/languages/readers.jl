# Two fields of six records that Julia code reads, one of them lent (grown_cells_test.py).
#
# SPDX-License-Identifier: Apache-2.0
using Dataline

read(i) = i == 4 ? error("no record 4") : (x = i, y = fill(Float32(i), 32, 64))
reader = Dataline.Reader(read, 6; x = Int64, y = (Float32, 32, 64))
loader = Dataline.Loader(reader; num_workers = 0, batch_size = 6, on_error = "replace")
batch = first(loader)
expected = [0, 1, 2, 3, batch.x[5], 5]
bad = only(Dataline.bad_samples(loader))
exit(batch.x == expected && batch.y[32, 64, :] == expected && bad.index == 4 && endswith(bad.message, "no record 4") ? 0 : 1)
