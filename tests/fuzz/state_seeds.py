"""State texts as seeds. Their checksums are put right by the target.

SPDX-License-Identifier: Apache-2.0
"""

BODY = ["samples: 40", "fields: data u64", "data: {data}", "file_names: {file_names}", "file_sizes: {file_sizes}",
        "contents: {contents}", "seed: 3", "shuffle: full", "sample_indices: none", "weights: none", "epoch_slots: 40",
        "global_batch_size: 7", "last_batch: keep", "on_error: raise"]


def state(epoch, step, body=BODY, first="dataline state 2"):
    lines = [first, f"epoch: {epoch}", f"step: {step}", *body]
    return "".join(line + "\n" for line in lines) + "checksum: 0000000000000000\n"


def seeds():
    states = {"start": state(0, 0), "middle": state(1, 3), "epoch-end": state(2, 6), "end": state(3, 0), "beyond": state(3, 1), "far": state(2**63 - 1, 0),
              "padded": state("01", "003"), "negative": state(-1, 0), "words": state("one", 1), "version": state(0, 0, first="dataline state 3"),
              "old": state(0, 0, first="dataline state 1"),
              "twice": state(0, 0, BODY + ["seed: 3"]), "more": state(0, 0, BODY + ["new: line"]), "less": state(0, 0, BODY[1:]),
              "turned": state(0, 5, BODY[::-1]), "no-colon": state(0, 0, BODY + ["line"]), "none": "", "blank": state(0, 0) + "\n"}
    for name, text in states.items():
        yield name, text.encode()
