# What functions return: structs that the library filled, as named tuples.
#
# Generated from capi/api.json by capi/api/generate.py; do not edit.
#
# SPDX-License-Identifier: Apache-2.0

const TUNE_MODES = Dict(DL_TUNE_OFF => :off, DL_TUNE_WATCH => :watch, DL_TUNE_ON => :on)

function record_of(::Type{CStats}, memory)
    from = read_struct(CStats, memory)
    return (
        num_workers = Int(from.num_workers),
        batches = from.batches,
        samples = from.samples,
        bytes = from.bytes,
        skipped = from.skipped,
        dropped = from.dropped,
        padded = from.padded,
        replaced = from.replaced,
        bad = from.bad,
        wait_ns = from.wait_ns,
        waits = from.waits,
        worker_cpu_ns = from.worker_cpu_ns,
        arena_bytes = from.arena_bytes,
        held_bytes = from.held_bytes,
        budget_bytes = from.budget_bytes,
        leases_held = from.leases_held,
        lease_copies = from.lease_copies,
        ready_batches = from.ready_batches,
        pinned_bytes = from.pinned_bytes,
        threads_abandoned = from.threads_abandoned,
        device_bytes = from.device_bytes,
        copied_bytes = from.copied_bytes,
        warned = from.warned,
        cache_read = from.cache_read,
        cache_made = from.cache_made,
    )
end

function record_of(::Type{CBadSample}, memory)
    from = read_struct(CBadSample, memory)
    return (
        code = Status(from.code),
        source = from.source,
        index = from.index,
        epoch = from.epoch,
        step = from.step,
        slot = from.slot,
        replacement = from.replacement < 0 ? nothing : from.replacement,
        message = text_of(CBadSample, memory, :message),
    )
end

function record_of(::Type{CProgress}, memory)
    from = read_struct(CProgress, memory)
    return (
        done = from.done != 0,
        files = from.files,
        total_files = from.total_files,
        bytes = from.bytes,
        total_bytes = from.total_bytes,
        entries = from.entries,
    )
end

function record_of(::Type{CStall}, memory)
    from = read_struct(CStall, memory)
    return (
        epoch = from.epoch,
        step = from.step,
        wait_ns = from.wait_ns,
        cause = text(from.cause),
    )
end

function record_of(::Type{CTuned}, memory)
    from = read_struct(CTuned, memory)
    return (
        mode = get(TUNE_MODES, from.mode, :unknown),
        num_workers = from.num_workers,
        prefetch_depth = from.prefetch_depth,
        most_workers = from.most_workers,
        most_depth = from.most_depth,
        wanted_workers = from.wanted_workers,
        wanted_depth = from.wanted_depth,
        changes = from.changes,
        frozen = from.frozen != 0,
        batches_per_s = from.batches_per_s,
        wait_share = from.wait_share,
        text = text_of(CTuned, memory, :text),
    )
end

function record_of(::Type{CPart}, memory)
    from = read_struct(CPart, memory)
    return (
        name = text(from.name),
        uri = text(from.uri),
        samples = from.samples,
        delivered = from.delivered,
        repeat = from.repeat,
        epochs = from.epochs,
        share_asked = from.share_asked,
        share_got = from.share_got,
        transform = text(from.transform),
    )
end

function record_of(::Type{CWriterInfo}, memory)
    from = read_struct(CWriterInfo, memory)
    return (
        samples = from.samples,
        resumed_samples = from.resumed_samples,
        shards = from.shards,
        bytes = from.bytes,
    )
end
