# Batches: the fields of one step, and how long they are held.
#
# SPDX-License-Identifier: Apache-2.0

# How a field is viewed: its type sets what `see` returns; `at` is its index among the library's views.
struct DenseField{T,N}
    at::Int
    wraps::Wraps{T,N}
    DenseField{T,N}(at) where {T,N} = new(at, Wraps{T,N}())
end
struct RaggedField{T,N}
    at::Int
    wraps::Wraps{T,N}
    starts::Wraps{Int64,1}
    RaggedField{T,N}(at) where {T,N} = new(at, Wraps{T,N}(), Wraps{Int64,1}())
end
struct OverlappingField{T,N}
    at::Int
    wraps::Wraps{T,1}
    OverlappingField{T,N}(at) where {T,N} = new(at, Wraps{T,1}())
end

function seen_as(field::Field, at::Int)
    field.device == "cpu" || return DeviceField{field.eltype,length(field.size)}(at, field.name, field.device)
    kind = field.ragged ? RaggedField : field.overlapping ? OverlappingField : DenseField
    return kind{field.eltype,length(field.size)}(at)
end

# The same, with wrapped arrays of its own.
fresh(field::F) where {F} = F(field.at)

# The library's dims, last first.
@inline reversed(values::Ptr{Int64}, ::Val{N}) where {N} = ntuple(k -> Int(unsafe_load(values, N + 1 - k)), Val(N))
@inline first_item(raw::CView, ::Type{T}) where {T} = Ptr{T}(raw.data + raw.byte_offset)

@inline function see(field::DenseField{T,N}, lease::Lease, turn::Int, raw::CView) where {T,N}
    array = wrapped(field.wraps, lease, first_item(raw, T), reversed(raw.shape, Val(N)))
    return View{T,N}(array, lease, turn)
end

function see(field::RaggedField{T,N}, lease::Lease, turn::Int, raw::CView) where {T,N}
    packed = wrapped(field.wraps, lease, first_item(raw, T), reversed(raw.shape, Val(N)))
    starts = wrapped(field.starts, lease, raw.offsets, (batch_info(lease, turn).samples + 1,))
    return Ragged{T,N}(View{T,N}(packed, lease, turn), View{Int64,1}(starts, lease, turn))
end

function see(field::OverlappingField{T,N}, lease::Lease, turn::Int, raw::CView) where {T,N}
    dims, steps = reversed(raw.shape, Val(N)), reversed(raw.strides, Val(N))
    span = prod(dims) == 0 ? 0 : 1 + sum((dims .- 1) .* steps)
    array = wrapped(field.wraps, lease, first_item(raw, T), (span,))
    return Windows{T,N}(array, dims, steps, lease, turn)
end

"""
    Batch

The fields of one step, like a named tuple: `batch.image`, `batch[:image]`, `batch[1]`, `(image, label) = batch`,
`NamedTuple(batch)`, and from Julia 1.7 `(; label, image) = batch`. Dense fields are [`View`](@ref)s with the sample as last
dim, ragged fields [`Ragged`](@ref). Labels keep the library's numbers: classes count from 0.

A loop's batch is valid until the next one is taken. [`keep`](@ref) holds it longer, also past the loader. See [`info`](@ref),
[`sample_indices`](@ref), `close`.
"""
struct Batch{F<:NamedTuple}
    lease::Lease
    turn::Int
    fields::F
end

@inline lease_of(batch::Batch) = getfield(batch, :lease)
@inline fields_of(batch::Batch) = getfield(batch, :fields)

@inline function see(batch::Batch, field)
    lease, turn = lease_of(batch), getfield(batch, :turn)
    views = lease.views
    lease.turn == turn && views != C_NULL || given_back()
    raw = view_at(views, field.at)
    lease.turn == turn || given_back() # by another task, meanwhile
    return see(field, lease, turn, raw)
end

@noinline no_field(name, names) =
    throw(DatalineError(ERR_NO_SUCH_FIELD, "no field '$name'; the fields are $(join(names, ", "))"))

@inline function Base.getproperty(batch::Batch, name::Symbol)
    fields = fields_of(batch)
    haskey(fields, name) || no_field(name, keys(fields))
    return see(batch, getfield(fields, name))
end
@inline Base.getindex(batch::Batch, name::Symbol) = getproperty(batch, name)
@inline Base.getindex(batch::Batch, k::Int) = see(batch, fields_of(batch)[k])
Base.propertynames(batch::Batch, private::Bool = false) = keys(batch)
Base.keys(batch::Batch) = keys(fields_of(batch))
Base.length(batch::Batch) = length(fields_of(batch))
Base.firstindex(::Batch) = 1
Base.lastindex(batch::Batch) = length(batch)
Base.iterate(batch::Batch, k::Int = 1) = k > length(batch) ? nothing : (batch[k], k + 1)
@inline Base.indexed_iterate(batch::Batch, k::Int, _ = 1) = (batch[k], k + 1) # (a, b) = batch, type-stable
Base.NamedTuple(batch::Batch) = map(field -> see(batch, field), fields_of(batch))
Base.Tuple(batch::Batch) = Tuple(NamedTuple(batch))
Base.values(batch::Batch) = Tuple(batch)
Base.pairs(batch::Batch) = pairs(NamedTuple(batch))

"""
    keep(batch)
    keep(view)

Holds the same memory past the next batch and past the loader, until `close(kept)`. Without `close`, it is held until the
garbage collector finds it unused. No data is copied. Kept batches count towards the option `max_leases`. The collector does not
know their size, so `close` large ones. Takes about 0.2 us.
"""
function keep(batch::Batch)
    lease = another(lease_of(batch), getfield(batch, :turn))
    return Batch(lease, lease.turn, map(fresh, fields_of(batch)))
end

keep(view::View{T,N}) where {T,N} = keep(view, another(view.lease, view.turn))
keep(view::View{T,N}, lease::Lease) where {T,N} =
    View{T,N}(wrap(lease, T, pointer(view.array), size(view.array)), lease, lease.turn)
function keep(view::Windows{T,N}) where {T,N}
    lease = another(view.lease, view.turn)
    return Windows{T,N}(wrap(lease, T, pointer(view.array), size(view.array)), view.dims, view.steps, lease, lease.turn)
end
function keep(field::Ragged{T,N}) where {T,N}
    lease = another(field.packed.lease, field.packed.turn)
    return Ragged{T,N}(keep(field.packed, lease), keep(field.starts, lease))
end

# A lease of its own on the batch of `lease`.
function another(lease::Lease, turn::Int)
    kept = new_lease(lease.waits; counted = true)
    with_batch(lease, turn) do batch
        dl_batch_retain(batch)
        kept.batch = batch
        received(kept)
        batch
    end
    return kept
end

"""
    close(batch)

Releases the batch now; its views become invalid. Closing twice is allowed, also from two tasks concurrently. Any thread.
"""
Base.close(batch::Batch) = close_lease(lease_of(batch), getfield(batch, :turn))
Base.close(view::Union{View,Windows}) = close_lease(view.lease, view.turn)
Base.close(field::Ragged) = close(field.packed)

close_lease(lease::Lease, turn::Int) = give_back(lease, turn)

"""
    isopen(batch)

Whether the batch, or the view, is still valid.
"""
Base.isopen(batch::Batch) = lease_of(batch).turn == getfield(batch, :turn)
Base.isopen(view::Union{View,Windows}) = view.lease.turn == view.turn
Base.isopen(field::Ragged) = isopen(field.packed)

function batch_info(lease::Lease, turn::Int)
    memory, details = sized(CBatchInfo), error_memory()
    status = GC.@preserve memory details with_batch(lease, turn) do batch
        dl_batch_get_info(batch, pointer(memory), pointer(details))
    end
    status == DL_OK || throw(failure(status, details))
    return read_struct(CBatchInfo, memory)
end

live_info(batch::Batch) = batch_info(lease_of(batch), getfield(batch, :turn))

"""
    info(batch)

Position and size of the batch: `(epoch, step, samples, valid)`. `epoch` and `step` count from 0. `samples` is the number of
rows, including pads; `valid` is the number of rows that are not pads.
"""
function info(batch::Batch)
    given = live_info(batch)
    return (epoch = Int(given.epoch), step = Int(given.step), samples = Int(given.samples), valid = Int(given.valid))
end

copied(values::Ptr{Int64}, count) = copy(unsafe_wrap(Array, values, (Int(count),)))

# A member of dl_batch_info, which points into the batch; the batch is kept while it is copied.
function copied_of(member, batch::Batch)
    kept = another(lease_of(batch), getfield(batch, :turn))
    given = batch_info(kept, kept.turn)
    numbers = copied(member(given), given.samples)
    give_back(kept)
    return numbers
end

"""
    sample_indices(batch)

The sample index of each row, from 0, as a new vector. For a replaced sample, the index of its replacement.
"""
sample_indices(batch::Batch) = copied_of(given -> given.sample_indices, batch)

"""
    sample_sources(batch)

The part of a mix that each row comes from, as a new vector; 0 without a mix.
"""
sample_sources(batch::Batch) = copied_of(given -> given.sample_sources, batch)

function Base.show(io::IO, batch::Batch)
    isopen(batch) || return print(io, "Batch (released)")
    print(io, "Batch(", join(("$name = $(summary(batch[name]))" for name in keys(batch)), ", "), ")")
end
