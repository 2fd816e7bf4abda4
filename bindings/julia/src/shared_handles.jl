# Handles that any thread may use and close, also at once.
#
# SPDX-License-Identifier: Apache-2.0

# Has `handle::Handle` and `state::Threads.Atomic{Int}`: the calls in progress, and IS_CLOSED once it was closed. Nobody enters
# after that, and the last who leaves calls `destroy(owner)`. `kind_of(owner)` is its name in errors.
abstract type SharedHandle end

const IS_CLOSED = 1 << 62

"""
    close(dataset)
    close(writer)

Gives it up. Of a dataset, loaders, composed datasets and calls in progress go on. A writer ends after the calls in progress:
without [`finish`](@ref) the finished shards stay in PATH.partial. Twice is fine, also from two tasks at once.
"""
function Base.close(owner::SharedHandle)
    before = Threads.atomic_or!(owner.state, IS_CLOSED)
    before == 0 && destroy(owner)
    return nothing
end
Base.isopen(owner::SharedHandle) = owner.state[] & IS_CLOSED == 0

# Begins a call with the handle.
function enter(owner::SharedHandle)
    before = owner.state[]
    while before & IS_CLOSED == 0
        found = Threads.atomic_cas!(owner.state, before, before + 1)
        found == before && return owner.handle
        before = found
    end
    throw(closed(kind_of(owner)))
end

function leave(owner::SharedHandle)
    Threads.atomic_sub!(owner.state, 1) == IS_CLOSED + 1 && destroy(owner)
    return nothing
end

# Calls `call(handle)` while it cannot be destroyed.
function using_handle(call, owner::SharedHandle)
    handle = enter(owner)
    try
        return call(handle)
    finally
        leave(owner)
    end
end
