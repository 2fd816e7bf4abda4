# Taking batches: one by one, and a loop as one epoch.
#
# SPDX-License-Identifier: Apache-2.0

# A wait never stays in the library for long, for Julia's collector and Ctrl-C wait for such a call. It goes there for this
# time, in which it helps to fill the batch, lets other tasks run, and goes there again;
const HELP_NS = 1_000_000
# after so many times it waits in Julia's event loop for the library's wait handle, and looks about this often whether it
# was interrupted meanwhile, for an interrupt only ends waits inside the library.
const HELPS = 50
const LOOK_S = 0.01

# The library writes the batch into the lease. With interrupts off until it is there, none is lost.
@inline function call_next(loader::Loader, lease::Lease, memory::ErrorMemory, timeout_ns::Int)
    status = disable_sigint() do
        Threads.atomic_add!(loader.users, 1)
        given = DL_ERR_WRONG_STATE
        if !loader.closing[]
            GC.@preserve lease memory begin
                place = Ptr{Handle}(pointer_from_objref(lease)) # `batch` is the first member
                given = dl_loader_next(loader.handle, timeout_ns, place, pointer(memory))
                given == DL_OK && (lease.views = dl_batch_views(lease.batch, Ptr{Int32}(C_NULL)))
            end
        end
        Threads.atomic_sub!(loader.users, 1)
        given
    end
    return status
end

# The next status, waiting if need be until `deadline` (of time_ns; 0: for ever).
@inline function next_status(loader::Loader, lease::Lease, memory::ErrorMemory, deadline::UInt64)
    status = call_next(loader, lease, memory, 0)
    return status == DL_OK || status == DL_END_OF_EPOCH ? status : next_slowly(loader, lease, memory, deadline, status)
end

@noinline function next_slowly(loader, lease, memory, deadline, status::Int32)
    collected = false
    helps = 0
    interrupts = loader.interrupts[]
    while true
        if (status == DL_ERR_LEASES_HELD || status == DL_ERR_OVER_BUDGET) && !collected
            collected = true
            collect_kept(loader)
        elseif status != DL_TIMEOUT
            return status
        elseif deadline != 0 && time_ns() >= deadline
            return status
        elseif interrupts != loader.interrupts[]
            return DL_INTERRUPTED
        elseif helps > HELPS
            # A batch that is ready and does not come waits for a lease.
            helps % HELPS == 0 && stats(loader).ready_batches > 0 && collect_kept(loader)
            wait_for_handle(loader, deadline)
        elseif helps > 0
            yield()
        end
        helps += 1
        patience = deadline == 0 ? HELP_NS : Int(min(HELP_NS, max(deadline, time_ns()) - time_ns()))
        status = call_next(loader, lease, memory, helps > HELPS ? 0 : patience)
    end
end

# Kept batches that nobody has any more are given back by the collector, which does not know how large they are.
collect_kept(loader::Loader) = (loader.lease.held[] > 0 && GC.gc(); nothing)

# In the event loop, until a call would not wait. The loader cannot be destroyed meanwhile, and closing it ends the wait.
function wait_for_handle(loader::Loader, deadline::UInt64)
    Threads.atomic_add!(loader.users, 1)
    try
        loader.closing[] && return nothing
        out = Ref(0)
        check(error -> dl_loader_wait_handle(loader.handle, out, error))
        left = deadline == 0 ? LOOK_S : (Int(deadline) - Int(time_ns())) / 1e9
        poll_fd(RawFD(out[]), clamp(left, 0, LOOK_S); readable = true)
    finally
        Threads.atomic_sub!(loader.users, 1)
    end
    return nothing
end

@noinline function throw_status(loader::Loader, status::Int32, memory::ErrorMemory)
    loader.closing[] && throw(closed("loader"))
    throw(failure(status, memory))
end

"""
    next!(loader; timeout = Inf)

The next batch, in order, held until `close(batch)` or until the collector finds it; or `:end_of_epoch` (once at the end of
each epoch), `:end` (after the last of `epochs` epochs, for ever), `:timeout` after `timeout` seconds, in which nothing is
lost. Several tasks and threads may call it: each gets a different batch.

Throws [`DatalineError`](@ref); `Dataline.ERR_BAD_SAMPLE` once a step: the next call gives the step's good samples.
"""
function next!(loader::Loader; timeout::Real = Inf)
    lease = new_lease(loader.lease.held; counted = true)
    memory = error_memory()
    deadline = isfinite(timeout) ? time_ns() + UInt64(round(max(timeout, 0) * 1e9)) : UInt64(0)
    status = next_status(loader, lease, memory, deadline)
    status == DL_OK && return Batch(lease, lease.turn, map(fresh, loader.fields))
    never_held(lease)
    status == DL_END_OF_EPOCH && return :end_of_epoch
    status == DL_END && return :end
    status == DL_TIMEOUT && return :timeout
    return throw_status(loader, status, memory)
end

# It got no batch: its finalizer has nothing to do, so it is taken off the count here.
never_held(lease::Lease) = (Threads.atomic_sub!(lease.held, 1); nothing)

# Gives back the loop's batch and takes the next; false at the end of the epoch.
@inline function advance!(loader::Loader)
    lease = loader.lease
    give_back(lease)
    status = next_status(loader, lease, loader.error, UInt64(0))
    status == DL_OK && return true
    status == DL_END_OF_EPOCH || status == DL_END || throw_status(loader, status, loader.error)
    return false
end

# Starts the next epoch if this one was left in the middle, or its end is due; false after the last.
function begin_epoch(loader::Loader)
    give_back(loader.lease)
    memory = error_memory()
    status = GC.@preserve memory ask(handle -> dl_loader_begin_epoch(handle, pointer(memory)), loader)
    status == DL_OK && return true
    status == DL_END && return false
    throw(failure(status, memory))
end

@inline loop_batch(loader::Loader) = Batch(loader.lease, loader.lease.turn, loader.fields)

"""
    iterate(loader)

One `for` loop is one epoch: the rest of this one after [`seek!`](@ref) or [`load_state!`](@ref), the next one from its first
step if the last loop was left in the middle, nothing after the last. Each batch is valid until the next one is taken;
`collect(loader)` keeps them all. An exception ends the loop; to go on in the same epoch, loop over an [`Epoch`](@ref).
"""
@inline Base.iterate(loader::Loader) = begin_epoch(loader) ? iterate(loader, nothing) : nothing
@inline Base.iterate(loader::Loader, ::Nothing) = advance!(loader) ? (loop_batch(loader), nothing) : nothing

"""
    length(loader)

Batches in an epoch, the same on every rank. A loop after a [`seek!`](@ref) into an epoch has fewer: see [`Epoch`](@ref).
"""
function Base.length(loader::Loader)
    steps = ask(dl_loader_steps, loader)
    steps < 0 && throw(DatalineError(ERR_UNSUPPORTED, "how many batches there are is not known"))
    return Int(steps)
end

Base.eltype(::Type{Loader{F}}) where {F} = Batch{F}
# `length` is that of a whole epoch, and a loop may be shorter; what sizes its result by it beforehand must not.
Base.IteratorSize(::Type{<:Loader}) = Base.SizeUnknown()

"""
    Epoch(loader)

One epoch, begun as a `for` over the loader begins it, as an iterator of its own: `length` is what is left of it, and a loop
that an exception ended (a bad sample, Ctrl-C) can be taken up again by another loop over the same `Epoch`.
"""
struct Epoch{L<:Loader}
    loader::L
    began::Bool
    number::Int
    function Epoch(loader::Loader)
        began = begin_epoch(loader)
        return new{typeof(loader)}(loader, began, position(loader).epoch)
    end
end

@inline Base.iterate(epoch::Epoch, _ = nothing) = epoch.began && ours(epoch) ? iterate(epoch.loader, nothing) : nothing
ours(epoch::Epoch) = position(epoch.loader).epoch == epoch.number
Base.eltype(::Type{Epoch{L}}) where {L} = eltype(L)
Base.IteratorSize(::Type{<:Epoch}) = Base.SizeUnknown() # `length` falls with each batch
function Base.length(epoch::Epoch)
    at = position(epoch.loader)
    return epoch.began && at.epoch == epoch.number ? length(epoch.loader) - at.step : 0
end

"""
    collect(loader)

All batches of an epoch, each kept as by [`keep`](@ref).
"""
Base.collect(loader::Loader) = kept_batches(Epoch(loader))
Base.collect(epoch::Epoch) = kept_batches(epoch)

function kept_batches(epoch::Epoch)
    batches = eltype(epoch)[]
    for batch in epoch
        push!(batches, keep(batch))
    end
    return batches
end
