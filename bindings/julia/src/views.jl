# Fields of a batch as arrays, without a copy.
#
# An array that `unsafe_wrap` makes does not keep its batch. So a view holds two things. The wrapped Array counts as a user of
# the lease until the garbage collector finds it unreachable. The lease with the number it had (`turn`) identifies views of a
# released batch. Wrapped arrays are cached by address and reused for every batch in the same slot: creating and counting one
# costs 150 ns, a lookup about 5.
#
# SPDX-License-Identifier: Apache-2.0

# One held batch. The loop of a loader uses one lease for all its batches; `keep` and `next!` make one each.
mutable struct Lease
    batch::Handle # the library writes here, so that an interrupt cannot lose a batch; C_NULL: none
    views::Ptr{CView}
    turn::Int # incremented when the batch is released
    users::Threads.Atomic{Int} # this, and the arrays wrapped over its batches: the collector releases after the last
    counted::Bool # in `waits.held`; a loop's is not
    waits::Waits # of its loader
    # Guards `batch`, `views` and `turn`: a release takes them out under it, so that only one succeeds; nothing waits inside.
    lock::Threads.SpinLock
end

function new_lease(waits::Waits; counted::Bool)
    lease = Lease(C_NULL, C_NULL, 0, Threads.Atomic{Int}(1), counted, waits, Threads.SpinLock())
    return finalizer(l -> in_finalizer(one_user_less, l), lease)
end

# The library has put a batch into the lease; with interrupts off, as the call of the library.
@inline function received(lease::Lease)
    lease.views = dl_batch_views(lease.batch, Ptr{Int32}(C_NULL))
    # Tasks that wait for a lease now run the collector (collect_for_lease).
    lease.counted && Threads.atomic_add!(lease.waits.held, 1) == 0 && wake(lease.waits)
    return nothing
end

# The collector does not keep what a finalizer refers to from being finalized, so users are counted.
one_user_less(lease::Lease) =
    (Threads.atomic_sub!(lease.users, 1) == 1 && dl_batch_release(taken_out(lease, lease.turn)); nothing)

# Any thread, also concurrently: exactly one releases.
@inline give_back(lease::Lease) = lease.batch == C_NULL ? nothing : give_back(lease, lease.turn)

# Releases the batch of that turn; does nothing if it was released before.
@inline function give_back(lease::Lease, turn::Int)
    disable_sigint() do # an interrupt would leave the lock closed, or lose the batch
        dl_batch_release(taken_out(lease, turn)) # NULL is fine
    end
    return nothing
end

# The batch of that turn, which the caller must release now; C_NULL if it is already released.
@inline function taken_out(lease::Lease, turn::Int)
    lock(lease.lock)
    batch = lease.turn == turn ? lease.batch : C_NULL
    if batch != C_NULL
        lease.batch = C_NULL
        lease.views = C_NULL
        lease.turn += 1
        lease.counted && Threads.atomic_sub!(lease.waits.held, 1)
    end
    unlock(lease.lock)
    return batch
end

# `call(handle)` with the batch of that turn, which cannot be released meanwhile. It is short and does not throw.
function with_batch(call, lease::Lease, turn::Int)
    result = disable_sigint() do
        lock(lease.lock)
        given = lease.turn == turn && lease.batch != C_NULL ? call(lease.batch) : nothing
        unlock(lease.lock)
        given
    end
    result === nothing && given_back()
    return result
end

@noinline given_back() = throw(DatalineError(
    ERR_WRONG_STATE,
    "this batch was released: a loop's batch is valid until the next one is taken; keep(x) holds it, copy(x) copies it",
))

# The finalizer of a wrapped array.
struct Unwrap
    lease::Lease
end
(unwrap::Unwrap)(array) = in_finalizer(_ -> one_user_less(unwrap.lease), array)

function wrap(lease::Lease, ::Type{T}, data::Ptr{T}, dims::Dims{N}) where {T,N}
    prod(dims) == 0 && return Array{T,N}(undef, dims)
    array = unsafe_wrap(Array, data, dims)
    Threads.atomic_add!(lease.users, 1)
    finalizer(Unwrap(lease), storage(array))
    return array
end

# The object that code reading the items keeps alive: from Julia 1.11 on an Array refers to a Memory, which is kept.
storage(array::Array) = @static VERSION >= v"1.11-" ? getfield(array, :ref).mem : array

# The wrapped arrays of one field. More than this many are only seen when batches beyond `max_leases` are copies. Several
# threads may look at one batch: the vector is never changed, but replaced.
const WRAPS_MAX = 32
mutable struct Wraps{T,N}
    arrays::Vector{Array{T,N}}
    last::Int
end
Wraps{T,N}() where {T,N} = Wraps{T,N}(Array{T,N}[], 0)

@inline function wrapped(wraps::Wraps{T,N}, lease::Lease, data::Ptr{T}, dims::Dims{N}) where {T,N}
    arrays = wraps.arrays
    count = length(arrays)
    at = wraps.last
    for _ in 1:count # slots come in turn, so the next one is tried first
        at = at >= count ? 1 : at + 1
        array = @inbounds arrays[at]
        if pointer(array) == data && size(array) == dims
            wraps.last = at
            return array
        end
    end
    return wrap_anew(wraps, lease, data, dims)
end

@noinline function wrap_anew(wraps::Wraps{T,N}, lease, data, dims) where {T,N}
    array = wrap(lease, T, data, dims)
    known = wraps.arrays
    wraps.arrays = length(known) < WRAPS_MAX ? [known; [array]] : [array]
    wraps.last = length(wraps.arrays)
    return array
end

"""
    View{T,N} <: DenseArray{T,N}

A field of a batch: the library's own memory, column-major with the dims reversed (C-order `NCHW` is `W,H,C,N` here), without a
copy. Any array code works on it, including BLAS; `reshape` returns a view of the same memory.

Valid as long as its batch: in a loop until the next one is taken. After that, every use throws a [`DatalineError`](@ref). Code
that skips bounds checks gets it at `size` or `pointer`. `copy(view)` is a separate `Array`; [`keep`](@ref) holds the memory
itself. Views created with `view(view, ...)` throw too. `parent(view)` is a plain `Array` over the same memory, for calls that
accept nothing else. It is not checked: after the batch is released and the loader closed, its memory is gone.
"""
struct View{T,N} <: DenseArray{T,N}
    array::Array{T,N}
    lease::Lease
    turn::Int
end

@inline function Base.parent(view::View)
    view.lease.turn == view.turn || given_back()
    return view.array
end
@inline Base.size(view::View) = size(parent(view))
Base.IndexStyle(::Type{<:View}) = IndexLinear()
Base.elsize(::Type{<:View{T}}) where {T} = sizeof(T)
Base.strides(view::View) = strides(parent(view))
Base.stride(view::View, k::Int) = stride(parent(view), k)
Base.unsafe_convert(::Type{Ptr{T}}, view::View{T}) where {T} = Base.unsafe_convert(Ptr{T}, parent(view))
Base.dataids(view::View) = Base.dataids(view.array)

Base.@propagate_inbounds function Base.getindex(view::View, i::Int)
    @boundscheck checkbounds(view, i)
    return @inbounds view.array[i]
end
Base.@propagate_inbounds function Base.setindex!(view::View, value, i::Int)
    @boundscheck checkbounds(view, i)
    @inbounds view.array[i] = value
    return view
end

# A SubArray checks its bounds by indices of its own, and then skips the check of what it is of.
@inline function Base.axes(part::SubArray{<:Any,<:Any,<:View})
    parent(parent(part)) # throws when it was given back
    return invoke(axes, Tuple{SubArray}, part)
end

Base.copy(view::View) = copy(parent(view))
Base.Array(view::View) = copy(view)
Base.Array{T}(view::View{T}) where {T} = copy(view)
Base.Array{T,N}(view::View{T,N}) where {T,N} = copy(view)
Base.copyto!(to::Array{T}, from::View{T}) where {T} = copyto!(to, parent(from))
Base.reshape(view::View, dims::Tuple{Vararg{Union{Int,Colon}}}) = View(reshape(parent(view), dims), view.lease, view.turn)
Base.reshape(view::View, dims::Dims) = View(reshape(parent(view), dims), view.lease, view.turn)
Base.String(view::View{UInt8,1}) = String(copy(view))

"""
    Windows{T,N} <: AbstractArray{T,N}

A field whose samples overlap in memory (`tokens:...?views=true`): read-only; `strides` locates the items. Valid as long as its
batch, like a [`View`](@ref).
"""
struct Windows{T,N} <: AbstractArray{T,N}
    array::Vector{T} # from the first item to the last
    dims::Dims{N}
    steps::Dims{N}
    lease::Lease
    turn::Int
end

@inline function Base.parent(view::Windows)
    view.lease.turn == view.turn || given_back()
    return view.array
end
@inline Base.size(view::Windows) = (parent(view); view.dims)
Base.strides(view::Windows) = view.steps
Base.dataids(view::Windows) = Base.dataids(view.array)
Base.@propagate_inbounds function Base.getindex(view::Windows{T,N}, at::Vararg{Int,N}) where {T,N}
    @boundscheck checkbounds(view, at...)
    return @inbounds view.array[1+sum((at .- 1) .* view.steps)]
end

"""
    Ragged{T,N} <: AbstractVector{View{T,N}}

A field whose samples differ in length: `field[i]` is sample `i` as a [`View`](@ref) whose last dim is its length.
`parent(field)` contains all samples in order, and `offsets(field)` where each starts in its last dim, from 0. Text is
`String(field[i])`.
"""
struct Ragged{T,N} <: AbstractVector{View{T,N}}
    packed::View{T,N}
    starts::View{Int64,1}
end

Base.parent(field::Ragged) = field.packed
Base.size(field::Ragged) = (length(field.starts) - 1,)
Base.IndexStyle(::Type{<:Ragged}) = IndexLinear()
Base.@propagate_inbounds function Base.getindex(field::Ragged{T,N}, i::Int) where {T,N}
    @boundscheck checkbounds(field, i)
    all, lease = parent(field.packed), field.packed.lease
    first, last = field.starts[i], field.starts[i+1]
    dims = Base.front(size(all))
    row = prod(dims)
    return View{T,N}(wrap(lease, T, pointer(all, 1 + first * row), (dims..., last - first)), lease, field.packed.turn)
end

"""
    offsets(field::Ragged)

Where each sample starts in the last dim of `parent(field)`, from 0, and where the last one ends. One more than samples.
"""
offsets(field::Ragged) = field.starts
