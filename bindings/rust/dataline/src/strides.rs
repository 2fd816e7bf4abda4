//! Shapes and strides.
//!
//! SPDX-License-Identifier: Apache-2.0

/// The number of items of a shape.
pub(crate) fn product(shape: &[i64]) -> usize {
    shape.iter().map(|&dim| dim as usize).product()
}

/// Whether items of `shape` are contiguous in C order. The stride of a dim of size 1 does not matter.
pub(crate) fn packed(shape: &[i64], strides: &[i64]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut expected = 1;
    for (&dim, &stride) in shape.iter().zip(strides).rev() {
        if dim != 1 && stride != expected {
            return false;
        }
        expected *= dim;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::packed;

    #[test]
    fn rows_of_one_item_are_packed_whatever_their_stride() {
        assert!(packed(&[5, 2, 3], &[6, 3, 1]));
        assert!(packed(&[1, 2, 3], &[99, 3, 1]));
        assert!(packed(&[0, 2], &[7, 7]));
        assert!(!packed(&[5, 2, 3], &[7, 3, 1]));
        assert!(!packed(&[5, 3], &[1, 5]));
        assert!(packed(&[], &[]));
    }
}
