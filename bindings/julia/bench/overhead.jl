# What the package costs a batch above the calls of the C interface that it makes (next, views, release): the loops in turn,
# the least of several rounds, and what each allocates. Batches of one byte, made by the calling thread, so that one is
# always ready; and a batch that is kept.
#
#   julia --project=bindings/julia bindings/julia/bench/overhead.jl
#
# SPDX-License-Identifier: Apache-2.0
using Dataline

const BATCHES = 100_000
const ROUNDS = 15

make() = Dataline.Loader((x = ones(UInt8, 64), y = zeros(UInt8, 64)); batch_size = 1, num_workers = 0)

# The C interface as a C program uses it.
function c_calls(handle::Ptr{Cvoid}, batches::Int)
    out = Ref{Ptr{Cvoid}}(C_NULL)
    count = Ref{Int32}(0)
    error = Dataline.error_memory()
    sum = taken = 0
    GC.@preserve out count error while taken < batches
        place = Base.unsafe_convert(Ptr{Ptr{Cvoid}}, out)
        status = Dataline.dl_loader_next(handle, -1, place, pointer(error))
        status == Dataline.DL_END_OF_EPOCH && continue
        status == Dataline.DL_OK || Base.error("status $status")
        views = Dataline.dl_batch_views(out[], Base.unsafe_convert(Ptr{Int32}, count))
        sum += unsafe_load(Ptr{UInt8}(unsafe_load(views).data))
        Dataline.dl_batch_release(out[])
        taken += 1
    end
    return sum
end

function one_field(loader, batches::Int)
    sum = taken = 0
    while taken < batches
        for batch in loader
            sum += @inbounds batch.x[1]
            taken += 1
        end
    end
    return sum
end

function two_fields(loader, batches::Int)
    sum = taken = 0
    while taken < batches
        for (x, y) in loader
            sum += x[1] + y[1]
            taken += 1
        end
    end
    return sum
end

function kept(loader, batches::Int)
    sum = taken = 0
    while taken < batches
        for batch in loader
            mine = keep(batch)
            sum += mine.x[1]
            close(mine)
            taken += 1
        end
    end
    return sum
end

function main()
    loops = ["C calls" => c_calls, "batch.x" => one_field, "(x, y) = batch" => two_fields, "keep, close" => kept]
    loaders = [make() for _ in loops]
    least = fill(Inf, length(loops))
    bytes = zeros(Int, length(loops))
    for round in 0:ROUNDS, (k, (_, loop)) in enumerate(loops)
        what = k == 1 ? loaders[k].handle : loaders[k]
        batches = k == 4 ? BATCHES ÷ 10 : BATCHES
        batches = cld(batches, 64) * 64
        bytes[k] = @allocated seconds = @elapsed total = loop(what, batches)
        total == batches || error("expected $batches, got $total")
        round == 0 || (least[k] = min(least[k], 1e9 * seconds / batches)) # the first one compiles
        bytes[k] = bytes[k] ÷ batches
    end
    for (k, (name, _)) in enumerate(loops)
        println(rpad(name, 16), lpad(round(least[k]; digits = 1), 8), " ns a batch, above C ",
            lpad(round(least[k] - least[1]; digits = 1), 7), ", ", bytes[k], " bytes allocated")
    end
    return least[3] - least[1]
end

const above = main()
println("above C: ", round(above; digits = 1), " ns a batch")
