// The format `tar`: samples by WebDataset's conventions, as Python's webdataset and the format `tar` here read them.
//
// A sample is KEY.EXTENSION for each field: bytes under the field's name, the field `image` under what its first bytes are (jpg, png,
// webp), `label` as decimal text in .cls. The key is the field `key`, or the number of the row in nine digits.
// Source: POSIX.1-2017, pax, "ustar Interchange Format"; WebDataset's group_by_keys.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "core/source/files.h"
#include "core/source/tar/tar.h"
#include "core/source/tar/tar_members.h"
#include "core/write/shard_encoder.h"

namespace dataline {
namespace {

constexpr int64_t kNone = -1;
constexpr int64_t kMaxUstarBytes = (int64_t{1} << 33) - 1;  // eleven octal digits
constexpr size_t kMaxUstarName = 100;
constexpr size_t kMaxKeyBytes = 1 << 16;

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

bool is_integer(DType dtype) {
  return dtype == DType::kU8 || dtype == DType::kU16 || dtype == DType::kU32 || dtype == DType::kU64 ||
         dtype == DType::kI8 || dtype == DType::kI16 || dtype == DType::kI32 || dtype == DType::kI64;
}

bool is_label(const Field& field) {
  return field.name == "label" && field.kind == FieldKind::kDense && field.shape.empty() &&
         is_integer(field.dtype);
}

// An extension that reads back as the field's name.
bool is_extension(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.back() != '.' && name.size() <= 64 &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
         });
}

// "" for what is none of the three.
std::string_view image_extension(Bytes bytes) {
  const std::string_view text = text_of(bytes);
  if (text.starts_with("\xFF\xD8\xFF")) return "jpg";
  if (text.starts_with("\x89PNG\r\n\x1A\n")) return "png";
  return text.starts_with("RIFF") && text.size() >= 12 && text.substr(8, 4) == "WEBP" ? "webp" : "";
}

template <typename T>
std::string decimal(const std::byte* at) {
  return std::to_string(load_native<T>(at));
}

std::string label_text(const Field& field, const std::byte* at) {
  switch (field.dtype) {
    case DType::kU8:
      return decimal<uint8_t>(at);
    case DType::kU16:
      return decimal<uint16_t>(at);
    case DType::kU32:
      return decimal<uint32_t>(at);
    case DType::kU64:
      return decimal<uint64_t>(at);
    case DType::kI8:
      return decimal<int8_t>(at);
    case DType::kI16:
      return decimal<int16_t>(at);
    case DType::kI32:
      return decimal<int32_t>(at);
    default:
      return decimal<int64_t>(at);
  }
}

// The header of a member; `type` '0' is a file, 'x' a pax header for the next one.
std::array<std::byte, kTarBlockBytes> header_of(std::string_view name, int64_t bytes, char type) {
  std::array<std::byte, kTarBlockBytes> block = {};
  char* text = reinterpret_cast<char*>(block.data());
  const auto put = [&](size_t at, std::string_view value) {
    std::memcpy(text + at, value.data(), value.size());
  };
  const auto octal = [&](size_t at, int digits, int64_t value) {
    for (; digits > 0; --digits, value >>= 3)
      text[at + static_cast<size_t>(digits) - 1] = static_cast<char>('0' + (value & 7));
  };
  put(0, name.substr(0, kMaxUstarName));
  octal(100, 7, 0644);
  octal(108, 7, 0);
  octal(116, 7, 0);
  octal(124, 11, std::min(bytes, kMaxUstarBytes));
  octal(136, 11, 0);  // the time is left out, so that the same rows give the same bytes
  put(148, "        ");
  text[156] = type;
  put(257, std::string_view("ustar\00000", 8));
  int64_t sum = 0;
  for (const std::byte byte : block) sum += std::to_integer<int64_t>(byte);
  octal(148, 6, sum);
  text[154] = 0;
  return block;
}

// A record of a pax header says its own length.
std::string pax_record(std::string_view key, std::string_view value) {
  const std::string rest = concat(" ", key, "=", value, "\n");
  size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

class TarEncoder final : public ShardEncoder {
 public:
  explicit TarEncoder(const std::vector<Field>& fields) {
    for (size_t f = 0; f < fields.size(); ++f) {
      if (fields[f].name == "key") key_ = static_cast<int64_t>(f);
    }
  }

  Status begin(ShardFile&) override {
    last_key_.clear();
    return Status::ok();
  }

  Status check(const HostRows& rows) const override {
    std::string_view before = last_key_;
    for (int64_t r = 0; r < rows.count; ++r) {
      for (size_t f = 0; f < rows.arrays.size(); ++f) DL_RETURN_IF_ERROR(check_cell(rows, f, r));
      if (key_ == kNone) continue;
      const std::string_view key = text_of(rows.cell(static_cast<size_t>(key_), r));
      if (key == before) {
        return error(Code::kInvalidArgument, "row ", r, ": its key ", printable(key),
                     " is the same as in the previous row: in a tar archive both rows would be one sample");
      }
      before = key;
    }
    return Status::ok();
  }

  Status add(const HostRows& rows, int64_t first, ShardFile& file) override {
    for (int64_t r = 0; r < rows.count; ++r) {
      const std::string key = key_of(rows, r, first + r);
      for (size_t f = 0; f < rows.arrays.size(); ++f) {
        if (static_cast<int64_t>(f) == key_) continue;
        DL_RETURN_IF_ERROR(add_cell(rows, f, r, key, file));
      }
      last_key_ = key;
    }
    return Status::ok();
  }

  Status end(ShardFile& file) override { return file.zeros(2 * kTarBlockBytes); }

 private:
  Status check_cell(const HostRows& rows, size_t f, int64_t r) const {
    const Field& field = rows.field(f);
    if (field.name == "image" && image_extension(rows.cell(f, r)).empty()) {
      return error(
          Code::kInvalidArgument, "row ", r,
          ": its image does not start as a JPEG, PNG or WebP, and a tar archive names images by format");
    }
    if (static_cast<int64_t>(f) != key_) return Status::ok();
    const std::string_view key = text_of(rows.cell(f, r));
    const size_t slash = key.rfind('/');
    const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
    const std::string member = std::string(key) + ".x";
    const TarName read = split_tar_name(member);
    if (read.key == key && read.extension == "x" && key.size() <= kMaxKeyBytes && key.front() != '/' &&
        key.find('\0') == std::string_view::npos && key.find("..") == std::string_view::npos &&
        !name.empty()) {
      return Status::ok();
    }
    return error(Code::kInvalidArgument, "row ", r, ": ", printable(key),
                 " cannot be a key in a tar archive: expected no slash at the start, and a last component "
                 "without a dot");
  }

  std::string key_of(const HostRows& rows, int64_t r, int64_t number) const {
    if (key_ != kNone) return std::string(text_of(rows.cell(static_cast<size_t>(key_), r)));
    std::string digits = std::to_string(number);
    return std::string(9 - std::min<size_t>(9, digits.size()), '0') + digits;
  }

  static Status add_cell(const HostRows& rows, size_t f, int64_t r, const std::string& key, ShardFile& file) {
    const Field& field = rows.field(f);
    const Bytes cell = rows.cell(f, r);
    if (field.name == "image") return add_member(concat(key, ".", image_extension(cell)), cell, file);
    if (!is_label(field)) return add_member(concat(key, ".", field.name), cell, file);
    const std::string text = label_text(field, cell.data());
    return add_member(key + ".cls", std::as_bytes(std::span(text)), file);
  }

  static Status add_member(const std::string& name, Bytes data, ShardFile& file) {
    const auto bytes = static_cast<int64_t>(data.size());
    std::string extended;
    if (name.size() > kMaxUstarName) extended += pax_record("path", name);
    if (bytes > kMaxUstarBytes) extended += pax_record("size", std::to_string(bytes));
    if (!extended.empty())
      DL_RETURN_IF_ERROR(add_block("pax", std::as_bytes(std::span(extended)), 'x', file));
    return add_block(name, data, '0', file);
  }

  static Status add_block(std::string_view name, Bytes data, char type, ShardFile& file) {
    const auto bytes = static_cast<int64_t>(data.size());
    DL_RETURN_IF_ERROR(file.write(header_of(name, bytes, type)));
    DL_RETURN_IF_ERROR(file.write(data));
    return file.zeros((kTarBlockBytes - bytes % kTarBlockBytes) % kTarBlockBytes);
  }

  int64_t key_ = kNone;  // the field that is the key
  std::string last_key_;
};

Result<std::unique_ptr<ShardEncoder>> make_tar(const std::vector<Field>& fields, WriteCodec) {
  bool content = false;
  for (const Field& field : fields) {
    content = content || field.name != "key";
    const bool named =
        is_label(field) || field.name == "image" || field.name == "key" || is_extension(field.name);
    const bool reserved = field.name == "cls" || field.name == "jpg" || field.name == "jpeg" ||
                          field.name == "png" || field.name == "webp";
    if (!named || reserved || (field.name == "label" && !is_label(field))) {
      return error(
          Code::kUnsupported, "field '", field.name, "' (", field_type_text(field),
          ") cannot be an extension in a tar archive: expected lower-case letters, digits, '_', '-' and '.'; "
          "a label is a whole number; jpg, jpeg, png and webp are named image, cls is named label");
    }
    if (!is_label(field) && !is_bytes(field)) {
      return error(Code::kUnsupported, "field '", field.name, "' is ", field_type_text(field),
                   "; a tar archive holds bytes, text and a label: write arrow");
    }
  }
  if (!content) return error(Code::kUnsupported, "a tar archive needs a field in addition to the key");
  return std::unique_ptr<ShardEncoder>(std::make_unique<TarEncoder>(fields));
}

}  // namespace

constinit const WriteFormat kWriteTar{
    .name = "tar",
    .suffix = ".tar",
    .doc = "tar archives in WebDataset's layout: images and other bytes as stored, and a label",
    .make = make_tar};

}  // namespace dataline
