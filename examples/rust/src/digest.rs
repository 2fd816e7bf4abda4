//! 64 bits over all bytes that were delivered: FNV-1a, the same in the examples of every language.
//!
//! SPDX-License-Identifier: Apache-2.0
use std::fmt;

pub struct Digest(u64);

impl Digest {
    pub fn new() -> Digest {
        Digest(0xCBF2_9CE4_8422_2325)
    }

    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;

    #[test]
    fn it_is_fnv_1a() {
        let mut digest = Digest::new();
        assert_eq!(digest.to_string(), "cbf29ce484222325");
        digest.add(b"foo");
        digest.add(b"bar");
        assert_eq!(digest.to_string(), "85944171f73967e8");
    }
}
