# Fields in a device's memory, streams, and where each part of a sample's way runs.
#
# SPDX-License-Identifier: Apache-2.0

"""
    DeviceArray{T,N}

A field of a batch in a device's memory (`device = "cuda:0"`). `size`, `strides`, `eltype`, `length` and
`Dataline.device(field)` describe it. `pointer(field)` is the address of its first item on that device, for kernels and for
packages such as CUDA.jl. Call [`wait`](@ref Base.wait(::Batch, ::Ptr{Cvoid})) before reading it in a stream. Every read on the
host throws, with an explanation; with `device = "cpu"` fields are arrays. For a field whose samples differ in length, it is the
items of all samples; `offsets(field)` are in host memory.

Valid as long as its batch.
"""
struct DeviceArray{T,N}
    data::Ptr{T}
    dims::Dims{N}
    steps::Dims{N}
    starts::Vector{Int64}
    name::Symbol
    device::String
    lease::Lease
    turn::Int
end

# "cpu", "cuda:0": what the option `device` takes.
device_name(type, index) = type == DL_DEVICE_CPU ? "cpu" : (type == DL_DEVICE_CUDA ? "cuda" : "type $type") * ":$index"

@noinline not_on_host(field::DeviceArray) = throw(DatalineError(
    ERR_UNSUPPORTED,
    "field '$(field.name)': it is on $(field.device), not in host memory; after wait(batch, stream), " *
    "pass pointer(field) to code on the device, or load with device=cpu",
))

alive(field::DeviceArray) = field.lease.turn == field.turn ? field : given_back()
Base.pointer(field::DeviceArray) = alive(field).data
Base.size(field::DeviceArray) = alive(field).dims
Base.size(field::DeviceArray, k::Integer) = k > length(field.dims) ? 1 : size(field)[k]
Base.strides(field::DeviceArray) = alive(field).steps
Base.length(field::DeviceArray) = prod(size(field))
Base.ndims(::DeviceArray{T,N}) where {T,N} = N
Base.eltype(::Type{<:DeviceArray{T}}) where {T} = T
Base.isopen(field::DeviceArray) = field.lease.turn == field.turn
Base.close(field::DeviceArray) = close_lease(field.lease, field.turn)
offsets(field::DeviceArray) = alive(field).starts
Base.show(io::IO, field::DeviceArray{T}) where {T} = isopen(field) ?
    print(io, join(field.dims, "x"), " ", T, " on ", field.device) : print(io, "DeviceArray (released)")

for read in (:getindex, :setindex!, :view, :reshape, :iterate, :copy, :collect, :parent, :vec, :broadcastable)
    @eval Base.$read(field::DeviceArray, _...) = not_on_host(field)
end
Base.Array(field::DeviceArray) = not_on_host(field)
Base.convert(::Type{<:Array}, field::DeviceArray) = not_on_host(field)
Base.copyto!(::AbstractArray, field::DeviceArray) = not_on_host(field)

function keep(field::DeviceArray{T,N}) where {T,N}
    lease = another(field.lease, field.turn)
    return DeviceArray{T,N}(field.data, field.dims, field.steps, field.starts, field.name, field.device, lease, lease.turn)
end

# How a field in a device's memory is seen.
struct DeviceField{T,N}
    at::Int
    name::Symbol
    device::String
end
fresh(field::DeviceField) = field

function see(field::DeviceField{T,N}, lease::Lease, turn::Int, raw::CView) where {T,N}
    starts = raw.offsets == C_NULL ? Int64[] : copied(raw.offsets, batch_info(lease, turn).samples + 1)
    return DeviceArray{T,N}(first_item(raw, T), reversed(raw.shape, Val(N)), reversed(raw.strides, Val(N)), starts,
        field.name, field.device, lease, turn)
end

"""
    device(field)

The device of its memory, as a value of the option `device`: `"cpu"`, `"cuda:0"`. Also for a field of `fields(loader)`.
"""
device(field::DeviceArray) = field.device
device(field::Field) = field.device
device(::Union{View,Windows,Ragged}) = "cpu"

"""
    wait(batch, stream)

Makes `stream` wait until the batch is complete; this call does not wait. `stream` is a `CUstream` of the batch's device as a
`Ptr{Cvoid}`; `C_NULL` is the legacy stream. Batches of a device are delivered while their copies are in flight. Call it once
for each stream that reads the batch, before the first use there. When the batch is released, its memory is not reused before
the work then queued in those streams is done. The streams must live until then. Does nothing on the cpu device.
"""
function Base.wait(batch::Batch, stream::Ptr{Cvoid})
    details = error_memory()
    status = GC.@preserve details with_batch(lease_of(batch), getfield(batch, :turn)) do handle
        dl_batch_wait(handle, stream, pointer(details))
    end
    status == DL_OK || throw(failure(status, details))
    return nothing
end

"""
    release_on(batch, stream)

Like `close(batch)`, but its memory is not reused before the work now queued in `stream` is done. The batch is released even if
this throws.
"""
function release_on(batch::Batch, stream::Ptr{Cvoid})
    details = error_memory()
    status = GC.@preserve details disable_sigint() do
        taken = taken_out(lease_of(batch), getfield(batch, :turn))
        taken == C_NULL ? nothing : dl_batch_release_on(taken, stream, pointer(details))
    end
    status === nothing && given_back()
    status == DL_OK || throw(failure(status, details))
    return nothing
end

"""
    plan(loader)

Where each stage of a sample runs, in order, field by field: on the host, copies over the bus, on the device. Named tuples
`(field, runs_on, text, bytes_in, bytes_out)`. For a copy, `text == "copy"` and `runs_on` is the destination. Bytes are those of
one sample, or `nothing` if they vary.
"""
function plan(loader)
    devices = [device(field) for field in fields(loader)] # a loader has one
    bytes(n) = n < 0 ? nothing : n
    return map(0:ask(dl_loader_plan_count, loader)-1) do index
        memory = sized(CPlanStage)
        check_loader((handle, error) -> dl_loader_plan_at(handle, Int32(index), pointer(memory), error), loader)
        stage = read_struct(CPlanStage, memory)
        runs_on = stage.device_type == DL_DEVICE_CPU ? "cpu" : first(devices)
        return (field = Symbol(text(stage.field)), runs_on = runs_on, text = text(stage.text),
            bytes_in = bytes(stage.bytes_in), bytes_out = bytes(stage.bytes_out))
    end
end
