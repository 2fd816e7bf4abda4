"""Uses that checkers have to find: each line with `# wrong` is an error, and no other is. Checked by test_types.py, not run.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import dataline

dataline.Loader("mnist:data", batchsize=32)  # wrong: misspelt
dataline.Loader("mnist:data", batch_size="32")  # wrong: a number
dataline.Loader("mnist:data", shuffle="yes")  # wrong: no such word
dataline.Loader("mnist:data", on_error="ignore")  # wrong: no such word
dataline.Loader("mnist:data", num_workers="all")  # wrong: a number or auto
dataline.Loader("mnist:data", memory_budget=1.5)  # wrong: a whole number or a text
dataline.Loader("mnist:data", seed=None, epochs=[3])  # wrong: a number
dataline.Loader("mnist:data", sample_indices="all")  # wrong: numbers
dataline.Loader("mnist:data", weights=0.5)  # wrong: one for each sample
dataline.Loader("mnist:data", 32)  # wrong: options have names
dataline.open("mnist:data", transfrom="cast(f32)")  # wrong: misspelt
dataline.open(5)  # wrong: no URI
dataline.open("mnist:data")["image"]  # wrong: an index
dataline.open("mnist:data").read(3, transfrom="cast(f32)")  # wrong: misspelt
dataline.open_async("mnist:data", io="disk")  # wrong: no such word
dataline.from_arrays({}, axis={})  # wrong: misspelt
options: dataline.Options = {"batchsize": 32}  # wrong: misspelt
for batch in dataline.Loader("mnist:data"):
    batch[0]  # wrong: fields have names
    batch["x"].reshap(-1)  # wrong: an array has no such method
