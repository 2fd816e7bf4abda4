//! What the generated lists are made into: declarations, and tables of the same for the tests.
//!
//! SPDX-License-Identifier: Apache-2.0

macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: $type = $value;)*

        #[doc(hidden)]
        pub const CONSTANTS: &[crate::check::Constant] =
            &[$(crate::check::Constant { name: stringify!($name), value: $name as i64 }),*];
    };
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $($(#[$doc])* #[repr(C)] pub struct $name {
            _data: [u8; 0],
            _marker: std::marker::PhantomData<(*mut u8, std::marker::PhantomPinned)>,
        })*
    };
}

macro_rules! callbacks {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        $($(#[$doc])* pub type $name = Option<unsafe extern "C" fn($($argument: $type),*) $(-> $result)?>;)*
    };
}

macro_rules! structs {
    ($($(#[$doc:meta])* struct $name:ident { $($(#[$member_doc:meta])* $member:ident: $type:ty,)* })*) => {
        $($(#[$doc])* #[repr(C)] #[derive(Clone, Copy, Debug)] pub struct $name {
            $($(#[$member_doc])* pub $member: $type,)*
        }

        impl Default for $name {
            /// All bytes 0; where there is a `struct_size`, the caller sets it.
            fn default() -> Self {
                // SAFETY: integers, raw pointers and optional function pointers may all be 0.
                unsafe { std::mem::MaybeUninit::zeroed().assume_init() }
            }
        })*

        /// The offset of each member.
        #[doc(hidden)]
        pub fn layouts() -> std::vec::Vec<crate::check::Layout> {
            std::vec![$({
                let value = $name::default();
                let base = std::ptr::addr_of!(value) as usize;
                crate::check::Layout {
                    name: stringify!($name),
                    bytes: std::mem::size_of::<$name>(),
                    alignment: std::mem::align_of::<$name>(),
                    members: std::vec![$(crate::check::Member {
                        name: stringify!($member),
                        rust_type: stringify!($type),
                        offset: std::ptr::addr_of!(value.$member) as usize - base,
                        bytes: crate::check::bytes_behind(std::ptr::addr_of!(value.$member)),
                    }),*],
                }
            }),*]
        }
    };
}

macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        extern "C" {
            $($(#[$doc])* pub fn $name($($argument: $type),*) $(-> $result)?;)*
        }

        #[doc(hidden)]
        pub const FUNCTIONS: &[crate::check::Function] = &[$(crate::check::Function {
            name: stringify!($name),
            arguments: &[$(stringify!($type)),*],
            result: concat!($(stringify!($result))?),
            address: || $name as *const () as usize,
        }),*];
    };
}
