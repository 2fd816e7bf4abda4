//! Fields of a batch as tensors.
//!
//! SPDX-License-Identifier: Apache-2.0
use burn_core::tensor::{
    AllocationProperty, Bytes, DType, Device, Int, Tensor, TensorCreationOptions, TensorData,
};
use dataline::{Batch, Code, Error, Result};

/// Tensors of a batch.
///
/// **What is copied.** A tensor on the CPU backend (`flex`) uses the batch's own memory. It holds the batch
/// until it is dropped, or until the first write, which copies the data. Tensors on a device are copied there
/// once. Fields whose rows are not contiguous (`views=true`) are joined first.
///
/// Tensors that a training step keeps count as held batches. Beyond `max_leases` batches the loader delivers
/// copies.
pub trait BatchExt {
    /// The data of a field: its shape and dtype, with `bool` as `u8`. Ragged: the items of all rows.
    ///
    /// # Errors
    /// Those of [`Batch::tensor`]; [`Code::Unsupported`] for complex items, which burn does not support.
    fn tensor_data(&self, name: &str) -> Result<TensorData>;

    /// A field as a float tensor of rank `D`, of the field's dtype, or of the device's default dtype if the
    /// field is not float.
    ///
    /// # Errors
    /// As for [`BatchExt::tensor_data`]; [`Code::Mismatch`] for another rank.
    fn burn<const D: usize>(&self, name: &str, device: &Device) -> Result<Tensor<D>>;

    /// A field as an integer tensor of rank `D`, of the field's dtype, or of the device's default dtype if
    /// the field is not integer.
    ///
    /// # Errors
    /// As for [`BatchExt::burn`].
    fn burn_int<const D: usize>(&self, name: &str, device: &Device) -> Result<Tensor<D, Int>>;
}

/// The bytes of a field, and the batch that holds them.
struct Lease {
    batch: Batch,
    field: usize,
}

impl AsRef<[u8]> for Lease {
    fn as_ref(&self) -> &[u8] {
        self.batch.tensors().nth(self.field).and_then(|field| field.bytes().ok()).unwrap_or(&[])
    }
}

impl BatchExt for Batch {
    fn tensor_data(&self, name: &str) -> Result<TensorData> {
        let field = self.tensor(name)?;
        let dtype = dtype_of(&field)?;
        let shape: Vec<usize> = field.shape().iter().map(|&dim| usize::try_from(dim).unwrap_or(0)).collect();
        let aligned = (field.as_ptr() as usize).is_multiple_of(field.dtype().bytes());
        let bytes = if field.is_packed() && aligned {
            field.bytes()?; // refused for memory of a device, which the bytes below could not say
            let at = self.tensors().position(|other| other.name() == name).unwrap_or(usize::MAX);
            let property =
                if field.is_pinned() { AllocationProperty::Pinned } else { AllocationProperty::Other };
            Bytes::from_shared(bytes::Bytes::from_owner(Lease { batch: self.clone(), field: at }), property)
        } else {
            let mut joined = Vec::with_capacity(shape.iter().product::<usize>() * field.dtype().bytes());
            for row in 0..field.len() {
                joined.extend_from_slice(field.row_bytes(row)?);
            }
            Bytes::from_bytes_vec(joined)
        };
        TensorData::try_from_bytes(bytes, shape, dtype)
            .map_err(|error| refuse(Code::Internal, name, &error.to_string()))
    }

    fn burn<const D: usize>(&self, name: &str, device: &Device) -> Result<Tensor<D>> {
        let data = self.tensor_data(name)?;
        let own = data.dtype().is_float();
        let options = creation::<D>(name, &data, device, own)?;
        Ok(Tensor::from_data(data, options))
    }

    fn burn_int<const D: usize>(&self, name: &str, device: &Device) -> Result<Tensor<D, Int>> {
        let data = self.tensor_data(name)?;
        let own = data.dtype().is_int() || data.dtype().is_uint();
        let options = creation::<D>(name, &data, device, own)?;
        Ok(Tensor::from_data(data, options))
    }
}

fn creation<const D: usize>(
    name: &str,
    data: &TensorData,
    device: &Device,
    own: bool,
) -> Result<TensorCreationOptions> {
    if data.rank() != D {
        return Err(refuse(Code::Mismatch, name, &format!("rank is {}, expected {D}", data.rank())));
    }
    let options = TensorCreationOptions::new(device.clone());
    Ok(if own { options.with_dtype(data.dtype()) } else { options })
}

fn dtype_of(field: &dataline::Tensor<'_>) -> Result<DType> {
    use dataline::DType as From;
    Ok(match field.dtype() {
        From::Bool | From::U8 => DType::U8,
        From::U16 => DType::U16,
        From::U32 => DType::U32,
        From::U64 => DType::U64,
        From::I8 => DType::I8,
        From::I16 => DType::I16,
        From::I32 => DType::I32,
        From::I64 => DType::I64,
        From::F16 => DType::F16,
        From::Bf16 => DType::BF16,
        From::F32 => DType::F32,
        From::F64 => DType::F64,
        other => return Err(refuse(Code::Unsupported, field.name(), &format!("burn has no dtype {other}"))),
    })
}

#[cold]
fn refuse(code: Code, name: &str, text: &str) -> Error {
    Error::new(code, format!("field '{name}': {text}"))
}
