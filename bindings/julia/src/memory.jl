# The structs of the library in memory: views that may be longer than here, structs it fills, texts.
#
# SPDX-License-Identifier: Apache-2.0

# View k, from 1, as dl_view_at steps: a later library may have longer views; the first one states its size.
@inline view_at(views::Ptr{CView}, k::Integer) =
    unsafe_load(views + (k - 1) * Int(unsafe_load(Ptr{UInt32}(views))))

# A zeroed struct with its size, in memory that the library may write to.
function sized(::Type{T}) where {T}
    memory = zeros(UInt8, sizeof(T))
    GC.@preserve memory unsafe_store!(Ptr{UInt32}(pointer(memory)), UInt32(sizeof(T)))
    return memory
end

read_struct(::Type{T}, memory::Vector{UInt8}) where {T} = GC.@preserve memory unsafe_load(Ptr{T}(pointer(memory)))

# Where the message of a struct lies that ends with one.
message_of(::Type{T}, memory::Vector{UInt8}) where {T} =
    GC.@preserve memory unsafe_string(pointer(memory) + fieldoffset(T, fieldcount(T)))

# The text of `call(room, bytes)`, which follows the protocol of dl_loader_state_save and throws its errors.
function text_from(call)
    bytes = Ref{Csize_t}(0)
    call(Ptr{UInt8}(C_NULL), bytes)
    while true
        memory = Vector{UInt8}(undef, bytes[])
        try
            GC.@preserve memory call(pointer(memory), bytes)
        catch
            bytes[] > length(memory) || rethrow()
            continue # the text has grown since its length was returned
        end
        return GC.@preserve memory unsafe_string(pointer(memory))
    end
end

text(pointer::Ptr{UInt8}) = pointer == C_NULL ? "" : unsafe_string(pointer)

# The text that a struct holds in a member, an array of characters.
text_of(::Type{T}, memory::Vector{UInt8}, member::Symbol) where {T} =
    GC.@preserve memory unsafe_string(pointer(memory) + fieldoffset(T, Base.fieldindex(T, member)))
