"""Options as seeds, a line each.

SPDX-License-Identifier: Apache-2.0
"""

JOBS = ["batch_size=32\nshuffle=full\nseed=9223372036854775807\nepochs=3", "global_batch_size=20\nworld_size=4\nrank=3\nlast_batch=pad",
        "batch_size=1099511627776\nworld_size=1099511627776", "global_batch_size=2\nworld_size=3", "batch_size=4\nglobal_batch_size=4",
        "memory_budget=64MiB\nmax_bytes_per_sample=1.5KiB\nmax_decoded_bytes=1GiB", "memory_budget=auto\nnum_workers=auto\nnum_workers=0",
        "last_batch=keep\ndrop_last=true", "drop_last=false\nlast_batch=drop", "shuffle=true\nshuffle=false", "rank=2\nworld_size=2",
        "on_error=quarantine\nmax_bad=-1\nmax_bad=0", "replacement=false\nsamples_per_epoch=10", "io=device\ndevice=cuda:1\ndevice_sync=host",
        "io=memory\npin_memory=true\ncuda_library=x.so", "transform=cast(f32)\nlease_overflow=wait\nmax_leases=1\nprefetch_depth=1",
        "batchsize=3\nseed=-1\nseed=1e3\nbatch_size= 3\nbatch_size=0x10", "max_pixels=1\nmax_scans=1000000\nstart_epoch=2\nstart_step=5",
        "sample_indices=1,2\nweights=x", "max_bytes_per_sample=9007199254740993\nmemory_budget=8EiB\nmemory_budget=0.3KiB"]


def seeds():
    for at, job in enumerate(JOBS):
        yield f"job-{at:02}", job.encode()
