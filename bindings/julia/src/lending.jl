# Julia objects borrowed by the library, and handles released by finalizers.
#
# SPDX-License-Identifier: Apache-2.0

# Borrowed objects, by the context address that the library passes back. An entry keeps its object alive.
const LOANS = Dict{Ptr{Cvoid},Any}()
const LOANS_LOCK = ReentrantLock()

# The library calls `release(context)` from any thread, and Julia code must not run on foreign threads. (Before 1.9 that is
# undefined; later, such a thread can still block the garbage collector.) So `release` is libuv's uv_async_send, a C function
# of this process that any thread may call, and `context` is the handle of an AsyncCondition. The event loop then wakes a
# task here, which removes the entry.
release_function() = cglobal(:uv_async_send)

"""
    lend(call, object)

Keeps `object` alive and calls `call(release, context)`. The object is released when the library has called `release(context)`.
If `call` throws, it is released immediately, because the library has not taken the loan.
"""
function lend(call, object)
    returned = Base.AsyncCondition()
    context = Base.unsafe_convert(Ptr{Cvoid}, returned)
    lock(() -> (LOANS[context] = object), LOANS_LOCK)
    forget() = lock(() -> delete!(LOANS, context), LOANS_LOCK)
    try
        result = call(release_function(), context)
        # Not AsyncCondition(callback): that closes over nothing we could order. One wake-up is all there is.
        @async begin
            try
                wait(returned)
            finally
                forget()
                close(returned)
            end
        end
        return result
    catch
        forget()
        close(returned)
        rethrow()
    end
end

# An object that pins the memory of an array while it is borrowed. Growing or shrinking a Vector would move or free its memory
# under the library's threads. Up to Julia 1.10, a second array over the same memory makes Julia reject that permanently
# ("cannot resize array with shared data"). From 1.11 on, a growing Vector takes new memory, and the old memory lives as long
# as it is referenced.
@static if VERSION < v"1.11-"
    memory_of(vector::Vector) = reshape(vector, length(vector), 1)
else
    memory_of(vector::Vector) = getfield(vector, :ref).mem
end
memory_of(array::Array) = array
function memory_of(array::AbstractArray) # a view or the like
    under = parent(array)
    return under === array ? array : (array, memory_of(under))
end

lent(context::Ptr{Cvoid}) = lock(() -> LOANS[context], LOANS_LOCK)

# How many of Julia's own readers are being called now. Their callers are inside the library, where no other call may be
# made, and a finalizer may run at any allocation: it then puts itself off to the next collection.
const READING = Threads.Atomic{Int}(0)
const READERS = Waits()

function end_reading()
    Threads.atomic_sub!(READING, 1)
    wake(READERS)
    return nothing
end

# Before a call that no reader's caller may make, and that cannot be put off.
function wait_for_readers()
    while !EXITING[]
        seen = READERS.changes[]
        READING[] == 0 && return nothing
        wait_for_change(READERS, seen, UInt64(0))
    end
    return nothing
end

# Only calls that the library allows from any thread and that do not block may be made in a finalizer.
function in_finalizer(give_back, object)
    READING[] == 0 ? give_back(object) : finalizer(o -> in_finalizer(give_back, o), object)
    return nothing
end
