# Loops: the library's handle, and how a task goes through one.
#
# SPDX-License-Identifier: Apache-2.0

# The library's handle of one loop. All tasks that share the loop use it. Released by the collector, or at the end of a `for` over
# a loader, which shares it with nobody.
mutable struct EpochHandle
    handle::Handle # the library writes here; C_NULL: no epoch was left, or it was released at its end
    over::Bool # END_OF_EPOCH was returned
    interrupts::Threads.Atomic{Int} # see `interrupts_of`
    EpochHandle() = finalizer(epoch -> in_finalizer(release, epoch), new(C_NULL, false, Threads.Atomic{Int}(0)))
end

# No call with it is in progress.
release(epoch::EpochHandle) = disable_sigint() do
    handle, epoch.handle = epoch.handle, C_NULL
    dl_epoch_release(handle) # NULL is fine
end

# A task's way through a loop: the lease and the wrapped arrays of its batches. Loops of one task, one after the other, use them
# again; tasks that share a loop have their own.
mutable struct Loop{F<:NamedTuple}
    epoch::EpochHandle
    lease::Lease
    error::ErrorMemory
    fields::F
    task::UInt
end

Loop(epoch::EpochHandle, waits::Waits, fields::NamedTuple) =
    Loop(epoch, new_lease(waits; counted = false), error_memory(), map(fresh, fields), objectid(current_task()))

# The loop that begins now; one without batches after the last epoch.
function begin_loop(loader)
    epoch, memory = EpochHandle(), error_memory()
    status = GC.@preserve epoch memory ask(loader) do handle
        given = dl_loader_epoch(handle, Ptr{Handle}(pointer_from_objref(epoch)), pointer(memory)) # `handle` is the first member
        wake(loader.waits) # the loop before it has ended
        given
    end
    status == DL_OK || status == DL_END || throw(failure(status, memory))
    epoch.over = status == DL_END
    return epoch
end

# Through the loop by this task. By lease and arrays of the last loop if that was this task's, which then is over or left.
function way_through(loader, epoch::EpochHandle)
    last, task = loader.loop, objectid(current_task())
    if last.task == task
        give_back(last.lease)
        loop = typeof(last)(epoch, last.lease, last.error, last.fields, task)
    else
        loader.scattered || (loader.scattered = true; wake(loader.waits)) # see `collect_for_lease`
        loop = Loop(epoch, loader.waits, loader.fields)
    end
    loader.loop = loop
    return loop
end
