# The structs of dataline.h, member by member; a test compares their layout with the header by compiling C.
# Julia lays isbits structs out as C does.
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
    data::Ptr{UInt8}
    byte_offset::UInt64
    offsets::Ptr{Int64}
    bytes::Int64
    reserved::NTuple{4,UInt64}
end

# View k, from 1, as dl_view_at steps: a later library may have longer views; the first says how long.
@inline view_at(views::Ptr{CView}, k::Integer) =
    unsafe_load(views + (k - 1) * Int(unsafe_load(Ptr{UInt32}(views))))

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
    data::Ptr{UInt8}
    capacity::Int64
    bytes::Int64
    status::Int32
    reserved::Int32
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

# A zeroed struct that says its size, in memory the library may write to.
function sized(::Type{T}) where {T}
    memory = zeros(UInt8, sizeof(T))
    GC.@preserve memory unsafe_store!(Ptr{UInt32}(pointer(memory)), UInt32(sizeof(T)))
    return memory
end

read_struct(::Type{T}, memory::Vector{UInt8}) where {T} = GC.@preserve memory unsafe_load(Ptr{T}(pointer(memory)))

# Where the message of a struct lies that ends with one.
message_of(::Type{T}, memory::Vector{UInt8}) where {T} =
    GC.@preserve memory unsafe_string(pointer(memory) + fieldoffset(T, fieldcount(T)))

text(pointer::Ptr{UInt8}) = pointer == C_NULL ? "" : unsafe_string(pointer)
