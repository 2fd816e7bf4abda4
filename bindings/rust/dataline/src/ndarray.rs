//! [`ndarray`] and [`dataline`]: fields of a batch as array views, arrays as fields of a dataset. Nothing is copied.
//!
//! ```
//! use dataline::{Dataset, Loader, Options};
//! use dataline_ndarray::{field, BatchExt};
//! use ndarray::{Array1, Array2, Axis};
//!
//! # fn main() -> dataline::Result<()> {
//! let (images, labels) = (Array2::<f32>::ones((100, 4)), Array1::<i64>::zeros(100));
//! let arrays = [field("image", &images)?, field("label", &labels)?];
//! let dataset = Dataset::from_arrays(&arrays, &Options::new())?; // or `with_borrowed`, `lend_arrays`: no copy
//! let loader = Loader::new(&dataset, &Options::new().set("batch_size", 50))?;
//! for batch in &loader {
//! #   if loader.position()?.epoch > 0 { break }
//!     let batch = batch?;
//!     let x = batch.array::<f32, ndarray::Ix2>("image")?; // ArrayView2<f32>, borrows `batch`
//!     let y = batch.array::<i64, ndarray::Ix1>("label")?;
//!     assert_eq!((x.sum_axis(Axis(1))[0], y.len()), (4.0, 50));
//! #   break;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Views have the strides of the field, so overlapping windows (`tokens:...?views=true`) are seen in place too. Ragged
//! fields: [`TensorExt::array`] is the items of all rows, [`TensorExt::row_array`] those of one.
//!
//! SPDX-License-Identifier: Apache-2.0
#![deny(missing_docs)]
#![forbid(unsafe_code)]
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc, clippy::must_use_candidate)]

use dataline::{Array, Batch, Code, Element, Error, Kind, Result, Tensor};
use ndarray::{ArrayBase, ArrayView, ArrayViewD, Data, Dimension, IxDyn, ShapeBuilder};

/// What is seen of a batch.
pub trait BatchExt {
    /// A field as a view of fixed rank: `batch.array::<f32, Ix4>("image")`.
    ///
    /// # Errors
    /// [`Code::NoSuchField`]; [`Code::Mismatch`] when the items are not `T` or the rank is another.
    fn array<T: Element, D: Dimension>(&self, name: &str) -> Result<ArrayView<'_, T, D>>;

    /// A field as a view of any rank.
    ///
    /// # Errors
    /// As for [`BatchExt::array`].
    fn array_dyn<T: Element>(&self, name: &str) -> Result<ArrayViewD<'_, T>>;
}

/// What is seen of a field.
pub trait TensorExt<'b> {
    /// A view of fixed rank; the first dim is the rows (dense) or the items of all rows (ragged).
    ///
    /// # Errors
    /// [`Code::Mismatch`] when the items are not `T` or the rank is another.
    fn array<T: Element, D: Dimension>(&self) -> Result<ArrayView<'b, T, D>>;

    /// A view of any rank.
    ///
    /// # Errors
    /// [`Code::Mismatch`] when the items are not `T`.
    fn array_dyn<T: Element>(&self) -> Result<ArrayViewD<'b, T>>;

    /// One row; of a ragged field its items, however many.
    ///
    /// # Errors
    /// As for [`Tensor::row`].
    fn row_array<T: Element>(&self, row: usize) -> Result<ArrayViewD<'b, T>>;
}

impl BatchExt for Batch {
    fn array<T: Element, D: Dimension>(&self, name: &str) -> Result<ArrayView<'_, T, D>> {
        TensorExt::array(&self.tensor(name)?)
    }

    fn array_dyn<T: Element>(&self, name: &str) -> Result<ArrayViewD<'_, T>> {
        TensorExt::array_dyn(&self.tensor(name)?)
    }
}

impl<'b> TensorExt<'b> for Tensor<'b> {
    fn array<T: Element, D: Dimension>(&self) -> Result<ArrayView<'b, T, D>> {
        self.array_dyn()?.into_dimensionality().map_err(|_| {
            let expected = D::NDIM.map_or("any".to_owned(), |rank| rank.to_string());
            refuse(self.name(), &format!("rank is {}, asked for {expected}", self.shape().len()))
        })
    }

    fn array_dyn<T: Element>(&self) -> Result<ArrayViewD<'b, T>> {
        let (shape, items) = (IxDyn(&sizes(self.shape())), self.span()?);
        let view = if items.is_empty() {
            ArrayView::from_shape(shape, items) // strides of nothing would be out of bounds
        } else {
            ArrayView::from_shape(shape.strides(IxDyn(&sizes(self.strides()))), items)
        };
        view.map_err(|error| refuse(self.name(), &error.to_string()))
    }

    fn row_array<T: Element>(&self, row: usize) -> Result<ArrayViewD<'b, T>> {
        let items = self.row(row)?;
        let mut shape = sizes(&self.shape()[1..]);
        if self.kind() == Kind::Ragged {
            let each = shape.iter().product::<usize>().max(1);
            shape.insert(0, items.len() / each);
        }
        ArrayView::from_shape(IxDyn(&shape), items).map_err(|error| refuse(self.name(), &error.to_string()))
    }
}

fn sizes(dims: &[i64]) -> Vec<usize> {
    dims.iter().map(|&dim| usize::try_from(dim).unwrap_or(0)).collect()
}

#[cold]
fn refuse(name: &str, text: &str) -> Error {
    Error::new(Code::Mismatch, format!("field '{name}': {text}"))
}

/// An array as a field for [`Dataset::from_arrays`](dataline::Dataset::from_arrays),
/// [`lend_arrays`](dataline::Dataset::lend_arrays) or [`with_borrowed`](dataline::with_borrowed); its first axis is the
/// samples.
///
/// ```
/// use dataline::{Dataset, Options};
/// use dataline_ndarray::field;
/// use ndarray::Array2;
/// use std::sync::Arc;
///
/// # fn main() -> dataline::Result<()> {
/// let rows = Arc::new(Array2::<f32>::zeros((1000, 8)));
/// let dataset = Dataset::lend_arrays(rows.clone(), |rows| Ok(vec![field("x", rows)?]), &Options::new())?;
/// assert_eq!((dataset.len(), Arc::strong_count(&rows)), (Some(1000), 2)); // not copied
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Code::InvalidArgument`] when the array has no axis, or its items do not lie one after another in C order: copy it with
/// `array.as_standard_layout()`, or take the columns of a whole table with [`Array::strided`].
pub fn field<'a, T, S, D>(name: &str, array: &'a ArrayBase<S, D>) -> Result<Array<'a>>
where
    T: Element,
    S: Data<Elem = T>,
    D: Dimension,
{
    let items = array.as_slice().ok_or_else(|| {
        let text = format!(
            "field '{name}': items do not lie one after another, their strides are {:?}",
            array.strides()
        );
        Error::new(Code::InvalidArgument, text)
    })?;
    Array::dense(name, array.shape(), items)
}

/// The code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
