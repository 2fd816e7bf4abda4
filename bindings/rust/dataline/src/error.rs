//! Errors.
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::Code;
use dataline_sys as sys;
use std::error;
use std::fmt;
use std::io;
use std::sync::Arc;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error, grouped by what has to change to fix it.
///
/// ```
/// use dataline::{Code, Dataset, Error, Options};
///
/// let error = Dataset::open("npy:nowhere.npy", &Options::new()).unwrap_err();
/// assert!(matches!(error, Error::Data(_)));
/// assert_eq!(error.code(), Code::NotFound);
/// assert!(error.to_string().contains("nowhere.npy"));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The call: an argument, an option, a URI, a transform.
    Call(Failure),
    /// The machine: memory, threads, open files, leases held.
    Machine(Failure),
    /// The data: files, samples, a [`Source`](crate::Source).
    Data(Failure),
    /// A saved state.
    State(Failure),
    /// The accelerator.
    Device(Failure),
    /// The loader or a token was cancelled; lasts until a seek.
    Cancelled,
    /// The call was interrupted. No batch was lost.
    Interrupted,
    /// A bug in the library; please report it.
    Internal(Failure),
}

/// The details of an [`Error`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The kind of the error.
    pub code: Code,
    /// One line with the file, offset, sample or option, the expected and the actual value.
    pub message: String,
    /// The (first) sample concerned.
    pub sample_index: Option<i64>,
    /// 1-based column in a URI or transform text.
    pub column: Option<u32>,
    /// The error of the operating system; the `source` of this error.
    pub os_error: Option<Arc<io::Error>>,
}

impl Failure {
    pub(crate) fn new(code: Code, message: String) -> Failure {
        Failure { code, message, sample_index: None, column: None, os_error: None }
    }
}

impl Error {
    /// An error raised outside the library: by this crate, or by an adapter.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Failure::new(code, message.into()).into()
    }

    /// The kind of the error.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Error::Cancelled => Code::Cancelled,
            Error::Interrupted => Code::Interrupted,
            _ => self.failure().map_or(Code::Internal, |failure| failure.code),
        }
    }

    /// One line with the file, offset, sample or option, the expected and the actual value.
    #[must_use]
    pub fn message(&self) -> &str {
        match self {
            Error::Cancelled => "cancelled",
            Error::Interrupted => "interrupted",
            _ => self.failure().map_or("", |failure| &failure.message),
        }
    }

    /// The (first) sample concerned.
    #[must_use]
    pub fn sample_index(&self) -> Option<i64> {
        self.failure()?.sample_index
    }

    /// 1-based column in a URI or transform text.
    #[must_use]
    pub fn column(&self) -> Option<u32> {
        self.failure()?.column
    }

    /// The details, unless the call was cancelled or interrupted.
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Error::Call(failure)
            | Error::Machine(failure)
            | Error::Data(failure)
            | Error::State(failure)
            | Error::Device(failure)
            | Error::Internal(failure) => Some(failure),
            Error::Cancelled | Error::Interrupted => None,
        }
    }
}

impl From<Failure> for Error {
    /// Groups codes by the number ranges that the header guarantees.
    fn from(failure: Failure) -> Error {
        match failure.code.number() {
            -19..=-1 => Error::Call(failure),
            -39..=-20 => Error::Machine(failure),
            -69..=-40 => Error::Data(failure),
            -79..=-70 => Error::State(failure),
            -89..=-80 => Error::Device(failure),
            sys::DL_CANCELLED => Error::Cancelled,
            sys::DL_INTERRUPTED => Error::Interrupted,
            _ => Error::Internal(failure),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.message())
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        let cause: &io::Error = self.failure()?.os_error.as_deref()?;
        Some(cause)
    }
}
