# Stands in for MLDataDevices, which cannot be had here: devices that move data by Adapt, and loops that do. The GPU is a type of arrays
# that can only be copied to as a whole, from plain arrays, and notes what was freed.
#
# SPDX-License-Identifier: Apache-2.0
module MLDataDevices

using Adapt: Adapt, adapt

export CPUDevice, CUDADevice, DeviceIterator, cpu_device, gpu_device

abstract type AbstractDevice end
struct CPUDevice <: AbstractDevice end
struct CUDADevice <: AbstractDevice end
cpu_device() = CPUDevice()
gpu_device() = CUDADevice()

mutable struct GPUArray{T,N} <: AbstractArray{T,N}
    items::Array{T,N}
    from::Any # the type that it was copied from
    freed::Bool
end
Base.size(array::GPUArray) = size(array.items)
Base.getindex(::GPUArray, ::Int...) = error("scalar indexing on a GPU")
on_host(array::GPUArray) = array.freed ? error("it was freed") : array.items

Adapt.adapt_storage(::CUDADevice, x::AbstractArray) = GPUArray(Array(x), typeof(x), false)
Adapt.adapt_storage(::CUDADevice, x::GPUArray) = x
Adapt.adapt_storage(::CPUDevice, x::AbstractArray) = get_device_type(x) <: CPUDevice ? x : on_host(x)

# As Functors has it: arrays of numbers are leaves, of everything else the members are looked at.
isleaf(x) = x isa AbstractArray{<:Number} || fieldcount(typeof(x)) == 0
walk(call, x, leaf) = leaf(x) ? call(x) : x isa Union{Tuple,NamedTuple} ? map(part -> walk(call, part, leaf), x) :
    error("looked for arrays inside a $(typeof(x))")
(device::AbstractDevice)(x) = walk(part -> adapt(device, part), x, isleaf)

get_device_type(x::AbstractArray) = parent(x) === x ? CPUDevice : get_device_type(parent(x))
get_device_type(::GPUArray) = CUDADevice
get_device(x) = get_device_type(x)()

struct DeviceIterator{D<:AbstractDevice,I}
    dev::D
    iterator::I
end
function Base.iterate(loop::DeviceIterator, before = nothing)
    item = before === nothing ? iterate(loop.iterator) : iterate(loop.iterator, first(before))
    item === nothing && return nothing
    before === nothing || walk(x -> get_device_type(x) <: CUDADevice && (x.freed = true), last(before), x -> x isa AbstractArray)
    moved = loop.dev(first(item))
    return moved, (last(item), moved)
end
Base.IteratorSize(::Type{DeviceIterator{D,I}}) where {D,I} = Base.IteratorSize(I)
Base.length(loop::DeviceIterator) = length(loop.iterator)

end
