# A reader whose samples several of Julia's threads read.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline

# Two reads that are in it at the same moment, as far as another thread comes within the time.
const INSIDE = Threads.Atomic{Int}(0)
const MET = Threads.Atomic{Bool}(false)
function meet(i)
    Threads.atomic_add!(INSIDE, 1)
    limit = time_ns() + 2_000_000_000
    while !MET[] && time_ns() < limit
        INSIDE[] > 1 && (MET[] = true)
        GC.safepoint()
    end
    Threads.atomic_sub!(INSIDE, 1)
    return (x = i,)
end

met = Dataline.Loader(Dataline.Reader(meet, 16; x = Int64, workers = 4); num_workers = 0, batch_size = 16)
first(met)
println("two at once: ", MET[])

# Others than the caller may wait: the event loop goes on.
resting(i) = (Threads.threadid() > 1 && sleep(0.001); meet(i))
MET[] = false
println("rested: ", first(Dataline.Loader(Dataline.Reader(resting, 16; x = Int64, workers = 4); num_workers = 0,
    batch_size = 16)).x == 0:15)

# With garbage, so that the collector runs in the middle.
draw(i) = i == 7 ? error("no sample 7") : (x = i, y = sum(rand(UInt8, 1000)) * 0.0 .+ [Float64(i), 2i])
loader_of(workers) = Dataline.Loader(Dataline.Reader(draw, 500; x = Int64, y = (Float64, 2), workers = workers);
    num_workers = 0, batch_size = 100, on_error = "replace")
values_of(loader) = [(copy(batch.x), copy(batch.y)) for batch in loader]
many, one = loader_of(4), loader_of(1)
println("in order: ", all(_ -> values_of(many) == values_of(one), 1:20))
println("bad: ", [bad.index for bad in Dataline.bad_samples(many)])
