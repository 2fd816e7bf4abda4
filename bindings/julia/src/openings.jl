# Datasets that are opened on a thread of the library.
#
# SPDX-License-Identifier: Apache-2.0

"""
    open_async(uri; settings...)

Starts what `Dataset(uri; settings...)` does, and returns an [`Opening`](@ref). `fetch` throws errors in the URI or the data.
[`Extensions`](@ref) with a format or a storage in Julia are `Dataline.ERR_BAD_OPTION`, because a thread of the library opens
it. It may still change in a minor release.
"""
function open_async(uri::AbstractString; settings...)
    any(((_, value),) -> value isa Extensions && value.opens_in_julia, settings) && throw(DatalineError(ERR_BAD_OPTION,
        "extensions: formats and storages in Julia run only on Julia's threads: open with Dataset(uri)"))
    out = Ref{Handle}(C_NULL)
    with_options(options -> check(error -> dl_dataset_open_async(uri, options, out, error)), settings)
    return Opening(out[])
end

"""
    Opening

A dataset that a thread of the library is opening, returned by [`open_async`](@ref):

    opening = Dataline.open_async("folder:photos")
    while !wait(opening; timeout = 0.1)
        println(Dataline.progress(opening).entries, " files found")
    end
    dataset = fetch(opening)

`fetch` waits for the dataset. `wait` waits at most `timeout` seconds, `isready` not at all. Other tasks run meanwhile.
[`progress`](@ref) returns the progress so far. [`cancel`](@ref) and `close` end the opening. Any thread.
"""
mutable struct Opening <: SharedHandle
    handle::Handle
    state::Threads.Atomic{Int}
    waits::Waits
    taking::ReentrantLock
    dataset::Union{Nothing,Dataset} # once it was taken; under `taking`
    Opening(handle::Handle) = finalizer(close_later, new(handle, Threads.Atomic{Int}(0), Waits(), ReentrantLock(), nothing))
end

kind_of(::Opening) = "opening"

function destroy(opening::Opening)
    handle, opening.handle = opening.handle, C_NULL
    dl_opening_destroy(handle)
    return nothing
end

wait_handle(::Opening, handle::Handle, out, error) = dl_opening_wait_handle(handle, out, error)

# The status of a call with an opening's handle, and what it wrote.
function ask_opening(call, opening::Opening)
    memory = error_memory()
    status = GC.@preserve memory ask(handle -> call(handle, pointer(memory)), opening)
    return status, memory
end

"""
    isready(opening)

Whether `fetch` would not wait.
"""
Base.isready(opening::Opening) = progress(opening).done

"""
    wait(opening; timeout = Inf)

Waits until `fetch` would not wait, or until `timeout` seconds have passed. Returns `isready(opening)`. Other tasks run
meanwhile.
"""
function Base.wait(opening::Opening; timeout::Real = Inf)
    deadline = deadline_after(timeout)
    while true
        seen = opening.waits.changes[]
        isready(opening) && return true
        is_past(deadline) && return false
        wait_for_handle(opening, seen, deadline)
    end
end

"""
    fetch(opening)

Waits for the [`Dataset`](@ref) and returns it, the same one each time. Throws the errors of `Dataset(uri)`, and
`Dataline.CANCELLED` if the opening was ended.
"""
function Base.fetch(opening::Opening)
    wait(opening)
    return lock(opening.taking) do
        if opening.dataset === nothing
            out = Ref{Handle}(C_NULL)
            status, details = ask_opening((handle, error) -> dl_opening_wait(handle, 0, out, error), opening)
            status == DL_OK || throw(failure(status, details))
            opening.dataset = Dataset(out[], false)
        end
        opening.dataset
    end
end

cancel(opening::Opening) = (try_using(dl_opening_cancel, opening); nothing)

"""
    close(opening)

Ends the opening if it is still running, which waits for the file that is being opened now. A dataset that was fetched stays
open. Closing twice is allowed.
"""
Base.close(opening::Opening) = close_with(_ -> wake(opening.waits), opening)

Base.show(io::IO, opening::Opening) =
    print(io, "Opening(", isopen(opening) ? string(progress(opening)) : "closed", ")")
