# Loops until it is interrupted; the batches after it follow those before it.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline

Base.exit_on_sigint(false)

const last_step = Ref(-1)

function run(loader)
    for batch in loader
        last_step[] = batch.data[1]
        yield()
    end
end

loader = Dataline.Loader(collect(Int64, 0:999_999); batch_size = 1, num_workers = 1)
run(Dataline.Loader([1, 2]; batch_size = 1, num_workers = 1, epochs = 1)) # compiles
last_step[] = -1
epoch = Dataline.Epoch(loader)
try
    println("looping")
    flush(stdout)
    while true
        run(epoch)
        global epoch = Dataline.Epoch(loader)
    end
catch problem
    println(typeof(problem))
end
at = position(loader)
following = first(epoch).data[1]
# The interrupt may have come after a batch was taken and before the loop saw it, never in between.
println(following == at.step && last_step[] in (at.step - 1, at.step - 2) ? "the rest follows" :
    "last $(last_step[]), position $at, next $following")
