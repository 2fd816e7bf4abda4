# Where a loader is: asked, moved, saved and taken up again.
#
# SPDX-License-Identifier: Apache-2.0

"""
    position(loader)

The current position: `(epoch, step)`, from 0. Counts batches that were delivered, not those loaded ahead.
"""
function Base.position(loader::Loader)
    epoch, step = Ref(Int64(0)), Ref(Int64(0))
    check_loader((handle, error) -> dl_loader_position(handle, epoch, step, error), loader)
    return (epoch = Int(epoch[]), step = Int(step[]))
end

# Calls `call(handle, error)`, which moves the position, and with it ends the loop under way.
displace(call, loader::Loader) = check_loader(loader) do handle, error
    status = call(handle, error)
    wake(loader.waits)
    status
end

"""
    seek!(loader, epoch, step = 0)

Seeks to a step of an epoch, from 0. The next loop continues there; the current loop ends. Clears a [`cancel`](@ref). Held
batches stay valid.
"""
function seek!(loader::Loader, epoch::Integer, step::Integer = 0)
    to = (Int64(epoch), Int64(step))
    return displace((handle, error) -> dl_loader_seek(handle, to..., error), loader)
end

"""
    save_state(loader)

The position and the identity of the job, as text. Any language and the program `dataline` can resume from it.
"""
function save_state(loader::Loader)
    return text_from() do room, bytes
        check_loader((handle, error) -> dl_loader_state_save(handle, room, bytes, error), loader)
    end
end

"""
    load_state!(loader, text)

Seeks to a saved position, and ends the current loop. Threads, depth, memory and transform may differ from the saving job. Rank
and world size may differ too, if the global batch is equal. Throws `Dataline.ERR_BAD_STATE`, or `Dataline.ERR_STATE_REFUSED`,
which names both values.
"""
function load_state!(loader::Loader, state::AbstractString)
    text = String(state)
    return GC.@preserve text begin
        place = Base.unsafe_convert(Cstring, text) # throws where there is a NUL inside
        displace((handle, error) -> dl_loader_state_load(handle, place, error), loader)
    end
end
