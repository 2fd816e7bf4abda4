# Formats and storages in Julia, and the files that they read.
#
# SPDX-License-Identifier: Apache-2.0

"""
    Request

A request to open a path, for a format or a storage. `path` is one path of the URI; for a storage, the complete path with its
scheme. `values` is a named tuple by key: from the URI, else the default, else `nothing`. [`File`](@ref)`(request)` opens the
path, and `Dataset(request, uri)` a dataset, both with the caller's options. Valid until the function returns.
"""
mutable struct Request
    path::String
    values::NamedTuple
    options::Handle # C_NULL: the call is over
    lock::ReentrantLock
end

function with_request(call, path, values, options)
    request = Request(path, values, options, ReentrantLock())
    try
        return call(request)
    finally
        lock(() -> (request.options = C_NULL), request.lock)
    end
end

using_options(call, request::Request) = lock(request.lock) do
    request.options == C_NULL && throw(DatalineError(ERR_WRONG_STATE, "a request was used after its call"))
    call(request.options)
end

"""
    File(request[, path])

An open file: a local path, or `scheme://...` of a storage in the caller's options. `filesize(file)`, and
`read(file, offset, count)`, which returns exactly `count` bytes. Any thread.
"""
mutable struct File
    handle::Handle
    function File(request::Request, path::AbstractString = request.path)
        out = Ref{Handle}(C_NULL)
        using_options(options -> check(error -> dl_file_open(path, options, out, error)), request)
        return finalizer(f -> in_finalizer(o -> dl_file_destroy(o.handle), f), new(out[]))
    end
end

Base.filesize(file::File) = Int(dl_file_bytes(file.handle))
function Base.read(file::File, offset::Integer, count::Integer)
    0 <= count <= filesize(file) ||
        throw(DatalineError(ERR_TRUNCATED, "count: expected at most $(filesize(file)) bytes, got $count"))
    bytes = Vector{UInt8}(undef, count)
    GC.@preserve file bytes check(error -> dl_file_read(file.handle, Int64(offset), Int64(count), pointer(bytes), C_NULL, error))
    return bytes
end

function Dataset(request::Request, uri::AbstractString)
    out = Ref{Handle}(C_NULL)
    in_julia = noting_julia() do
        using_options(options -> check(error -> dl_dataset_open(uri, options, out, error)), request)
    end
    return Dataset(out[], in_julia)
end

struct JuliaFormat
    keys::Vector{Symbol}
    open::Any
    sniff::Any
end

function format_open(context::Ptr{Cvoid}, request::Ptr{CFormatRequest}, out::Ptr{Handle}, error::Ptr{CError})::Int32
    return for_library(error) do
        format, given = lent(context)::JuliaFormat, unsafe_load(request)
        texts = [unsafe_load(given.values, k) for k in 1:given.key_count]
        values = NamedTuple{Tuple(format.keys)}(Tuple(at == C_NULL ? nothing : text(at) for at in texts))
        with_request(text(given.path), values, given.options) do asked
            dataset = format.open(asked)
            dataset isa Dataset || throw(ArgumentError("expected a Dataset, got a $(typeof(dataset))"))
            dataset.reads_in_julia && note_julia()
            made = Ref{Handle}(C_NULL)
            using_handle(dataset) do handle # a concatenation of one is that one: a reference of the library's own
                one = [handle]
                GC.@preserve one check(e -> dl_dataset_concat(pointer(one), Int32(1), Handle(C_NULL), made, e))
            end
            unsafe_store!(out, made[])
        end
    end
end

function format_sniff(context::Ptr{Cvoid}, path::Ptr{UInt8}, bytes::Ptr{UInt8}, count::Int64, size::Int64)::Int32
    sure = Ref(DL_SNIFF_NO)
    for_library(Ptr{CError}(C_NULL)) do
        first = copy(unsafe_wrap(Array, bytes, Int(count)))
        sure[] = clamp(Int((lent(context)::JuliaFormat).sniff(text(path), first, Int(size))), 0, 3)
    end
    return sure[]
end

"""
    add_format!(open, extensions, name; keys = (;), suffixes = [], sniff = nothing, doc = "")

Adds a format, opened as `name:path?key=value`, or matched by content or suffix. `open(request)` is called for each path of a
URI, with a [`Dataline.Request`](@ref), and returns a [`Dataset`](@ref). `keys` lists the keys of the URI by name, as
`(values, default, doc)`: `(labels = ("none|sum", "none", "what labels are"),)`. `values` are the allowed words, or the kind of
value (`"INTEGER"`). `default` may be `nothing`. `sniff(path, bytes, size)` gets the first bytes of a file, up to 512, and its
size. It returns how certain the format is about the file: 0 not, 1 a guess, 2 likely, 3 certain.
"""
function add_format!(open, extensions::Extensions, name::AbstractString; keys = NamedTuple(), suffixes = String[],
    sniff = nothing, doc = "")
    kept = Any[]
    given(key, values, default, about) = CFormatKey(sizeof(CFormatKey), 0, c_text(kept, key), c_text(kept, values),
        c_text(kept, default), c_text(kept, about))
    described = CFormatKey[given(string(key), said...) for (key, said) in pairs(keys)]
    format = JuliaFormat(collect(Symbol, Base.keys(keys)), open, sniff)
    sniffs = sniff === nothing ? C_NULL :
        @cfunction(format_sniff, Int32, (Ptr{Cvoid}, Ptr{UInt8}, Ptr{UInt8}, Int64, Int64))
    opens = @cfunction(format_open, Int32, (Ptr{Cvoid}, Ptr{CFormatRequest}, Ptr{Handle}, Ptr{CError}))
    lend(format) do destroy, context
        table = Ref(CFormat(sizeof(CFormat), length(described), c_text(kept, name), c_text(kept, doc), pointer(described),
            c_text(kept, join(suffixes, ' ')), context, sniffs, opens, destroy))
        GC.@preserve kept described extensions check(error -> dl_extensions_add_format(extensions.handle, table, error))
    end
    extensions.opens_in_julia = true
    return extensions
end

struct JuliaStorage
    open::Any
    objects::Held
end

function storage_open(context::Ptr{Cvoid}, object::Ptr{CStorageObject}, error::Ptr{CError})::Int32
    return for_library(error) do
        storage, given = lent(context)::JuliaStorage, unsafe_load(object)
        note_julia()
        with_request(text(given.path), NamedTuple(), given.options) do request
            made = storage.open(request)
            read, size = made.read, Int64(made.size)
            name = hasproperty(made, :fingerprint) ? String(made.fingerprint) : ""
            '\0' in name && throw(ArgumentError("fingerprint: expected text without a NUL byte"))
            store(member, value) =
                unsafe_store!(Ptr{typeof(value)}(object + fieldoffset(CStorageObject, member)), value)
            store(7, size)
            store(8, pointer(name))
            store(6, hold(storage.objects, (read, name)))
        end
    end
end

function storage_read(context::Ptr{Cvoid}, request::Ptr{CStorageRead}, error::Ptr{CError})::Int32
    return for_library(error) do
        storage, given = lent(context)::JuliaStorage, unsafe_load(request)
        read, _ = held_at(storage.objects, given.object)
        bytes = convert(Vector{UInt8}, read(Int(given.offset), Int(given.bytes)))
        length(bytes) == given.bytes ||
            throw(DatalineError(ERR_TRUNCATED, "offset $(given.offset): expected $(given.bytes) bytes, got $(length(bytes))"))
        GC.@preserve bytes unsafe_copyto!(Ptr{UInt8}(given.out), pointer(bytes), length(bytes))
    end
end

"""
    add_storage!(open, extensions, scheme; doc = "")

Adds a storage, which stores the bytes of `scheme://` paths. Formats read them like files. Formats that need a directory reject
them. `open(request)` returns an object with `size`, and `read(offset, count)`, which returns exactly `count` bytes:
`(size = n, read = (offset, count) -> bytes)`. It may have `fingerprint`, a text that changes when the object's bytes change,
such as a version or an ETag. Without one, the option `cache` and conversions that resume reject the object.
"""
function add_storage!(open, extensions::Extensions, scheme::AbstractString; doc = "")
    kept = Any[]
    opens = @cfunction(storage_open, Int32, (Ptr{Cvoid}, Ptr{CStorageObject}, Ptr{CError}))
    reads = @cfunction(storage_read, Int32, (Ptr{Cvoid}, Ptr{CStorageRead}, Ptr{CError}))
    closes = @cfunction(let_go, Cvoid, (Ptr{Cvoid}, Ptr{Cvoid}))
    lend(JuliaStorage(open, Held())) do destroy, context
        table = Ref(CStorage(sizeof(CStorage), 0, c_text(kept, scheme), c_text(kept, doc), context, opens, reads, closes,
            destroy))
        GC.@preserve kept extensions check(error -> dl_extensions_add_storage(extensions.handle, table, error))
    end
    extensions.opens_in_julia = true
    return extensions
end
