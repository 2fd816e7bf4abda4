# Sets that a program writes.
#
# SPDX-License-Identifier: Apache-2.0

"""
    Writer(uri, fields; job = "", axes = (;))
    Writer(f, uri, fields; ...)

Writes rows as a set: a directory of shards and a manifest. `Dataset` opens it as `FORMAT:PATH`.

- `uri`: `"FORMAT:PATH[?shard_bytes=SIZE&codec=CODEC]"`; [`writer_formats_table`](@ref) lists the formats.
- `fields`: the fields of a row, as for a [`Reader`](@ref), `(image = (UInt8, 28, 28), label = Int64, text = Ragged{UInt8})`, or
  the fields of a dataset, `fields(dataset)`. `axes = (image = "WHC",)` names a row's dims, as for a [`Dataset`](@ref).
- `job`: identifies the input of the set.

[`append!`](@ref append!(::Writer, ::NamedTuple)) appends rows, [`finish`](@ref) completes the set, [`info`](@ref) returns the
progress; `position` and `close`.

The set is `PATH.partial` until `finish`, so `PATH` is always a complete set. After `close` without `finish`, or a crash, the
finished shards stay in `PATH.partial`. A new writer with the same arguments resumes after the last finished shard.
`position(writer)` is then the position passed with the last rows of that shard, `""` if there is none. A `PATH.partial` of
another job, other fields, another `shard_bytes` or `codec` is `Dataline.ERR_STATE_REFUSED`. `Writer(f, ...)`, for a `do` block,
finishes the set after `f(writer)`, and only closes it if `f` throws:

    Dataline.Writer("arrow:set", (x = (Float32, 2), text = Ragged{UInt8}); job = "cleaned, 2nd try") do writer
        append!(writer, (x = rand(Float32, 2, 3), text = ["one", "", "three"]); position = "row 3")
    end

Throws `Dataline.ERR_BAD_URI` (with the column), `Dataline.ERR_UNSUPPORTED` (a field that the format cannot store),
`Dataline.ERR_WRONG_STATE` (PATH exists, or another process writes it), and file errors. Any thread. It may still change in a
minor release.
"""
mutable struct Writer <: SharedHandle
    handle::Handle
    state::Threads.Atomic{Int}
    names::Vector{Symbol}
    position::String
    Writer(handle::Handle, names) = finalizer(writer -> in_finalizer(close, writer),
        new(handle, Threads.Atomic{Int}(0), names, text(dl_writer_position(handle))))
end

destroy(writer::Writer) = dl_writer_destroy(writer.handle)
kind_of(::Writer) = "writer"

function Writer(uri::AbstractString, fields::Vector{Field}; job::AbstractString = "", axes = NamedTuple())
    named(field) = Field(field.name, field.eltype, field.size, get(axes, field.name, field.axes), field.ragged, field.readonly,
        field.overlapping, field.device)
    out = Ref{Handle}(C_NULL)
    with_views(map(named, fields)) do views, count
        check(error -> dl_writer_create(uri, views, count, job, out, error))
    end
    return Writer(out[], [field.name for field in fields])
end

Writer(uri::AbstractString, field::Field; more...) = Writer(uri, [field]; more...)
Writer(uri::AbstractString, fields::NamedTuple; more...) =
    Writer(uri, Field[reader_field(name, given) for (name, given) in pairs(fields)]; more...)

function Writer(f::Function, uri::AbstractString, fields; more...)
    return closing(Writer(uri, fields; more...)) do writer
        result = f(writer)
        isopen(writer) && finish(writer)
        return result
    end
end

"""
    append!(writer, rows; position = "")

Appends `rows`, a named tuple of arrays as for a [`Dataset`](@ref): the last dim is the rows. If they differ in length, pass a
vector of vectors or of strings, or [`Packed`](@ref). `NamedTuple(batch)` also works. The arrays are read during the call only.
`position` is a text: what the program needs to resume after these rows. Samples of one call stay together.

Throws `Dataline.ERR_MISMATCH`, `Dataline.ERR_INVALID_ARGUMENT`, `Dataline.ERR_OUT_OF_RANGE` or `Dataline.ERR_TOO_LARGE`: no row
is written, and the writer stays usable. After a file-system error (`Dataline.ERR_IO`: a full disk) every call throws that
error.
"""
function Base.append!(writer::Writer, rows::NamedTuple; position::AbstractString = "")
    # In the order of the fields; if the names differ, the library reports which.
    order = issetequal(keys(rows), writer.names) ? writer.names : collect(keys(rows))
    hosts = [HostArray(name, nothing, rows[name], identity) for name in order]
    described = CArray[c_array(host) for host in hosts]
    GC.@preserve rows hosts described using_handle(writer) do handle
        check(error -> dl_writer_append(handle, pointer(described), Int32(length(described)), position, error))
    end
    return writer
end

"""
    position(writer)

The position of the last shard that existed when the writer was created; `""`: none.
"""
Base.position(writer::Writer) = writer.position

Base.show(io::IO, writer::Writer) = isopen(writer) ? print(io, "Dataline.Writer", info(writer)) :
    print(io, "Dataline.Writer (closed)")

"""
    writer_formats_table()

The formats that a [`Writer`](@ref) writes: a vector of named tuples `(name, doc)`.
"""
writer_formats_table() = map(0:dl_writer_format_count()-1) do index
    return (name = text(dl_writer_format_name(Int32(index))), doc = text(dl_writer_format_doc(Int32(index))))
end
