# Tensors of DLPack: fields of batches for other libraries, and arrays of other libraries as fields of a dataset.
#
# SPDX-License-Identifier: Apache-2.0

# As in dlpack.h. The device is (type, index), a type of items (code, bits, lanes).
struct DLTensor
    data::Ptr{UInt8}
    device::NTuple{2,Int32}
    rank::Int32
    dtype::Tuple{UInt8,UInt8,UInt16}
    shape::Ptr{Int64}
    strides::Ptr{Int64} # C_NULL: packed, in C's order
    byte_offset::UInt64
end
struct DLManagedTensor
    tensor::DLTensor
    context::Ptr{Cvoid}
    deleter::Ptr{Cvoid}
end
struct DLManagedTensorVersioned
    version::NTuple{2,UInt32}
    context::Ptr{Cvoid}
    deleter::Ptr{Cvoid}
    flags::UInt64 # 1: read-only
    tensor::DLTensor
end
const DLPACK_MAJOR = 1

const DLPACK_CODES = (
    (Int8, Int16, Int32, Int64) => 0x00, (UInt8, UInt16, UInt32, UInt64) => 0x01, (Float16, Float32, Float64) => 0x02,
    (BFloat16,) => 0x04, (ComplexF32, ComplexF64) => 0x05, (Bool,) => 0x06,
)

function item_type(dtype::Tuple{UInt8,UInt8,UInt16})
    code, bits, lanes = dtype
    for (types, number) in DLPACK_CODES, type in types
        number == code && lanes == 1 && 8 * sizeof(type) == bits && return type
    end
    throw(DatalineError(ERR_UNSUPPORTED, "a DLPack tensor of code $code with $bits bits and $lanes lanes has no Julia type here"))
end

"""
    DLPackTensor(pointer; versioned = false)

Takes over a tensor of another library: the address of a `DLManagedTensor`, or of a `DLManagedTensorVersioned` (DLPack 1.x), as
a capsule has it. `Dataset((x = tensor,))` reads it where it lies: in host memory, its items packed in C's order, the first dim
the samples. It is given back to that library when the dataset and all that came from it are gone and the collector has seen
that; some libraries (Python's) want that on a thread of theirs, so then make the dataset of a copy and `close(tensor)`.

`size` and `eltype` say what it is, with the dims reversed as in views; `close(tensor)` calls its deleter now, `take!(tensor)`
gives the address away, with the duty to call it. [`dlpack`](@ref) makes one of a batch's field.
"""
mutable struct DLPackTensor
    managed::Ptr{Cvoid} # C_NULL: given back, or given away
    versioned::Bool
    function DLPackTensor(pointer::Ptr; versioned::Bool = false)
        pointer == C_NULL && throw(DatalineError(ERR_INVALID_ARGUMENT, "a DLPack tensor at address 0"))
        if versioned && unsafe_load(Ptr{UInt32}(pointer)) != DLPACK_MAJOR
            major = unsafe_load(Ptr{UInt32}(pointer))
            throw(DatalineError(ERR_UNSUPPORTED, "a tensor of DLPack $major: expected $DLPACK_MAJOR"))
        end
        return finalizer(tensor -> in_finalizer(close, tensor), new(Ptr{Cvoid}(pointer), versioned))
    end
end

function managed(tensor::DLPackTensor)
    tensor.managed == C_NULL && throw(DatalineError(ERR_WRONG_STATE, "this DLPack tensor was closed or taken"))
    tensor.versioned && return unsafe_load(Ptr{DLManagedTensorVersioned}(tensor.managed))
    return unsafe_load(Ptr{DLManagedTensor}(tensor.managed))
end

Base.pointer(tensor::DLPackTensor) = (managed(tensor); tensor.managed)
Base.eltype(tensor::DLPackTensor) = item_type(managed(tensor).tensor.dtype)
Base.ndims(tensor::DLPackTensor) = Int(managed(tensor).tensor.rank)
function Base.size(tensor::DLPackTensor)
    raw = managed(tensor).tensor
    return Tuple(Int(unsafe_load(raw.shape, k)) for k in raw.rank:-1:1)
end
Base.isopen(tensor::DLPackTensor) = tensor.managed != C_NULL
device(tensor::DLPackTensor) = device_name(managed(tensor).tensor.device...)

function Base.take!(tensor::DLPackTensor)
    pointer = Base.pointer(tensor)
    tensor.managed = C_NULL
    return pointer
end

function Base.close(tensor::DLPackTensor)
    isopen(tensor) || return nothing
    deleter = managed(tensor).deleter
    pointer = take!(tensor)
    deleter == C_NULL || ccall(deleter, Cvoid, (Ptr{Cvoid},), pointer)
    return nothing
end

function Base.show(io::IO, tensor::DLPackTensor)
    isopen(tensor) || return print(io, "DLPackTensor (given away)")
    print(io, "DLPackTensor(", join(size(tensor), "x"), " ", eltype(tensor), " on ", device(tensor), ")")
end

"""
    dlpack(batch, name; versioned = false)

The field as a DLPack tensor for another library, which gets `take!(tensor)`: the address for a capsule named `"dltensor"`
(`"dltensor_versioned"`). It holds the batch until its deleter is called, from any thread, also after the loader is closed,
and counts towards `max_leases`. Nothing is copied; of a ragged field the items of all samples. A field that must not be changed
needs `versioned = true`, which says so. In a device's memory it waits for nothing: see
[`wait`](@ref Base.wait(::Batch, ::Ptr{Cvoid})).
"""
function dlpack(batch::Batch, name::Symbol; versioned::Bool = false)
    fields = fields_of(batch)
    haskey(fields, name) || no_field(name, keys(fields))
    at, out, details = Int32(fields[name].at - 1), Ref{Handle}(C_NULL), error_memory()
    status = GC.@preserve out details with_batch(lease_of(batch), getfield(batch, :turn)) do handle
        place = Base.unsafe_convert(Ptr{Handle}, out)
        versioned ? dl_batch_dlpack_versioned(handle, at, place, pointer(details)) :
            dl_batch_dlpack(handle, at, place, pointer(details))
    end
    status == DL_OK || throw(failure(status, details))
    return DLPackTensor(out[]; versioned = versioned)
end

# The first dim is the samples: the library's order, and C's.
function HostArray(name, _, given::DLPackTensor)
    raw = managed(given).tensor
    raw.device[1] == DL_DEVICE_CPU || throw(unfit(name, "a DLPack tensor on $(device(given)); expected one in host memory"))
    raw.rank >= 1 || throw(unfit(name, "a DLPack tensor without dims; expected the samples at least"))
    shape = Int64[unsafe_load(raw.shape, k) for k in 1:raw.rank]
    steps = raw.strides == C_NULL ? Int64[] : Int64[unsafe_load(raw.strides, k) for k in 1:raw.rank]
    due = 1
    for k in (isempty(steps) ? (1:0) : raw.rank:-1:1)
        shape[k] <= 1 || steps[k] == due ||
            throw(unfit(name, "a DLPack tensor whose items do not lie one after another; give a copy"))
        due *= shape[k]
    end
    type = item_type(raw.dtype)
    return HostArray(string(name), nothing, given, DL_KIND_DENSE, dtype_of(type), shape,
        Ptr{Cvoid}(raw.data + raw.byte_offset), 0, C_NULL, shape[1])
end
