# Statuses and the one exception.
#
# SPDX-License-Identifier: Apache-2.0

"""
    Status

A result code of the library: a number and its name. The codes of `dataline.h` are constants of this module without their
prefix: `Dataline.ERR_BAD_SAMPLE`, `Dataline.CANCELLED`. A later library may have others.
"""
struct Status
    number::Int32
end

Base.print(io::IO, status::Status) = print(io, text(dl_status_name(status.number)))
Base.show(io::IO, status::Status) = print(io, "Dataline.Status(", status.number, ") #= ", string(status), " =#")

# ERR_BAD_SAMPLE = Status(DL_ERR_BAD_SAMPLE), and so on.
for constant in names(@__MODULE__; all = true)
    soft = constant in (:DL_CANCELLED, :DL_INTERRUPTED)
    if soft || startswith(string(constant), "DL_ERR_")
        short = Symbol(string(constant)[4:end])
        note = "`$constant` of `dataline.h`, as [`DatalineError`](@ref)'s `code`."
        @eval @doc $note const $short = Status($constant)
    end
end

"""
    DatalineError <: Exception

An error of the library. Errors are local: the object stays usable after one.

| property | is |
|---|---|
| `code` | a [`Status`](@ref): compare it with constants such as `Dataline.ERR_NOT_FOUND` |
| `message` | one line that names the file, offset, sample or option |
| `sample` | index of the (first) sample concerned, from 0, or `nothing` |
| `column` | 1-based column in a URI or transform text, or `nothing` |
| `errno` | the system's error number, or `nothing` |
"""
struct DatalineError <: Exception
    code::Status
    message::String
    sample::Union{Nothing,Int}
    column::Union{Nothing,Int}
    errno::Union{Nothing,Int}
end

DatalineError(code::Status, message::AbstractString) = DatalineError(code, message, nothing, nothing, nothing)

function Base.showerror(io::IO, error::DatalineError)
    print(io, "DatalineError (", error.code, "): ", error.message)
    error.sample === nothing || print(io, " [sample ", error.sample, "]")
    error.column === nothing || print(io, " [column ", error.column, "]")
    error.errno === nothing || print(io, " [", Base.Libc.strerror(error.errno), "]")
    return nothing
end

# Memory for one dl_error: a call that fails writes to it, a call that does not leaves it alone.
const ErrorMemory = Vector{UInt8}

function error_memory()
    memory = ErrorMemory(undef, sizeof(CError))
    GC.@preserve memory dl_error_init(pointer(memory), UInt32(sizeof(CError)))
    return memory
end

const SOFT_MESSAGES = Dict(
    DL_CANCELLED => "cancelled; a seek or a loaded state ends it",
    DL_INTERRUPTED => "the wait was interrupted",
)

# The exception of a status that is neither DL_OK nor what the caller expects.
@noinline function failure(status::Int32, memory::ErrorMemory)
    status > 0 && return DatalineError(Status(status), get(SOFT_MESSAGES, status, text(dl_status_name(status))))
    given = read_struct(CError, memory)
    return DatalineError(
        Status(status),
        message_of(CError, memory),
        given.sample_index < 0 ? nothing : Int(given.sample_index),
        given.column == 0 ? nothing : Int(given.column),
        given.os_error == 0 ? nothing : Int(given.os_error),
    )
end

# Calls `call(error)` and throws unless it returns DL_OK.
function check(call)
    memory = error_memory()
    status = GC.@preserve memory call(pointer(memory))
    status == DL_OK || throw(failure(status, memory))
    return nothing
end

closed(what) = DatalineError(ERR_WRONG_STATE, "this $what is closed")
