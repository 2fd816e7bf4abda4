//! The format, operator and storage of `tests/extensions/README.md`, in Rust.
//!
//! SPDX-License-Identifier: Apache-2.0
use dataline::{
    ArgumentInfo, CancelFlag, Code, DType, Dataset, Error, ExtensionError, Extensions, Field, File,
    FirstBytes, Format, FormatKey, FormatRequest, Kind, Operator, OperatorRow, OperatorUse, Record, Sniff,
    Source, SourceError, Storage, StorageRequest, StoredObject,
};
use std::path::PathBuf;

const HEADER: usize = 16;
const MAGIC: &[u8] = b"DLREC1\n\0";

struct Records {
    path: PathBuf,
    file: File,
    count: usize,
    row_bytes: usize,
    sums: bool,
}

impl Source for Records {
    fn fields(&self) -> Vec<Field> {
        let mut fields = vec![Field::dense("x", DType::U8, &[self.row_bytes])];
        if self.sums {
            fields.push(Field::dense("label", DType::I64, &[]));
        }
        fields
    }

    fn len(&self) -> usize {
        self.count
    }

    fn read(&self, index: usize, record: &mut Record<'_>) -> Result<(), SourceError> {
        let row = record.bytes_mut(0)?;
        self.file.read_at((HEADER + index * self.row_bytes) as u64, row)?;
        if row[0] == 255 {
            return Err("the row is marked bad".into());
        }
        let sum: i64 = row.iter().map(|&byte| i64::from(byte)).sum();
        if self.sums {
            record.put(1, &[sum])?;
        }
        Ok(())
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.path.clone()]
    }
}

pub struct Dlrec;

impl Format for Dlrec {
    fn name(&self) -> &str {
        "dlrec"
    }

    fn doc(&self) -> &str {
        "rows of bytes, for tests"
    }

    fn keys(&self) -> Vec<FormatKey<'_>> {
        let labels = FormatKey::new("labels", "none|sum").with_default("none");
        vec![labels.with_doc("sum: a field label, the sum of the row's bytes")]
    }

    fn suffixes(&self) -> &[&str] {
        &[".dlrec"]
    }

    fn sniff(&self, file: &FirstBytes<'_>) -> Sniff {
        if file.bytes.len() >= HEADER && file.bytes.starts_with(MAGIC) {
            Sniff::Certain
        } else {
            Sniff::No
        }
    }

    fn open(&self, request: &FormatRequest<'_>) -> Result<Dataset<'static>, ExtensionError> {
        let file = File::open(request.path(), request.options())?;
        let mut header = [0; HEADER];
        if file.len() >= HEADER as u64 {
            file.read_at(0, &mut header)?;
        }
        let number = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().unwrap()) as usize;
        let (count, row_bytes) = (number(8), number(12));
        if !header.starts_with(MAGIC) || row_bytes == 0 || file.len() != (HEADER + count * row_bytes) as u64 {
            let text = format!("{}: not a dlrec file, or a part of one", request.path());
            return Err(Error::new(Code::Corrupt, text).into());
        }
        let sums = request.value("labels") == Some("sum");
        Ok(Dataset::from_source(
            Records { path: request.path().into(), file, count, row_bytes, sums },
            request.options(),
        )?)
    }
}

pub struct Offset;

/// Of one use.
pub struct Amount {
    value: f64,
    noise: f64,
}

impl Operator for Offset {
    type State = Amount;

    fn name(&self) -> &str {
        "offset"
    }

    fn doc(&self) -> &str {
        "Adds a number, and noise times a draw, to bytes."
    }

    fn arguments(&self) -> Vec<ArgumentInfo<'_>> {
        vec![ArgumentInfo::new("value", "number"), ArgumentInfo::new("noise", "number").with_default("0")]
    }

    fn prepare(&self, call: &mut OperatorUse<'_>) -> Result<Amount, ExtensionError> {
        if call.input.kind != Kind::Dense || call.input.dtype != DType::U8 {
            return Err("expected a dense field of u8".into());
        }
        let amount = Amount { value: call.number("value")?, noise: call.number("noise")? };
        if amount.noise < 0.0 {
            return Err(call.refuse("noise", "expected 0 or more"));
        }
        call.output.dtype = DType::F32;
        call.draws = amount.noise > 0.0;
        Ok(amount)
    }

    fn apply(&self, amount: &Amount, row: &mut OperatorRow<'_>) -> Result<(), ExtensionError> {
        let u = (row.random(0) >> 11) as f64 / 2f64.powi(53);
        let noise = if amount.noise > 0.0 { amount.noise * u } else { 0.0 };
        row.put(row.items::<u8>()?.map(|x| (f64::from(x) + amount.value + noise) as f32))
    }
}

pub struct Xor;

struct Hidden(File);

impl Storage for Xor {
    fn scheme(&self) -> &str {
        "xor"
    }

    fn doc(&self) -> &str {
        "files with every byte XORed with 0x5A, for tests"
    }

    fn open(&self, request: &StorageRequest<'_>) -> Result<Box<dyn StoredObject>, ExtensionError> {
        let path = request.path().strip_prefix("xor://").ok_or("a path of another scheme")?;
        if path.ends_with(".gone") {
            return Err(Error::new(Code::NotFound, "no such object").into());
        }
        Ok(Box::new(Hidden(File::open(path, request.options())?)))
    }
}

impl StoredObject for Hidden {
    fn bytes(&self) -> u64 {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8], cancelled: CancelFlag<'_>) -> Result<(), ExtensionError> {
        self.0.read_at_unless(cancelled, offset, out)?;
        out.iter_mut().for_each(|byte| *byte ^= 0x5A);
        Ok(())
    }
}

/// All three.
pub fn samples() -> Extensions {
    let mut extensions = Extensions::new().unwrap();
    extensions.add_format(Dlrec).unwrap();
    extensions.add_operator(Offset).unwrap();
    extensions.add_storage(Xor).unwrap();
    extensions
}
