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

Takes over a tensor of another library: the address of a `DLManagedTensor`, or of a `DLManagedTensorVersioned` (DLPack 1.x),
from a capsule. `Dataset((x = tensor,))` reads it without a copy. It must be in host memory, packed in C order, with the samples
as first dim. It is released after the dataset and everything created from it are closed and the garbage collector has noticed.
Some libraries (Python's) require the release on one of their own threads: then create the dataset from a copy and
`close(tensor)`.

`size` and `eltype` describe it, with the dims reversed as in views. `close(tensor)` calls its deleter now. `take!(tensor)`
returns the address; the caller must then call the deleter. [`dlpack`](@ref) exports a field of a batch.
"""
mutable struct DLPackTensor
    managed::Ptr{Cvoid} # C_NULL: given back, or given away
    versioned::Bool
    function DLPackTensor(pointer::Ptr; versioned::Bool = false)
        pointer == C_NULL && throw(DatalineError(ERR_INVALID_ARGUMENT, "expected the address of a DLPack tensor, got 0"))
        if versioned && unsafe_load(Ptr{UInt32}(pointer)) != DLPACK_MAJOR
            major = unsafe_load(Ptr{UInt32}(pointer))
            throw(DatalineError(ERR_UNSUPPORTED, "DLPack version: expected $DLPACK_MAJOR, got $major"))
        end
        return finalizer(tensor -> in_finalizer(close, tensor), new(Ptr{Cvoid}(pointer), versioned))
    end
end

function managed(tensor::DLPackTensor)
    tensor.managed == C_NULL && throw(DatalineError(ERR_WRONG_STATE, "this DLPack tensor was already closed or consumed"))
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
    isopen(tensor) || return print(io, "DLPackTensor (closed)")
    print(io, "DLPackTensor(", join(size(tensor), "x"), " ", eltype(tensor), " on ", device(tensor), ")")
end

"""
    dlpack(batch, name; versioned = false)

The field as a DLPack tensor for another library. Pass it the address `take!(tensor)`, in a capsule named `"dltensor"`
(`"dltensor_versioned"`). It holds the batch until its deleter is called, from any thread, also after the loader is closed, and
counts towards `max_leases`. Nothing is copied. Ragged: the items of all samples. A read-only field needs `versioned = true`,
because only that form has a read-only flag. In a device's memory it waits for nothing: see
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
    raw.device[1] == DL_DEVICE_CPU || throw(unfit(name, "expected a DLPack tensor in host memory, got one on $(device(given))"))
    raw.rank >= 1 || throw(unfit(name, "expected a DLPack tensor with at least one dim: the samples"))
    shape = Int64[unsafe_load(raw.shape, k) for k in 1:raw.rank]
    steps = raw.strides == C_NULL ? Int64[] : Int64[unsafe_load(raw.strides, k) for k in 1:raw.rank]
    due = 1
    for k in (isempty(steps) ? (1:0) : raw.rank:-1:1)
        shape[k] <= 1 || steps[k] == due ||
            throw(unfit(name, "expected a DLPack tensor with contiguous items; pass a copy"))
        due *= shape[k]
    end
    type = item_type(raw.dtype)
    return HostArray(string(name), nothing, given, DL_KIND_DENSE, dtype_of(type), shape,
        Ptr{Cvoid}(raw.data + raw.byte_offset), 0, C_NULL, shape[1])
end
