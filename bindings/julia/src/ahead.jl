# A loop whose batches another of Julia's threads loads, for samples that Julia reads.
#
# Julia code runs only on Julia's threads, so such a loader has no workers (num_workers=0): the call for a batch makes it. Here
# a task makes that call while the loop's body runs.
#
# SPDX-License-Identifier: Apache-2.0

mutable struct Ahead{S<:Union{Loader,Epoch}}
    source::S
    batches::Int
    run::Any # the Run of the loop under way, or nothing
    state::String
end

"""
    ahead(loader; batches = 2)
    ahead(epoch; batches = 2)

Returns the same batches, in the same order. A task on another of Julia's threads (`julia -t 2`) takes up to `batches` of them
ahead of the loop. Use it for a [`Reader`](@ref), an operator or a storage in Julia, so that they work while the loop's body
runs. With one thread they work whenever the body waits. Each batch is valid until the next one is taken, as in a loop over the
loader.

    for (x, label) in Dataline.ahead(Dataline.Loader(reader; num_workers = 0, batchsize = 64))

In the loop `save_state(ahead)` is the state after the current batch; `save_state(loader)` and `position(loader)` describe what
was loaded. After a `break`, loading continues until `close(ahead)` or the next loop. The batches loaded ahead are then
released, and the next loop starts the next epoch. If loading throws, the loop throws when it reaches that batch. `batches + 1`
batches are held at a time (option `max_leases`).

Loaders of files have workers, and do not need `ahead`.
"""
function ahead(source::Union{Loader,Epoch}; batches::Integer = 2)
    batches >= 1 || throw(DatalineError(ERR_INVALID_ARGUMENT, "batches: expected 1 or more, got $batches"))
    return Ahead{typeof(source)}(source, batches, nothing, "")
end

the_loader(ahead::Ahead) = ahead.source isa Loader ? ahead.source : ahead.source.loader

# One epoch's task, and what it has loaded: a batch, `nothing` at the end, or what was thrown; each with the state after it.
struct Run
    loaded::Channel{Pair{Any,String}}
    left::Threads.Atomic{Bool}
    task::Task
end

function Run(epoch::Epoch, batches::Int)
    loaded, left = Channel{Pair{Any,String}}(batches - 1), Threads.Atomic{Bool}(false) # one more waits to be put in
    return Run(loaded, left, elsewhere(() -> load_ahead(epoch, loaded, left)))
end

function load_ahead(epoch::Epoch, loaded, left)
    last = nothing
    try
        for batch in epoch
            kept = keep(batch)
            close(batch) # the loop's own hold on it, which would last while this waits
            hand_over(kept, epoch.loader, loaded, left) || return nothing
        end
    catch problem
        last = problem
    end
    hand_over(last, epoch.loader, loaded, left)
    return nothing
end

# False: nobody wants it any more.
function hand_over(item, loader::Loader, loaded, left)
    state = try
        isopen(loader) ? save_state(loader) : ""
    catch problem
        item isa Batch && close(item)
        item = problem
        ""
    end
    try
        put!(loaded, item => state)
        return true
    catch
        item isa Batch && close(item)
        left[] || rethrow()
        return false
    end
end

@static if VERSION >= v"1.7"
    elsewhere(call) = Threads.@spawn call()
else # a task stays with the thread that it begins in, and that would be this one, which is about to wait for it
    function elsewhere(call)
        task, here, count = Task(call), Threads.threadid(), Threads.nthreads()
        task.sticky = true
        ccall(:jl_set_task_tid, Cvoid, (Any, Cint), task, (here == count ? 1 : count) - 1)
        return schedule(task)
    end
end

"""
    close(ahead)

Ends the loading after a `break`, and waits for the batch that is being loaded. The loader stays open.
"""
function Base.close(ahead::Ahead)
    run = ahead.run
    run === nothing && return nothing
    ahead.run = nothing
    run.left[] = true
    close(run.loaded)
    while isready(run.loaded)
        item, _ = take!(run.loaded)
        item isa Batch && close(item)
    end
    wait(run.task)
    return nothing
end

function Base.iterate(ahead::Ahead)
    close(ahead)
    ahead.run = Run(ahead.source isa Loader ? Epoch(ahead.source) : ahead.source, ahead.batches)
    return iterate(ahead, nothing)
end

function Base.iterate(ahead::Ahead{S}, before::Union{Nothing,Batch}) where {S}
    before === nothing || close(before)
    run = ahead.run
    run === nothing && throw(DatalineError(ERR_WRONG_STATE, "this loop was ended by close(ahead) or by another loop over it"))
    item, ahead.state = take!(run.loaded)
    item isa eltype(S) && return item, item
    close(ahead)
    item === nothing || throw(item)
    return nothing
end

save_state(ahead::Ahead) = ahead.run === nothing ? save_state(the_loader(ahead)) : ahead.state
Base.length(ahead::Ahead) = length(ahead.source)
Base.eltype(::Type{Ahead{S}}) where {S} = eltype(S)
Base.IteratorSize(::Type{<:Ahead}) = Base.SizeUnknown()
Base.show(io::IO, ahead::Ahead) = print(io, "ahead(", ahead.source, "; batches = ", ahead.batches, ")")
