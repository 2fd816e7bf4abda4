# Operators of transforms in Julia.
#
# SPDX-License-Identifier: Apache-2.0

"""
    OperatorUse

One use of an operator in a transform. `field` is the input field, a [`Dataline.Field`](@ref). `arguments` are the values by
name: a number, a vector of numbers, a text, or `nothing` if absent. `given` are the names that the user wrote.

A function that prepares it sets the output field where it differs: `eltype`, `size` (of an array in Julia's order; the last dim
is `-1` if `ragged`), `axes`, `max_bytes` (of a ragged sample). It sets `draws` if rows depend on slot, epoch and seed too, and
`heavy` if a row takes 100 us or more.
"""
mutable struct OperatorUse
    field::Field
    arguments::Dict{Symbol,Any}
    given::Vector{Symbol}
    eltype::DataType
    size::Vector{Int}
    axes::String
    ragged::Bool
    max_bytes::Int
    draws::Bool
    heavy::Bool
end

"""
    OperatorRow

The context of an output row: its `slot`, which is the row's place in the epoch's order, the `epoch` and the loader's `seed`.
Draws are `rand(row, number)`, a `UInt64`, and [`uniform`](@ref)`(row, number)`, with `number` from 0. They depend only on slot,
epoch, seed, the operator's position in the transform and `number`.
"""
struct OperatorRow
    slot::Int
    epoch::Int
    seed::UInt64
    row::COperatorRow
end

Base.rand(row::OperatorRow, number::Integer) = dl_operator_random(Ref(row.row), Int64(number))

"""
    uniform(row, number = 0)

A random number in [0, 1), from the upper 53 bits of `rand(row, number)`.
"""
uniform(row::OperatorRow, number::Integer = 0) = (rand(row, number) >> 11) * 2.0^-53

struct WrongArgument <: Exception
    name::Union{Nothing,Symbol}
    message::String
end
meaning(problem::WrongArgument) = (DL_ERR_BAD_TRANSFORM, problem.message)

"""
    refuse(text; argument = nothing)

Rejects a use of an operator, because of the input field or of the argument with that name. The error points to the argument.
"""
refuse(text::AbstractString; argument = nothing) = throw(WrongArgument(argument, text))

struct JuliaOperator
    arguments::Vector{Symbol}
    prepare::Any
    uses::Held
end

# A use that was prepared: what makes its rows.
struct Prepared
    apply::Any
    input::Field
    output::Field
end

function argument_at(use::COperatorUse, k::Int)
    first = Ptr{UInt8}(use.arguments)
    return unsafe_load(Ptr{CArgumentValue}(first + (k - 1) * Int(unsafe_load(Ptr{UInt32}(first)))))
end

function value_of(given::CArgumentValue)
    given.numbers == C_NULL && return given.text == C_NULL ? nothing : text(given.text)
    numbers = [unsafe_load(given.numbers, k) for k in 1:given.number_count]
    return length(numbers) == 1 ? numbers[1] : numbers
end

function use_of(operator::JuliaOperator, given::COperatorUse)
    field = Field(unsafe_load(given.input))
    values = [argument_at(given, k) for k in eachindex(operator.arguments)]
    arguments = Dict{Symbol,Any}(zip(operator.arguments, map(value_of, values)))
    written = [name for (name, value) in zip(operator.arguments, values) if value.given != 0]
    return OperatorUse(field, arguments, written, field.eltype, copy(field.size), field.axes, field.ragged,
        Int(given.max_bytes), false, false)
end

function store_use(at::Ptr{COperatorUse}, use::OperatorUse)
    store(member, value) = unsafe_store!(Ptr{typeof(value)}(at + fieldoffset(COperatorUse, member)), value)
    length(use.size) <= 33 && ncodeunits(use.axes) < 40 || throw(ArgumentError("size: $(use.size), axes: $(use.axes)"))
    store(5, use.ragged ? DL_KIND_RAGGED : DL_KIND_DENSE)
    store(6, dtype_of(use.eltype))
    store(7, Int32(length(use.size)))
    store(9, ntuple(k -> k <= length(use.size) ? Int64(use.size[end+1-k]) : Int64(0), 33))
    axes = codeunits(reverse(use.axes))
    store(10, ntuple(k -> k <= length(axes) ? axes[k] : 0x00, 40))
    store(11, use.ragged && use.max_bytes > 0 ? Int64(use.max_bytes) : Int64(-1))
    store(8, Int32(use.draws))
    store(12, Int32(use.heavy))
    return nothing
end

function operator_prepare(context::Ptr{Cvoid}, use::Ptr{COperatorUse}, error::Ptr{CError})::Int32
    return for_library(error) do
        operator = lent(context)::JuliaOperator
        wanted = use_of(operator, unsafe_load(use))
        try
            apply = operator.prepare(wanted)
            output = Field(wanted.field.name, wanted.eltype, wanted.size, wanted.axes, wanted.ragged, false, false, "cpu")
            store_use(use, wanted)
            state = hold(operator.uses, Prepared(apply, wanted.field, output))
            unsafe_store!(Ptr{Ptr{Cvoid}}(use + fieldoffset(COperatorUse, 14)), state)
        catch problem
            problem isa WrongArgument && problem.name !== nothing || rethrow()
            at = findfirst(==(problem.name), operator.arguments)
            at === nothing || unsafe_store!(Ptr{Int32}(use + fieldoffset(COperatorUse, 13)), Int32(at - 1))
            rethrow()
        end
    end
end

# The items of a row, in an array of Julia's own.
function items_of(field::Field, at::Ptr{Cvoid}, bytes::Int64)
    type = field.eltype
    dims = field.size
    if field.ragged
        count = Int(bytes) ÷ max(1, sizeof(type) * prod(dims[1:end-1]))
        dims = [dims[1:end-1]; count]
    end
    items = Array{type}(undef, dims...)
    GC.@preserve items unsafe_copyto!(Ptr{UInt8}(pointer(items)), Ptr{UInt8}(at), sizeof(items))
    return isempty(dims) ? items[] : items
end

function operator_apply(context::Ptr{Cvoid}, row::Ptr{COperatorRow}, error::Ptr{CError})::Int32
    return for_library(error) do
        given = unsafe_load(row)
        use = held_at((lent(context)::JuliaOperator).uses, given.state)::Prepared
        value = use.apply(items_of(use.input, given.input, given.input_bytes),
            OperatorRow(Int(given.slot), Int(given.epoch), given.seed, given))
        field = use.output
        items = value isa Number ? fill(item_of(field.eltype, value, field.name)) : items_for(field, value)
        dims = field.ragged ? Tuple(field.size[1:end-1]) : Tuple(field.size)
        (field.ragged ? size(items)[1:end-1] : size(items)) == dims ||
            throw(DimensionMismatch("$(field.name): expected $field, got size $(size(items))"))
        unsafe_store!(Ptr{Int64}(row + fieldoffset(COperatorRow, 8)), Int64(sizeof(items)))
        sizeof(items) <= given.capacity &&
            GC.@preserve items unsafe_copyto!(Ptr{UInt8}(given.output), Ptr{UInt8}(pointer(items)), sizeof(items))
    end
end

"""
    add_operator!(prepare, extensions, name; arguments = (;), doc = "", source = "")

Adds an operator of transforms: one field in, one field out, row by row. `arguments` are, by name, their type and, unless they
are required, a default: `(value = "number", noise = ("number", "0"))`. They are passed by position in this order, or by name.

`prepare(use)` is called when a loader is created, with a [`Dataline.OperatorUse`](@ref). It checks the arguments and the field
([`refuse`](@ref)), sets the output field, and returns the function that makes a row. That function, `apply(input, row)`, gets
its own array (or a number) and a [`Dataline.OperatorRow`](@ref). It returns an array of the type and size that `prepare` set.
If `apply` throws, the sample is bad.
"""
function add_operator!(prepare, extensions::Extensions, name::AbstractString; arguments = NamedTuple(), doc = "", source = "")
    kept = Any[]
    described = map(collect(pairs(arguments))) do (argument, given)
        type, default = given isa AbstractString ? (given, "") : given
        CArgumentInfo(sizeof(CArgumentInfo), 0, c_text(kept, string(argument)), c_text(kept, type), c_text(kept, default))
    end
    described = convert(Vector{CArgumentInfo}, described)
    operator = JuliaOperator(collect(Symbol, keys(arguments)), prepare, Held())
    prepares = @cfunction(operator_prepare, Int32, (Ptr{Cvoid}, Ptr{COperatorUse}, Ptr{CError}))
    applies = @cfunction(operator_apply, Int32, (Ptr{Cvoid}, Ptr{COperatorRow}, Ptr{CError}))
    forgets = @cfunction(let_go, Cvoid, (Ptr{Cvoid}, Ptr{Cvoid}))
    lend(operator) do destroy, context
        table = Ref(COperator(sizeof(COperator), length(described), c_text(kept, name), c_text(kept, doc), c_text(kept, source),
            pointer(described), context, prepares, applies, forgets, destroy))
        GC.@preserve kept described extensions check(error -> dl_extensions_add_operator(extensions.handle, table, error))
    end
    push!(extensions.operators, name)
    return extensions
end
