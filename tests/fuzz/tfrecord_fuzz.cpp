// Any bytes as a TFRecord file. The first byte chooses the keys, and whether the rest is the file or one record's data under
// right checksums. Refused by name, or the records are those of a second reading of the format, and ints of Examples are those
// of a second reading of protobuf's wire format.
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "core/source/open.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

// The checksum bit by bit.
uint32_t slow_masked_crc(std::string_view bytes) {
  uint32_t state = 0xffffffff;
  for (const unsigned char c : bytes) {
    state ^= c;
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? 0x82f63b78u : 0);
  }
  state = ~state;
  return (state >> 15 | state << 17) + 0xa282ead8u;
}

std::string little(uint64_t value, size_t width) {
  std::string out;
  for (size_t i = 0; i < width; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::string as_record(std::string_view data) {
  const std::string length = little(data.size(), 8);
  return length + little(slow_masked_crc(length), 4) + std::string(data) + little(slow_masked_crc(data), 4);
}

struct SlowRecord {
  std::string_view data;
  bool good = false;
};

// Nothing: the file is none.
std::optional<std::vector<SlowRecord>> records_of(std::string_view file) {
  std::vector<SlowRecord> out;
  while (!file.empty()) {
    if (file.size() < 16 || number_at(file, 8, 4, false) != slow_masked_crc(file.substr(0, 8)))
      return std::nullopt;
    const uint64_t length = number_at(file, 0, 8, false);
    if (length > file.size() - 16) return std::nullopt;
    const std::string_view data = file.substr(12, length);
    out.push_back({data, number_at(file, 12 + length, 4, false) == slow_masked_crc(data)});
    file.remove_prefix(16 + length);
  }
  return out;
}

// A second reading of the wire format, by recursion over fields; throws the text away where it is none.
struct SlowField {
  uint64_t number, type, value;
  std::string_view bytes;
};

bool slow_varint(std::string_view& text, uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (text.empty()) return false;
    const auto byte = static_cast<unsigned char>(text[0]);
    text.remove_prefix(1);
    if (shift == 63 && byte > 1) return false;
    value |= uint64_t{byte & 127u} << shift;
    if (byte < 128) return true;
  }
  return false;
}

std::optional<std::vector<SlowField>> fields_of(std::string_view text) {
  std::vector<SlowField> out;
  while (!text.empty()) {
    SlowField field{};
    uint64_t tag = 0;
    if (!slow_varint(text, tag)) return std::nullopt;
    field.number = tag >> 3;
    field.type = tag & 7;
    if (field.number == 0 || field.number >= 1u << 29) return std::nullopt;
    uint64_t length = field.type == 1 ? 8 : 4;
    if (field.type == 0 && !slow_varint(text, field.value)) return std::nullopt;
    if (field.type == 2 && !slow_varint(text, length)) return std::nullopt;
    if (field.type == 3 || field.type == 4 || field.type > 5) return std::nullopt;
    if (field.type != 0) {
      if (length > text.size()) return std::nullopt;
      field.bytes = text.substr(0, length);
      text.remove_prefix(length);
    }
    out.push_back(field);
  }
  return out;
}

// The ints of the feature `name`, if all of the record that matters is well-formed and they are its last list.
std::optional<std::vector<uint64_t>> ints_of(std::string_view record, std::string_view name) {
  std::optional<std::vector<uint64_t>> out;
  const auto top = fields_of(record);
  if (!top) return std::nullopt;
  for (const SlowField& features : *top) {
    if (features.number != 1 || features.type != 2) continue;
    for (const SlowField& entry : fields_of(features.bytes).value_or(std::vector<SlowField>())) {
      if (entry.number != 1 || entry.type != 2) continue;
      std::string_view key, value;
      for (const SlowField& part : fields_of(entry.bytes).value_or(std::vector<SlowField>())) {
        if (part.number == 1 && part.type == 2) key = part.bytes;
        if (part.number == 2 && part.type == 2) value = part.bytes;
      }
      if (key != name) continue;
      out.reset();
      for (const SlowField& list : fields_of(value).value_or(std::vector<SlowField>())) {
        if (list.type != 2 || list.number > 3) continue;
        if (list.number != 3) {
          out.reset();
          continue;
        }
        if (!out) out.emplace();
        for (const SlowField& item : fields_of(list.bytes).value_or(std::vector<SlowField>())) {
          if (item.number != 1) continue;
          if (item.type == 0) out->push_back(item.value);
          std::string_view packed = item.type == 2 ? item.bytes : std::string_view();
          for (uint64_t number = 0; !packed.empty() && slow_varint(packed, number);) out->push_back(number);
        }
      }
    }
  }
  return out;
}

constexpr std::string_view kKeys[] = {"?records=bytes",
                                      "",
                                      "?fields=id:i64[]",
                                      "?records=example",
                                      "?crc=ignore",
                                      "?fields=id:i64[]&nulls=fill(7)",
                                      "?fields=id:i64[2],f:f32[],b:bytes&nulls=fill(0)",
                                      "?fields=id,b:u8[3]"};

void check_record(const Source& source, const std::vector<std::string_view>& got, const SlowRecord& stored,
                  std::string_view keys) {
  const bool failed = got.empty();
  if (!stored.good && keys != "?crc=ignore") check(failed, "a wrong checksum is noticed");
  if (failed) {
    check(!stored.good || keys != "?records=bytes", "a good record is read");
    return;
  }
  if (keys == "?records=bytes") check(got[0] == stored.data, "a record is the stored bytes");
  if (keys != "?fields=id:i64[]") return;
  const auto ints = ints_of(stored.data, "id");
  check(ints.has_value(), "an accepted record has the feature");
  check(ints->size() * 8 == got[0].size(), "as many values as are stored");
  for (size_t i = 0; i < ints->size(); ++i)
    check(number_at(got[0], i * 8, 8, false) == (*ints)[i], "a value is the stored one");
  static_cast<void>(source);
}

void check_file(std::string_view file, const std::string& path, std::string_view keys, IoMode io) {
  Result<SourceRef> opened = open_source("tfrecord:" + path + std::string(keys), context(io));
  const bool packed = file.starts_with("\x1f\x8b");
  const auto records = records_of(file);
  if (!opened.is_ok()) {
    check_names(opened.status(), path);
    const bool declared = keys == "?records=bytes" || keys.starts_with("?fields=id:");
    check(!records || !declared || packed, "a file of whole records is opened", opened.status().message());
    return;
  }
  if (packed) return;
  const Source& source = *opened.value();
  check(records && static_cast<size_t>(source.count()) == records->size(), "as many records as there are");
  Rows rows(source);
  for (const int64_t index : some_of(source.count()))
    check_record(source, rows.read(index), (*records)[static_cast<size_t>(index)], keys);
}

void run(std::string_view input) {
  static const Folder folder;
  if (input.empty()) return;
  const std::string_view rest = input.substr(1);
  const std::string file = (byte_at(input, 0) & 128) != 0 ? as_record(rest) : std::string(rest);
  const std::string path = folder.write("fuzz.tfrecord", file);
  const IoMode io = (byte_at(input, 0) & 64) != 0 ? IoMode::kPread : IoMode::kMmap;
  check_file(file, path, kKeys[byte_at(input, 0) % std::size(kKeys)], io);
}

const Target kTarget("tfrecord", run);

}  // namespace
}  // namespace dataline::fuzz
