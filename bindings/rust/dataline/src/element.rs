//! Rust types for the items of a field.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::DType;

/// A type for viewing the items of a field. Any bytes are a valid value of it.
///
/// Items of dtype `bool` are viewed as `u8`, because a file may contain bytes other than 0 and 1. Complex
/// items are viewed as `[f32; 2]` and `[f64; 2]`.
///
/// # Safety
/// `Self` has the size of [`Element::DTYPE`] and no padding, and each bit pattern is a value of it.
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// The dtype of arrays of this type.
    const DTYPE: DType;

    /// Whether items of `dtype` may be viewed as this type.
    #[must_use]
    fn sees(dtype: DType) -> bool {
        dtype == Self::DTYPE
    }
}

/// IEEE 754 binary16, by its bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct F16(pub u16);

/// bfloat16, by its bits: the upper half of an `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bf16(pub u16);

impl F16 {
    /// An exact conversion.
    ///
    /// ```
    /// assert_eq!(dataline::F16(0x3C00).to_f32(), 1.0);
    /// assert_eq!(dataline::F16(0x0001).to_f32(), 2f32.powi(-24));
    /// ```
    #[must_use]
    pub fn to_f32(self) -> f32 {
        let bits = u32::from(self.0);
        let (sign, exponent, fraction) = ((bits & 0x8000) << 16, (bits >> 10) & 0x1F, bits & 0x3FF);
        let magnitude = match exponent {
            0 => return f32::from_bits((fraction as f32 * f32::from_bits(0x3380_0000)).to_bits() | sign),
            0x1F => 0x7F80_0000 | (fraction << 13),
            _ => ((exponent + 112) << 23) | (fraction << 13),
        };
        f32::from_bits(sign | magnitude)
    }
}

impl Bf16 {
    /// An exact conversion.
    #[must_use]
    pub fn to_f32(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

macro_rules! elements {
    ($($type:ty => $dtype:ident)*) => {
        $(
            // SAFETY: integers, floats and arrays of them: no padding, and any bits are a value.
            unsafe impl Element for $type {
                const DTYPE: DType = DType::$dtype;
            }
        )*
    };
}

elements! {
    u16 => U16
    u32 => U32
    u64 => U64
    i8 => I8
    i16 => I16
    i32 => I32
    i64 => I64
    F16 => F16
    Bf16 => Bf16
    f32 => F32
    f64 => F64
    [f32; 2] => C64
    [f64; 2] => C128
}

// SAFETY: a byte.
unsafe impl Element for u8 {
    const DTYPE: DType = DType::U8;

    fn sees(dtype: DType) -> bool {
        matches!(dtype, DType::U8 | DType::Bool)
    }
}
