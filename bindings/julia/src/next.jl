# Taking batches one by one.
#
# SPDX-License-Identifier: Apache-2.0

# A wait never stays in the library for long, for Julia's collector and Ctrl-C wait for such a call. It goes there for this
# time, in which it helps to fill the batch, lets other tasks run, and goes there again;
const HELP_NS = 1_000_000
# after so many times it waits in Julia's event loop.
const HELPS = 50
# While tasks wait there and batches are kept, one of them runs the collector this often: it sends no notifications.
const COLLECT_NS = 500_000_000

# Another task's call reads samples in Julia. A status of this package, in addition to those of the library.
const TURN_TAKEN = typemax(Int32)

# `call()` in the loader's turn: one call at a time where samples are read in Julia. A second thread would wait inside the library
# for the one that reads, and that one for it, as soon as the collector wants all threads back in Julia. A reader that calls has
# the turn; the library refuses what would wait for itself.
@inline function in_turn(call, loader::Loader)
    loader.reads_in_julia || return call()
    if Threads.atomic_cas!(loader.turn, 0, 1) != 0
        return loader.turn_of === current_task() ? call() : TURN_TAKEN
    end
    loader.turn_of = current_task()
    status = call()
    loader.turn_of = nothing
    Threads.atomic_xchg!(loader.turn, 0)
    wake(loader.waits)
    return status
end

# The library writes the batch into the lease. With interrupts off until it is there, none is lost. `epoch` is the loop that takes
# it, or nothing.
@inline function call_next(loader::Loader, epoch, lease::Lease, memory::ErrorMemory, timeout_ns::Int)
    return try_using(loader, DL_ERR_WRONG_STATE) do handle
        in_turn(() -> take(loader, handle, epoch, lease, memory, timeout_ns), loader)
    end
end

@inline function take(loader::Loader, handle::Handle, epoch, lease::Lease, memory::ErrorMemory, timeout_ns::Int)
    GC.@preserve epoch lease memory begin
        place = Ptr{Handle}(pointer_from_objref(lease)) # `batch` is the first member
        given = library_next(handle, epoch, timeout_ns, place, pointer(memory))
        if given == DL_OK
            received(lease)
        elseif given == DL_END_OF_EPOCH
            epoch === nothing || (epoch.over = true)
            wake(loader.waits) # all who take from the loop see its end
        end
    end
    return given
end

@inline library_next(loader::Handle, ::Nothing, timeout_ns, place, error) = dl_loader_next(loader, timeout_ns, place, error)
@inline library_next(::Handle, epoch::EpochHandle, timeout_ns, place, error) =
    epoch.handle == C_NULL ? DL_END_OF_EPOCH : dl_epoch_next(epoch.handle, timeout_ns, place, error)

# The next status. Waits until `deadline` if necessary (of time_ns; 0: no limit).
@inline function next_status(loader::Loader, epoch, lease::Lease, memory::ErrorMemory, deadline::UInt64)
    status = call_next(loader, epoch, lease, memory, 0)
    return status == DL_OK || status == DL_END_OF_EPOCH ? status : next_slowly(loader, epoch, lease, memory, deadline, status)
end

@noinline function next_slowly(loader, epoch, lease, memory, deadline, status::Int32)
    waits = loader.waits
    collected, helps = false, 0
    began, seen, interrupted = interrupts_at_rest(loader, epoch), -1, false # the first call saw no changes
    while true
        if (status == DL_ERR_LEASES_HELD || status == DL_ERR_OVER_BUDGET) && !collected
            collected = true
            collect_kept(loader)
        elseif status != DL_TIMEOUT && status != TURN_TAKEN
            return status
        elseif is_past(deadline)
            return DL_TIMEOUT
        elseif interrupted
            return DL_INTERRUPTED
        elseif status == TURN_TAKEN
            position(loader) # throws in a forked child, where the thread that has the turn is gone
            wait_for_change(waits, seen, deadline)
        elseif helps > HELPS
            wait_for_handle(loader, seen, earlier(deadline, collect_for_lease(loader)))
        elseif helps > 0
            yield() # the other tasks' turn between two pieces of work
        end
        helps += status == DL_TIMEOUT
        patience = deadline == 0 ? HELP_NS : clamp(signed(deadline - time_ns()), 0, HELP_NS)
        seen = waits.changes[]
        interrupted = interrupts_of(loader, epoch) != began
        status = call_next(loader, epoch, lease, memory, helps > HELPS ? 0 : patience)
    end
end

earlier(a::UInt64, b::UInt64) = a == 0 ? b : b == 0 ? a : min(a, b)

# How many interrupts there were that end the waits of `epoch`, or of the loader alone. The library ends the waits that are
# inside it, or else the next call. Tasks that wait in Julia are not inside it: they compare this number.
interrupts_of(loader, ::Nothing) = loader.interrupts[]
interrupts_of(loader, epoch::EpochHandle) = loader.interrupts[] + epoch.interrupts[]

# The same, not in the middle of an interrupt, which would be counted twice: by the library and here.
interrupts_at_rest(loader, epoch) = disable_sigint() do
    lock(loader.waits.tasks)
    count = interrupts_of(loader, epoch)
    unlock(loader.waits.tasks)
    count
end

# `call(handle)` interrupts in the library. A task that sees the new number calls once more before it stops: that call takes an
# interrupt that the library keeps for the next call.
function interrupt_waits(call, loader, interrupts::Threads.Atomic{Int})
    try_using(loader) do handle
        lock(loader.waits.tasks)
        call(handle)
        Threads.atomic_add!(interrupts, 1)
        unlock(loader.waits.tasks)
        wake(loader.waits)
    end
    return nothing
end

"""
    interrupt(loader)
    interrupt(epoch)

Ends the wait of every call that waits for a batch: it throws `Dataline.INTERRUPTED`. If no call waits, the next one is
interrupted, so an interrupt is never lost. A [`seek!`](@ref) or a [`load_state!`](@ref) clears that of a loader. That of an
[`Epoch`](@ref) affects only the tasks that take from it. No batch is lost. Any thread; never blocks. Does nothing on a closed
loader.
"""
interrupt(loader::Loader) = interrupt_waits(dl_loader_interrupt, loader, loader.interrupts)

# Kept batches without references, and those of loops that other tasks left, are released by the garbage collector, which
# does not know their size.
may_be_kept(loader::Loader) = loader.waits.held[] > 0 || loader.scattered
collect_kept(loader::Loader) = (may_be_kept(loader) && GC.gc(); nothing)

# A batch that is ready and does not come waits for a lease. Returns when to look again, 0: never.
function collect_for_lease(loader::Loader)
    may_be_kept(loader) || return UInt64(0)
    if time_ns() >= loader.collect_at
        loader.collect_at = time_ns() + COLLECT_NS # the other tasks that wait need not
        stats(loader).ready_batches > 0 && GC.gc()
    end
    return loader.collect_at
end

wait_handle(::Loader, handle::Handle, out, error) = dl_loader_wait_handle(handle, out, error)

@noinline function throw_status(loader::Loader, status::Int32, memory::ErrorMemory)
    isopen(loader) || throw(closed("loader"))
    throw(failure(status, memory))
end

"""
    next!(loader; timeout = Inf)
    next!(epoch; timeout = Inf)

Returns the next batch, in order, held until `close(batch)` or until the garbage collector finds it unused. Without a batch:

- `:end_of_epoch`: for a loader once at the end of each epoch; for an [`Epoch`](@ref) on every later call.
- `:end`: for a loader, after the last of `epochs` epochs, on every call.
- `:timeout`: after `timeout` seconds; nothing is lost.

Several tasks and threads may call it: each gets a different batch. Throws [`DatalineError`](@ref); `Dataline.ERR_BAD_SAMPLE`
once per step: the next call delivers the good samples of that step.
"""
next!(loader::Loader; timeout::Real = Inf) = next_held(loader, nothing, timeout)

function next_held(loader::Loader, epoch, timeout)
    deadline = deadline_after(timeout)
    lease = new_lease(loader.waits; counted = true)
    memory = error_memory()
    status = next_status(loader, epoch, lease, memory, deadline)
    status == DL_OK && return Batch(lease, lease.turn, map(fresh, loader.fields))
    status == DL_END_OF_EPOCH && return :end_of_epoch
    status == DL_END && return :end
    status == DL_TIMEOUT && return :timeout
    return throw_status(loader, status, memory)
end

"""
    read(dataset, index; settings...)

Reads the sample `index`, from 0, through the transforms of the settings, as a [`Batch`](@ref) of one. For viewers and tests,
not for training. Throws `Dataline.ERR_OUT_OF_RANGE` for the index, and the errors of [`Loader`](@ref) and [`next!`](@ref).
"""
function Base.read(dataset::Dataset, index::Integer; settings...)
    lease = new_lease(Waits(); counted = true)
    memory = error_memory()
    status = with_options(translated(settings)) do options
        using_handle(handle -> read_sample(handle, Int64(index), options, lease, memory), dataset)
    end
    status == DL_OK || throw(failure(status, memory))
    schema = GC.@preserve lease read_fields(count -> dl_batch_views(lease.batch, Base.unsafe_convert(Ptr{Int32}, count)))
    seen = Tuple(seen_as(field, at) for (at, field) in enumerate(schema))
    return Batch(lease, lease.turn, NamedTuple{Tuple(field.name for field in schema)}(seen))
end

# As `take`, of a dataset.
function read_sample(dataset::Handle, index::Int64, options::Handle, lease::Lease, memory::ErrorMemory)
    return disable_sigint() do
        GC.@preserve lease memory begin
            place = Ptr{Handle}(pointer_from_objref(lease))
            given = dl_dataset_read(dataset, index, options, place, pointer(memory))
            given == DL_OK && received(lease)
            given
        end
    end
end

"""
    work(loader, budget)

`num_workers = 0`: loads on this thread for about `budget` seconds, for example in a frame loop; at least one run of samples.
True: [`next!`](@ref) returns immediately. With workers it loads nothing.
"""
function work(loader::Loader, budget::Real)
    memory = error_memory()
    nanoseconds = round(Int64, clamp(budget, 0, 9e9) * 1e9)
    status = GC.@preserve memory ask(loader) do handle
        in_turn(() -> dl_loader_work(handle, nanoseconds, pointer(memory)), loader)
    end
    status in (DL_OK, DL_TIMEOUT, TURN_TAKEN) || throw_status(loader, status, memory)
    return status == DL_OK
end
