# What a program adds to the library: the object, plug-ins, and what all callbacks share.
#
# SPDX-License-Identifier: Apache-2.0

"""
    Extensions()

Formats, operators, storages and plug-ins for objects opened with the keyword `extensions`: [`add_format!`](@ref),
[`add_operator!`](@ref), [`add_storage!`](@ref), [`load_plugin!`](@ref). The extensions added so far apply; later additions do
not affect open objects. A name that the library or this object already has is `Dataline.ERR_INVALID_ARGUMENT`.

Julia code runs only on Julia's threads. A loader needs `num_workers = 0` if its transform uses an operator in Julia. The same
holds for a dataset of a storage in Julia, or of a format that returned a [`Reader`](@ref). [`open_async`](@ref) does not accept
formats and storages in Julia. Functions of plug-ins have no such limits. An exception becomes the error of the call, with its
text. A [`DatalineError`](@ref) keeps its code, and a `SystemError` its meaning. Functions should not wait.
"""
mutable struct Extensions
    handle::Handle
    operators::Vector{String} # in Julia
    opens_in_julia::Bool # a format or a storage is
    function Extensions()
        out = Ref{Handle}(C_NULL)
        check(error -> dl_extensions_create(out, error))
        return finalizer(e -> in_finalizer(o -> dl_extensions_destroy(o.handle), e), new(out[], String[], false))
    end
end

handle_of(::Nothing) = Handle(C_NULL)
handle_of(extensions::Extensions) = extensions.handle

set_extensions(options::Handle, extensions::Extensions) =
    GC.@preserve extensions check(error -> dl_options_set_extensions(options, extensions.handle, error))
set_extensions(::Handle, other) =
    throw(DatalineError(ERR_BAD_OPTION, "extensions: expected Extensions, got a $(typeof(other))"))

"""
    load_plugin!(extensions, path)

Loads a plug-in: a path, or a name without `/`. For a name, the dynamic linker searches for `libdataline-NAME.so`. The plug-in
stays loaded until the process ends. `Dataline.ERR_NOT_FOUND`, `Dataline.ERR_UNSUPPORTED`.
"""
function load_plugin!(extensions::Extensions, path::AbstractString)
    GC.@preserve extensions check(error -> dl_extensions_load(extensions.handle, path, error))
    return extensions
end

# Whether a dataset that this task opens calls Julia later.
function noting_julia(open)
    before = get(task_local_storage(), :dataline_in_julia, false)
    task_local_storage(:dataline_in_julia, false)
    try
        open()
        return task_local_storage(:dataline_in_julia)
    finally
        task_local_storage(:dataline_in_julia, before)
    end
end
note_julia() = task_local_storage(:dataline_in_julia, true)

# Whether any of these settings names an operator in Julia.
function transforms_in_julia(settings)
    texts = [value for (_, value) in settings if value isa AbstractString]
    names = reduce(vcat, [value.operators for (_, value) in settings if value isa Extensions]; init = String[])
    return any(name -> any(text -> occursin(Regex("\\b$name\\b"), text), texts), names)
end

# Text for the library, alive as long as `kept`; NULL for nothing.
c_text(::Vector{Any}, ::Nothing) = Ptr{UInt8}(C_NULL)
function c_text(kept::Vector{Any}, value)
    written = String(value)
    push!(kept, written)
    return pointer(written)
end

# Runs the body of a callback, on a thread of Julia's that is inside the library: nothing may pass through it.
function for_library(body, error::Ptr{CError})
    Threads.atomic_add!(READING, 1)
    try
        body()
        return DL_OK
    catch problem
        return fail(error, problem)
    finally
        end_reading()
    end
end

function fail(error::Ptr{CError}, problem)
    code, message = meaning(problem)
    return GC.@preserve message dl_error_set(error, code, pointer(message))
end

meaning(problem::DatalineError) = (problem.code.number, problem.message)
meaning(problem::OutOfMemoryError) = (DL_ERR_NO_MEMORY, "out of memory")
meaning(problem) = (DL_ERR_READER, text_of(problem))
function meaning(problem::SystemError)
    code = problem.errnum == Base.Libc.ENOENT ? DL_ERR_NOT_FOUND :
        problem.errnum in (Base.Libc.EACCES, Base.Libc.EPERM) ? DL_ERR_PERMISSION : DL_ERR_IO
    return (code, text_of(problem))
end

# Objects that the library holds by an address. It releases one by a note at that address, which is all that a finalizer may
# do. The next `hold`, or the end of the table, drops those objects.
mutable struct Held
    objects::Dict{Ptr{Int32},Any}
    lock::ReentrantLock
    Held() = finalizer(held -> foreach(Libc.free, keys(held.objects)), new(Dict{Ptr{Int32},Any}(), ReentrantLock()))
end

function hold(held::Held, object)
    at = Ptr{Int32}(Libc.calloc(1, sizeof(Int32)))
    lock(held.lock) do
        gone = [key for key in keys(held.objects) if unsafe_load(key) != 0]
        for key in gone
            delete!(held.objects, key)
            Libc.free(key)
        end
        held.objects[at] = object
    end
    return Ptr{Cvoid}(at)
end
held_at(held::Held, at::Ptr{Cvoid}) = lock(() -> held.objects[Ptr{Int32}(at)], held.lock)

function let_go(::Ptr{Cvoid}, at::Ptr{Cvoid})::Cvoid
    unsafe_store!(Ptr{Int32}(at), Int32(1))
    return nothing
end
