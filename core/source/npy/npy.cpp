// .npy arrays as datasets: sample i is the array at index i of the first axis, in the only field `data`.
//
// Read: versions 1.0, 2.0, 3.0; bool, u1..u8, i1..i8, f2 f4 f8, c8 c16, in either byte order (delivered native); C order
// straight from the file, Fortran order by gathering each sample into scratch. Bool bytes other than 0 and 1 are delivered
// unchanged, as in NumPy.
// Refused by name: 0-d arrays, text, dates, void (but see NpyOptions::bf16), structured types, longdouble, samples of 0
// bytes; objects and pickles of any kind (kUnsafeType).
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <optional>
#include <utility>

#include "core/base/text.h"
#include "core/source/flat_file.h"
#include "core/source/format.h"
#include "core/source/npy/npy_header.h"

namespace dataline {
namespace {

struct NpyOptions {
  bool trailing_ignore = false;  // accepts bytes after the array
  bool cut = false;              // reads the samples that are there
  bool bf16 = false;             // reads `V2`, which is how NumPy stores bfloat16
};

Result<SourceRef> open_npy(const NpyOptions& options, const std::string& path, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open_unloaded(path, context));
  DL_ASSIGN_OR_RETURN(NpyHeader header, read_npy_header(file, options.bf16));
  const std::string array = concat("npy array ", shape_text(header.shape), " ", dtype_name(header.dtype));
  DL_ASSIGN_OR_RETURN(ArraySize size,
                      size_of_array(concat(path, ": ", array), header.dtype, header.shape, 0));
  SourceInfo info{"npy", "", {}};
  // In Fortran order a cut takes the end of every sample.
  if (options.cut && orders_agree(header)) {
    DL_ASSIGN_OR_RETURN(header.shape[0],
                        whole_records(file, header.data_offset, size, header.shape[0], array, info.notes));
    DL_ASSIGN_OR_RETURN(size, size_of_array(path, header.dtype, header.shape, 0));
  }
  const bool trailing = options.trailing_ignore || options.cut;
  Status fits =
      check_data_bytes(file, header.data_offset, size.total_bytes, array, " (trailing=ignore skips them)");
  if (fits.code() != Code::kCorrupt || !trailing) DL_RETURN_IF_ERROR(std::move(fits));
  const std::vector<int64_t> shape(header.shape.begin() + 1, header.shape.end());
  Schema schema = column_per_field({{"data", FieldKind::kDense, header.dtype, shape, "", -1}});
  DL_RETURN_IF_ERROR(file.load(context));
  if (header.swapped)
    info.notes.push_back(concat("stored as ", header.descr, ": bytes are swapped when read"));
  if (!orders_agree(header)) {
    info.notes.push_back("Fortran order: each sample is gathered element by element, slower than C order");
    return open_fortran(std::move(file), std::move(schema), std::move(info), header);
  }
  FlatConversion conversion = header.swapped ? swap_conversion(header.dtype) : FlatConversion::kNone;
  FlatLayout layout = FlatLayout::packed(header.data_offset, size.record_bytes, header.shape[0], conversion);
  return FlatFile::create(std::move(file), std::move(schema), std::move(layout), std::move(info));
}

constexpr KeySpec kTrailing{"trailing", "error|ignore", "error", "what to do with bytes after the array"};
constexpr KeySpec kNpyKeys[] = {
    kTrailing,
    kArrayEndKey,
    {"dtype", "bf16", "", "reads 2-byte void as bf16; default: the file's own dtype"},
    kAxesKey};
constexpr std::string_view kNpySuffixes[] = {".npy"};

Result<OpenOne> configure_npy(const Uri& uri) {
  NpyOptions options;
  DL_ASSIGN_OR_RETURN(options.trailing_ignore, uri_is(uri, kTrailing, "ignore"));
  DL_ASSIGN_OR_RETURN(options.cut, uri_is(uri, kArrayEndKey, "cut"));
  DL_ASSIGN_OR_RETURN(std::optional<DType> dtype, uri_dtype(uri, "dtype"));
  if (dtype && *dtype != DType::kBf16) {
    return uri_error(uri.find("dtype")->value_column,
                     "npy files state their dtype; only dtype=bf16 is accepted, ",
                     "to read 2-byte void as bf16");
  }
  options.bf16 = dtype.has_value();
  return OpenOne(std::bind_front(open_npy, options));
}

}  // namespace

constinit const Format kNpyFormat{
    .name = "npy",
    .doc = "NumPy arrays, one sample per index of the first axis. Field: data",
    .keys = kNpyKeys,
    .configure = configure_npy,
    .ranges = true,
    .is_member = [](const std::string&, std::string_view name,
                    const OpenContext&) { return has_suffix(name, kNpySuffixes); },
    .members = "*.npy",
    .sniff =
        [](const FirstBytes& file) {
          return file.text().starts_with("\x93NUMPY") ? Sniff::kCertain : Sniff::kNo;
        },
    .suffixes = kNpySuffixes,
};

}  // namespace dataline
