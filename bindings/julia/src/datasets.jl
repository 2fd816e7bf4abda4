# Datasets.
#
# SPDX-License-Identifier: Apache-2.0

"""
    Dataset(uri; settings...)
    Dataset(arrays; axes = (;), settings...)
    Dataset(reader::Reader; settings...)
    Dataset(f, ...)

Samples by number, from 0; immutable. `settings` are the options of [`options_table`](@ref) (those that concern datasets
count), `cancel_token` and [`extensions`](@ref Extensions). `Dataset(f, ...)`, as a `do` block has it, closes it after
`f(dataset)`.

- `uri`: `"scheme:path[,path...][?key=value&...]"` or a bare path, whose format is detected: `"mnist:DIR?split=test"`,
  `"npy:image=a.npy,label=b.npy"`, `"tokens:FILE?length=1024"`. Opening reads headers only, but for `.gz` files and
  `io = "memory"`; it does not return to Julia before it is done. See [`escape`](@ref) for paths from elsewhere.
- `arrays`: a named tuple of arrays, `(image = x, label = y)`; their last dim is the samples. They are read where they lie,
  not copied, kept from the collector as long as the library needs them, and must not change in that time. A field whose
  samples differ in length: a vector of vectors or of strings, or [`Packed`](@ref). A single array is field `data`, a tuple's
  are `data1`, `data2`. `axes = (image = "WHC",)` names a sample's dims for transforms that go by them.

[`open_async`](@ref) opens without waiting. `length(dataset)`, [`fields`](@ref), [`notes`](@ref), [`classes`](@ref),
[`image_info`](@ref), [`read`](@ref), [`subset`](@ref), [`concat`](@ref), [`zipped`](@ref), `close`.

Any thread. Loaders and composed datasets keep what they need of it. In a forked child it goes on working.

A `Vector` that was lent cannot be resized any more, also after the dataset is closed: `push!` and the like throw "cannot resize
array with shared data" (up to Julia 1.10; from 1.11 on it may, and what was lent stays as it is). Give `copy(x)` where it has to
grow.
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

`path` as a part of a URI: the characters that have a meaning there are written by their number.
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

One after another; all have the same fields.
"""
function concat(first::Dataset, more::Dataset...)
    return composed((first, more...)) do handles, out, error
        dl_dataset_concat(pointer(handles), Int32(length(handles)), C_NULL, out, error)
    end
end

"""
    zipped(datasets...)
    zipped((image = a, label = b))

Fields side by side; all have the same length. A name renames the field of a part with one, and prefixes (`name/field`)
those of a part with several.
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

The samples of these numbers, from 0, in this order: `subset(dataset, 0:999)`. A `Vector{Int64}` is read where it lies, not
copied, must not change, and cannot be resized any more (see [`Dataset`](@ref)); another vector is copied. Booleans are
refused: `subset(dataset, findall(mask) .- 1)` takes the samples of a mask.
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

Its samples.
"""
Base.length(dataset::Dataset) = Int(using_handle(dl_dataset_count, dataset))

"""
    fields(dataset)
    fields(loader)

What a sample, or a batch after transforms, has: a vector of [`Field`](@ref).
"""
fields(dataset::Dataset) = using_handle(handle -> read_fields(count -> dl_dataset_fields(handle, count)), dataset)

"""
    format(dataset)

What kind it is: `"idx"`, `"zip"`, `"arrays"` and so on.
"""
format(dataset::Dataset) = using_handle(handle -> text(dl_dataset_format(handle)), dataset)

"""
    uri(dataset)

As given when it was opened, or `""`.
"""
uri(dataset::Dataset) = using_handle(handle -> text(dl_dataset_uri(handle)), dataset)

"""
    notes(dataset)

What one should know of it, a line each.
"""
notes(dataset::Dataset) = using_handle(dataset) do handle
    [text(dl_dataset_note(handle, Int32(k))) for k in 0:dl_dataset_note_count(handle)-1]
end

"""
    classes(dataset)

Names of the classes that labels number: a sample with label `i` is of class `classes(dataset)[i + 1]`. Empty where the
dataset names none.
"""
classes(dataset::Dataset) = using_handle(dataset) do handle
    [text(dl_dataset_class_name(handle, Int64(k))) for k in 0:dl_dataset_class_count(handle)-1]
end

"""
    data_identity(dataset)

Which files of this machine the samples are read from, as text of lines `key: value`. Two texts are equal while the structure
(formats, fields, keys, order of parts) is equal and no file was replaced, rewritten or renamed. Compare it to decide whether
to reuse something that was made of the dataset earlier. Looks at every file of a folder. `Dataline.ERR_UNSUPPORTED` for data
in memory, and for a [`Reader`](@ref) or an object of a storage that states neither files nor a fingerprint.
"""
data_identity(dataset::Dataset) = using_handle(dataset) do handle
    text_from((room, bytes) -> check(error -> dl_dataset_identity(handle, room, bytes, error)))
end

function Base.show(io::IO, dataset::Dataset)
    isopen(dataset) || return print(io, "Dataset (closed)")
    print(io, "Dataset(", format(dataset), ", ", length(dataset), " samples: ", join(fields(dataset), ", "), ")")
end
