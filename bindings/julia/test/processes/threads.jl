# Julia threads that take batches of one loader, keep some, and collect.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline

function take(loader)
    seen = Int[]
    while (batch = Dataline.next!(loader)) isa Dataline.Batch
        append!(seen, batch.data)
        length(seen) % 3 == 0 || close(batch) # the others are for the collector
        length(seen) % 1000 < 10 && GC.gc(false)
    end
    return seen
end

loader = Dataline.Loader(collect(Int64, 1:20_000); batch_size = 5, epochs = 1, num_workers = 1)
tasks = [Threads.@spawn take(loader) for _ in 1:Threads.nthreads()]
println(length(Set(reduce(vcat, map(fetch, tasks)))), " different samples")
limit = time() + 30
while Dataline.stats(loader).leases_held > 0 && time() < limit
    GC.gc()
    yield()
end
println("leases held: ", Dataline.stats(loader).leases_held)
