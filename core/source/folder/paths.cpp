// SPDX-License-Identifier: Apache-2.0
#include "core/source/folder/paths.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "core/base/bytes.h"
#include "core/base/text.h"

namespace dataline {
namespace {

bool less_by_characters(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    uint32_t x = take_character(a), y = take_character(b);
    if (x != y) return x < y;
  }
  return a.empty() && !b.empty();
}

// A position in the encoded bytes that never passes their end.
struct Cursor {
  const unsigned char* at;
  const unsigned char* end;

  size_t left() const { return static_cast<size_t>(end - at); }
  // Lengths are below kMaxPathBytes, hence at most two bytes.
  std::optional<size_t> take_length() {
    if (at == end) return std::nullopt;
    size_t length = *at++;
    if (length < 128) return length;
    if (at == end || *at >= 128) return std::nullopt;
    return (length & 127) | static_cast<size_t>(*at++) << 7;
  }
};

}  // namespace

bool python_less(std::string_view a, std::string_view b) {
  size_t common = std::min(a.size(), b.size());
  auto at = static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(common), b.begin()).first - a.begin());
  auto is_plain = [at](std::string_view text) {
    return at == text.size() || static_cast<unsigned char>(text[at]) < 0x80;
  };
  // Both continue with ASCII or end here, so the common bytes are also equal as characters.
  if (is_plain(a) && is_plain(b)) return at < b.size() && (at == a.size() || a[at] < b[at]);
  return less_by_characters(a, b);
}

bool is_plain_relative(std::string_view path) {
  if (path.empty() || path.size() >= kMaxPathBytes || path.find('\0') != std::string_view::npos) return false;
  for (;;) {
    size_t slash = path.find('/');
    std::string_view component = path.substr(0, slash);
    if (component.empty() || component == "." || component == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

void PathTable::add_length(size_t length) {
  if (length >= 128) bytes_.push_back(static_cast<unsigned char>(128 | (length & 127)));
  bytes_.push_back(static_cast<unsigned char>(length >= 128 ? length >> 7 : length));
}

void PathTable::add(std::string_view path) {
  size_t shared = 0;
  if (count_ % kBlock == 0) {
    blocks_.push_back(bytes_.size());
  } else {
    size_t max_shared = std::min(path.size(), last_bytes_);
    while (shared < max_shared && path[shared] == last_[shared]) ++shared;
  }
  add_length(shared);
  add_length(path.size() - shared);
  bytes_.insert(bytes_.end(), path.begin() + static_cast<std::ptrdiff_t>(shared), path.end());
  std::copy(path.begin() + static_cast<std::ptrdiff_t>(shared), path.end(),
            last_.begin() + static_cast<std::ptrdiff_t>(shared));
  last_bytes_ = path.size();
  ++count_;
}

void PathTable::shrink() {
  bytes_.shrink_to_fit();
  blocks_.shrink_to_fit();
}

std::string_view PathTable::get(int64_t index, PathBuffer& out) const {
  Cursor cursor{bytes_.data() + blocks_[static_cast<size_t>(index / kBlock)], bytes_.data() + bytes_.size()};
  std::string_view path;
  for (int64_t i = index % kBlock; i >= 0; --i) {
    // Both are present and in range: written by add(), or checked by adopt().
    size_t shared = *cursor.take_length();
    size_t rest = *cursor.take_length();
    std::memcpy(out.data() + shared, cursor.at, rest);
    cursor.at += rest;
    path = {out.data(), shared + rest};
  }
  out[path.size()] = '\0';
  return path;
}

bool PathTable::adopt(int64_t count, std::span<const unsigned char> encoded,
                      std::span<const std::byte> blocks) {
  if (count < 0 || blocks.size() / sizeof(uint64_t) != static_cast<size_t>((count + kBlock - 1) / kBlock))
    return false;
  bytes_.assign(encoded.begin(), encoded.end());
  blocks_.resize(blocks.size() / sizeof(uint64_t));
  for (size_t i = 0; i < blocks_.size(); ++i)
    blocks_[i] = load_little<uint64_t>(blocks.data() + i * sizeof(uint64_t));
  count_ = count;
  return check();
}

bool PathTable::check() const {
  Cursor cursor{bytes_.data(), bytes_.data() + bytes_.size()};
  PathBuffer path;
  size_t length = 0;
  for (int64_t i = 0; i < count_; ++i) {
    if (i % kBlock == 0) {
      if (blocks_[static_cast<size_t>(i / kBlock)] != bytes_.size() - cursor.left()) return false;
      length = 0;
    }
    std::optional<size_t> shared = cursor.take_length();
    std::optional<size_t> rest = cursor.take_length();
    if (!shared || !rest || *shared > length || *rest > cursor.left()) return false;
    length = *shared + *rest;
    if (length >= path.size()) return false;
    std::memcpy(path.data() + *shared, cursor.at, *rest);
    cursor.at += *rest;
    if (!is_plain_relative({path.data(), length})) return false;
  }
  return cursor.left() == 0;
}

}  // namespace dataline
