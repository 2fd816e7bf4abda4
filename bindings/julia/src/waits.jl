# How tasks wait in Julia's event loop for the library.
#
# The library has a descriptor for event loops, which is readable while a call would not wait. All other events that end a wait
# are calls of this package: an interrupt, a seek, a new loop, `close`, the end of another task's turn, the end of an epoch that
# another task received. Such a call wakes the tasks, which check again. Nothing else wakes them.
#
# SPDX-License-Identifier: Apache-2.0

struct Waits
    changes::Threads.Atomic{Int} # how often something happened that may end a wait
    waiting::Threads.Atomic{Int} # tasks that wait for the next change
    # Not Threads.Condition: `wake` is called with interrupts off, where no task may yield. Its lock is held for moments.
    tasks::Base.ThreadSynchronizer
    held::Threads.Atomic{Int} # batches of `keep` and `next!` that are out: the collector may have to release them
end
Waits() = Waits(Threads.Atomic{Int}(0), Threads.Atomic{Int}(0), Base.ThreadSynchronizer(), Threads.Atomic{Int}(0))

# Any thread, also with interrupts off; not in a finalizer.
@inline function wake(waits::Waits)
    Threads.atomic_add!(waits.changes, 1)
    waits.waiting[] == 0 || wake_tasks(waits)
    return nothing
end

@noinline wake_tasks(waits::Waits) = disable_sigint() do
    lock(waits.tasks)
    notify(waits.tasks)
    unlock(waits.tasks)
end

# Waits until `waits.changes` differs from `seen`, which the caller read before it checked its condition. Also ends at
# `deadline`, a time of time_ns (0: there is none), or when `descriptor` is readable, if there is one. May return early.
#
# Julia delivers Ctrl-C to the task that waited last. The tasks that wait for events here end before this returns, and what
# interrupted them is thrown to the caller.
function wait_for_change(waits::Waits, seen::Int, deadline::UInt64, descriptor::Union{Nothing,RawFD} = nothing)
    events = Any[]
    deadline == 0 || push!(events, Timer(max(signed(deadline - time_ns()), 0) / 1e9))
    descriptor === nothing || push!(events, FDWatcher(descriptor, true, false))
    over = Ref(false)
    helpers = [@async(wait_then_wake(event, waits, over)) for event in events]
    Threads.atomic_add!(waits.waiting, 1)
    lock(waits.tasks)
    try
        while waits.changes[] == seen
            wait(waits.tasks)
        end
    finally
        unlock(waits.tasks)
        Threads.atomic_sub!(waits.waiting, 1)
        over[] = true
        foreach(close, events)
    end
    causes = filter(!isnothing, map(ended_by, helpers))
    isempty(causes) || throw(first(causes))
    return nothing
end

# Returns what ended the wait if the caller must learn of it: Ctrl-C or a failure, not the `close` at the end.
function wait_then_wake(event, waits::Waits, over::Ref{Bool})
    try
        wait(event)
    catch cause
        over[] && !(cause isa InterruptException) || return cause
    finally
        over[] || wake(waits)
    end
    return nothing
end

# The value that `task` returned, or the exception that ended it.
function ended_by(task::Task)
    try
        return fetch(task)
    catch cause
        cause isa TaskFailedException || rethrow()
        return task.result
    end
end

# As `wait_for_change`, also until the library's descriptor is readable. The owner cannot be destroyed meanwhile. Closing it ends
# the wait.
function wait_for_handle(owner::SharedHandle, seen::Int, deadline::UInt64)
    handle = try_enter(owner)
    handle == C_NULL && return nothing
    try
        out = Ref(0)
        check(error -> wait_handle(owner, handle, out, error))
        # A duplicate: tasks that watch the same descriptor share a watcher, which ends their waits only when all have closed it.
        mine = ccall(:dup, Cint, (Cint,), out[])
        systemerror("dup", mine < 0)
        try
            wait_for_change(owner.waits, seen, deadline, RawFD(mine))
        finally
            ccall(:close, Cint, (Cint,), mine)
        end
    finally
        leave(owner)
    end
    return nothing
end

# In so many seconds, as a time of time_ns. From 290 years on there is none.
function deadline_after(timeout::Real)
    isnan(timeout) && throw(ArgumentError("timeout: expected seconds, got NaN"))
    return timeout < 9e9 ? time_ns() + round(UInt64, max(timeout, 0) * 1e9) : UInt64(0)
end

is_past(deadline::UInt64) = deadline != 0 && time_ns() >= deadline
