# Threads that share an epoch, and threads that loop over one loader each for itself.
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
        return occursin("ended by another loop", problem.message) ? :told : rethrow()
    end
end

for _ in 1:10
    tasks = [Threads.@spawn whole_or_told() for _ in 1:3]
    ends = map(fetch, tasks)
    :whole in ends && !(:part in ends) || error("$ends")
end
println("apart: whole or told")
