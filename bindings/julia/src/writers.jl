# Sets that a program writes.
#
# SPDX-License-Identifier: Apache-2.0

"""
    Writer(uri, fields; job = "", axes = (;))
    Writer(f, uri, fields; ...)

Writes rows as a set: a directory of shards and a manifest, which `Dataset` opens by the same `FORMAT:PATH`.

- `uri`: `"FORMAT:PATH[?shard_bytes=SIZE&codec=CODEC]"`; [`writer_formats_table`](@ref) has the formats.
- `fields`: what a row has, as a [`Reader`](@ref) takes it, `(image = (UInt8, 28, 28), label = Int64, text = Ragged{UInt8})`, or
  the fields of a dataset, `fields(dataset)`. `axes = (image = "WHC",)` names a row's dims, as for a [`Dataset`](@ref).
- `job`: says what the set is made of.

[`append!`](@ref append!(::Writer, ::NamedTuple)) appends rows, [`finish`](@ref) ends the set, [`info`](@ref) says how far it is,
`position` and `close`.

Until `finish` the set is PATH.partial, so that PATH is a whole set or is not there. After `close` without it, or a crash, the
finished shards stay there, and a writer of the same arguments goes on behind the last of them: `position(writer)` is then what
was said with its last rows, `""` where there are none. One of another job, other fields or another `shard_bytes` is
`Dataline.ERR_STATE_REFUSED`. `Writer(f, ...)`, as a `do` block has it, finishes the set after `f(writer)`, and only closes it
when `f` throws:

    Dataline.Writer("arrow:set", (x = (Float32, 2), text = Ragged{UInt8}); job = "cleaned, 2nd try") do writer
        append!(writer, (x = rand(Float32, 2, 3), text = ["one", "", "three"]); position = "row 3")
    end

Throws `Dataline.ERR_BAD_URI` (with the column), `Dataline.ERR_UNSUPPORTED` (a field that the format does not hold),
`Dataline.ERR_WRONG_STATE` (PATH exists, or another process writes it), and what files may give. Any thread. Part of what may
still change in a minor release.
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

Appends `rows`, a named tuple of arrays as a [`Dataset`](@ref) takes them: the last dim is the rows; a vector of vectors or of
strings, or [`Packed`](@ref), where they differ in length. `NamedTuple(batch)` is one. They are read during the call only.
`position` is a text: what the program needs to go on after these rows. An append is one piece.

Throws `Dataline.ERR_MISMATCH`, `Dataline.ERR_INVALID_ARGUMENT`, `Dataline.ERR_OUT_OF_RANGE` or `Dataline.ERR_TOO_LARGE` for rows
that cannot be stored: none of them is then written, and the writer stays usable. After a failure of the file system
(`Dataline.ERR_IO`: a full disk) each call throws it.
"""
function Base.append!(writer::Writer, rows::NamedTuple; position::AbstractString = "")
    # In the order of the fields; where the names are others, the library says which.
    order = issetequal(keys(rows), writer.names) ? writer.names : collect(keys(rows))
    hosts = [HostArray(name, nothing, rows[name], identity) for name in order]
    described = CArray[c_array(host) for host in hosts]
    GC.@preserve rows hosts described using_handle(writer) do handle
        check(error -> dl_writer_append(handle, pointer(described), Int32(length(described)), position, error))
    end
    return writer
end

"""
    finish(writer)

Ends the last shard and gives the set its name; nothing can be appended afterwards. `Dataline.ERR_EMPTY`: no row was appended.
"""
finish(writer::Writer) = using_handle(handle -> check(error -> dl_writer_finish(handle, error)), writer)

"""
    info(writer)

How far it is: `(samples, resumed_samples, shards, bytes)`. `samples` were appended, with the `resumed_samples` that were there
when it was made; so many `shards` are finished, of so many `bytes`.
"""
function info(writer::Writer)
    memory = sized(CWriterInfo)
    GC.@preserve memory using_handle(writer) do handle
        check(error -> dl_writer_get_info(handle, Ptr{CWriterInfo}(pointer(memory)), error))
    end
    given = read_struct(CWriterInfo, memory)
    return (samples = Int(given.samples), resumed_samples = Int(given.resumed_samples), shards = Int(given.shards),
        bytes = Int(given.bytes))
end

"""
    position(writer)

The text that was given with the last rows that were there when it was made; `""`: none.
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
