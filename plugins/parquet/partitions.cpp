// SPDX-License-Identifier: Apache-2.0
#include "partitions.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "types.h"

namespace dataline_parquet {
namespace {

constexpr std::string_view kNull = "__HIVE_DEFAULT_PARTITION__";
constexpr size_t kMaxNameBytes = 255;

struct Segment {
  std::string key;
  std::optional<std::string> value;
};

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::string url_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
    const int low = high >= 0 ? digit_of(text[i + 2]) : -1;
    out += low >= 0 ? static_cast<char>(high << 4 | low) : text[i];
    i += low >= 0 ? 2 : 0;
  }
  return out;
}

// The directories of a file that are KEY=VALUE.
std::vector<Segment> segments_of(const std::string& folders) {
  std::vector<Segment> out;
  for (size_t at = 0; at < folders.size();) {
    const size_t end = std::min(folders.find('/', at), folders.size());
    const std::string_view segment = std::string_view(folders).substr(at, end - at);
    at = end + 1;
    const size_t equals = segment.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    Segment made{url_decoded(segment.substr(0, equals)), url_decoded(segment.substr(equals + 1))};
    if (*made.value == kNull) made.value.reset();
    const auto known =
        std::find_if(out.begin(), out.end(), [&](const Segment& s) { return s.key == made.key; });
    if (known == out.end())
      out.push_back(std::move(made));
    else
      known->value = std::move(made.value);
  }
  return out;
}

std::optional<int32_t> integer_of(const std::string& text) {
  int32_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Failure check_name(const FoundFile& file, const std::string& name) {
  if (is_name_text(name) && name.size() <= kMaxNameBytes) return {};
  return failure(DL_ERR_UNSUPPORTED, file.path, ": a directory of the path states the key ", printable(name),
                 ", which cannot name a field (1 to ", kMaxNameBytes,
                 " bytes of UTF-8 without control and direction characters)");
}

std::vector<uint8_t> bytes_of(int32_t number) {
  std::vector<uint8_t> out(sizeof number);
  std::memcpy(out.data(), &number, sizeof number);
  return out;
}

}  // namespace

Failure Partitions::make(const std::vector<FoundFile>& files, const FileOptions& options, Partitions* out) {
  std::vector<std::vector<std::optional<std::string>>> texts;  // by key, by file
  for (size_t f = 0; f < files.size(); ++f) {
    for (Segment& segment : segments_of(files[f].folders)) {
      auto key = std::find_if(out->keys_.begin(), out->keys_.end(),
                              [&](const Key& known) { return known.field.name == segment.key; });
      if (key == out->keys_.end()) {
        if (Failure failed = check_name(files[f], segment.key)) return failed;
        key = out->keys_.emplace(key);
        key->field.name = segment.key;
        texts.emplace_back(files.size());
      }
      texts[static_cast<size_t>(key - out->keys_.begin())][f] = std::move(segment.value);
    }
  }
  const bool masks = options.fill && options.fill->mask;
  for (size_t k = 0; k < out->keys_.size(); ++k) {
    Key& key = out->keys_[k];
    const auto filled = [](const auto& text) { return text.has_value(); };
    const bool numbers = std::any_of(texts[k].begin(), texts[k].end(), filled) &&
                         std::all_of(texts[k].begin(), texts[k].end(),
                                     [](const auto& text) { return !text || integer_of(*text); });
    key.field.ragged = !numbers;
    key.field.dtype = numbers ? DL_DTYPE_I32 : DL_DTYPE_U8;
    key.field.element_bytes = key.field.unit_bytes = numbers ? 4 : 1;
    if (!numbers) key.field.shape = {-1};
    std::vector<uint8_t> fill;
    const bool has_null = !std::all_of(texts[k].begin(), texts[k].end(), filled);
    if (numbers && options.fill && has_null && !store_fill(*options.fill, key.field.dtype, fill)) {
      return failure(DL_ERR_BAD_URI, "nulls: field '", key.field.name, "', a key of the directories, is ",
                     key.field.type_text(), ", which cannot hold that number");
    }
    for (const std::optional<std::string>& text : texts[k]) {
      Value value;
      if (text && numbers) value.bytes = bytes_of(*integer_of(*text));
      if (text && !numbers) value.bytes.assign(text->begin(), text->end());
      if (!text) value = {!options.fill.has_value(), fill};
      key.values.push_back(std::move(value));
      if (masks) key.masks.push_back({false, {static_cast<uint8_t>(text ? 1 : 0)}});
    }
  }
  return {};
}

const Partitions::Key* Partitions::find(const std::string& name) const {
  for (const Key& key : keys_)
    if (key.field.name == name) return &key;
  return nullptr;
}

void Partitions::drop(size_t file) {
  const auto erase = [file](std::vector<Value>& values) {
    if (!values.empty()) values.erase(values.begin() + static_cast<std::ptrdiff_t>(file));
  };
  for (Key& key : keys_) {
    erase(key.values);
    erase(key.masks);
  }
}

FileOptions Partitions::for_files(FileOptions options) const {
  for (const Key& key : keys_) options.left_out.push_back(key.field.name);
  if (options.fields.empty()) return options;
  const auto is_key = [this](const std::string& name) { return find(name) != nullptr; };
  options.fields.erase(std::remove_if(options.fields.begin(), options.fields.end(), is_key),
                       options.fields.end());
  options.no_columns = options.fields.empty();
  return options;
}

void Partitions::place(const std::vector<PqField>& columns, const FileOptions& options) {
  const bool masks = options.fill && options.fill->mask;
  const size_t count = masks ? columns.size() / 2 : columns.size();  // their masks follow
  std::vector<size_t> chosen;                                        // keys, in the order of delivery
  size_t next = 0;
  const auto add_column = [&] {
    add(columns[next], {next, 0, false});
    ++next;
  };
  const auto add_key = [&](size_t key) {
    add(keys_[key].field, {std::nullopt, key, false});
    chosen.push_back(key);
  };
  for (const std::string& name : options.fields) {
    if (const Key* key = find(name)) {
      add_key(static_cast<size_t>(key - keys_.data()));
      continue;
    }
    while (next < count && (columns[next].name == name || columns[next].name.rfind(name + "/", 0) == 0))
      add_column();
  }
  while (next < count) add_column();
  for (size_t key = 0; options.fields.empty() && key < keys_.size(); ++key) add_key(key);
  if (!masks) return;
  for (size_t i = count; i < columns.size(); ++i) add(columns[i], {i, 0, false});
  for (const size_t key : chosen) {
    PqField field;
    field.name = keys_[key].field.name + "/valid";
    field.dtype = DL_DTYPE_BOOL;
    add(field, {std::nullopt, key, true});
  }
}

}  // namespace dataline_parquet
