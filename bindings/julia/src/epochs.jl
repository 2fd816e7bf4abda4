# Iteration: one `for` loop is one epoch.
#
# SPDX-License-Identifier: Apache-2.0

# Releases the loop's batch and takes the next one; false at the end of the epoch.
@inline function advance!(loader::Loader, loop::Loop)
    lease = loop.lease
    give_back(lease)
    status = next_status(loader, loop.epoch, lease, loop.error, UInt64(0))
    status == DL_OK && return true
    status == DL_END_OF_EPOCH || throw_status(loader, status, loop.error)
    return false
end

"""
    iterate(loader)

One `for` loop is one epoch. After [`seek!`](@ref) or [`load_state!`](@ref), it is the rest of the current epoch. If the last
loop was left in the middle, it is the next epoch from its first step. After the last epoch, it is empty. Each batch is valid
until the next one is taken; `collect(loader)` keeps them all. An exception ends the loop; to continue the same epoch, loop over
an [`Epoch`](@ref).

A new loop over the same loader, inside a loop or in another task, ends the earlier one: its next step throws
`Dataline.ERR_WRONG_STATE`.
"""
@inline Base.iterate(loader::Loader) = iterate(loader, way_through(loader, begin_loop(loader)))
@inline function Base.iterate(loader::Loader, loop::Loop)
    advance!(loader, loop) && return Batch(loop.lease, loop.lease.turn, loop.fields), loop
    release(loop.epoch) # nobody else has it
    return nothing
end

"""
    length(loader)

Batches per epoch, the same on every rank. A loop after a [`seek!`](@ref) into an epoch has fewer: see [`Epoch`](@ref).
"""
function Base.length(loader::Loader)
    steps = ask(dl_loader_steps, loader)
    steps < 0 && throw(DatalineError(ERR_UNSUPPORTED, "the number of batches is unknown"))
    return Int(steps)
end

Base.eltype(::Type{Loader{F}}) where {F} = Batch{F}
# `length` is that of a whole epoch, and a loop may be shorter; what sizes its result by it beforehand must not.
Base.IteratorSize(::Type{<:Loader}) = Base.SizeUnknown()

"""
    Epoch(loader)

One epoch as a separate iterator, started as a `for` over the loader starts it. `length` is the number of remaining batches. A
loop that an exception ended (a bad sample, Ctrl-C, [`interrupt`](@ref)`(epoch)`) can be continued with another loop over the
same `Epoch`. [`next!`](@ref)`(epoch)` takes one batch.

Several tasks share it if each loops over it: each batch goes to one of them, and all see its end. An epoch that has ended stays
ended. If a newer loop, a [`seek!`](@ref) or a [`load_state!`](@ref) ends it early, all tasks get `Dataline.ERR_WRONG_STATE`.

    epoch = Dataline.Epoch(loader)
    @sync for _ in 1:4
        Threads.@spawn for (image, label) in epoch
            ...
        end
    end
"""
struct Epoch{L<:Loader}
    loader::L
    handle::EpochHandle
    epoch::Int
end

function Epoch(loader::Loader)
    handle = begin_loop(loader)
    return Epoch{typeof(loader)}(loader, handle, position(loader).epoch)
end

@inline Base.iterate(epoch::Epoch) = iterate(epoch, way_through(epoch.loader, epoch.handle))
@inline Base.iterate(epoch::Epoch, loop::Loop) =
    advance!(epoch.loader, loop) ? (Batch(loop.lease, loop.lease.turn, loop.fields), loop) : nothing
next!(epoch::Epoch; timeout::Real = Inf) = next_held(epoch.loader, epoch.handle, timeout)

function interrupt(epoch::Epoch)
    handle = epoch.handle
    return GC.@preserve handle interrupt_waits(_ -> dl_epoch_interrupt(handle.handle), epoch.loader, handle.interrupts)
end

Base.eltype(::Type{Epoch{L}}) where {L} = eltype(L)
Base.IteratorSize(::Type{<:Epoch}) = Base.SizeUnknown() # `length` falls with each batch
function Base.length(epoch::Epoch)
    at = position(epoch.loader)
    return !epoch.handle.over && at.epoch == epoch.epoch ? length(epoch.loader) - at.step : 0
end

"""
    collect(loader)

All batches of an epoch, each held as by [`keep`](@ref).
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
