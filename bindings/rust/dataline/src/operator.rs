//! Operators that the program adds: the trait, and the table that calls it (hence the length).
//!
//! SPDX-License-Identifier: Apache-2.0
use crate::callback::{answer, utf8, ExtensionError};
use crate::lend::{lend, no_panic};
use crate::row::Shown;
use crate::{ffi, ArgumentInfo, Code, DType, Field, Kind, OperatorRow, Result};
use dataline_sys as sys;
use std::ffi::CString;
use std::fmt;
use std::os::raw::c_void;

/// An operator of your own for transforms: one field in, one field out, row by row. Called from several
/// threads concurrently; a panic becomes an error.
///
/// ```
/// use dataline::{Array, Dataset, ExtensionError, Extensions, Loader, Operator, OperatorRow, OperatorUse, Options};
/// use dataline::{ArgumentInfo, DType};
///
/// /// `times(by)`: u8 to f32.
/// struct Times;
///
/// impl Operator for Times {
///     type State = f32;
///     fn name(&self) -> &str {
///         "times"
///     }
///     fn arguments(&self) -> Vec<ArgumentInfo<'_>> {
///         vec![ArgumentInfo::new("by", "number")]
///     }
///     fn prepare(&self, call: &mut OperatorUse<'_>) -> Result<f32, ExtensionError> {
///         if call.input.dtype != DType::U8 {
///             return Err("expected u8".into());
///         }
///         call.output.dtype = DType::F32;
///         Ok(call.number("by")? as f32)
///     }
///     fn apply(&self, by: &f32, row: &mut OperatorRow<'_>) -> Result<(), ExtensionError> {
///         row.put(row.items::<u8>()?.map(|x| f32::from(x) * by))
///     }
/// }
///
/// # fn main() -> dataline::Result<()> {
/// let mut extensions = Extensions::new()?;
/// extensions.add_operator(Times)?;
/// let options = Options::new().extensions(&extensions).set("transform", "x: times(0.5)");
/// let dataset = Dataset::from_arrays(&[Array::dense("x", &[3], &[1u8, 2, 3])?], &Options::new())?;
/// let batch = Loader::new(&dataset, &options)?.epoch().next().unwrap()?;
/// assert_eq!(batch.view::<f32>("x")?, [0.5, 1.0, 1.5]);
/// # Ok(())
/// # }
/// ```
pub trait Operator: Send + Sync + 'static {
    /// The result of `prepare` for `apply`; dropped when the use ends.
    type State: Send + Sync + 'static;

    /// 2 to 32 characters of `a-z 0-9 _`, a letter first. Like every description of the operator, read once.
    fn name(&self) -> &str;

    /// A description, for lists.
    fn doc(&self) -> &str {
        ""
    }

    /// The reference definition it follows; `""` for none.
    fn source(&self) -> &str {
        ""
    }

    /// Its arguments, passed by position in this order, or by name.
    fn arguments(&self) -> Vec<ArgumentInfo<'_>> {
        Vec::new()
    }

    /// Called when a loader is created. Checks the arguments and the input, and sets the output field in
    /// `call.output`. Must not call Dataline.
    ///
    /// # Errors
    /// Any problem; [`OperatorUse::refuse`] reports an argument.
    fn prepare(&self, call: &mut OperatorUse<'_>) -> std::result::Result<Self::State, ExtensionError>;

    /// Makes a row. Must not call Dataline.
    ///
    /// # Errors
    /// Any error makes the sample bad.
    fn apply(
        &self,
        state: &Self::State,
        row: &mut OperatorRow<'_>,
    ) -> std::result::Result<(), ExtensionError>;
}

/// The value of an argument in a transform.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ArgumentValue<'a> {
    /// Set by the user; otherwise it is the default.
    pub given: bool,
    /// As written, a text without its quotes; `None`: absent (the default is `none`).
    pub text: Option<&'a str>,
    /// The values of a number, a shape (`3x32x32`) or a list of numbers.
    pub numbers: &'a [f64],
}

/// One use of an operator in a transform.
#[non_exhaustive]
pub struct OperatorUse<'a> {
    /// The input field, for one sample.
    pub input: Field,
    /// The output field; change it as needed. It starts as the input field. Its name cannot change. Its
    /// `bytes` matter only for a ragged field: the maximum of one sample, if greater than 0 (otherwise the
    /// option `max_bytes_per_sample`).
    pub output: Field,
    /// Set if rows depend on slot, epoch and seed too, not on the input alone.
    pub draws: bool,
    /// Set if a row takes 100 us or more, so that rows are distributed one by one.
    pub heavy: bool,
    arguments: Vec<(&'a str, ArgumentValue<'a>)>,
}

/// An error about an argument; the column of the error points to that argument.
#[derive(Debug)]
pub(crate) struct WrongArgument {
    index: i32,
    text: String,
}

impl fmt::Display for WrongArgument {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl std::error::Error for WrongArgument {}

impl<'a> OperatorUse<'a> {
    /// An argument by its name. `None`: the operator has no such argument.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<ArgumentValue<'a>> {
        self.arguments.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// An argument that is one number.
    ///
    /// # Errors
    /// The argument is not a number; return the error with `?`.
    pub fn number(&self, name: &str) -> std::result::Result<f64, ExtensionError> {
        match self.argument(name).map(|value| value.numbers) {
            Some(&[number]) => Ok(number),
            _ => Err(self.refuse(name, "expected a number")),
        }
    }

    /// The error to return for a wrong argument: its column points to the argument.
    #[must_use]
    pub fn refuse(&self, argument: &str, text: impl Into<String>) -> ExtensionError {
        let index = self.arguments.iter().position(|(known, _)| *known == argument);
        let index = index.and_then(|index| i32::try_from(index).ok()).unwrap_or(-1);
        Box::new(WrongArgument { index, text: text.into() })
    }

    /// # Safety
    /// The argument of a callback, for an operator with these arguments.
    unsafe fn read(names: &'a [String], given: &'a sys::dl_operator_use) -> Result<OperatorUse<'a>> {
        // SAFETY: the caller's promise.
        unsafe {
            let input = Field::from_view(&*given.input);
            let output = Field {
                name: input.name.clone(),
                kind: if given.kind == sys::DL_KIND_RAGGED { Kind::Ragged } else { Kind::Dense },
                dtype: DType::from_number(given.dtype),
                shape: given.shape[..usize::try_from(given.rank).unwrap_or(0)].to_vec(),
                axes: ffi::text_of(given.axes.as_ptr()),
                bytes: given.max_bytes,
            };
            let count = usize::try_from(given.argument_count).unwrap_or(0);
            let named = names.iter().take(count).enumerate();
            let arguments = named
                .map(|(at, name)| Ok((name.as_str(), value_at(given.arguments, at)?)))
                .collect::<Result<_>>()?;
            Ok(OperatorUse { input, output, draws: false, heavy: false, arguments })
        }
    }

    fn tell(&self, given: &mut sys::dl_operator_use) -> std::result::Result<(), ExtensionError> {
        let Field { kind, dtype, shape, axes, bytes, .. } = &self.output;
        if shape.len() > given.shape.len() {
            return Err(format!("rank {}: expected at most {}", shape.len(), given.shape.len()).into());
        }
        if axes.len() >= given.axes.len() {
            return Err(format!("axes '{axes}': expected one letter per dim").into());
        }
        given.kind = if *kind == Kind::Ragged { sys::DL_KIND_RAGGED } else { sys::DL_KIND_DENSE };
        given.dtype = dtype.number();
        given.rank = shape.len() as i32;
        given.shape[..shape.len()].copy_from_slice(shape);
        given.axes = [0; 40];
        axes.bytes().zip(&mut given.axes).for_each(|(from, to)| *to = from as _);
        given.max_bytes = if *bytes > 0 { *bytes } else { -1 };
        given.draws = i32::from(self.draws);
        given.heavy = i32::from(self.heavy);
        Ok(())
    }
}

/// # Safety
/// More than `at` arguments exist, alive for `'a`.
unsafe fn value_at<'a>(first: *const sys::dl_argument_value, at: usize) -> Result<ArgumentValue<'a>> {
    // SAFETY: the caller's promise; each is as long as the first one states.
    unsafe {
        let step = (*first).struct_size as usize;
        let raw = &*first.cast::<u8>().add(at * step).cast::<sys::dl_argument_value>();
        Ok(ArgumentValue {
            given: raw.given != 0,
            text: if raw.text.is_null() { None } else { Some(utf8("argument", raw.text)?) },
            numbers: ffi::slice(raw.numbers, usize::try_from(raw.number_count).unwrap_or(0)),
        })
    }
}

impl fmt::Debug for OperatorUse<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("OperatorUse")
            .field("input", &self.input)
            .field("output", &self.output)
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

struct Added<O> {
    operator: O,
    arguments: Vec<String>,
}

/// The state that the library keeps for a use.
struct Prepared<S> {
    state: S,
    shown: Shown,
}

pub(crate) fn add<O: Operator>(extensions: *mut sys::dl_extensions, operator: O) -> Result<()> {
    let name = ffi::c_text("operator", operator.name())?;
    let doc = ffi::c_text("doc", operator.doc())?;
    let source = ffi::c_text("source", operator.source())?;
    let arguments = operator.arguments();
    let texts = arguments.iter().map(argument_texts).collect::<Result<Vec<_>>>()?;
    let arguments: Vec<String> = arguments.iter().map(|argument| argument.name.to_owned()).collect();
    let argument_count = ffi::count("arguments", arguments.len())?;
    lend(Added { operator, arguments }, |_, destroy, context| {
        let arguments: Vec<sys::dl_argument_info> = texts.iter().map(raw_argument).collect();
        let table = sys::dl_operator {
            struct_size: ffi::size::<sys::dl_operator>(),
            argument_count,
            name: name.as_ptr(),
            doc: doc.as_ptr(),
            source: source.as_ptr(),
            arguments: arguments.as_ptr(),
            context,
            prepare: Some(prepare::<O>),
            apply: Some(apply::<O>),
            forget: Some(forget::<O>),
            destroy,
        };
        // SAFETY: the table and its texts live for the call, its context until it is destroyed.
        ffi::hard(|error| unsafe { sys::dl_extensions_add_operator(extensions, &table, error) })
    })
}

/// Name, type and default.
fn argument_texts(argument: &ArgumentInfo<'_>) -> Result<[CString; 3]> {
    Ok([
        ffi::c_text("argument", argument.name)?,
        ffi::c_text("type", argument.value_type)?,
        ffi::c_text("default", argument.default_value.unwrap_or(""))?,
    ])
}

/// Points into the texts.
fn raw_argument([name, value_type, default_value]: &[CString; 3]) -> sys::dl_argument_info {
    sys::dl_argument_info {
        struct_size: ffi::size::<sys::dl_argument_info>(),
        reserved: 0,
        name: name.as_ptr(),
        r#type: value_type.as_ptr(),
        default_value: default_value.as_ptr(),
    }
}

unsafe extern "C" fn prepare<O: Operator>(
    context: *mut c_void,
    given: *mut sys::dl_operator_use,
    error: *mut sys::dl_error,
) -> sys::dl_status {
    let run = || {
        // SAFETY: the operator that was lent; the use lives for this call.
        let added = unsafe { &*context.cast::<Added<O>>() };
        // SAFETY: as above; what borrows from it is gone when it is written to.
        let mut call = unsafe { OperatorUse::read(&added.arguments, &*given) }?;
        let state = added.operator.prepare(&mut call);
        // SAFETY: as above.
        let given = unsafe { &mut *given };
        let state = state.map_err(|error| {
            given.wrong_argument = error.downcast_ref::<WrongArgument>().map_or(-1, |wrong| wrong.index);
            error
        })?;
        call.tell(given)?;
        let shown = Shown::of(&call.input, &call.output);
        given.state = Box::into_raw(Box::new(Prepared { state, shown })).cast();
        Ok(())
    };
    // SAFETY: the library's error.
    unsafe { answer(error, Code::BadTransform, run) }
}

unsafe extern "C" fn apply<O: Operator>(
    context: *mut c_void,
    row: *mut sys::dl_operator_row,
    error: *mut sys::dl_error,
) -> sys::dl_status {
    let run = || {
        // SAFETY: the operator that was lent; the row lives for this call.
        let (added, row) = unsafe { (&*context.cast::<Added<O>>(), &mut *row) };
        // SAFETY: what `prepare` made, until `forget`.
        let prepared = unsafe { &*row.state.cast::<Prepared<O::State>>() };
        // SAFETY: the row is of that use.
        let mut row = unsafe { OperatorRow::new(row, &prepared.shown) };
        added.operator.apply(&prepared.state, &mut row)?;
        row.finished()
    };
    // SAFETY: the library's error.
    unsafe { answer(error, Code::Reader, run) }
}

unsafe extern "C" fn forget<O: Operator>(_: *mut c_void, state: *mut c_void) {
    if !state.is_null() {
        // SAFETY: what `prepare` made, which nobody uses any more.
        no_panic(|| drop(unsafe { Box::from_raw(state.cast::<Prepared<O::State>>()) }));
    }
}
