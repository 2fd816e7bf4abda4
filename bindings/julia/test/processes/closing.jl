# Threads that close batches and datasets at the same moment, and ask them meanwhile.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline

# Runs the calls at the same moment, as near as threads can.
function at_once(calls)
    gate = Threads.Atomic{Int}(0)
    tasks = map(calls) do call
        Threads.@spawn begin
            Threads.atomic_add!(gate, 1)
            limit = time_ns() + 100_000 # there may be fewer threads than calls
            while gate[] < length(calls) && time_ns() < limit
            end
            try
                call()
            catch problem # given back, or closed: that is what it should say
                problem isa DatalineError && problem.code == Dataline.ERR_WRONG_STATE || rethrow()
            end
        end
    end
    foreach(wait, tasks)
end

# Beyond max_leases batches are copies, which the library frees: a second release of one ends the process, or is seen in the
# count.
loader = Dataline.Loader(collect(Int64, 1:64); batch_size = 1, max_leases = 1, num_workers = 1)
held = nothing
while !(held isa Dataline.Batch)
    global held = Dataline.next!(loader)
end
for round in 1:400
    batch = Dataline.next!(loader)
    batch isa Dataline.Batch || continue
    at_once([() -> close(batch), () -> close(batch), () -> Dataline.info(batch), () -> close(keep(batch))])
    isopen(batch) && error("a batch is open after close")
end
close(held)
left = Dataline.stats(loader).leases_held
println(left == 0 && loader.waits.held[] == 0 ? "batches: all given back once" : "leases held: $left, $(loader.waits.held[])")

for round in 1:400
    dataset = Dataline.Dataset((x = [1, 2, 3],))
    at_once([() -> close(dataset), () -> close(dataset), () -> length(dataset), () -> Dataline.fields(dataset)])
    isopen(dataset) && error("a dataset is open after close")
end
println("datasets: closed while they were asked")
