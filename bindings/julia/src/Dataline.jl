"""
Data loading for machine-learning training: shuffled, transformed batches, loaded ahead by native threads and viewed without
a copy. The stream depends only on the data, the settings and the seed, and is the same in all languages with a binding.

    using Dataline
    loader = Dataline.Loader("mnist:data"; batchsize = 128, shuffle = true, transform = "image: normalize(mnist)")
    for epoch in 1:5, (image, label) in loader
        step!(model, image, label) # 28x28x128 Float32, 128 Int64
    end

[`Dataset`](@ref) opens, borrows or composes data, [`Loader`](@ref) iterates over it, [`Writer`](@ref) writes sets. The
library's numbers count from 0, as in every language: epochs, steps, samples, offsets, classes. Positions in Julia's arrays
count from 1.

Errors are thrown as [`DatalineError`](@ref). Each type documents its thread rules. In a forked child, calls of a loader throw
`Dataline.ERR_FORKED`; datasets stay usable.

SPDX-License-Identifier: Apache-2.0
"""
module Dataline

using FileWatching: FDWatcher
using Libdl: dlext, dlopen, dlpath, dlsym

export BFloat16, CancelToken, DatalineError, Packed, Ragged, keep

include("constants.jl")
include("finding.jl")
include("library.jl")
include("structs.jl")
include("memory.jl")
include("functions.jl")
include("errors.jl")
include("records.jl")
include("dtypes.jl")
include("shared_handles.jl")
include("waits.jl")
include("lending.jl")
include("cancel_token.jl")
include("tables.jl")
include("options.jl")
include("launchers.jl")
include("fields.jl")
include("values.jl")
include("views.jl")
include("batches.jl")
include("arrays.jl")
include("datasets.jl")
include("readers.jl")
include("extensions.jl")
include("host_formats.jl")
include("host_operators.jl")
include("loops.jl")
include("loaders.jl")
include("metrics.jl")
include("mixes.jl")
include("openings.jl")
include("positions.jl")
include("next.jl")
include("epochs.jl")
include("ahead.jl")
include("observations.jl")
include("devices.jl")
include("dlpack.jl")
include("images.jl")
include("writers.jl")
include("calling.jl")
include("methods.jl")

function __init__()
    load_library()
    EXITING[] = false
    atexit(() -> EXITING[] = true)
end

end
