//! Element types and fields.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{ffi, Result};
use dataline_sys as sys;
use std::ffi::CString;
use std::fmt;

macro_rules! dtypes {
    ($($(#[$doc:meta])* $name:ident = $constant:ident,)*) => {
        /// The type of a field's items.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum DType {
            $($(#[$doc])* $name,)*
            /// A number that this release of the crate does not know.
            Other(i32),
        }

        impl DType {
            /// The number in `dataline.h`.
            #[must_use]
            pub fn number(self) -> i32 {
                match self {
                    $(DType::$name => sys::$constant,)*
                    DType::Other(number) => number,
                }
            }

            /// The dtype for a number in `dataline.h`.
            #[must_use]
            pub fn from_number(number: i32) -> DType {
                match number {
                    $(sys::$constant => DType::$name,)*
                    other => DType::Other(other),
                }
            }
        }
    };
}

dtypes! {
    /// One byte, 0 or 1; viewed as `u8`.
    Bool = DL_DTYPE_BOOL,
    /// `u8`
    U8 = DL_DTYPE_U8,
    /// `u16`
    U16 = DL_DTYPE_U16,
    /// `u32`
    U32 = DL_DTYPE_U32,
    /// `u64`
    U64 = DL_DTYPE_U64,
    /// `i8`
    I8 = DL_DTYPE_I8,
    /// `i16`
    I16 = DL_DTYPE_I16,
    /// `i32`
    I32 = DL_DTYPE_I32,
    /// `i64`
    I64 = DL_DTYPE_I64,
    /// [`F16`](crate::F16)
    F16 = DL_DTYPE_F16,
    /// [`Bf16`](crate::Bf16)
    Bf16 = DL_DTYPE_BF16,
    /// `f32`
    F32 = DL_DTYPE_F32,
    /// `f64`
    F64 = DL_DTYPE_F64,
    /// Two `f32`
    C64 = DL_DTYPE_C64,
    /// Two `f64`
    C128 = DL_DTYPE_C128,
}

impl DType {
    /// The bytes of one item.
    #[must_use]
    pub fn bytes(self) -> usize {
        // SAFETY: any number is allowed.
        usize::try_from(unsafe { sys::dl_dtype_bytes(self.number()) }).unwrap_or(0)
    }

    /// The dtype with this name: `"u8"`.
    ///
    /// ```
    /// use dataline::DType;
    /// assert_eq!(DType::from_name("bf16"), Some(DType::Bf16));
    /// assert_eq!(DType::from_name("float"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<DType> {
        let name = ffi::c_text("name", name).ok()?;
        // SAFETY: a live text.
        let number = unsafe { sys::dl_dtype_from_name(name.as_ptr()) };
        (number != 0).then(|| DType::from_number(number))
    }

    /// Its name in the library: `"u8"`.
    #[must_use]
    pub fn name(self) -> &'static str {
        // SAFETY: any number is allowed; the text is never freed.
        unsafe { ffi::text(sys::dl_dtype_name(self.number())) }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Whether all samples of a field have one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// All samples have one shape.
    Dense,
    /// Samples differ in length and are stored contiguously. Bytes and UTF-8 text are ragged `u8`.
    Ragged,
}

/// A field of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// The name; nested names use `/`.
    pub name: String,
    /// Dense or ragged.
    pub kind: Kind,
    /// The type of its items.
    pub dtype: DType,
    /// The shape of one sample in a dataset, of a batch in a loader. -1: varying. Ragged: the first dim is
    /// -1.
    pub shape: Vec<i64>,
    /// One letter per dim (`"HWC"`), or `""` if unknown.
    pub axes: String,
    /// The bytes of one sample, or of a batch; -1 if they vary. For a ragged field of a
    /// [`Source`](crate::Source): the maximum bytes of one sample, if greater than 0.
    pub bytes: i64,
}

/// A fixed dim. If it is larger than any memory, the library rejects it.
fn fixed(dim: usize) -> i64 {
    i64::try_from(dim).unwrap_or(i64::MAX)
}

impl Field {
    /// A field of a [`Source`](crate::Source) or a [`Writer`](crate::Writer) whose samples all have `shape`.
    #[must_use]
    pub fn dense(name: &str, dtype: DType, shape: &[usize]) -> Field {
        let shape = shape.iter().copied().map(fixed).collect();
        Field { name: name.into(), kind: Kind::Dense, dtype, shape, axes: String::new(), bytes: 0 }
    }

    /// A field of a [`Source`](crate::Source) or a [`Writer`](crate::Writer) whose samples have any number of
    /// items of `item_shape` (`&[]`: scalars).
    #[must_use]
    pub fn ragged(name: &str, dtype: DType, item_shape: &[usize]) -> Field {
        let shape = std::iter::once(-1).chain(item_shape.iter().copied().map(fixed)).collect();
        Field { name: name.into(), kind: Kind::Ragged, dtype, shape, axes: String::new(), bytes: 0 }
    }

    /// Names the dims, one letter each: `"HWC"`.
    #[must_use]
    pub fn with_axes(mut self, axes: &str) -> Field {
        self.axes = axes.into();
        self
    }

    /// Sets the maximum bytes of one sample, for a ragged field (default: the option `max_bytes_per_sample`).
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Field {
        self.bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self
    }

    /// # Safety
    /// `view` is borrowed from the library and alive during the call.
    pub(crate) unsafe fn from_view(view: &sys::dl_view) -> Field {
        // SAFETY: the members are as the header specifies.
        unsafe {
            Field {
                name: ffi::text_of(view.name),
                kind: if view.kind == sys::DL_KIND_RAGGED { Kind::Ragged } else { Kind::Dense },
                dtype: DType::from_number(view.dtype),
                shape: ffi::slice(view.shape, usize::try_from(view.rank).unwrap_or(0)).to_vec(),
                axes: ffi::text_of(view.axes),
                bytes: view.bytes,
            }
        }
    }
}

/// The texts of fields in the form that the library expects.
pub(crate) struct Schema(Vec<(CString, CString)>);

impl Schema {
    pub(crate) fn of(fields: &[Field]) -> Result<Schema> {
        let texts =
            |field: &Field| Ok((ffi::c_text("name", &field.name)?, ffi::c_text("axes", &field.axes)?));
        Ok(Schema(fields.iter().map(texts).collect::<Result<_>>()?))
    }

    /// The views of the fields that it was created from; they point into these and into `self`.
    pub(crate) fn views(&self, fields: &[Field]) -> Vec<sys::dl_view> {
        let view = |(field, (name, axes)): (&Field, &(CString, CString))| sys::dl_view {
            struct_size: ffi::size::<sys::dl_view>(),
            kind: if field.kind == Kind::Ragged { sys::DL_KIND_RAGGED } else { sys::DL_KIND_DENSE },
            name: name.as_ptr(),
            dtype: field.dtype.number(),
            // The library refuses a rank above DL_MAX_RANK, so what does not fit may be any such number.
            rank: i32::try_from(field.shape.len()).unwrap_or(i32::MAX),
            shape: field.shape.as_ptr(),
            axes: axes.as_ptr(),
            bytes: field.bytes,
            ..Default::default()
        };
        fields.iter().zip(&self.0).map(view).collect()
    }
}

/// # Safety
/// `views` are `count` views borrowed from the library, alive during the call.
pub(crate) unsafe fn fields_of(views: *const sys::dl_view, count: i32) -> Vec<Field> {
    // SAFETY: the caller's promise.
    unsafe { ffi::Views::new(views, count).iter().map(|view| Field::from_view(view)).collect() }
}
