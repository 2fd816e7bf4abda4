# A dataset as a container of observations, as MLUtils has them: `numobs` is `length`, `getobs` is indexing.
#
# SPDX-License-Identifier: Apache-2.0

"""
    dataset[i]
    dataset[indices]

A sample, or several samples, as a named tuple of separate arrays. Positions count from 1, as in Julia's arrays. For one sample,
each field is a number or an array with the sample's dims; for several, the last dim is the sample. Fields whose samples differ
in length are arrays, or vectors of arrays.

This is all that `MLUtils` needs: `numobs(dataset)`, `getobs(dataset, indices)`, `splitobs`, `kfolds`, `shuffleobs`, its
`DataLoader` and everything based on them accept a `Dataset`. Each call creates a small loader. To go through many samples, use
a [`Loader`](@ref); for parts of a dataset, use [`subset`](@ref), which reads nothing.
"""
function Base.getindex(dataset::Dataset, indices::AbstractVector{<:Integer})
    places = within(dataset, indices)
    isempty(places) && return NamedTuple{Tuple(f.name for f in fields(dataset))}(Tuple(no_samples(f) for f in fields(dataset)))
    return with_samples(batch -> map(own_samples, NamedTuple(batch)), dataset, places)
end
# As for Julia's arrays: a mask of all samples selects, and a boolean is not an index.
function Base.getindex(dataset::Dataset, mask::AbstractVector{Bool})
    length(mask) == length(dataset) || throw(BoundsError(dataset, mask))
    return dataset[findall(mask)]
end
Base.getindex(::Dataset, i::Bool) = throw(ArgumentError("invalid index: $i of type Bool"))
Base.getindex(dataset::Dataset, i::Integer) =
    with_samples(batch -> map(own_sample, NamedTuple(batch)), dataset, within(dataset, i:i))
Base.getindex(dataset::Dataset, ::Colon) = dataset[1:length(dataset)]
Base.firstindex(::Dataset) = 1
Base.lastindex(dataset::Dataset) = length(dataset)
Base.eachindex(dataset::Dataset) = Base.OneTo(length(dataset))

# The library's numbers of these samples.
function within(dataset::Dataset, indices)
    checkindex(Bool, Base.OneTo(length(dataset)), indices) || throw(BoundsError(dataset, (indices,)))
    return Int64[i - 1 for i in indices]
end

function with_samples(call, dataset::Dataset, places::Vector{Int64})
    Loader(dataset; sample_indices = places, batch_size = length(places), num_workers = 0, epochs = 1) do loader
        batch = next!(loader)
        try
            call(batch)
        finally
            close(batch)
        end
    end
end

own_samples(field::AbstractArray) = Array(field)
own_samples(field::Ragged) = [copy(sample) for sample in field]
function own_sample(field::AbstractArray{T,N}) where {T,N}
    all = Array(field)
    return N == 1 ? all[1] : reshape(all, Base.front(size(all)))
end
own_sample(field::Ragged) = copy(field[1])

no_samples(field::Field) =
    field.ragged ? Array{field.eltype,length(field.size)}[] : Array{field.eltype}(undef, field.size..., 0)
