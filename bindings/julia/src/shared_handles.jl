# Handles that any thread may use and close, also concurrently.
#
# SPDX-License-Identifier: Apache-2.0

# Has `handle::Handle` and `state::Threads.Atomic{Int}`: the number of calls in progress, plus IS_CLOSED once it was closed.
# No call begins after that, and the last one that ends calls `destroy(owner)`. `kind_of(owner)` is its name in errors.
abstract type SharedHandle end

const IS_CLOSED = 1 << 62

"""
    close(dataset)
    close(writer)

Releases it. Loaders, composed datasets and calls in progress keep their own references to a dataset. A writer ends after the
calls in progress. Without [`finish`](@ref), its finished shards stay in `PATH.partial`. Closing twice is allowed, also from two
tasks concurrently.
"""
Base.close(owner::SharedHandle) = close_with(handle -> nothing, owner)

# Closes it. `end_waits(handle)` makes the calls in progress end sooner; it neither throws nor yields.
function close_with(end_waits, owner::SharedHandle)
    try_using(owner) do handle
        Threads.atomic_or!(owner.state, IS_CLOSED)
        end_waits(handle)
    end
    return nothing
end

Base.isopen(owner::SharedHandle) = owner.state[] & IS_CLOSED == 0

# Begins a call; C_NULL: it is closed, and there is nothing to end.
@inline function try_enter(owner::SharedHandle)
    before = owner.state[]
    while before & IS_CLOSED == 0
        found = Threads.atomic_cas!(owner.state, before, before + 1)
        found == before && return owner.handle
        before = found
    end
    return C_NULL
end

# Ends a call. True: it was the last of a closed handle, and the caller destroys it.
@inline leave_last(owner::SharedHandle) = Threads.atomic_sub!(owner.state, 1) == IS_CLOSED + 1

function enter(owner::SharedHandle)
    handle = try_enter(owner)
    handle == C_NULL && throw(closed(kind_of(owner)))
    return handle
end

leave(owner::SharedHandle) = (leave_last(owner) && destroy(owner); nothing)

# Calls `call(handle)` while the handle cannot be destroyed.
function using_handle(call, owner::SharedHandle)
    handle = enter(owner)
    try
        return call(handle)
    finally
        leave(owner)
    end
end

# The same with interrupts off, for a `call` that neither throws nor yields. Returns `otherwise` if it is closed.
@inline function try_using(call, owner::SharedHandle, otherwise = nothing)
    result, last = disable_sigint() do
        handle = try_enter(owner)
        handle == C_NULL ? (otherwise, false) : (call(handle), leave_last(owner))
    end
    last && destroy(owner)
    return result
end

function ask(call, owner::SharedHandle)
    result = try_using(call, owner)
    result === nothing && throw(closed(kind_of(owner)))
    return result
end

# The finalizer of a handle whose `destroy` blocks, which no finalizer may do: a task destroys it. There are no tasks any more
# when the program ends.
function close_later(owner::SharedHandle)
    owner.handle == C_NULL && return nothing
    EXITING[] ? destroy(owner) : @async destroy(owner)
    return nothing
end
const EXITING = Ref(false)
