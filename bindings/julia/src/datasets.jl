# Datasets.
#
# SPDX-License-Identifier: Apache-2.0

"""
    Dataset(uri; settings...)
    Dataset(arrays; axes = (;), settings...)
    Dataset(reader::Reader; settings...)
    Dataset(f, ...)

Samples by index, from 0; immutable. `settings` are the options of [`options_table`](@ref) of scope dataset, `cancel_token` and
[`extensions`](@ref Extensions). `Dataset(f, ...)`, for a `do` block, closes the dataset after `f(dataset)`.

- `uri`: `"scheme:path[,path...][?key=value&...]"` or a bare path, whose format is detected: `"mnist:DIR?split=test"`,
  `"npy:image=a.npy,label=b.npy"`, `"tokens:FILE?length=1024"`. Reads headers only (except `.gz` files and `io = "memory"`). No
  other Julia code runs on this thread until it is open. See [`escape`](@ref) for paths that you did not write.
- `arrays`: a named tuple of arrays, `(image = x, label = y)`. Their last dim is the samples. They are borrowed, not copied:
  they must not change, and are kept from the garbage collector, while the library needs them. For a field whose samples differ
  in length, pass a vector of vectors or of strings, or [`Packed`](@ref). A single array becomes field `data`; the arrays of a
  tuple become `data1`, `data2`. `axes = (image = "WHC",)` names a sample's dims, for transforms that use them.

[`open_async`](@ref) opens without waiting. `length(dataset)`, [`fields`](@ref), [`notes`](@ref), [`classes`](@ref),
[`image_info`](@ref), [`read`](@ref), [`subset`](@ref), [`concat`](@ref), [`zipped`](@ref), `close`.

Any thread. Loaders and composed datasets hold their own references to it. Usable in a forked child.

Up to Julia 1.10, a borrowed `Vector` can no longer be resized, even after the dataset is closed: `push!` and similar calls
throw "cannot resize array with shared data". From Julia 1.11 on it can be resized, and the borrowed memory does not change.
Pass `copy(x)` if the vector has to grow.
"""
mutable struct Dataset <: SharedHandle
    handle::Handle
    state::Threads.Atomic{Int}
    reads_in_julia::Bool # then loaders need num_workers=0
    function Dataset(handle::Handle, reads_in_julia::Bool)
        return finalizer(d -> in_finalizer(close, d), new(handle, Threads.Atomic{Int}(0), reads_in_julia))
    end
end

destroy(dataset::Dataset) = dl_dataset_destroy(dataset.handle)
kind_of(::Dataset) = "dataset"

function Dataset(uri::AbstractString; settings...)
    out = Ref{Handle}(C_NULL)
    in_julia = noting_julia() do
        with_options(options -> check(error -> dl_dataset_open(uri, options, out, error)), settings)
    end
    return Dataset(out[], in_julia)
end

Dataset(arrays::NamedTuple; axes = NamedTuple(), settings...) = Dataset(dataset_of_arrays(arrays, axes, settings), false)
Dataset(array::AbstractArray; more...) = Dataset((data = array,); more...)
Dataset(arrays::Tuple; more...) =
    Dataset(NamedTuple{ntuple(k -> Symbol(:data, k), length(arrays))}(arrays); more...)
Dataset(dataset::Dataset) = dataset

Dataset(f::Function, source; settings...) = closing(f, Dataset(source; settings...))

function closing(f, handle)
    try
        return f(handle)
    finally
        close(handle)
    end
end

"""
    escape(path)

`path` as a part of a URI: characters with a meaning there are written by their number.
"""
escape(path::AbstractString) =
    replace(path, r"[%,?&=]" => letter -> "%" * uppercase(string(UInt8(first(letter)); base = 16, pad = 2)))

# A dataset of parts, made by `call(handles, out, error)`.
function composed(call, parts)
    out = Ref{Handle}(C_NULL)
    entered = Dataset[]
    try
        handles = Handle[(handle = enter(part); push!(entered, part); handle) for part in parts]
        GC.@preserve handles check(error -> call(handles, out, error))
    finally
        foreach(leave, entered)
    end
    return Dataset(out[], any(part -> part.reads_in_julia, parts))
end

"""
    concat(datasets...)

Concatenates datasets with equal fields.
"""
function concat(first::Dataset, more::Dataset...)
    return composed((first, more...)) do handles, out, error
        dl_dataset_concat(pointer(handles), Int32(length(handles)), C_NULL, out, error)
    end
end

"""
    zipped(datasets...)
    zipped((image = a, label = b))

Puts fields side by side; all datasets have equal lengths. A name renames the field of its part, or, if it has several, prefixes
them (`name/field`).
"""
zipped(first::Dataset, more::Dataset...) = zip_parts((first, more...), nothing)
zipped(parts::NamedTuple{<:Any,<:Tuple{Vararg{Dataset}}}) = zip_parts(values(parts), map(string, keys(parts)))

function zip_parts(parts, names)
    named = names === nothing ? Ptr{UInt8}[] : Ptr{UInt8}[pointer(name) for name in names]
    at = names === nothing ? Ptr{Ptr{UInt8}}(C_NULL) : pointer(named)
    return GC.@preserve names named composed(parts) do handles, out, error
        dl_dataset_zip(pointer(handles), at, Int32(length(handles)), C_NULL, out, error)
    end
end

"""
    subset(dataset, indices)

The samples `indices` of this dataset, from 0, in that order: `subset(dataset, 0:999)`. A `Vector{Int64}` is borrowed: it is not
copied, must not change, and can no longer be resized (see [`Dataset`](@ref)). Other vectors are copied. A vector of booleans is
rejected: for a mask, use `subset(dataset, findall(mask) .- 1)`.
"""
function subset(dataset::Dataset, indices::AbstractVector)
    return lend_vector(Int64, indices, "indices") do pointer, count, release, context
        composed((dataset,)) do handles, out, error
            dl_dataset_subset(handles[1], pointer, count, release, context, C_NULL, out, error)
        end
    end
end

"""
    length(dataset)

The sample count.
"""
Base.length(dataset::Dataset) = Int(using_handle(dl_dataset_count, dataset))

"""
    fields(dataset)
    fields(loader)

The fields of one sample, or of a batch after transforms: a vector of [`Field`](@ref).
"""
fields(dataset::Dataset) = using_handle(handle -> read_fields(count -> dl_dataset_fields(handle, count)), dataset)

"""
    format(dataset)

The format: `"idx"`, `"zip"`, `"arrays"` and so on.
"""
format(dataset::Dataset) = using_handle(handle -> text(dl_dataset_format(handle)), dataset)

"""
    uri(dataset)

The URI passed when it was opened, or `""`.
"""
uri(dataset::Dataset) = using_handle(handle -> text(dl_dataset_uri(handle)), dataset)

"""
    notes(dataset)

Notes for the user: what was assumed, what is slow. One line each.
"""
notes(dataset::Dataset) = using_handle(dataset) do handle
    [text(dl_dataset_note(handle, Int32(k))) for k in 0:dl_dataset_note_count(handle)-1]
end

"""
    classes(dataset)

Class names: a sample with label `i` belongs to class `classes(dataset)[i + 1]`. Empty if the dataset has none.
"""
classes(dataset::Dataset) = using_handle(dataset) do handle
    [text(dl_dataset_class_name(handle, Int64(k))) for k in 0:dl_dataset_class_count(handle)-1]
end

"""
    data_identity(dataset)

Describes the files on this machine that the samples are read from, as lines of `key: value`. Two texts are equal if the
structure (formats, fields, keys, order of parts) is equal and no file was replaced, rewritten or renamed. Compare them to
decide whether earlier results computed from the dataset are still valid. Checks every file of a folder.
`Dataline.ERR_UNSUPPORTED`: data in memory; a [`Reader`](@ref) or a stored object with neither files nor a fingerprint.
"""
data_identity(dataset::Dataset) = using_handle(dataset) do handle
    text_from((room, bytes) -> check(error -> dl_dataset_identity(handle, room, bytes, error)))
end

function Base.show(io::IO, dataset::Dataset)
    isopen(dataset) || return print(io, "Dataset (closed)")
    print(io, "Dataset(", format(dataset), ", ", length(dataset), " samples: ", join(fields(dataset), ", "), ")")
end
