# Shuffled rows of 784 bytes, 60,000 of them in memory, in batches of 256: Dataline, the same by bare C calls, and what one
# writes in Julia. All in one run, in turns, medians; every byte of a batch is there when it counts, the first of each is read.
#
#   julia --project=bindings/julia bindings/julia/bench/throughput.jl
#
# SPDX-License-Identifier: Apache-2.0
using Dataline
using Random: shuffle!
using Statistics: median

const ROWS = 60_000
const BATCH = 256
const ROUNDS = 31

make(x, workers) = Dataline.Loader((x = x,); batchsize = BATCH, shuffle = true, seed = 1, num_workers = workers)

function dataline(loader)
    sum = rows = 0
    for (x,) in loader
        sum += @inbounds x[1]
        rows += size(x, 2)
    end
    return rows
end

function c_calls(loader)
    handle, error = loader.handle, Dataline.error_memory()
    out, count = Ref{Ptr{Cvoid}}(C_NULL), Ref{Int32}(0)
    sum = rows = 0
    GC.@preserve loader error out count while rows < ROWS
        place = Base.unsafe_convert(Ptr{Ptr{Cvoid}}, out)
        status = Dataline.dl_loader_next(handle, -1, place, pointer(error))
        status == Dataline.DL_END_OF_EPOCH && continue
        status == Dataline.DL_OK || Base.error("status $status")
        view = unsafe_load(Dataline.dl_batch_views(out[], Base.unsafe_convert(Ptr{Int32}, count)))
        sum += unsafe_load(view.data)
        rows += unsafe_load(view.shape)
        Dataline.dl_batch_release(out[])
    end
    return rows
end

batches(order) = (view(order, first:min(first + BATCH - 1, ROWS)) for first in 1:BATCH:ROWS)

# What most programs do.
function gather(x)
    sum = rows = 0
    for indices in batches(shuffle!(collect(1:ROWS)))
        batch = x[:, indices]
        sum += batch[1]
        rows += size(batch, 2)
    end
    return rows
end

# A loader with a task that loads ahead, on another thread where Julia has one.
function channel(x)
    sum = rows = 0
    loaded = Channel{Matrix{UInt8}}(4; spawn = true) do into
        for indices in batches(shuffle!(collect(1:ROWS)))
            put!(into, x[:, indices])
        end
    end
    for batch in loaded
        sum += batch[1]
        rows += size(batch, 2)
    end
    return rows
end

# Not a loader but a limit: bare copies into one buffer, the order ready beforehand.
const ORDER = shuffle!(collect(1:ROWS))
function copies(x)
    buffer = Matrix{UInt8}(undef, size(x, 1), BATCH)
    sum = 0
    for indices in batches(ORDER)
        for (k, index) in enumerate(indices)
            copyto!(buffer, (k - 1) * 784 + 1, x, (index - 1) * 784 + 1, 784)
        end
        sum += buffer[1]
    end
    return ROWS
end

function main()
    x = rand(UInt8, 784, ROWS)
    ways = ["Dataline, 1 thread" => (dataline, make(x, 1)), "the same by C calls" => (c_calls, make(x, 1)),
        "Dataline, num_workers=0" => (dataline, make(x, 0)), "the same by C calls, 0" => (c_calls, make(x, 0)),
        "x[:, indices]" => (gather, x), "a task and a Channel" => (channel, x), "bare copyto!, a limit" => (copies, x)]
    speeds = [Float64[] for _ in ways]
    for round in 0:ROUNDS, k in shuffle!(collect(1:length(ways))) # none always follows the same one
        way, from = ways[k][2]
        seconds = @elapsed rows = way(from)
        rows == ROWS || error("expected $ROWS rows, got $rows")
        round == 0 || push!(speeds[k], ROWS / seconds / 1e6) # the first one compiles
    end
    for (k, (name, _)) in enumerate(ways)
        println(rpad(name, 26), lpad(round(median(speeds[k]); digits = 2), 6), " million rows/s (",
            round(minimum(speeds[k]); digits = 2), " to ", round(maximum(speeds[k]); digits = 2), ")")
    end
    ratio(a, b) = round(100 * median(speeds[a] ./ speeds[b]); digits = 1)
    println("of the C calls in the same round: ", ratio(1, 2), " % with 1 thread, ", ratio(3, 4), " % with 0")
end

main()
