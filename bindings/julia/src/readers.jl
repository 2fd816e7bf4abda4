# Records read by Julia code.
#
# SPDX-License-Identifier: Apache-2.0

"""
The context of a sample to read: `slot`, its place in the epoch's order, `epoch`, and the loader's `seed`. `slot` and `epoch`
are `nothing` for a sample that is read outside an epoch. Random draws that depend only on these are the same in every run.
`Dataline.cancelled(place)` is true when the sample is no longer wanted.
"""
mutable struct Place
    slot::Union{Int,Nothing}
    epoch::Union{Int,Nothing}
    seed::UInt64
    flag::Ptr{Int32} # C_NULL: the call is over
    lock::Threads.SpinLock
end

known(number) = number < 0 ? nothing : Int(number)
Place(call, record) = Place(known(unsafe_load(call.given.slots, record + 1)), known(call.given.epoch), call.given.seed,
    call.given.cancelled, Threads.SpinLock())

@noinline is_set(flag::Ptr{Int32}) = unsafe_load(flag) != 0 # not inlined: read again each time
cancelled(place::Place) = lock(() -> place.flag == C_NULL || is_set(place.flag), place.lock)
leave(place::Place) = lock(() -> (place.flag = C_NULL), place.lock)

"""
    Reader(read, count; fields..., workers = 1, fingerprint = nothing, files = [], file_ends = [], block_ends = [],
        held_blocks = 0)

A source of `count` samples that Julia code reads. `read(index)`, with `index` from 0, returns a named tuple with the value of
each field. `fields` declare them. `label = Int64` is a number. `image = (UInt8, 28, 28)` is an array of that type and size.
`text = Ragged{UInt8}` and `points = (Ragged{Float32}, 2)` are arrays whose last dim may differ from sample to sample.

An `Array` of the field's type and of 4 KiB or more is lent, not copied. Its row is made after `read` has returned for up to 64
samples, and then it is released. So return a separate array for each sample, and do not write to it afterwards. Other values
are copied. A value that the field's type cannot represent (`1.5` or `missing` in an `Int64`, `300` in a `UInt8`), and a value
that no field declares, makes its sample bad.

A method `read(index, place)` also gets the context of the sample, a [`Dataline.Place`](@ref).

If `read` throws, the sample is bad, and the error contains the text; the option `on_error` decides what happens then. `read`
must not call Dataline and should not wait.

`fingerprint` is a text that changes when the data changes: saved states and the option `cache` compare it. `files` are the
files that the samples are read from, in order: local paths, or paths of storages in the keyword `extensions`. Each must exist.
The library records their state when the dataset is created. Saved states, the option `cache` and [`data_identity`](@ref) compare
it, as for files that the library reads. `file_ends` has one number per file, ascending: the number of samples up to its end.
The last number is `count`. A changed file then invalidates only its own samples in a cache.

`block_ends` marks blocks of samples that are cheap to read together, such as a compressed group. The first `block_ends[1]`
samples are the first block, those up to `block_ends[2]` the next, and so on up to `count`. `shuffle = "window"` reads each block
within a short part of an epoch. `held_blocks` is the number of blocks that can be kept open (0: any number). With 4 or more,
`shuffle = "window"` never needs more at a time.

Julia code runs only on Julia's threads, so a loader of a reader needs `num_workers = 0`: the call for a batch reads the samples.
A loop over [`ahead`](@ref)`(loader)` makes this call on another thread, while its body runs. A reader is much slower than files
and arrays. With `workers` above 1, that many of Julia's threads (`julia -t`) read samples concurrently when they are idle. They
then call `read` concurrently, so it should not call C code that blocks. The samples and their order are the same.

    Dataset(Reader(i -> (x = Float32[i, i^2], label = i % 10), 1000; x = (Float32, 2), label = Int64))
"""
struct Reader
    read::Any # takes the index and a place
    count::Int
    schema::Vector{Field}
    workers::Int
    fingerprint::Union{Nothing,String}
    files::Vector{String}
    file_ends::Vector{Int64}
    block_ends::Vector{Int64}
    held_blocks::Int
end

function Reader(read, count::Integer; workers::Integer = 1, fingerprint = nothing, files = String[],
    file_ends = Int64[], block_ends = Int64[], held_blocks::Integer = 0, fields...)

    workers >= 1 || throw(DatalineError(ERR_INVALID_ARGUMENT, "workers: expected 1 or more, got $workers"))
    isempty(fields) && throw(DatalineError(ERR_INVALID_ARGUMENT, "a reader needs fields, such as label = Int64"))
    length(file_ends) in (0, length(files)) || throw(DatalineError(ERR_INVALID_ARGUMENT,
        "reader: $(length(file_ends)) file_ends for $(length(files)) files, expected one per file"))
    schema = [reader_field(name, given) for (name, given) in pairs(fields)]
    placed = hasmethod(read, Tuple{Int,Place}) ? read : (index, _) -> read(index)
    return Reader(placed, count, schema, workers, fingerprint, collect(String, files), row_of(Int64, file_ends, "file_ends"),
        row_of(Int64, block_ends, "block_ends"), held_blocks)
end

reader_field(name, given::Type) = reader_field(name, (given,))
function reader_field(name, given::Tuple)
    type, dims = first(given), collect(Int, Base.tail(given))
    type <: Ragged || return Field(name, type, dims, "", false, false, false, "cpu")
    item = (type::UnionAll).body.parameters[1] # Ragged{UInt8} is Ragged{UInt8,N} where N
    return Field(name, item, [dims; -1], "", true, false, false, "cpu")
end

# Handles a request of the library: puts the named values of some records into their cells, or lends them.
function read_records(context::Ptr{Cvoid}, request::Ptr{CReaderRequest})::Int32
    Threads.atomic_add!(READING, 1)
    given = unsafe_load(request)
    try
        call = ReaderCall(lent(context)::Reader, given, Int(given.record_count))
        helpers = min(call.reader.workers, Threads.nthreads(), call.count) - 1
        foreach(_ -> Threads.@spawn(read_next(call)), 1:helpers)
        read_next(call)
        spins = 0
        while call.done[] < call.count # not a wait: another task of this thread must not enter the library meanwhile
            GC.safepoint()
            ccall(:jl_cpu_pause, Cvoid, ())
            (spins += 1) % 1024 == 0 && Base.process_events() # wakes readers of other threads that sleep or write a line
        end
        keep_rows(request, call.kept)
        return Int32(is_set(given.cancelled))
    catch problem # nothing may pass through the library
        write_message(text_of(problem), given.messages, Int(given.message_bytes))
        return Int32(1)
    finally
        end_reading()
    end
end

# After the library has made the rows of a call.
function release_rows(context::Ptr{Cvoid})::Cvoid
    Threads.atomic_add!(READING, 1) # as in read_records: the caller is inside the library
    lock(() -> delete!(LOANS, context), LOANS_LOCK)
    end_reading()
    return nothing
end

# What records have lent lives until the library has made the rows, in this thread.
function keep_rows(request::Ptr{CReaderRequest}, kept::Vector{Any})
    all(isnothing, kept) && return nothing
    context = pointer_from_objref(kept)
    lock(() -> (LOANS[context] = kept), LOANS_LOCK)
    store(member, value) = unsafe_store!(Ptr{Ptr{Cvoid}}(request + fieldoffset(CReaderRequest, member)), value)
    store(13, @cfunction(release_rows, Cvoid, (Ptr{Cvoid},)))
    store(14, context)
    return nothing
end

# One call of the library, whose records several threads take. A task that comes too late finds none, and touches nothing.
struct ReaderCall
    reader::Reader
    given::CReaderRequest
    count::Int
    kept::Vector{Any} # of each record, what it has lent, or nothing
    taken::Threads.Atomic{Int}
    done::Threads.Atomic{Int}
end
ReaderCall(reader, given, count) =
    ReaderCall(reader, given, count, Any[nothing for _ in 1:count], Threads.Atomic{Int}(0), Threads.Atomic{Int}(0))

function read_next(call::ReaderCall)
    while (record = Threads.atomic_add!(call.taken, 1)) < call.count
        try
            is_set(call.given.cancelled) || read_record(call, record)
        finally
            Threads.atomic_add!(call.done, 1)
        end
    end
    return nothing
end

function read_record(call::ReaderCall, record::Int)
    reader, given = call.reader, call.given
    step = Int(given.cell_bytes) # the cells of a later library may be longer
    cells = Ptr{UInt8}(given.cells) + record * length(reader.schema) * step
    place = Place(call, record)
    try
        values = reader.read(unsafe_load(given.indices, record + 1), place)
        check_names(values, reader.schema)
        for (k, field) in enumerate(reader.schema)
            kept = fill_cell(Ptr{CReaderCell}(cells + (k - 1) * step), field, values[field.name])
            kept === nothing || (call.kept[record + 1] = (kept, call.kept[record + 1]))
        end
    catch problem
        write_message(text_of(problem), given.messages + record * given.message_bytes, Int(given.message_bytes))
        unsafe_store!(Ptr{Int32}(cells + fieldoffset(CReaderCell, 5)), Int32(1))
    finally
        leave(place)
    end
    return nothing
end

# A value that no field declares would be lost.
check_names(values, schema) = nothing
function check_names(values::NamedTuple, schema)
    for name in keys(values)
        any(field -> field.name === name, schema) || throw(DatalineError(ERR_INVALID_ARGUMENT,
            "no field '$name'; the reader declares $(join((field.name for field in schema), ", "))"))
    end
end

const LENT_BYTES = 4096 # below this a copy costs less

# Up to Julia 1.10 a vector that is lent could never be resized again (memory_of).
lendable(items) = sizeof(items) >= LENT_BYTES && (VERSION >= v"1.11-" || ndims(items) > 1)

# Returns what has to be kept until the row is made, or nothing.
function fill_cell(cell::Ptr{CReaderCell}, field::Field, value)
    given = unsafe_load(cell)
    items = items_for(field, value)
    if field.ragged
        fixed = field.size[1:end-1]
        size(items)[1:end-1] == Tuple(fixed) ||
            throw(DimensionMismatch("$(field.name): expected $field, got size $(size(items))"))
        unsafe_store!(Ptr{Int64}(cell + fieldoffset(CReaderCell, 3)), Int64(sizeof(items)))
        sizeof(items) <= given.capacity || return nothing # the library reports that it is too large, and names the option
    elseif (value isa Number ? () : size(items)) != Tuple(field.size)
        throw(DimensionMismatch("$(field.name): expected $field, got size $(size(items))"))
    end
    if lendable(items)
        unsafe_store!(Ptr{Ptr{UInt8}}(cell + fieldoffset(CReaderCell, 4)), Ptr{UInt8}(pointer(items)))
        return memory_of(items)
    end
    GC.@preserve items unsafe_copyto!(Ptr{UInt8}(given.data), Ptr{UInt8}(pointer(items)), sizeof(items))
    return nothing
end

text_of(problem) = String(first(split(sprint(showerror, problem), '\n')))

function write_message(text::String, message::Ptr{UInt8}, room::Int)
    (message == C_NULL || room < 1) && return nothing
    bytes = codeunits(text)
    count = min(length(bytes), room - 1)
    GC.@preserve bytes unsafe_copyto!(message, pointer(bytes), count)
    unsafe_store!(message, 0x00, count + 1)
    return nothing
end

function Dataset(reader::Reader; settings...)
    read = @cfunction(read_records, Int32, (Ptr{Cvoid}, Ptr{CReaderRequest}))
    name, ends, files, file_ends = reader.fingerprint, reader.block_ends, reader.files, reader.file_ends
    any(path -> '\0' in path, files) && throw(DatalineError(ERR_INVALID_ARGUMENT, "files: expected paths without a NUL byte"))
    paths = Ptr{UInt8}[pointer(path) for path in files]
    out = Ref{Handle}(C_NULL)
    lend(reader) do destroy, context
        with_views(reader.schema) do views, count
            table = Ref(CReader(sizeof(CReader), count, views, reader.count, context, read, destroy,
                name === nothing ? C_NULL : pointer(name), length(ends), isempty(ends) ? C_NULL : pointer(ends),
                reader.held_blocks, 0, 0, C_NULL, length(paths), isempty(paths) ? C_NULL : pointer(paths),
                isempty(file_ends) ? C_NULL : pointer(file_ends)))
            GC.@preserve name ends files paths file_ends with_options(settings) do options
                check(error -> dl_dataset_from_reader(table, options, out, error))
            end
        end
    end
    return Dataset(out[], true)
end
