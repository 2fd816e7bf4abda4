# Loading ahead in another of Julia's threads, while the collector runs in the middle of reads and bodies.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline

const THREADS = Threads.Atomic{Int}(0) # a bit for each thread that has read
function read(i)
    Threads.atomic_or!(THREADS, 1 << Threads.threadid())
    i % 20 == 0 && GC.gc(false)
    return (x = i, y = sum(rand(1000)) * 0.0 .+ [Float64(i), 2i])
end
loader_of(epochs; more...) = Dataline.Loader(Dataline.Reader(read, 400; x = Int64, y = (Float64, 2)); num_workers = 0,
    batch_size = 20, shuffle = true, epochs = epochs, more...)

# The next one is loaded; after the last but one the position may be that of the epoch after.
was_loaded(place, step) = place.epoch > 0 || place.step >= step + 2

# The body finds the next batch loaded while it runs, and never asks for it.
function overlapping(loader)
    met, loop = 0, Dataline.ahead(loader)
    for batch in loop
        step = Dataline.info(batch).step
        limit = time() + 30
        while step < 19 && !was_loaded(position(loader), step) && time() < limit # this one counts already
            GC.safepoint()
        end
        met += step == 19 || was_loaded(position(loader), step)
    end
    return met
end
println("loaded while the body ran: ", overlapping(loader_of(1)), " of 20")
println("by another thread: ", THREADS[] & (1 << Threads.threadid()) == 0)

values_of(batches) = [(sum(rand(10_000)) > 0; (copy(batch.x), copy(batch.y))) for batch in batches]
expected = [values_of(loader) for loader in [loader_of(5)] for _ in 1:5]
found = [values_of(loop) for loop in [Dataline.ahead(loader_of(5); batches = 3)] for _ in 1:5]
println("the same batches: ", found == expected)

# Several threads that call next! of one such loader take turns, and the collector does not wait for one that waits.
const STARTED = Threads.Atomic{Int}(0)
function taken(loader)
    seen = Int[]
    Threads.atomic_add!(STARTED, 1)
    while STARTED[] < Threads.nthreads() # each on a thread of its own
        GC.safepoint()
    end
    while (batch = Dataline.next!(loader)) isa Dataline.Batch
        append!(seen, batch.x)
        close(batch)
        sum(rand(10_000)) > 0 || error()
    end
    return seen
end
loader = loader_of(1)
tasks = [Threads.@spawn taken(loader) for _ in 1:Threads.nthreads()]
println("shared by next!: ", sort(reduce(vcat, map(fetch, tasks))) == 0:399)
