# Which process of a job this one is, from the environment, which the library does not read.
#
# SPDX-License-Identifier: Apache-2.0

function with_environment(call)
    entries = ["$name=$value" for (name, value) in ENV]
    texts = push!(map(entry -> Base.unsafe_convert(Ptr{UInt8}, entry), entries), C_NULL)
    return GC.@preserve entries texts call(pointer(texts))
end

# For loaders: the library reads no environment, and asks this one when a rank or a world size is auto.
give_environment(options::Handle) =
    with_environment(environment -> check(error -> dl_options_set_environment(options, environment, error)))

"""
    launcher()

The values of `rank = :auto` and `world_size = :auto` in the current environment, and the local rank on this machine, for
choosing a device. A named tuple `(family, rank, world_size, local_rank, local_world_size)`. `family` is `:torchrun`, `:jax`,
`:openmpi`, `:pmi`, `:slurm`, `:pmix`, `:kubernetes`, or `:none`, which is process 0 of 1. A number that the launcher does not
report is `nothing`.

Throws a [`DatalineError`](@ref) that names variables that are not ranks, are incomplete, or contradict each other.
"""
function launcher()
    memory = sized(CLauncher)
    with_environment(environment -> check(error -> dl_launcher_detect(environment, pointer(memory), error)))
    info = read_struct(CLauncher, memory)
    said(number) = number < 0 ? nothing : Int(number)
    return (
        family = Symbol(text(info.family)),
        rank = Int(info.rank),
        world_size = said(info.world_size),
        local_rank = said(info.local_rank),
        local_world_size = said(info.local_world_size),
    )
end
