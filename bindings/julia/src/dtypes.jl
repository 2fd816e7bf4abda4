# Item types: dl_dtype and Julia's.
#
# SPDX-License-Identifier: Apache-2.0

"""
    BFloat16(x)

A 16-bit brain float, as bits: the upper half of a `Float32`. It converts (to nearest, ties to even), compares and prints. To
compute with it, use `Float32.(x)`. `reinterpret(UInt16, x)` is the bits of an array, without a copy.
"""
struct BFloat16 <: AbstractFloat
    bits::UInt16
    global bfloat16_of_bits(bits::UInt16) = new(bits)
end
# Julia 1.11 has Core.BFloat16, with the same memory layout.

BFloat16(x::BFloat16) = x
BFloat16(x::Real) = BFloat16(Float32(x))
function BFloat16(x::Float32)
    bits = reinterpret(UInt32, x)
    isnan(x) && return bfloat16_of_bits((bits >> 16) % UInt16 | 0x0040)
    return bfloat16_of_bits(((bits + 0x7fff + ((bits >> 16) & 1)) >> 16) % UInt16)
end
Base.Float32(x::BFloat16) = reinterpret(Float32, UInt32(x.bits) << 16)
Base.Float64(x::BFloat16) = Float64(Float32(x))
Base.promote_rule(::Type{BFloat16}, ::Type{Float32}) = Float32
Base.promote_rule(::Type{BFloat16}, ::Type{Float64}) = Float64
Base.promote_rule(::Type{BFloat16}, ::Type{<:Integer}) = BFloat16
Base.:(==)(a::BFloat16, b::BFloat16) = Float32(a) == Float32(b)
Base.:<(a::BFloat16, b::BFloat16) = Float32(a) < Float32(b)
Base.:<=(a::BFloat16, b::BFloat16) = Float32(a) <= Float32(b)
Base.isnan(x::BFloat16) = isnan(Float32(x))
Base.isfinite(x::BFloat16) = isfinite(Float32(x))
Base.hash(x::BFloat16, seed::UInt) = hash(Float32(x), seed)
Base.show(io::IO, x::BFloat16) = print(io, "BFloat16(", Float32(x), ")")

const DTYPES = (
    DL_DTYPE_BOOL => Bool, DL_DTYPE_U8 => UInt8, DL_DTYPE_U16 => UInt16, DL_DTYPE_U32 => UInt32, DL_DTYPE_U64 => UInt64,
    DL_DTYPE_I8 => Int8, DL_DTYPE_I16 => Int16, DL_DTYPE_I32 => Int32, DL_DTYPE_I64 => Int64, DL_DTYPE_F16 => Float16,
    DL_DTYPE_BF16 => BFloat16, DL_DTYPE_F32 => Float32, DL_DTYPE_F64 => Float64, DL_DTYPE_C64 => ComplexF32,
    DL_DTYPE_C128 => ComplexF64,
)

function type_of(dtype::Int32)
    for (number, type) in DTYPES
        number == dtype && return type
    end
    throw(DatalineError(ERR_UNSUPPORTED, "items of type '$(text(dl_dtype_name(dtype)))' have no Julia type here"))
end

function dtype_of(T::Type)
    for (number, type) in DTYPES
        type === T && return number
    end
    known = join((type for (_, type) in DTYPES), ", ")
    throw(DatalineError(ERR_UNSUPPORTED, "items of type $T: expected one of $known"))
end
