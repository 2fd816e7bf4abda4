# The library's tables: options, transforms, formats and storages.
#
# SPDX-License-Identifier: Apache-2.0

const OPTION_TYPES = Dict(
    DL_OPTION_BOOL => :bool, DL_OPTION_INT => :int, DL_OPTION_SIZE => :size, DL_OPTION_WORD => :word,
    DL_OPTION_TEXT => :text, DL_OPTION_INDICES => :indices, DL_OPTION_WEIGHTS => :weights,
    DL_OPTION_LENGTHS => :lengths,
)

function option_info(index::Integer)
    memory = sized(COptionInfo)
    check(error -> dl_option_at(Int32(index), pointer(memory), error))
    return read_struct(COptionInfo, memory)
end

"""
    options_table()

The options of the library in use, which are the keyword arguments of [`Dataset`](@ref) and [`Loader`](@ref). A vector of named
tuples `(key, type, default, choices, range, unit, dataset, loader, doc, since)`. `type` is one of `:bool`, `:int`, `:size`
(bytes), `:word` (one of `choices`), `:text`, `:indices`, `:weights`, `:lengths`. `range` is `(minimum, maximum)` or `nothing`.
`dataset` and `loader` state where the option applies. [`describe`](@ref) prints it.
"""
options_table() = map(0:dl_option_count()-1) do index
    info = option_info(index)
    choices = split(text(info.choices), '|'; keepempty = false)
    return (
        key = Symbol(text(info.key)),
        type = get(OPTION_TYPES, info.type, :other),
        default = text(info.default_value),
        choices = map(String, choices),
        range = info.has_range == 0 ? nothing : (info.minimum, info.maximum),
        unit = text(info.unit),
        dataset = info.scope & DL_SCOPE_DATASET != 0,
        loader = info.scope & DL_SCOPE_LOADER != 0,
        doc = text(info.doc),
        since = text(info.since),
    )
end

function option_type(key::Symbol)
    for index in 0:dl_option_count()-1
        info = option_info(index)
        text(info.key) == string(key) && return info.type
    end
    return Int32(0)
end

"""
    transforms_table([extensions])

The operators of the option `transform`: those of the library, then those of [`Extensions`](@ref). A vector of named tuples
`(name, arguments, doc, source, since)`. Each of `arguments` is a named tuple `(name, type, default)`; it is required if
`default === nothing`.
"""
transforms_table(extensions = nothing) = GC.@preserve extensions map(0:dl_transform_count(handle_of(extensions))-1) do index
    memory = sized(CTransformInfo)
    check(error -> dl_transform_at(handle_of(extensions), Int32(index), pointer(memory), error))
    info = read_struct(CTransformInfo, memory)
    arguments = map(0:info.argument_count-1) do argument
        memory = sized(CArgumentInfo)
        check(error -> dl_transform_argument_at(handle_of(extensions), Int32(index), Int32(argument), pointer(memory), error))
        given = read_struct(CArgumentInfo, memory)
        default = text(given.default_value)
        return (name = text(given.name), type = text(given.type), default = isempty(default) ? nothing : default)
    end
    return (name = text(info.name), arguments = arguments, doc = text(info.doc), source = text(info.source),
        since = text(info.since))
end

"""
    formats_table([extensions])

The formats of URIs: those of the library, then those of [`Extensions`](@ref). A vector of named tuples `(name, keys, doc)`.
Each of `keys` is a named tuple `(name, values, default, doc)`; `default` is `nothing` if there is no default.
"""
formats_table(extensions = nothing) = GC.@preserve extensions map(0:dl_format_count(handle_of(extensions))-1) do index
    memory = sized(CFormatInfo)
    check(error -> dl_format_at(handle_of(extensions), Int32(index), pointer(memory), error))
    info = read_struct(CFormatInfo, memory)
    keys = map(0:info.key_count-1) do key
        memory = sized(CFormatKey)
        check(error -> dl_format_key_at(handle_of(extensions), Int32(index), Int32(key), pointer(memory), error))
        given = read_struct(CFormatKey, memory)
        default = given.default_value == C_NULL ? nothing : text(given.default_value)
        return (name = text(given.name), values = text(given.values), default = default, doc = text(given.doc))
    end
    return (name = text(info.name), keys = keys, doc = text(info.doc))
end

"""
    storages_table(extensions)

The storages of [`Extensions`](@ref): a vector of named tuples `(scheme, doc)`.
"""
storages_table(extensions) = GC.@preserve extensions map(0:dl_storage_count(handle_of(extensions))-1) do index
    memory = sized(CStorage)
    check(error -> dl_storage_at(handle_of(extensions), Int32(index), pointer(memory), error))
    info = read_struct(CStorage, memory)
    return (scheme = text(info.scheme), doc = text(info.doc))
end

"""
    describe([io])

Prints the options and transforms of the library in use, one per line, with their defaults and docs.
"""
function describe(io::IO = stdout)
    for option in options_table()
        default = isempty(option.default) ? "" : " (default $(option.default))"
        println(io, option.key, "::", option.type, default, ": ", option.doc)
    end
    println(io, "\ntransforms:")
    for transform in transforms_table()
        shown(a) = a.default === nothing ? a.name : "$(a.name)=$(a.default)"
        println(io, transform.name, "(", join(map(shown, transform.arguments), ", "), "): ", transform.doc)
    end
end

"""
    version()

The version of the library in use.
"""
version() = VersionNumber(text(dl_version_string()))

"""
    build_info()

The optional parts of the build, and the compiler. If parts are missing, "; missing: " follows, with the parts and what each
costs.
"""
build_info() = text(dl_build_info())
