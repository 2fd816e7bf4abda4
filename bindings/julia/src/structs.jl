# The structs of dataline.h, which describes the members. Julia lays them out as C does.
#
# Generated from capi/api.json by capi/api/generate.py; do not edit.
#
# SPDX-License-Identifier: Apache-2.0

struct CError
    struct_size::UInt32
    code::Int32
    os_error::Int32
    column::Int32
    sample_index::Int64
    sample_source::Int64
    message::NTuple{512,UInt8}
end

struct CAllocator
    struct_size::UInt32
    reserved::UInt32
    context::Ptr{Cvoid}
    allocate::Ptr{Cvoid}
    release::Ptr{Cvoid}
    destroy::Ptr{Cvoid}
end

struct CLog
    struct_size::UInt32
    reserved::UInt32
    context::Ptr{Cvoid}
    write::Ptr{Cvoid}
    destroy::Ptr{Cvoid}
end

struct CLauncher
    struct_size::UInt32
    reserved::UInt32
    rank::Int64
    world_size::Int64
    local_rank::Int64
    local_world_size::Int64
    family::Ptr{UInt8}
end

struct COptionInfo
    struct_size::UInt32
    type::Int32
    scope::Int32
    has_range::Int32
    minimum::Int64
    maximum::Int64
    key::Ptr{UInt8}
    default_value::Ptr{UInt8}
    choices::Ptr{UInt8}
    unit::Ptr{UInt8}
    doc::Ptr{UInt8}
    since::Ptr{UInt8}
end

struct CTransformInfo
    struct_size::UInt32
    argument_count::Int32
    name::Ptr{UInt8}
    doc::Ptr{UInt8}
    source::Ptr{UInt8}
    since::Ptr{UInt8}
end

struct CArgumentInfo
    struct_size::UInt32
    reserved::UInt32
    name::Ptr{UInt8}
    type::Ptr{UInt8}
    default_value::Ptr{UInt8}
end

struct CView
    struct_size::UInt32
    kind::Int32
    flags::UInt64
    name::Ptr{UInt8}
    dtype::Int32
    rank::Int32
    shape::Ptr{Int64}
    strides::Ptr{Int64}
    axes::Ptr{UInt8}
    device_type::Int32
    device_index::Int32
    data::Ptr{Cvoid}
    byte_offset::UInt64
    offsets::Ptr{Int64}
    bytes::Int64
    reserved::NTuple{4,UInt64}
end

struct CArray
    struct_size::UInt32
    kind::Int32
    name::Ptr{UInt8}
    dtype::Int32
    rank::Int32
    shape::Ptr{Int64}
    axes::Ptr{UInt8}
    data::Ptr{Cvoid}
    row_stride_bytes::Int64
    offsets::Ptr{Int64}
    sample_count::Int64
end

struct CReaderCell
    data::Ptr{Cvoid}
    capacity::Int64
    bytes::Int64
    borrowed::Ptr{Cvoid}
    status::Int32
    reserved32::Int32
    reserved::NTuple{3,UInt64}
end

struct CReaderRequest
    struct_size::UInt32
    record_count::Int32
    field_count::Int32
    cell_bytes::Int32
    indices::Ptr{Int64}
    slots::Ptr{Int64}
    epoch::Int64
    seed::UInt64
    cancelled::Ptr{Int32}
    cells::Ptr{CReaderCell}
    messages::Ptr{UInt8}
    message_bytes::Int64
    release::Ptr{Cvoid}
    release_context::Ptr{Cvoid}
    reserved::NTuple{4,UInt64}
end

struct CReader
    struct_size::UInt32
    field_count::Int32
    fields::Ptr{CView}
    record_count::Int64
    context::Ptr{Cvoid}
    read::Ptr{Cvoid}
    destroy::Ptr{Cvoid}
    fingerprint::Ptr{UInt8}
    block_count::Int64
    block_ends::Ptr{Int64}
    held_blocks::Int64
    prompt::Int32
    reserved::Int32
    advise::Ptr{Cvoid}
    file_count::Int64
    files::Ptr{Ptr{UInt8}}
    file_ends::Ptr{Int64}
end

struct CStats
    struct_size::UInt32
    num_workers::Int32
    batches::Int64
    samples::Int64
    bytes::Int64
    skipped::Int64
    dropped::Int64
    padded::Int64
    replaced::Int64
    bad::Int64
    wait_ns::Int64
    waits::Int64
    worker_cpu_ns::Int64
    arena_bytes::Int64
    held_bytes::Int64
    budget_bytes::Int64
    leases_held::Int64
    lease_copies::Int64
    ready_batches::Int64
    pinned_bytes::Int64
    threads_abandoned::Int64
    device_bytes::Int64
    copied_bytes::Int64
    warned::Int64
    cache_read::Int64
    cache_made::Int64
end

struct CBadSample
    struct_size::UInt32
    code::Int32
    source::Int64
    index::Int64
    epoch::Int64
    step::Int64
    slot::Int64
    replacement::Int64
    message::NTuple{256,UInt8}
end

struct CBatchInfo
    struct_size::UInt32
    reserved::UInt32
    epoch::Int64
    step::Int64
    samples::Int64
    valid::Int64
    sample_sources::Ptr{Int64}
    sample_indices::Ptr{Int64}
end

struct CProgress
    struct_size::UInt32
    done::Int32
    files::Int64
    total_files::Int64
    bytes::Int64
    total_bytes::Int64
    entries::Int64
end

struct CImageInfo
    struct_size::UInt32
    format::Int32
    width::Int64
    height::Int64
    channels::Int32
    bits::Int32
    orientation::Int32
    progressive::Int32
    bytes::Int64
end

struct CPlanStage
    struct_size::UInt32
    device_type::Int32
    field::Ptr{UInt8}
    text::Ptr{UInt8}
    bytes_in::Int64
    bytes_out::Int64
end

struct CMetric
    struct_size::UInt32
    kind::Int32
    name::Ptr{UInt8}
    part::Ptr{UInt8}
    unit::Ptr{UInt8}
    doc::Ptr{UInt8}
    thread::Int32
    reserved::UInt32
    value::Int64
    count::Int64
    bytes::Int64
    p50_ns::Int64
    p99_ns::Int64
    max_ns::Int64
end

struct CStall
    struct_size::UInt32
    reserved::UInt32
    epoch::Int64
    step::Int64
    wait_ns::Int64
    cause::Ptr{UInt8}
end

struct CTraceSink
    struct_size::UInt32
    reserved::UInt32
    context::Ptr{Cvoid}
    write::Ptr{Cvoid}
end

struct CTuned
    struct_size::UInt32
    mode::Int32
    num_workers::Int64
    prefetch_depth::Int64
    most_workers::Int64
    most_depth::Int64
    wanted_workers::Int64
    wanted_depth::Int64
    changes::Int64
    frozen::Int32
    reserved::UInt32
    batches_per_s::Float64
    wait_share::Float64
    text::NTuple{160,UInt8}
end

struct CMixPart
    struct_size::UInt32
    reserved::UInt32
    name::Ptr{UInt8}
    dataset::Handle
    weight::Float64
    repeat::Float64
    transform::Ptr{UInt8}
end

struct CMixStage
    struct_size::UInt32
    reserved::UInt32
    step::Int64
    weights::Ptr{Float64}
end

struct CPart
    struct_size::UInt32
    reserved::UInt32
    name::Ptr{UInt8}
    uri::Ptr{UInt8}
    samples::Int64
    delivered::Int64
    repeat::Float64
    epochs::Float64
    share_asked::Float64
    share_got::Float64
    transform::Ptr{UInt8}
end

struct CWriterInfo
    struct_size::UInt32
    reserved::UInt32
    samples::Int64
    resumed_samples::Int64
    shards::Int64
    bytes::Int64
end

struct CFormatKey
    struct_size::UInt32
    reserved::UInt32
    name::Ptr{UInt8}
    values::Ptr{UInt8}
    default_value::Ptr{UInt8}
    doc::Ptr{UInt8}
end

struct CFormatRequest
    struct_size::UInt32
    key_count::Int32
    path::Ptr{UInt8}
    values::Ptr{Ptr{UInt8}}
    options::Handle
    cancelled::Ptr{Int32}
    report::Ptr{Cvoid}
end

struct CFormat
    struct_size::UInt32
    key_count::Int32
    name::Ptr{UInt8}
    doc::Ptr{UInt8}
    keys::Ptr{CFormatKey}
    suffixes::Ptr{UInt8}
    context::Ptr{Cvoid}
    sniff::Ptr{Cvoid}
    open::Ptr{Cvoid}
    destroy::Ptr{Cvoid}
end

struct CArgumentValue
    struct_size::UInt32
    given::Int32
    text::Ptr{UInt8}
    numbers::Ptr{Float64}
    number_count::Int64
end

struct COperatorUse
    struct_size::UInt32
    argument_count::Int32
    arguments::Ptr{CArgumentValue}
    input::Ptr{CView}
    kind::Int32
    dtype::Int32
    rank::Int32
    draws::Int32
    shape::NTuple{33,Int64}
    axes::NTuple{40,UInt8}
    max_bytes::Int64
    heavy::Int32
    wrong_argument::Int32
    state::Ptr{Cvoid}
    reserved::NTuple{4,UInt64}
end

struct COperatorRow
    struct_size::UInt32
    reserved32::UInt32
    state::Ptr{Cvoid}
    input::Ptr{Cvoid}
    input_bytes::Int64
    output::Ptr{Cvoid}
    capacity::Int64
    bytes::Int64
    slot::Int64
    epoch::Int64
    seed::UInt64
    draw::NTuple{3,UInt64}
    reserved::NTuple{4,UInt64}
end

struct COperator
    struct_size::UInt32
    argument_count::Int32
    name::Ptr{UInt8}
    doc::Ptr{UInt8}
    source::Ptr{UInt8}
    arguments::Ptr{CArgumentInfo}
    context::Ptr{Cvoid}
    prepare::Ptr{Cvoid}
    apply::Ptr{Cvoid}
    forget::Ptr{Cvoid}
    destroy::Ptr{Cvoid}
end

struct CStorageObject
    struct_size::UInt32
    reserved32::UInt32
    path::Ptr{UInt8}
    cancelled::Ptr{Int32}
    options::Handle
    object::Ptr{Cvoid}
    bytes::Int64
    fingerprint::Ptr{UInt8}
    reserved::NTuple{3,UInt64}
end

struct CStorageRead
    struct_size::UInt32
    reserved32::UInt32
    object::Ptr{Cvoid}
    offset::Int64
    bytes::Int64
    out::Ptr{Cvoid}
    cancelled::Ptr{Int32}
    reserved::NTuple{4,UInt64}
end

struct CStorage
    struct_size::UInt32
    reserved::UInt32
    scheme::Ptr{UInt8}
    doc::Ptr{UInt8}
    context::Ptr{Cvoid}
    open::Ptr{Cvoid}
    read::Ptr{Cvoid}
    close::Ptr{Cvoid}
    destroy::Ptr{Cvoid}
end

struct CThreads
    struct_size::UInt32
    reserved::UInt32
    context::Ptr{Cvoid}
    start::Ptr{Cvoid}
    end_::Ptr{Cvoid}
    run::Ptr{Cvoid}
    destroy::Ptr{Cvoid}
end

struct CPlugin
    struct_size::UInt32
    abi_version::Int32
    built_for::Int32
    reserved32::Int32
    extensions::Handle
    find::Ptr{Cvoid}
    reserved::NTuple{4,UInt64}
end

struct CFormatInfo
    struct_size::UInt32
    key_count::Int32
    name::Ptr{UInt8}
    doc::Ptr{UInt8}
end
