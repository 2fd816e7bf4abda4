# Tracks which loop over a loader is current, and synchronizes loops, seeks and loads.
#
# A loop is one epoch. A new loop, a seek or a load ends the current loop: its next step throws, so that no batch is lost
# between two loops. All tasks that iterate over one Epoch share its loop, and all see its end. The library has one position
# and no notion of loops; they are identified by a number here.
#
# The turn is held during a loop's call of dl_loader_next, which is always short (see HELP_NS), and by operations that end
# loops: so no batch is taken between the end of one loop and the start of another. `next!` does not take the turn: its calls
# are counted, and a loop that sees some checks the loader's position.
#
# SPDX-License-Identifier: Apache-2.0

mutable struct Loops
    turn::Threads.Atomic{Int} # 1: taken
    # Of the current loop; accessed by the holder of the turn.
    number::Int
    epoch::Int64
    over::Bool
    seen::Int # strangers
    strangers::Threads.Atomic{Int} # calls of `next!`, counted before they can take anything
end
Loops() = Loops(Threads.Atomic{Int}(0), 0, 0, false, 0, Threads.Atomic{Int}(0))

# A task's way through a loop: the lease and the wrapped arrays of its batches. Loops of one task after the other use them
# again; tasks that share a loop have their own.
mutable struct Loop{F<:NamedTuple}
    number::Int
    lease::Lease
    error::ErrorMemory
    fields::F
    task::UInt
end

Loop(number::Int, held::Threads.Atomic{Int}, fields::NamedTuple) =
    Loop(number, new_lease(held; counted = false), error_memory(), map(fresh, fields), objectid(current_task()))

# Statuses of our own, beside the library's.
const TURN_TAKEN = typemax(Int32)
const LOOP_ENDED = typemin(Int32)

loop_ended() = DatalineError(ERR_WRONG_STATE,
    "this loop's epoch was ended by another loop over the same loader (begin_epoch, seek or load_state)")

# With interrupts off, and nothing between that throws or yields.
@inline try_turn(loops::Loops) = Threads.atomic_cas!(loops.turn, 0, 1) == 0
@inline give_turn(loops::Loops) = (Threads.atomic_xchg!(loops.turn, 0); nothing)

# The next batch of loop `number`, into the lease. The same conditions.
@inline function take_in_turn(loader, lease::Lease, memory::ErrorMemory, timeout_ns::Int, number::Int)
    loops = loader.loops
    try_turn(loops) || return TURN_TAKEN
    if number != loops.number
        status = LOOP_ENDED
    elseif loops.over || (loops.strangers[] != loops.seen && taken_to_its_end(loader))
        status = DL_END_OF_EPOCH
    else
        status = take(loader, lease, memory, timeout_ns)
        if status == DL_END_OF_EPOCH || status == DL_END
            loops.over = true
        elseif status == DL_OK && loops.strangers[] != 0 && epoch_of(lease.batch) != loops.epoch
            # A call of `next!` took the end of the epoch at the same time.
            dl_batch_release(lease.batch)
            lease.batch, lease.views = C_NULL, C_NULL
            loops.number += 1
            status = LOOP_ENDED
        end
    end
    give_turn(loops)
    return status
end

@noinline function taken_to_its_end(loader)
    loops = loader.loops
    loops.seen = loops.strangers[]
    epoch, step, details = Ref(loops.epoch), Ref(Int64(0)), error_memory()
    GC.@preserve details dl_loader_position(loader.handle, epoch, step, pointer(details))
    loops.over = epoch[] != loops.epoch
    return loops.over
end

@noinline function epoch_of(batch::Handle)
    memory, details = sized(CBatchInfo), error_memory()
    GC.@preserve memory details dl_batch_get_info(batch, pointer(memory), pointer(details))
    return read_struct(CBatchInfo, memory).epoch
end

# Calls `call(handle, error)`, which moves the position and does not throw; if it succeeds, the current loop is ended.
# Returns the status and, where that is DL_OK, the number of the loop that may begin there.
function move_position(call, loader, memory::ErrorMemory)
    loops = loader.loops
    while true
        status, number = GC.@preserve memory ask(loader) do handle
            try_turn(loops) || return (TURN_TAKEN, 0)
            given = call(handle, pointer(memory))
            given == DL_OK || given == DL_END ? (loops.number += 1) : nothing
            given == DL_OK && (loops.over = false; loops.seen = loops.strangers[])
            number = loops.number
            give_turn(loops)
            (given, number)
        end
        status == TURN_TAKEN || return status, number
        position(loader) # throws in a forked child, where the thread that has the turn is gone
        yield()
    end
end

function displace(call, loader)
    memory = error_memory()
    status, _ = move_position(call, loader, memory)
    status == DL_OK || throw(failure(status, memory))
    return nothing
end

# The loop that begins now, as this task goes through it; nothing after the last epoch.
function begin_loop(loader)
    memory = error_memory()
    epoch, step = Ref(Int64(0)), Ref(Int64(0))
    status, number = move_position(loader, memory) do handle, error
        given = dl_loader_begin_epoch(handle, error)
        given == DL_OK && (given = dl_loader_position(handle, epoch, step, error))
        given == DL_OK && (loader.loops.epoch = epoch[])
        given
    end
    status == DL_END && return nothing
    status == DL_OK || throw(failure(status, memory))
    return way_through(loader, number)
end

# By lease and arrays of the last loop where that was this task's, which then is over or left behind.
function way_through(loader, number::Int)
    last, task = loader.loop, objectid(current_task())
    if last.task == task
        give_back(last.lease)
        loop = typeof(last)(number, last.lease, last.error, last.fields, task)
    else
        loader.scattered = true
        loop = Loop(number, loader.held, loader.fields)
    end
    loader.loop = loop
    return loop
end
