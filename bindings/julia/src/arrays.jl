# Julia's arrays as fields of a dataset.
#
# SPDX-License-Identifier: Apache-2.0

"""
    Packed(data, offsets)

A field whose samples differ in length, for a [`Dataset`](@ref), without a copy. `data` contains all samples in order along its
last dim; sample `i` is `data[.., offsets[i]+1:offsets[i+1]]`. `offsets` count from 0; there is one more than samples.
`Packed(vectors)` copies and packs a vector of vectors, or of strings (as their UTF-8 bytes).
"""
struct Packed{T,N}
    data::Array{T,N}
    offsets::Vector{Int64}
end

function Packed(samples::AbstractVector{<:AbstractVector{T}}) where {T}
    data = T[]
    foreach(sample -> append!(data, sample), samples)
    return Packed(data, Int64[0; cumsum(map(length, samples))])
end
Packed(samples::AbstractVector{<:AbstractString}) = Packed(map(codeunits, samples))

# The library's shape of the array at `data`: [samples, dims of one sample, last first].
struct HostArray
    name::String
    axes::Union{Nothing,String}
    owner::Any
    kind::Int32
    dtype::Int32
    shape::Vector{Int64}
    data::Ptr{Cvoid}
    row_stride_bytes::Int64
    offsets::Ptr{Int64}
    samples::Int64
end

unfit(name, reason) = DatalineError(ERR_INVALID_ARGUMENT, "field '$name': $reason")

# `keep(array)` is kept with it, of a Packed both of its arrays.
function HostArray(name, axes, array::StridedArray{T,N}, keep = memory_of) where {T,N}
    N > 0 || throw(unfit(name, "expected at least one dim: the samples"))
    steps = strides(array)
    packed = cumprod([1; size(array)[1:end-1]...])
    count = size(array, N)
    if any(k -> size(array, k) > 1 && steps[k] != packed[k], 1:N-1) || (count > 1 && steps[N] < packed[N])
        throw(unfit(name, "the items of a sample must be contiguous; pass copy(x)"))
    end
    apart = count > 1 && steps[N] != packed[N]
    kind, stride = apart ? (DL_KIND_STRIDED, steps[N] * sizeof(T)) : (DL_KIND_DENSE, 0)
    return HostArray(string(name), axes, keep(array), kind, dtype_of(T), collect(Int64, reverse(size(array))),
        pointer(array), stride, C_NULL, count)
end

HostArray(name, axes, packed::Packed{T}, keep = memory_of) where {T} = HostArray(string(name), axes,
    (keep(packed.data), keep(packed.offsets)), DL_KIND_RAGGED, dtype_of(T),
    collect(Int64, reverse(size(packed.data))), pointer(packed.data), 0, pointer(packed.offsets),
    length(packed.offsets) - 1)

HostArray(name, axes, samples::AbstractVector{<:Union{AbstractVector,AbstractString}}, keep = memory_of) =
    HostArray(name, axes, Packed(samples), keep)
# A Vector of vectors is a StridedArray too.
HostArray(name, axes, samples::StridedVector{<:Union{AbstractVector,AbstractString}}, keep = memory_of) =
    HostArray(name, axes, Packed(samples), keep)
HostArray(name, axes, other, keep = nothing) = throw(unfit(name, "expected an array in memory or Packed, got a " *
    "$(typeof(other)); pass collect(x)"))

c_array(array::HostArray) = CArray(sizeof(CArray), array.kind, pointer(array.name), array.dtype, length(array.shape),
    pointer(array.shape), array.axes === nothing ? C_NULL : pointer(array.axes), array.data, array.row_stride_bytes,
    array.offsets, array.samples)

# Axes of one sample are given in Julia's order ("WHC"), as views show them.
axes_of(axes, name) = haskey(axes, name) ? reverse(String(axes[name])) : nothing

function dataset_of_arrays(arrays::NamedTuple, axes, settings)
    hosts = [HostArray(name, axes_of(axes, name), arrays[name]) for name in keys(arrays)]
    described = map(c_array, hosts)
    out = Ref{Handle}(C_NULL)
    lend(hosts) do release, context
        with_options(settings) do options
            GC.@preserve described check() do error
                dl_dataset_from_arrays(pointer(described), Int32(length(described)), release, context, options, out, error)
            end
        end
    end
    return out[]
end
