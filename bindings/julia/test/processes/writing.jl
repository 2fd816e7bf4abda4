# Threads that append to one set at once, and to one that is closed meanwhile.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline

uri = "arrow:" * ARGS[1]
writer = Dataline.Writer(uri * "?shard_bytes=512", (x = Int64,))
tasks = map(0:2) do thread
    Threads.@spawn for first in 100*thread:4:100*thread+99
        append!(writer, (x = collect(first:first+3),))
        Dataline.info(writer).samples >= 4 || error()
    end
end
foreach(wait, tasks)
Dataline.finish(writer)
close(writer)
rows = reduce(vcat, [copy(batch.x) for batch in Dataline.Loader(uri; batch_size = 4, num_workers = 0)])
println("whole: ", all(k -> rows[k+3] == rows[k] + 3, 1:4:300))
println("all: ", sort(rows) == 0:299)

other = Dataline.Writer(uri * "2?shard_bytes=1KiB", (x = Int64,))
function append_until_closed()
    try
        while true
            append!(other, (x = [1, 2, 3],))
        end
    catch problem
        return problem isa DatalineError && problem.code == Dataline.ERR_WRONG_STATE
    end
end
tasks = [Threads.@spawn(append_until_closed()) for _ in 1:2]
while Dataline.info(other).shards < 5
    yield()
end
close(other)
println("closed: ", all(map(fetch, tasks)))
