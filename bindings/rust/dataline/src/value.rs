//! Values of options.
//!
//! SPDX-License-Identifier: Apache-2.0

/// A value of an option. Numbers, booleans and text turn into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// For integer and size keys.
    Integer(i64),
    /// For boolean keys, and words that are one.
    Boolean(bool),
    /// For all keys but those of arrays, as the shell takes it: `"256"`, `"true"`, `"64MiB"`, `"full"`.
    Text(String),
}

macro_rules! integers {
    ($($type:ty)*) => {
        $(
            impl From<$type> for Value {
                /// What is out of the library's range goes as text, and is refused by it with the range.
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
