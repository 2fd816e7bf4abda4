//! With the feature `ndarray`: fields of a batch as [`ndarray`] views, arrays as fields of a dataset. Nothing
//! is copied.
//!
//! ```
//! use dataline::{Array, Dataset, Loader, Options};
//! use ndarray::{Array1, Array2, Axis, Ix1, Ix2};
//!
//! # fn main() -> dataline::Result<()> {
//! let (images, labels) = (Array2::<f32>::ones((100, 4)), Array1::<i64>::zeros(100));
//! let arrays = [Array::from_ndarray("image", &images)?, Array::from_ndarray("label", &labels)?];
//! let dataset = Dataset::from_arrays(&arrays, &Options::new())?; // or `with_borrowed`, `lend_arrays`: no copy
//! let loader = Loader::new(&dataset, &Options::new().set("batch_size", 50).set("epochs", 1))?;
//! for batch in &loader {
//!     let batch = batch?;
//!     let x = batch.array::<f32, Ix2>("image")?; // ArrayView2<f32>, borrows `batch`
//!     let y = batch.array::<i64, Ix1>("label")?;
//!     assert_eq!((x.sum_axis(Axis(1))[0], y.len()), (4.0, 50));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Fields: [`Batch::array`], [`Batch::array_dyn`]. Views have the strides of the field, so overlapping
//! windows (`tokens:...?views=true`) are viewed without a copy too. Ragged fields: [`Tensor::array`] returns
//! the items of all rows, [`Tensor::row_array`] those of one row. Arrays: [`Array::from_ndarray`].
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::{Array, Batch, Code, Element, Error, Kind, Result, Tensor};
use ::ndarray::{ArrayBase, ArrayView, ArrayViewD, Data, Dimension, IxDyn, ShapeBuilder};

impl Batch {
    /// A field as a view of fixed rank: `batch.array::<f32, Ix4>("image")`.
    ///
    /// # Errors
    /// [`Code::NoSuchField`]; [`Code::Mismatch`] if the items are not `T` or the rank differs.
    pub fn array<T: Element, D: Dimension>(&self, name: &str) -> Result<ArrayView<'_, T, D>> {
        self.tensor(name)?.array()
    }

    /// A field as a view of any rank.
    ///
    /// # Errors
    /// As for [`Batch::array`], except for the rank.
    pub fn array_dyn<T: Element>(&self, name: &str) -> Result<ArrayViewD<'_, T>> {
        self.tensor(name)?.array_dyn()
    }
}

impl<'b> Tensor<'b> {
    /// A view of fixed rank; the first dim is the rows (dense) or the items of all rows (ragged).
    ///
    /// # Errors
    /// [`Code::Mismatch`] if the items are not `T` or the rank differs.
    pub fn array<T: Element, D: Dimension>(&self) -> Result<ArrayView<'b, T, D>> {
        self.array_dyn()?.into_dimensionality().map_err(|_| {
            let expected = D::NDIM.map_or("any".to_owned(), |rank| rank.to_string());
            refuse(self.name(), &format!("rank is {}, expected {expected}", self.shape().len()))
        })
    }

    /// A view of any rank.
    ///
    /// # Errors
    /// [`Code::Mismatch`] if the items are not `T`.
    pub fn array_dyn<T: Element>(&self) -> Result<ArrayViewD<'b, T>> {
        let (shape, items) = (IxDyn(&sizes(self.shape())), self.span()?);
        let view = if items.is_empty() {
            ArrayView::from_shape(shape, items) // strides of nothing would be out of bounds
        } else {
            ArrayView::from_shape(shape.strides(IxDyn(&sizes(self.strides()))), items)
        };
        view.map_err(|error| refuse(self.name(), &error.to_string()))
    }

    /// One row. For a ragged field: its items, of any number.
    ///
    /// # Errors
    /// As for [`Tensor::row`].
    pub fn row_array<T: Element>(&self, row: usize) -> Result<ArrayViewD<'b, T>> {
        let items = self.row(row)?;
        let mut shape = sizes(&self.shape()[1..]);
        if self.kind() == Kind::Ragged {
            let each = shape.iter().product::<usize>().max(1);
            shape.insert(0, items.len() / each);
        }
        ArrayView::from_shape(IxDyn(&shape), items).map_err(|error| refuse(self.name(), &error.to_string()))
    }
}

impl<'a> Array<'a> {
    /// An array as a field. Its first axis is the samples.
    ///
    /// ```
    /// use dataline::{Array, Dataset, Options};
    /// use ndarray::Array2;
    /// use std::sync::Arc;
    ///
    /// # fn main() -> dataline::Result<()> {
    /// let rows = Arc::new(Array2::<f32>::zeros((1000, 8)));
    /// let dataset = Dataset::lend_arrays(
    ///     rows.clone(),
    ///     |rows| Ok(vec![Array::from_ndarray("x", rows)?]),
    ///     &Options::new(),
    /// )?;
    /// assert_eq!((dataset.len(), Arc::strong_count(&rows)), (Some(1000), 2)); // not copied
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Code::InvalidArgument`] if the array has no axis, or its items are not contiguous in C order. Copy
    /// such an array with `array.as_standard_layout()`, or take the columns of a complete table with
    /// [`Array::strided`].
    pub fn from_ndarray<T, S, D>(name: &str, array: &'a ArrayBase<S, D>) -> Result<Array<'a>>
    where
        T: Element,
        S: Data<Elem = T>,
        D: Dimension,
    {
        let items = array.as_slice().ok_or_else(|| {
            let text =
                format!("field '{name}': items are not contiguous, their strides are {:?}", array.strides());
            Error::new(Code::InvalidArgument, text)
        })?;
        Array::dense(name, array.shape(), items)
    }
}

fn sizes(dims: &[i64]) -> Vec<usize> {
    dims.iter().map(|&dim| usize::try_from(dim).unwrap_or(0)).collect()
}

#[cold]
fn refuse(name: &str, text: &str) -> Error {
    Error::new(Code::Mismatch, format!("field '{name}': {text}"))
}
