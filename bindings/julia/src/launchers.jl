# Which process of a job this one is: the environment, which the library does not read by itself.
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

What `rank = :auto` and `world_size = :auto` stand for, by the environment now, and the place on this machine, to choose a device
by: a named tuple `(family, rank, world_size, local_rank, local_world_size)`. `family` is `:torchrun`, `:jax`, `:openmpi`, `:pmi`,
`:slurm`, `:pmix`, `:kubernetes`, or `:none`, which is process 0 of 1. A number that the launcher does not say is `nothing`.

Throws a [`DatalineError`](@ref) that names variables which are no ranks, half a set, or contradict each other.
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
