// SPDX-License-Identifier: Apache-2.0
#include "core/source/tfrecord/example.h"
#include "core/base/name_text.h"

#include <cstring>

namespace dataline {
namespace {

constexpr int kMaxVarintBytes = 10;
constexpr uint32_t kMaxFieldNumber = (1u << 29) - 1;

std::string_view text_in(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// The lists of one kind in a Feature, and the values in them.
class ListReader {
 public:
  explicit ListReader(const Feature& feature)
      : kind_(static_cast<uint32_t>(feature.kind)),
        feature_({feature.data, static_cast<size_t>(feature.bytes)}),
        list_({}) {}

  // The next `value` field of any wire type.
  bool next(WireField& value) {
    for (;;) {
      while (list_.next(value)) {
        if (value.number == 1) return true;
      }
      WireField list;
      if (list_.fault().what != nullptr || !feature_.next(list)) return false;
      if (list.is(kind_, WireField::kBytes)) list_ = WireReader(list.bytes);
    }
  }
  const WireFault& fault() const { return list_.fault().what != nullptr ? list_.fault() : feature_.fault(); }

 private:
  uint32_t kind_;
  WireReader feature_, list_;
};

}  // namespace

bool WireReader::read_varint(uint64_t& value) {
  const std::byte* const begin = at_;
  value = 0;
  for (int i = 0; i < kMaxVarintBytes; ++i) {
    if (at_ == end_) return fail("a number is truncated", begin);
    const auto byte = std::to_integer<uint64_t>(*at_++);
    if (i == kMaxVarintBytes - 1 && byte > 1) break;
    value |= (byte & 127) << (7 * i);
    if (byte < 128) return true;
  }
  return fail("a number of more than 64 bits", begin);
}

bool WireReader::next(WireField& field) {
  if (at_ == end_) return false;
  const std::byte* const begin = at_;
  uint64_t tag = 0, length = 0;
  if (!read_varint(tag)) return false;
  field.number = static_cast<uint32_t>(tag >> 3 & kMaxFieldNumber);
  field.type = static_cast<int>(tag & 7);
  if (tag >> 3 != field.number || field.number == 0)
    return fail("a field number that is not in 1 .. 536870911", begin);
  switch (field.type) {
    case WireField::kVarint:
      return read_varint(field.varint);
    case WireField::kFixed64:
      length = 8;
      break;
    case WireField::kFixed32:
      length = 4;
      break;
    case WireField::kBytes:
      if (!read_varint(length)) return false;
      break;
    default:
      return fail("a wire type other than 0, 1, 2 and 5", begin);
  }
  if (length > static_cast<uint64_t>(end_ - at_))
    return fail("a field is longer than the remaining bytes", begin);
  field.bytes = {at_, static_cast<size_t>(length)};
  at_ += length;
  return true;
}

std::string_view list_name(FeatureKind kind) {
  constexpr std::string_view kNames[] = {"nothing", "bytes_list", "float_list", "int64_list"};
  return kNames[static_cast<size_t>(kind)];
}

bool ExampleReader::next(std::string_view& name, Feature& feature) {
  for (;;) {
    WireField field;
    while (features_.next(field)) {
      if (field.is(1, WireField::kBytes)) return read_entry(field.bytes, name, feature);
      plain_ = false;
    }
    fault_ = features_.fault();
    if (fault_.what != nullptr) return false;
    if (!example_.next(field)) {
      fault_ = example_.fault();
      return false;
    }
    if (field.is(1, WireField::kBytes)) {
      features_ = WireReader(field.bytes);
    } else {
      sequence_ = sequence_ || field.is(2, WireField::kBytes);
      plain_ = false;
    }
  }
}

bool ExampleReader::read_entry(Bytes entry, std::string_view& name, Feature& feature) {
  name = {};
  feature = {FeatureKind::kNone, nullptr, 0};
  bool has_value = false;
  WireReader fields(entry);
  for (WireField field; fields.next(field);) {
    if (field.is(1, WireField::kBytes)) {
      name = text_in(field.bytes);
    } else if (field.is(2, WireField::kBytes)) {
      if (has_value) {
        fault_ = {"a map entry with two values", field.bytes.data()};
        return false;
      }
      has_value = true;
      if (!read_feature(field.bytes, feature)) return false;
    } else {
      plain_ = false;
    }
  }
  if (fields.fault().what != nullptr) {
    fault_ = fields.fault();
    return false;
  }
  plain_ = plain_ && !name.empty() && has_value && is_name_text(name);
  return true;
}

bool ExampleReader::read_feature(Bytes message, Feature& feature) {
  WireReader fields(message);
  const std::byte* begin = fields.at();
  feature.data = begin;  // also of a feature without a list: it is there
  for (WireField field; fields.next(field); begin = fields.at()) {
    if (field.number > 3 || field.type != WireField::kBytes) {
      plain_ = false;
      continue;
    }
    const auto kind = static_cast<FeatureKind>(field.number);
    if (kind != feature.kind) feature = {kind, begin, message.data() + message.size() - begin};
  }
  fault_ = fields.fault();
  return fault_.what == nullptr;
}

BytesValues read_bytes_values(const Feature& feature, WireFault& fault) {
  BytesValues out;
  ListReader values(feature);
  for (WireField value; values.next(value);) {
    if (value.type != WireField::kBytes) continue;
    if (out.count++ == 0) out.first = value.bytes;
  }
  fault = values.fault();
  if (fault.what != nullptr) out.count = -1;
  return out;
}

FloatValues find_float_values(const Feature& feature, WireFault& fault) {
  FloatValues out;
  int64_t pieces = 0;
  ListReader values(feature);
  for (WireField value; values.next(value);) {
    if (value.type != WireField::kBytes && value.type != WireField::kFixed32) continue;
    if (value.bytes.size() % 4 != 0) {
      fault = {"packed floats that are not a multiple of four bytes", value.bytes.data()};
      return {.count = -1};
    }
    if (value.bytes.empty()) continue;
    out.count += static_cast<int64_t>(value.bytes.size() / 4);
    out.packed = pieces++ == 0 ? value.bytes.data() : nullptr;
  }
  fault = values.fault();
  if (fault.what != nullptr) out.count = -1;
  return out;
}

void copy_float_values(const Feature& feature, std::byte* out) {
  ListReader values(feature);
  for (WireField value; values.next(value);) {
    if (value.type != WireField::kBytes && value.type != WireField::kFixed32) continue;
    for (size_t at = 0; at + 4 <= value.bytes.size(); at += 4, out += 4) {
      const auto word = load_little<uint32_t>(value.bytes.data() + at);
      std::memcpy(out, &word, sizeof word);
    }
  }
}

int64_t read_int_values(const Feature& feature, std::byte* out, int64_t room, WireFault& fault) {
  int64_t count = 0;
  const auto put = [&](uint64_t value) {
    if (count < room) std::memcpy(out + count * 8, &value, sizeof value);
    ++count;
  };
  ListReader values(feature);
  for (WireField value; values.next(value);) {
    if (value.type == WireField::kVarint) put(value.varint);
    if (value.type != WireField::kBytes) continue;
    WireReader packed(value.bytes);
    for (uint64_t number; !packed.at_end() && packed.read_varint(number);) put(number);
    if (packed.fault().what != nullptr) {
      fault = packed.fault();
      return -1;
    }
  }
  fault = values.fault();
  return fault.what != nullptr ? -1 : count;
}

}  // namespace dataline
