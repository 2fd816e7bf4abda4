# Converts Julia's values to items of the library types: exactly, or with an error.
#
# SPDX-License-Identifier: Apache-2.0

# As Julia stores a value in an array of that type, which throws where an integer has no such value. Floats are rounded; one
# that becomes infinite, or an integer that has no such float, is refused too.
function item_of(::Type{T}, value, field) where {T}
    value isa T && return value
    value isa Number || throw(misfit(value, T, field))
    item = try
        convert(T, value)
    catch
        throw(misfit(value, T, field))
    end
    same_number(item, value) || throw(misfit(value, T, field))
    return item
end

function same_number(item, value)
    item isa Integer && return true # convert() saw to it
    value isa Integer && return Float64(real(item)) == value
    return isfinite(item) || (value isa Union{AbstractFloat,Complex} && !isfinite(value))
end

misfit(value, T, field) =
    DatalineError(ERR_INVALID_ARGUMENT, "field '$field': $(shown(value)) ($(typeof(value))) does not fit $T")

function shown(value)
    written = sprint(show, value; context = :limit => true)
    return length(written) > 60 ? first(written, 57) * "..." : written
end

# An array of the field's type with what `value`, a number or an array, has; the array itself where it is one of that type.
items_for(field::Field, value::Number) = [item_of(field.eltype, value, field.name)]
function items_for(field::Field, value::AbstractArray)
    T = field.eltype
    eltype(value) === T && return convert(Array{T}, value)
    return convert(Array{T}, map(item -> item_of(T, item, field.name), value))
end
items_for(field::Field, value) = throw(misfit(value, field.eltype, field.name))

# Numbers in a row, given beside the data: indices, lengths, weights. Booleans are none: they would count as 0 and 1.
function row_of(::Type{T}, values::AbstractVector, what) where {T}
    values isa Vector{T} && return values
    expected = T === Int64 ? "whole numbers of 64 bits" : "numbers"
    for value in values
        value isa Bool && throw(DatalineError(ERR_INVALID_ARGUMENT,
            "$what: expected $expected, got booleans; for a mask, pass findall(mask) .- 1"))
        fits = value isa (T === Int64 ? Integer : Real) && (T !== Int64 || typemin(Int64) <= value <= typemax(Int64))
        fits || throw(DatalineError(ERR_INVALID_ARGUMENT, "$what: expected $expected, got $(shown(value)) ($(typeof(value)))"))
    end
    return convert(Vector{T}, values)
end
