//! What the generated lists are made into: codes, values of structs, methods.
//!
//! SPDX-License-Identifier: Apache-2.0

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $constant:ident,)*) => {
        /// The kind of an error, as in `dataline.h`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $name,)*
            /// A number that this release of the crate does not know.
            Other(i32),
        }

        impl Code {
            /// The number in `dataline.h`.
            #[must_use]
            pub fn number(self) -> i32 {
                match self {
                    $(Code::$name => dataline_sys::$constant,)*
                    Code::Other(number) => number,
                }
            }

            /// The code for a number in `dataline.h`.
            #[must_use]
            pub fn from_number(number: i32) -> Code {
                match number {
                    $(dataline_sys::$constant => Code::$name,)*
                    other => Code::Other(other),
                }
            }
        }
    };
}

macro_rules! choices {
    ($(#[$doc:meta])* $choice:ident { $($(#[$value_doc:meta])* $name:ident = $constant:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $choice {
            $($(#[$value_doc])* $name,)*
        }

        impl $crate::value_of::Reads<i32> for $choice {
            unsafe fn read(from: &i32) -> $choice {
                match *from {
                    $(dataline_sys::$constant => $choice::$name,)*
                    _ => $choice::default(),
                }
            }
        }
    };
}

macro_rules! values {
    ($(#[$meta:meta])* $value:ident from $raw:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty = $member:ident,)*
    }) => {
        $(#[$meta])*
        #[non_exhaustive]
        pub struct $value {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $crate::value_of::Filled for $value {
            type Raw = dataline_sys::$raw;

            fn blank() -> Self::Raw {
                Self::Raw { struct_size: $crate::ffi::size::<Self::Raw>(), ..Default::default() }
            }

            unsafe fn of(raw: &Self::Raw) -> $value {
                // SAFETY: the caller's promise: texts are live.
                $value { $($field: unsafe { $crate::value_of::Reads::read(&raw.$member) },)* }
            }
        }
    };
}

macro_rules! methods {
    ($type:ty {
        $($(#[$doc:meta])* $kind:ident $name:ident $(($($argument:ident: $argument_type:ty),*))? $(: $value:ident)?
            = $($call:ident),+;)*
    }) => {
        impl $type {
            $(method! {
                $(#[$doc])* $kind $name $(($($argument: $argument_type),*))? $(: $value)? = $($call),+
            })*
        }
    };
}

macro_rules! method {
    ($(#[$doc:meta])* set $name:ident($($argument:ident: $type:ty),*) = $call:ident) => {
        $(#[$doc])*
        pub fn $name(&self, $($argument: $type),*) -> $crate::Result<()> {
            // SAFETY: a live handle.
            $crate::ffi::hard(|error| unsafe { dataline_sys::$call(self.raw(), $($argument,)* error) })
        }
    };
    ($(#[$doc:meta])* record $name:ident: $value:ident = $call:ident) => {
        $(#[$doc])*
        pub fn $name(&self) -> $crate::Result<$value> {
            // SAFETY: a live handle, on which the texts live too; the struct states its size.
            unsafe { $crate::value_of::filled(|raw, error| dataline_sys::$call(self.raw(), raw, error)) }
        }
    };
    ($(#[$doc:meta])* list $name:ident: $value:ident = $count:ident, $call:ident) => {
        $(#[$doc])*
        pub fn $name(&self) -> $crate::Result<Vec<$value>> {
            // SAFETY: a live handle, on which the texts live too; the struct states its size.
            (0..unsafe { dataline_sys::$count(self.raw()) })
                .map(|index| unsafe {
                    $crate::value_of::filled(|raw, error| dataline_sys::$call(self.raw(), index, raw, error))
                })
                .collect()
        }
    };
}
