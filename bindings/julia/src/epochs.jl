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

# The library writes the batch into the lease. With interrupts off until it is there, none is lost. `loop` is the number of the
# loop that takes it, 0: none.
@inline function call_next(loader::Loader, lease::Lease, memory::ErrorMemory, timeout_ns::Int, loop::Int)
    status = disable_sigint() do
        Threads.atomic_add!(loader.users, 1)
        given = DL_ERR_WRONG_STATE
        if !loader.closing[]
            given = loop != 0 ? take_in_turn(loader, lease, memory, timeout_ns, loop) :
                loader.reads_in_julia ? take_alone(loader, lease, memory, timeout_ns) : take(loader, lease, memory, timeout_ns)
        end
        Threads.atomic_sub!(loader.users, 1)
        given
    end
    return status
end

@inline function take(loader::Loader, lease::Lease, memory::ErrorMemory, timeout_ns::Int)
    GC.@preserve lease memory begin
        place = Ptr{Handle}(pointer_from_objref(lease)) # `batch` is the first member
        given = dl_loader_next(loader.handle, timeout_ns, place, pointer(memory))
        given == DL_OK && (lease.views = dl_batch_views(lease.batch, Ptr{Int32}(C_NULL)))
    end
    return given
end

# As a loop's calls, where samples are read in Julia: a second thread would wait inside the library for the one that reads, and
# that one for it, as soon as the collector wants all threads back in Julia.
@inline function take_alone(loader::Loader, lease::Lease, memory::ErrorMemory, timeout_ns::Int)
    try_turn(loader.loops) || return TURN_TAKEN
    status = take(loader, lease, memory, timeout_ns)
    give_turn(loader.loops)
    return status
end

# The next status, waiting if need be until `deadline` (of time_ns; 0: for ever).
@inline function next_status(loader::Loader, lease::Lease, memory::ErrorMemory, deadline::UInt64, loop::Int)
    status = call_next(loader, lease, memory, 0, loop)
    return status == DL_OK || status == DL_END_OF_EPOCH ? status : next_slowly(loader, lease, memory, deadline, loop, status)
end

@noinline function next_slowly(loader, lease, memory, deadline, loop, status::Int32)
    collected = false
    helps = 0
    interrupts = loader.interrupts[]
    while true
        if status == TURN_TAKEN # by another task of the same loop, or by what ends it; not for long, unless Julia reads
            deadline != 0 && time_ns() >= deadline && return DL_TIMEOUT
            interrupts == loader.interrupts[] || return DL_INTERRUPTED
            position(loader) # throws in a forked child, where the thread that has the turn is gone
            yield()
            status = call_next(loader, lease, memory, 0, loop)
            continue
        end
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
        status = call_next(loader, lease, memory, helps > HELPS ? 0 : patience, loop)
    end
end

# Kept batches without references, and those of loops that other tasks left, are released by the garbage collector, which
# does not know their size.
collect_kept(loader::Loader) = ((loader.held[] > 0 || loader.scattered) && GC.gc(); nothing)

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
    status == LOOP_ENDED && throw(loop_ended())
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
    lease = new_lease(loader.held; counted = true)
    Threads.atomic_add!(loader.loops.strangers, 1)
    memory = error_memory()
    isnan(timeout) && throw(ArgumentError("timeout: expected seconds, got NaN"))
    # From 290 years on it is none.
    deadline = timeout < 9e9 ? time_ns() + UInt64(round(max(timeout, 0) * 1e9)) : UInt64(0)
    status = next_status(loader, lease, memory, deadline, 0)
    status == DL_OK && return Batch(lease, lease.turn, map(fresh, loader.fields))
    never_held(lease)
    status == DL_END_OF_EPOCH && return :end_of_epoch
    status == DL_END && return :end
    status == DL_TIMEOUT && return :timeout
    return throw_status(loader, status, memory)
end

"""
    read(dataset, index; settings...)

The sample `index`, from 0, through the transforms of the settings, as a [`Batch`](@ref) of one: for viewers and tests, not for
training. Throws what [`Loader`](@ref) and [`next!`](@ref) throw; `Dataline.ERR_OUT_OF_RANGE` for the index.
"""
function Base.read(dataset::Dataset, index::Integer; settings...)
    lease = new_lease(Threads.Atomic{Int}(0); counted = true)
    memory = error_memory()
    status = with_options(translated(settings)) do options
        using_handle(handle -> read_sample(handle, Int64(index), options, lease, memory), dataset)
    end
    if status != DL_OK
        never_held(lease)
        throw(failure(status, memory))
    end
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
            given == DL_OK && (lease.views = dl_batch_views(lease.batch, Ptr{Int32}(C_NULL)))
            given
        end
    end
end

"""
    work(loader, budget)

With `num_workers = 0`: loads on this thread for about `budget` seconds, so that a frame loop can spread a batch over several
frames; one run of samples at least. True: [`next!`](@ref) returns at once. With workers it loads nothing.
"""
function work(loader::Loader, budget::Real)
    memory = error_memory()
    nanoseconds = round(Int64, clamp(budget, 0, 9e9) * 1e9)
    status = GC.@preserve memory ask(loader) do handle
        alone = loader.reads_in_julia # see take_alone
        alone && !try_turn(loader.loops) && return DL_TIMEOUT
        given = dl_loader_work(handle, nanoseconds, pointer(memory))
        alone && give_turn(loader.loops)
        given
    end
    status == DL_OK || status == DL_TIMEOUT || throw_status(loader, status, memory)
    return status == DL_OK
end

# It got no batch: its finalizer has nothing to do, so it is taken off the count here.
never_held(lease::Lease) = (Threads.atomic_sub!(lease.held, 1); nothing)

# Gives back the loop's batch and takes the next; false at the end of the epoch.
@inline function advance!(loader::Loader, loop::Loop)
    lease = loop.lease
    give_back(lease)
    status = next_status(loader, lease, loop.error, UInt64(0), loop.number)
    status == DL_OK && return true
    status == DL_END_OF_EPOCH || status == DL_END || throw_status(loader, status, loop.error)
    return false
end

"""
    iterate(loader)

One `for` loop is one epoch: the rest of this one after [`seek!`](@ref) or [`load_state!`](@ref), the next one from its first
step if the last loop was left in the middle, nothing after the last. Each batch is valid until the next one is taken;
`collect(loader)` keeps them all. An exception ends the loop; to go on in the same epoch, loop over an [`Epoch`](@ref).

A loop that begins while another goes on over the same loader, inside it or in another task, ends that one: its next step throws
`Dataline.ERR_WRONG_STATE`.
"""
@inline function Base.iterate(loader::Loader)
    loop = begin_loop(loader)
    return loop === nothing ? nothing : iterate(loader, loop)
end
@inline Base.iterate(loader::Loader, loop::Loop) =
    advance!(loader, loop) ? (Batch(loop.lease, loop.lease.turn, loop.fields), loop) : nothing

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

Several tasks share it by a loop over it each: every batch goes to one of them.

    epoch = Dataline.Epoch(loader)
    @sync for _ in 1:4
        Threads.@spawn for (image, label) in epoch
            ...
        end
    end
"""
struct Epoch{L<:Loader}
    loader::L
    number::Int # of its loop; 0: there was none
    epoch::Int
    done::Threads.Atomic{Bool}
    function Epoch(loader::Loader)
        loop = begin_loop(loader)
        number = loop === nothing ? 0 : loop.number
        return new{typeof(loader)}(loader, number, position(loader).epoch, Threads.Atomic{Bool}(number == 0))
    end
end

@inline Base.iterate(epoch::Epoch) = epoch.done[] ? nothing : iterate(epoch, way_through(epoch.loader, epoch.number))
@inline function Base.iterate(epoch::Epoch, loop::Loop)
    step = iterate(epoch.loader, loop)
    step === nothing && (epoch.done[] = true)
    return step
end
Base.eltype(::Type{Epoch{L}}) where {L} = eltype(L)
Base.IteratorSize(::Type{<:Epoch}) = Base.SizeUnknown() # `length` falls with each batch
function Base.length(epoch::Epoch)
    at = position(epoch.loader)
    return !epoch.done[] && at.epoch == epoch.epoch ? length(epoch.loader) - at.step : 0
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
