# What a field is, before there is data.
#
# SPDX-License-Identifier: Apache-2.0

"""
    Field

A field of a dataset's sample or of a loader's batch:

- `name::Symbol`
- `eltype`: the type of the items
- `size`: the dims in Julia's order, the reverse of C order; `-1`: varying
- `axes`: one letter per dim in Julia's order, `"WHCN"`, or `""`
- `ragged`: samples differ in length
- `readonly`, `overlapping`
- `device`: `"cpu"`, `"cuda:0"`
"""
struct Field
    name::Symbol
    eltype::DataType
    size::Vector{Int}
    axes::String
    ragged::Bool
    readonly::Bool
    overlapping::Bool
    device::String
end

function Field(view::CView)
    dims = [Int(unsafe_load(view.shape, k)) for k in view.rank:-1:1]
    flag(bit) = view.flags & bit != 0
    return Field(Symbol(text(view.name)), type_of(view.dtype), dims, reverse(text(view.axes)),
        view.kind == DL_KIND_RAGGED, flag(DL_VIEW_READ_ONLY), flag(DL_VIEW_OVERLAPPING),
        device_name(view.device_type, view.device_index))
end

function read_fields(call)
    count = Ref{Int32}(0)
    views = call(count)
    return [Field(view_at(views, k)) for k in 1:count[]]
end

# Calls `call(views, count)` with the library's form of fields of one sample.
function with_views(call, fields::Vector{Field})
    shapes = [Int64[reverse(field.size);] for field in fields]
    names = [string(field.name) for field in fields]
    axes = [reverse(field.axes) for field in fields]
    views = map(fields, shapes, names, axes) do field, shape, name, letters
        CView(sizeof(CView), field.ragged ? DL_KIND_RAGGED : DL_KIND_DENSE, 0, pointer(name), dtype_of(field.eltype),
            length(shape), pointer(shape), C_NULL, pointer(letters), DL_DEVICE_CPU, 0, C_NULL, 0, C_NULL, -1, (0, 0, 0, 0))
    end
    return GC.@preserve shapes names axes views call(pointer(views), Int32(length(views)))
end

function Base.show(io::IO, field::Field)
    dims = join((n < 0 ? "?" : string(n) for n in field.size), "x")
    print(io, field.name, "::", field.eltype, isempty(dims) ? "" : " " * dims, field.ragged ? " ragged" : "",
        isempty(field.axes) ? "" : " " * field.axes)
end
