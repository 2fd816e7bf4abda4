// .safetensors files as datasets: each tensor is a field (core/source/arrays/arrays.h).
//
// Read: BOOL U8 I8 U16 I16 F16 BF16 U32 I32 F32 U64 I64 F64 C64. Bool bytes other than 0 and 1 are delivered unchanged.
// Refused by name: the 8-bit floats and what is smaller than a byte (F8_*, F6_*, F4), dtypes that are not known.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/source/arrays/arrays.h"
#include "core/source/files.h"
#include "core/source/format.h"
#include "core/source/safetensors/safetensors_header.h"

namespace dataline {
namespace {

Result<NamedArray> array_of(const Tensor& tensor, const MappedFile& file, const SafetensorsHeader& header,
                            const ArrayOptions& options) {
  const int64_t offset = header.data_offset + tensor.begin;
  if (!tensor.dtype) {
    return error(Code::kUnsupported, file.path(), ": offset ", offset, ": tensor ", printable(tensor.name),
                 " has dtype ", printable(tensor.stored_as), ", which is not supported");
  }
  NamedArray array{
      std::string(tensor.name), *tensor.dtype, {tensor.shape.begin(), tensor.shape.end()}, offset};
  array.swapped = std::endian::native == std::endian::big && dtype_bytes(array.dtype) > 1;
  DL_RETURN_IF_ERROR(check_array(file.path(), array, options));
  return array;
}

Result<SourceRef> open_safetensors(const ArrayOptions& options, const std::string& path,
                                   const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open_unloaded(path, context));
  DL_ASSIGN_OR_RETURN(const SafetensorsHeader header, read_safetensors_header(file, context));
  std::vector<std::string_view> names;
  for (const Tensor& tensor : header.tensors) names.push_back(tensor.name);
  DL_ASSIGN_OR_RETURN(const std::vector<size_t> chosen, choose_arrays(path, names, options));
  std::vector<NamedArray> arrays;
  for (const size_t which : chosen) {
    Result<NamedArray> array = array_of(header.tensors[which], file, header, options);
    if (!array.is_ok()) return with_cure(array.take_status(), names[which], names, options);
    arrays.push_back(array.take());
  }
  std::vector<std::string> notes;
  if (!header.format.empty()) notes.push_back(concat("written for ", printable(header.format)));
  return open_arrays({"safetensors", std::move(file), std::move(arrays), std::move(notes)}, options, context);
}

constexpr KeySpec kSafetensorsKeys[] = {kRowsKey, kArrayFieldsKey, kAxesKey};
constexpr std::string_view kSafetensorsSuffixes[] = {".safetensors"};

Result<OpenOne> configure_safetensors(const Uri& uri) {
  DL_ASSIGN_OR_RETURN(ArrayOptions options, array_options(uri));
  return OpenOne(std::bind_front(open_safetensors, std::move(options)));
}

// A length that fits the file, four zeros of it, and how every header begins.
Sniff sniff_safetensors(const FirstBytes& file) {
  if (file.count < 10) return Sniff::kNo;
  const auto length = load_little<uint64_t>(file.bytes().data());
  const std::string_view text = file.text().substr(8, 2);
  const bool fits = length >= 2 && length <= static_cast<uint64_t>(kMaxSafetensorsHeaderBytes) &&
                    static_cast<int64_t>(length) <= file.file_bytes - 8;
  return fits && (text == "{\"" || text == "{}") ? Sniff::kCertain : Sniff::kNo;
}

}  // namespace

constinit const Format kSafetensorsFormat{
    .name = "safetensors",
    .doc =
        "tensors of safetensors files, one sample per index of their first axes, or one per file. Fields: "
        "one per tensor",
    .keys = kSafetensorsKeys,
    .configure = configure_safetensors,
    .ranges = true,
    .is_member = [](const std::string&, std::string_view name,
                    const OpenContext&) { return has_suffix(name, kSafetensorsSuffixes); },
    .members = "*.safetensors",
    .sniff = sniff_safetensors,
    .suffixes = kSafetensorsSuffixes,
};

}  // namespace dataline
