# What the generated functions of methods.jl have in common: a call on an object, and the structs that one fills.
#
# SPDX-License-Identifier: Apache-2.0

# Calls `call(handle, error)` and throws unless it returns DL_OK.
calling(call, owner) = using_handle(handle -> check(error -> call(handle, error)), owner)
calling(call, loader::Loader) = check_loader(call, loader)

# The struct that `call(handle, out, error)` fills, as a named tuple. Interrupts are off: these calls do not wait.
read_record(call, ::Type{T}, owner) where {T} =
    disable_sigint(() -> using_handle(handle -> filled((out, error) -> call(handle, out, error), T), owner))

# The same for each index below `count(handle)`.
read_records(count, call, ::Type{T}, owner) where {T} = disable_sigint() do
    using_handle(owner) do handle
        map(index -> filled((out, error) -> call(handle, index, out, error), T), 0:count(handle)-1)
    end
end

function filled(call, ::Type{T}) where {T}
    memory = sized(T)
    GC.@preserve memory check(error -> call(Ptr{T}(pointer(memory)), error))
    return record_of(T, memory)
end
