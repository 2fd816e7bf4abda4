# Records read by Julia code.
#
# SPDX-License-Identifier: Apache-2.0

"""
    Reader(read, count; fields..., workers = 1, fingerprint = nothing)

A source of `count` samples that Julia code reads: `read(index)`, with `index` from 0, gives a named tuple with the value of
each field. `fields` say what they are: `label = Int64` a number, `image = (UInt8, 28, 28)` an array of that type and size,
`text = Ragged{UInt8}` or `points = (Ragged{Float32}, 2)` one whose last dim may differ from sample to sample. Values are
copied.

What `read` throws makes that sample bad, and its text is in the error; the option `on_error` says what follows. `read` must
not call Dataline and should not wait. `fingerprint` is a text that identifies the data in a saved state.

Julia code runs on Julia's threads only, so a loader of a reader needs `num_workers = 0`: samples are read while a batch is
asked for, without loading ahead. Slower than files and arrays by far. With `workers` above 1 that many of Julia's threads
(`julia -t`) read samples at once, as far as they have nothing else to do; `read` is then called by several at a time, and
should not call C code that blocks. What arrives, and in which order, is the same.

    Dataset(Reader(i -> (x = Float32[i, i^2], label = i % 10), 1000; x = (Float32, 2), label = Int64))
"""
struct Reader
    read::Any
    count::Int
    schema::Vector{Field}
    workers::Int
    fingerprint::Union{Nothing,String}
end

function Reader(read, count::Integer; workers::Integer = 1, fingerprint = nothing, fields...)
    workers >= 1 || throw(DatalineError(ERR_INVALID_ARGUMENT, "workers: expected 1 or more, got $workers"))
    isempty(fields) && throw(DatalineError(ERR_INVALID_ARGUMENT, "a reader needs fields, as in label = Int64"))
    schema = [reader_field(name, given) for (name, given) in pairs(fields)]
    return Reader(read, count, schema, workers, fingerprint)
end

reader_field(name, given::Type) = reader_field(name, (given,))
function reader_field(name, given::Tuple)
    type, dims = first(given), collect(Int, Base.tail(given))
    type <: Ragged || return Field(name, type, dims, "", false, false, false, "cpu")
    item = (type::UnionAll).body.parameters[1] # Ragged{UInt8} is Ragged{UInt8,N} where N
    return Field(name, item, [dims; -1], "", true, false, false, "cpu")
end

# What the library asks for: the named values of `count` records, each copied to its cell.
function read_records(context::Ptr{Cvoid}, indices::Ptr{Int64}, count::Int64, cells::Ptr{CReaderCell},
    message::Ptr{UInt8}, message_bytes::Csize_t)::Int32
    Threads.atomic_add!(READING, 1)
    try
        reader = lent(context)::Reader
        call = ReaderCall(reader, indices, Int(count), cells, message, Int(message_bytes))
        helpers = min(reader.workers, Threads.nthreads(), call.count) - 1
        foreach(_ -> Threads.@spawn(read_next(call)), 1:helpers)
        read_next(call)
        spins = 0
        while call.done[] < call.count # not a wait: another task of this thread must not enter the library meanwhile
            GC.safepoint()
            ccall(:jl_cpu_pause, Cvoid, ())
            (spins += 1) % 1024 == 0 && Base.process_events() # wakes readers of other threads that sleep or write a line
        end
        return Int32(0)
    catch problem # nothing may pass through the library
        write_message(text_of(problem), message, Int(message_bytes))
        return Int32(1)
    finally
        Threads.atomic_sub!(READING, 1)
    end
end

# One call of the library, whose records several threads take. A task that comes too late finds none, and touches nothing.
struct ReaderCall
    reader::Reader
    indices::Ptr{Int64}
    count::Int
    cells::Ptr{CReaderCell}
    message::Ptr{UInt8}
    message_bytes::Int
    taken::Threads.Atomic{Int}
    done::Threads.Atomic{Int}
    lock::Threads.SpinLock # of the message
end
ReaderCall(parts...) = ReaderCall(parts..., Threads.Atomic{Int}(0), Threads.Atomic{Int}(0), Threads.SpinLock())

function read_next(call::ReaderCall)
    while (record = Threads.atomic_add!(call.taken, 1)) < call.count
        try
            read_record(call, record)
        finally
            Threads.atomic_add!(call.done, 1)
        end
    end
    return nothing
end

function read_record(call::ReaderCall, record::Int)
    reader = call.reader
    cells = call.cells + record * length(reader.schema) * sizeof(CReaderCell)
    index = unsafe_load(call.indices, record + 1)
    try
        values = reader.read(index)
        for (k, field) in enumerate(reader.schema)
            fill_cell(cells + (k - 1) * sizeof(CReaderCell), field, values[field.name])
        end
    catch problem
        text = text_of(problem)
        lock(() -> write_message(text, call.message, call.message_bytes), call.lock)
        unsafe_store!(Ptr{Int32}(cells + fieldoffset(CReaderCell, 4)), Int32(1))
    end
    return nothing
end

function fill_cell(cell::Ptr{CReaderCell}, field::Field, value)
    given = unsafe_load(cell)
    items = value isa Number ? [convert(field.eltype, value)] : convert(Array{field.eltype}, value)
    if field.ragged
        fixed = field.size[1:end-1]
        size(items)[1:end-1] == Tuple(fixed) || throw(DimensionMismatch("$(field.name): $(size(items)) where $field is due"))
        unsafe_store!(Ptr{Int64}(cell + fieldoffset(CReaderCell, 3)), Int64(sizeof(items)))
        sizeof(items) <= given.capacity || return nothing # the library says that it is too large, and which option
    elseif (value isa Number ? () : size(items)) != Tuple(field.size)
        throw(DimensionMismatch("$(field.name): $(size(items)) where $field is due"))
    end
    GC.@preserve items unsafe_copyto!(given.data, Ptr{UInt8}(pointer(items)), sizeof(items))
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
    shapes = [Int64[field.ragged && d < 0 ? -1 : d for d in reverse(field.size)] for field in reader.schema]
    labels = [string(field.name) for field in reader.schema]
    views = map(reader.schema, shapes, labels) do field, shape, label
        CView(sizeof(CView), field.ragged ? DL_KIND_RAGGED : DL_KIND_DENSE, 0, pointer(label), dtype_of(field.eltype),
            length(shape), pointer(shape), C_NULL, C_NULL, DL_DEVICE_CPU, 0, C_NULL, 0, C_NULL, -1, (0, 0, 0, 0))
    end
    read = @cfunction(read_records, Int32, (Ptr{Cvoid}, Ptr{Int64}, Int64, Ptr{CReaderCell}, Ptr{UInt8}, Csize_t))
    name = reader.fingerprint
    out = Ref{Handle}(C_NULL)
    lend(reader) do destroy, context
        table = Ref(CReader(sizeof(CReader), length(views), pointer(views), reader.count, context, read, destroy,
            name === nothing ? C_NULL : pointer(name)))
        GC.@preserve shapes labels views name with_options(settings) do options
            check(error -> dl_dataset_from_reader(table, options, out, error))
        end
    end
    return Dataset(out[], true)
end
