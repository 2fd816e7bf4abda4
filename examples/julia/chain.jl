# One link of a job that goes on from language to language:
#
#   julia --project=examples/julia examples/julia/chain.jl URI STATE_IN|- STATE_OUT|- BATCHES FIELD [key=value...]
#
# opens URI, makes a loader with the options, goes on from the state in the file STATE_IN, writes the bytes of FIELD of the
# next BATCHES batches to standard output (-1: to the end of the job), and saves the state to STATE_OUT.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline

setting(text) = (parts = split(text, '='; limit = 2); Symbol(parts[1]) => String(get(parts, 2, "true")))

# The items as `dataline cat` writes them: sample after sample.
items(field::Dataline.View) = parent(field)
items(field::Ragged) = parent(parent(field))
items(field::Dataline.Windows) = collect(field)

function chain(uri, state_in, state_out, batches, field, options...)
    loader = Dataline.Loader(uri; map(setting, options)...)
    state_in == "-" || Dataline.load_state!(loader, read(state_in, String))
    left = parse(Int, batches)
    while left != 0
        batch = Dataline.next!(loader)
        batch === :end && break
        batch === :end_of_epoch && continue
        write(stdout, items(batch[Symbol(field)]))
        close(batch)
        left -= 1
    end
    state_out == "-" || write(state_out, Dataline.save_state(loader))
    return nothing
end

try
    length(ARGS) >= 5 || error("usage: chain.jl URI STATE_IN|- STATE_OUT|- BATCHES FIELD [key=value...]")
    chain(ARGS...)
catch problem
    println(stderr, "chain: ", sprint(showerror, problem))
    exit(1)
end
