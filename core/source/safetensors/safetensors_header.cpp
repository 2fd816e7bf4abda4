// SPDX-License-Identifier: Apache-2.0
#include "core/source/safetensors/safetensors_header.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/checked.h"
#include "core/base/field.h"
#include "core/base/text.h"
#include "core/source/arrays/arrays.h"
#include "core/source/files.h"
#include "core/source/json.h"

namespace dataline {
namespace {

constexpr int64_t kLengthBytes = 8;
constexpr size_t kTensorsPerLook = 1024;  // at the cancel token

struct TensorType {
  std::string_view name;
  int64_t bits;
  std::optional<DType> dtype;
};

constexpr TensorType kTensorTypes[] = {
    {"BOOL", 8, DType::kBool},        {"U8", 8, DType::kU8},        {"I8", 8, DType::kI8},
    {"U16", 16, DType::kU16},         {"I16", 16, DType::kI16},     {"F16", 16, DType::kF16},
    {"BF16", 16, DType::kBf16},       {"U32", 32, DType::kU32},     {"I32", 32, DType::kI32},
    {"F32", 32, DType::kF32},         {"U64", 64, DType::kU64},     {"I64", 64, DType::kI64},
    {"F64", 64, DType::kF64},         {"C64", 64, DType::kC64},     {"F8_E5M2", 8, std::nullopt},
    {"F8_E4M3", 8, std::nullopt},     {"F8_E8M0", 8, std::nullopt}, {"F8_E4M3FNUZ", 8, std::nullopt},
    {"F8_E5M2FNUZ", 8, std::nullopt}, {"F6_E2M3", 6, std::nullopt}, {"F6_E3M2", 6, std::nullopt},
    {"F4", 4, std::nullopt}};

const TensorType* find_type(std::string_view name) {
  const auto found = std::find_if(std::begin(kTensorTypes), std::end(kTensorTypes),
                                  [&](const TensorType& type) { return type.name == name; });
  return found == std::end(kTensorTypes) ? nullptr : found;
}

class HeaderParser {
 public:
  HeaderParser(const MappedFile& file, const OpenContext& context, std::string_view text)
      : path_(file.path()),
        name_(concat(path_, ": offset ", kLengthBytes, ": safetensors header")),
        context_(context),
        json_(name_, 1, text, "its end"),
        header_(context.memory) {}

  Result<SafetensorsHeader> parse() {
    DL_RETURN_IF_ERROR(json_.each_member([&](const std::string& name) { return parse_member(name); }));
    if (!json_.at_end()) return json_.expected("nothing but spaces");
    DL_RETURN_IF_ERROR(refuse_duplicates());
    return std::move(header_);
  }

 private:
  // About a tensor, wherever its text is.
  template <typename... Parts>
  Status wrong(Code code, const Tensor& tensor, const Parts&... parts) const {
    return error(code, name_, ": tensor ", printable(tensor.name), ": ", parts...);
  }

  Status parse_member(const std::string& name) {
    const bool metadata = name == "__metadata__";
    if (metadata && std::exchange(has_metadata_, true))
      return json_.refuse("byte ", json_.byte(), ": __metadata__ appears twice");
    if (metadata) return parse_metadata();
    Tensor tensor(header_.memory.get());
    tensor.name = name;
    if (!is_array_name(tensor.name)) {
      return wrong(Code::kUnsupported, tensor, "the name is ",
                   tensor.name.empty() ? "empty" : "not plain UTF-8", ", so it cannot name a field");
    }
    if (header_.tensors.size() == kMaxArrays)
      return error(Code::kTooLarge, name_, ": more than ", kMaxArrays, " tensors");
    if (header_.tensors.size() % kTensorsPerLook == 0) {
      if (context_.cancelled())
        return error(Code::kCancelled, path_, ": cancelled while its header was read");
      context_.report("reading the header of ", path_);
    }
    DL_RETURN_IF_ERROR(parse_tensor(tensor));
    header_.tensors.push_back(std::move(tensor));
    return Status::ok();
  }

  // Texts by name.
  Status parse_metadata() {
    return json_.each_member([&](const std::string& key) -> Status {
      DL_RETURN_IF_ERROR(json_.read_string(text_));
      if (key == "format") header_.format = text_;
      return Status::ok();
    });
  }

  Status parse_tensor(Tensor& tensor) {
    constexpr std::array<std::string_view, 3> kTensorKeys = {"dtype", "shape", "data_offsets"};
    std::array<bool, 3> seen{};
    std::optional<int64_t> items = 1;
    DL_RETURN_IF_ERROR(json_.each_member([&](const std::string& name) -> Status {
      const auto key = std::find(kTensorKeys.begin(), kTensorKeys.end(), name);
      if (key == kTensorKeys.end()) {
        return wrong(Code::kCorrupt, tensor, "expected the keys dtype, shape and data_offsets, got ",
                     printable(name));
      }
      const auto which = static_cast<size_t>(key - kTensorKeys.begin());
      if (std::exchange(seen[which], true))
        return wrong(Code::kCorrupt, tensor, "the key ", *key, " appears twice");
      return which == 0   ? parse_dtype(tensor)
             : which == 1 ? parse_shape(tensor, items)
                          : parse_offsets(tensor);
    }));
    for (size_t k = 0; k < kTensorKeys.size(); ++k) {
      if (!seen[k]) return wrong(Code::kCorrupt, tensor, "the key ", kTensorKeys[k], " is missing");
    }
    return check_bytes(tensor, items);
  }

  Status parse_dtype(Tensor& tensor) {
    DL_RETURN_IF_ERROR(json_.read_string(text_));
    tensor.stored_as = text_;
    if (const TensorType* type = find_type(text_)) tensor.dtype = type->dtype;
    return Status::ok();
  }

  // `items`: the product of the dims; nothing when it is above 2^63 - 1.
  Status parse_shape(Tensor& tensor, std::optional<int64_t>& items) {
    return json_.each_item([&]() -> Status {
      int64_t dim = 0;
      DL_RETURN_IF_ERROR(json_.read_count(dim));
      if (items) items = checked_multiply(*items, dim);
      if (tensor.shape.size() <= static_cast<size_t>(kMaxRank)) tensor.shape.push_back(dim);
      return Status::ok();
    });
  }

  Status parse_offsets(Tensor& tensor) {
    DL_RETURN_IF_ERROR(json_.expect('['));
    DL_RETURN_IF_ERROR(json_.read_count(tensor.begin));
    DL_RETURN_IF_ERROR(json_.expect(','));
    DL_RETURN_IF_ERROR(json_.read_count(tensor.end));
    return json_.expect(']');
  }

  // Of dtypes that are not known nothing is known.
  Status check_bytes(const Tensor& tensor, const std::optional<int64_t>& items) const {
    if (tensor.end < tensor.begin) {
      return wrong(Code::kCorrupt, tensor, "data_offsets ", tensor.begin, " to ", tensor.end,
                   ": the end is before the start");
    }
    const TensorType* type = find_type(tensor.stored_as);
    if (type == nullptr) return Status::ok();
    // In bits only where an item has no whole number of bytes, so that 2^63 bytes are told from more.
    const int64_t unit_bits = type->bits % 8 == 0 ? 8 : 1;
    const std::optional<int64_t> units =
        items ? checked_multiply(*items, type->bits / unit_bits) : std::nullopt;
    if (!units) return wrong(Code::kCorrupt, tensor, "the size of its shape overflows 63 bits");
    if (unit_bits == 1 && *units % 8 != 0)
      return wrong(Code::kCorrupt, tensor, "its shape and dtype do not fill complete bytes");
    const int64_t needed = unit_bits == 1 ? *units / 8 : *units;
    if (needed == tensor.end - tensor.begin) return Status::ok();
    return wrong(Code::kCorrupt, tensor, "data_offsets ", tensor.begin, " to ", tensor.end, " are ",
                 tensor.end - tensor.begin, " bytes, its shape and dtype need ", needed);
  }

  Status refuse_duplicates() const {
    std::pmr::vector<std::string_view> names(header_.memory.get());
    for (const Tensor& tensor : header_.tensors) names.push_back(tensor.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return Status::ok();
    return error(Code::kCorrupt, name_, ": two tensors are called ", printable(*twice));
  }

  const std::string& path_;
  const std::string name_;
  const OpenContext& context_;
  JsonReader json_;
  SafetensorsHeader header_;
  std::string text_;
  bool has_metadata_ = false;
};

// In the order of the data, each begins where the one before it ends, and the last ends with the file.
Status check_extents(const MappedFile& file, SafetensorsHeader& header) {
  // Those without bytes lie before what begins at the same place.
  std::stable_sort(header.tensors.begin(), header.tensors.end(), [](const Tensor& a, const Tensor& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  const std::string at = concat(file.path(), ": offset ", kLengthBytes, ": safetensors header: tensor ");
  int64_t end = 0;
  const Tensor* before = nullptr;
  for (const Tensor& tensor : header.tensors) {
    if (tensor.begin != end) {
      return error(Code::kCorrupt, at, printable(tensor.name), ": data_offsets ", tensor.begin, " to ",
                   tensor.end, tensor.begin < end ? ": overlap " : ": leave a gap after ",
                   before == nullptr ? std::string("the header") : printable(before->name),
                   ", which ends at ", end);
    }
    end = tensor.end;
    before = &tensor;
  }
  const int64_t present = file.bytes() - header.data_offset;
  if (end == present) return Status::ok();
  return error(end > present ? Code::kTruncated : Code::kCorrupt, file.path(), ": offset ",
               header.data_offset, ": the tensors need ", end, " bytes, the file has ", present);
}

// The length of the header's text; whether it is one of ours is seen by the byte after it.
Result<int64_t> read_length(const MappedFile& file) {
  const std::string& path = file.path();
  std::array<std::byte, kLengthBytes + 1> start{};
  const int64_t got = std::min<int64_t>(file.bytes(), start.size());
  DL_RETURN_IF_ERROR(file.read(0, got, start.data()));
  if (got < kLengthBytes)
    return error(Code::kTruncated, path, ": offset 0: header length needs 8 bytes, the file has ", got);
  const auto length = load_little<uint64_t>(start.data());
  const bool opened = got == kLengthBytes || start.back() == std::byte{'{'};
  if (length < 2 || length > static_cast<uint64_t>(kMaxSafetensorsHeaderBytes) || !opened) {
    return error(Code::kCorrupt, path,
                 ": offset 0: not a safetensors file: expected a header of 2 to 100000000 bytes that starts ",
                 "with '{', got a length of ", length, ", ", describe_first_bytes(file));
  }
  return static_cast<int64_t>(length);
}

}  // namespace

Result<SafetensorsHeader> read_safetensors_header(const MappedFile& file, const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(const int64_t length, read_length(file));
  if (!extent_fits(kLengthBytes, length, file.bytes())) {
    return error(Code::kTruncated, file.path(), ": offset ", kLengthBytes, ": header needs ", length,
                 " bytes, the file has ", file.bytes() - kLengthBytes);
  }
  DL_ASSIGN_OR_RETURN(const Block block,
                      context.memory->allocate(length, 1, MemoryKind::kMetadata, file.path().c_str()));
  DL_RETURN_IF_ERROR(file.read(kLengthBytes, length, block.data()));
  const std::string_view text(reinterpret_cast<const char*>(block.data()), static_cast<size_t>(length));
  HeaderParser parser(file, context, text);
  DL_ASSIGN_OR_RETURN(SafetensorsHeader header, parser.parse());
  header.data_offset = kLengthBytes + length;
  DL_RETURN_IF_ERROR(check_extents(file, header));
  return header;
}

}  // namespace dataline
