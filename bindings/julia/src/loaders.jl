# Loaders.
#
# SPDX-License-Identifier: Apache-2.0

"""
    Loader(source; batchsize, shuffle, partial, seed, rng, settings...)
    Loader(f, source; ...)

A job's stream of batches. `source` is a [`Dataset`](@ref), or a URI, arrays or a [`Reader`](@ref) to create one from. One
`for` loop is one epoch:

    for (image, label) in Loader("mnist:data"; batchsize = 128, shuffle = true, transform = "image: normalize(mnist)")

The stream depends only on the data, the settings and the seed, never on the number of threads. It is the same in every
language. `Loader(f, source; ...)`, for a `do` block, closes the loader after `f(loader)`.

Keywords of `MLUtils.DataLoader`:

| keyword | is |
|---|---|
| `batchsize` | option `batch_size` |
| `shuffle` | option `shuffle`; `true` is `full` |
| `partial` | `true`: the last batch may be shorter; `false`: it is dropped (option `drop_last`) |
| `rng` | a generator, which draws one number as the seed, or an integer |
| `collate`, `buffer`, `parallel` | not supported: the error names an alternative |

All options of the library are keywords by their own names: `num_workers = 2`, `last_batch = :pad`, `memory_budget = "64MiB"`,
`sample_indices = [3, 1]`. [`options_table`](@ref) lists them with types, defaults and docs; [`describe`](@ref) prints them.
`cancel_token` is a [`CancelToken`](@ref), `extensions` [`Extensions`](@ref).

Threads of the library load ahead; Julia needs no threads. While a call waits for a batch, other tasks run. Ctrl-C ends the
wait, and the loader then continues at the same position. With `num_workers = 0`, the call for a batch loads it.

Any thread. A new loop, a [`seek!`](@ref) and a [`load_state!`](@ref) end the current loop over the same loader: its next step
throws `Dataline.ERR_WRONG_STATE`. Several tasks share an epoch by looping over one [`Epoch`](@ref), or by calling
[`next!`](@ref). In a forked child its calls throw `Dataline.ERR_FORKED`.
"""
mutable struct Loader{F<:NamedTuple} <: SharedHandle
    handle::Handle
    state::Threads.Atomic{Int}
    waits::Waits
    turn::Threads.Atomic{Int} # 1: taken; see `in_turn`
    turn_of::Union{Nothing,Task} # who took it
    interrupts::Threads.Atomic{Int} # see `interrupts_of`
    loop::Loop{F} # the last that began
    scattered::Bool # loops in several tasks, each with a lease of its own
    collect_at::UInt64 # of time_ns; see `collect_for_lease`
    fields::F
    reads_in_julia::Bool

    function Loader(handle::Handle, fields::F, reads_in_julia::Bool) where {F<:NamedTuple}
        counter() = Threads.Atomic{Int}(0)
        waits = Waits()
        loader = new{F}(handle, counter(), waits, counter(), nothing, counter(), Loop(EpochHandle(), waits, fields), false,
            UInt64(0), fields, reads_in_julia)
        return finalizer(close_later, loader)
    end
end

kind_of(::Loader) = "loader"

# Ends its threads, which takes as long as the samples that they load.
@noinline function destroy(loader::Loader)
    wait_for_readers()
    handle, loader.handle = loader.handle, C_NULL
    dl_loader_destroy(handle)
    return nothing
end

"""
    close(loader)

Ends its threads and frees its memory. Waits in other tasks end with an exception. Held batches stay valid. Waits for the
samples that are being loaded. If another task is inside a call, the last such call closes the loader instead. Closing twice is
allowed.
"""
Base.close(loader::Loader) = close_with(loader) do handle
    dl_loader_cancel(handle)
    wake(loader.waits)
end

# As `check`, for a call with a loader's handle.
function check_loader(call, loader::Loader)
    memory = error_memory()
    status = GC.@preserve memory ask(handle -> call(handle, pointer(memory)), loader)
    status == DL_OK || throw(failure(status, memory))
    return nothing
end

const NOT_TAKEN = (
    collate = "the library assembles batches; fields whose samples differ in length are ragged",
    buffer = "batches are loaded into memory that is reused; see prefetch_depth and max_leases",
    parallel = "threads of the library always load the samples; set their number with num_workers",
)

# The keywords of MLUtils.DataLoader as options; all others are options already. A keyword must not conflict with the option
# it is an alias of.
function translated(settings)
    options = Pair{Symbol,Any}[]
    written = Dict{Symbol,Pair{Symbol,Any}}() # by option: as what it was given
    for (key, value) in settings
        haskey(NOT_TAKEN, key) && throw(DatalineError(ERR_UNKNOWN_OPTION, "no option '$key': $(NOT_TAKEN[key])"))
        option = as_option(key, value)
        if haskey(written, first(option))
            before = written[first(option)]
            said = last(options[findfirst(one -> first(one) === first(option), options)])
            same_setting(said, last(option)) || throw(DatalineError(ERR_BAD_OPTION,
                "keywords $(first(before)) and $key contradict each other: $(last(before)) and $value"))
            continue
        end
        written[first(option)] = key => value
        push!(options, option)
    end
    return options
end

function as_option(key::Symbol, value)
    key === :batchsize && return :batch_size => value
    if key === :partial
        value isa Bool || throw(DatalineError(ERR_BAD_OPTION, "keyword partial: expected true or false, got $(shown(value))"))
        return :drop_last => !value
    elseif key === :rng
        value isa Union{Real,AbstractString,Symbol} && return :seed => value # of an integer alone, says the library
        return :seed => rand(value, 0:typemax(Int64))
    end
    return key => value
end

same_setting(a, b) = option_text(a) == option_text(b)

function Loader(dataset::Dataset; settings...)
    out = Ref{Handle}(C_NULL)
    settings = translated(settings)
    in_julia = dataset.reads_in_julia || transforms_in_julia(settings)
    with_options(settings) do options
        if in_julia && option_value(options, "num_workers") != "0"
            throw(DatalineError(ERR_BAD_OPTION, "a Reader, an operator or a storage in Julia runs only on Julia's threads: set " *
                "num_workers=0; Dataline.ahead(loader) loads on another of Julia's threads, a Reader's workers read on several"))
        end
        give_environment(options)
        using_handle(handle -> check(error -> dl_loader_create(handle, options, out, error)), dataset)
    end
    return loader_of(out[], in_julia)
end

function loader_of(handle::Handle, reads_in_julia::Bool)
    try
        schema = read_fields(count -> dl_loader_fields(handle, count))
        seen = Tuple(seen_as(field, at) for (at, field) in enumerate(schema))
        return Loader(handle, NamedTuple{Tuple(field.name for field in schema)}(seen), reads_in_julia)
    catch
        dl_loader_destroy(handle)
        rethrow()
    end
end

function Loader(source; axes = nothing, settings...)
    settings = translated(settings)
    dataset = axes === nothing ? Dataset(source; settings...) : Dataset(source; axes = axes, settings...)
    try
        return Loader(dataset; settings...)
    finally
        close(dataset) # the loader has its own reference
    end
end

Loader(f::Function, source; settings...) = closing(f, Loader(source; settings...))

fields(loader::Loader) = ask(handle -> read_fields(count -> dl_loader_fields(handle, count)), loader)

"""
    set_indices!(loader, indices)

Replaces the order, starting with the next epoch that has not begun. For loaders created with `sample_indices`; the length must
be the same. A `Vector{Int64}` is borrowed: it is not copied, must not change, and can no longer be resized (see
[`Dataset`](@ref)). A vector of booleans is rejected.
"""
function set_indices!(loader::Loader, indices::AbstractVector)
    return lend_vector(Int64, indices, "indices") do pointer, count, release, context
        check_loader(loader) do handle, error
            dl_loader_set_indices(handle, pointer, count, release, context, error)
        end
    end
end

cancel(loader::Loader) = (try_using(dl_loader_cancel, loader); nothing)

function Base.show(io::IO, loader::Loader)
    isopen(loader) || return print(io, "Loader (closed)")
    print(io, "Loader(", length(loader), " batches per epoch: ", join(fields(loader), ", "), ")")
end
