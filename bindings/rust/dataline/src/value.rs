//! Values of options.
//!
//! SPDX-License-Identifier: Apache-2.0

/// A value of an option. Numbers, booleans and text convert to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// For integer and size keys.
    Integer(i64),
    /// For boolean keys, and for word keys that accept a boolean.
    Boolean(bool),
    /// For all keys except arrays, in the form of the shell: `"256"`, `"true"`, `"64MiB"`, `"full"`.
    Text(String),
}

macro_rules! integers {
    ($($type:ty)*) => {
        $(
            impl From<$type> for Value {
                /// A number beyond `i64` is passed as text. The library then rejects it and names the range.
                fn from(number: $type) -> Value {
                    i64::try_from(number).map_or_else(|_| Value::Text(number.to_string()), Value::Integer)
                }
            }
        )*
    };
}

integers! { i8 i16 i32 i64 u8 u16 u32 u64 isize usize }

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Boolean(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}
