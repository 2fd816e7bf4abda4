# Keyword arguments become options of the library, by the keys of its table.
#
# SPDX-License-Identifier: Apache-2.0

# As the shell takes it: true, 256, 64MiB, full.
option_text(value::Union{AbstractString,Symbol,Real}) = string(value)
option_text(value) = throw(DatalineError(ERR_BAD_OPTION, "expected text, a number or a boolean, got a $(typeof(value))"))

function set_option(options::Handle, key::Symbol, value)
    key === :cancel_token && return set_token(options, value)
    key === :extensions && return set_extensions(options, value)
    option_type(key) == 0 && return check(error -> dl_options_set(options, string(key), "", error)) # the name before the type
    if option_type(key) == DL_OPTION_TEXT && !(value isa Union{AbstractString,Symbol}) # cache = true is no directory
        throw(DatalineError(ERR_BAD_OPTION, "option $key: expected text, got $(shown(value))$(instead_of_text(value))"))
    end
    value isa AbstractVector && return set_array(options, key, value)
    written = option_text(value)
    return check(error -> dl_options_set(options, string(key), written, error))
end

instead_of_text(::Any) = ""
function instead_of_text(items::Union{AbstractVector,Tuple})
    isempty(items) && return ""
    all(item -> item isa AbstractString, items) && return "; write one text, \"$(join(items, ", "))\""
    return all(item -> item isa Integer, items) ? "; write one text, \"$(join(items, ","))\"" : ""
end
instead_of_text(::Function) =
    ", which is Julia code: a transform is text that names operators, as in \"decode, resize(256)\". Put Julia code into a " *
    "Reader, or into an operator (add_operator!)"

set_token(options::Handle, token::CancelToken) =
    GC.@preserve token check(error -> dl_options_set_cancel_token(options, token.handle, error))
set_token(::Handle, other) = throw(DatalineError(ERR_BAD_OPTION, "cancel_token: expected a CancelToken, got a $(typeof(other))"))

# Lent without a copy if it is a Vector of the right type.
function set_array(options::Handle, key::Symbol, values::AbstractVector)
    type = option_type(key)
    if type == DL_OPTION_INDICES
        return lend_vector(Int64, values, key) do pointer, count, release, context
            check(error -> dl_options_set_indices(options, pointer, count, release, context, error))
        end
    elseif type == DL_OPTION_LENGTHS
        return lend_vector(Int64, values, key) do pointer, count, release, context
            check(error -> dl_options_set_lengths(options, pointer, count, release, context, error))
        end
    elseif type == DL_OPTION_WEIGHTS
        return lend_vector(Float64, values, key) do pointer, count, release, context
            check(error -> dl_options_set_weights(options, pointer, count, release, context, error))
        end
    end
    throw(DatalineError(ERR_BAD_OPTION, "option '$key' does not accept an array"))
end

function lend_vector(call, ::Type{T}, values::AbstractVector, what) where {T}
    owner = row_of(T, values, what)
    memory = memory_of(owner)
    return lend((release, context) -> call(pointer(owner), Int64(length(owner)), release, context), (owner, memory))
end

# Calls `call(handle)` with options built from the keyword arguments, which datasets and loaders copy.
function with_options(call, settings)
    out = Ref{Handle}(C_NULL)
    check(error -> dl_options_create(out, error))
    try
        for (key, value) in settings
            set_option(out[], key, value)
        end
        return call(out[])
    finally
        dl_options_destroy(out[])
    end
end

function option_value(options::Handle, key::AbstractString)
    out = Ref{Ptr{UInt8}}(C_NULL)
    check(error -> dl_options_get(options, key, out, error))
    return text(out[])
end

"""
    option(key; settings...)

The value of an option as text, with these settings: the default if not set, `""` for none.
"""
option(key::Union{Symbol,AbstractString}; settings...) =
    with_options(options -> option_value(options, string(key)), settings)
