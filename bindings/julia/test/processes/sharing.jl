# Threads that share an epoch, threads that loop over one loader each for itself, and threads that wait.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline

const SAMPLES = 5000
loader = Dataline.Loader(collect(Int64, 1:SAMPLES); batch_size = 8, shuffle = true, num_workers = 1)

function values_of(batches)
    all = Int[]
    for batch in batches
        append!(all, batch.data)
    end
    return all
end

for round in 1:5
    epoch = Dataline.Epoch(loader)
    tasks = [Threads.@spawn values_of(epoch) for _ in 1:3]
    all = sort(reduce(vcat, map(fetch, tasks)))
    all == 1:SAMPLES || error("$(length(all)) samples, $(length(Set(all))) different")
    position(loader) == (epoch = round, step = 0) || error("$(position(loader))")
end
println("shared: each batch once")

function whole_or_told()
    try
        all = values_of(loader)
        return sort(all) == 1:SAMPLES ? :whole : :part
    catch problem
        return problem isa DatalineError && problem.code == Dataline.ERR_WRONG_STATE ? :told : rethrow()
    end
end

for _ in 1:10
    tasks = [Threads.@spawn whole_or_told() for _ in 1:3]
    ends = map(fetch, tasks)
    :whole in ends && !(:part in ends) || error("$ends")
end
println("apart: whole or told")

# All batches that may be held are, so the others wait in the event loop.
full = Dataline.Loader(collect(Int64, 1:SAMPLES); batch_size = 8, max_leases = 1, lease_overflow = "wait", num_workers = 1)
epoch = Dataline.Epoch(full)
held = Dataline.next!(epoch)

function code_of_wait()
    try
        return Dataline.next!(epoch)
    catch problem
        return problem.code
    end
end

for round in 1:5
    tasks = [Threads.@spawn code_of_wait() for _ in 1:3]
    while full.waits.waiting[] < 3
        yield()
    end
    Dataline.interrupt(isodd(round) ? epoch : full)
    ends = map(fetch, tasks)
    ends == fill(Dataline.INTERRUPTED, 3) || error("$ends")
end
close(held)
Dataline.next!(epoch).data == 9:16 || error("a batch was lost")
println("interrupted: all of them, each time")
