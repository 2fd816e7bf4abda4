// Reads number arrays from .npy and text files.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/array_file.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "bindings/cli/failure.h"
#include "bindings/cli/input_file.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Failure{.message = path + ": " + what};
}

std::string read_file(const std::string& path, const Interrupts& interrupts) {
  InputFile file(path, interrupts);
  std::string bytes;
  size_t used = 0;
  for (;;) {
    if (bytes.size() - used < (size_t{1} << 16)) bytes.resize(bytes.size() * 2 + (size_t{1} << 17));
    const size_t count = file.read(bytes.data() + used, bytes.size() - used);
    if (count == 0) break;
    used += count;
  }
  bytes.resize(used);
  return bytes;
}

struct Npy {
  char order = '=';  // < > |
  char kind = 'i';   // i u f
  size_t item_bytes = 0;
  size_t count = 0;
  std::string_view data;
};

// The text after `'key':` in the header's dictionary, without leading blanks.
std::string_view header_value(const std::string& path, std::string_view header, std::string_view key) {
  const size_t at = header.find("'" + std::string(key) + "'");
  size_t value = at == std::string_view::npos ? at : header.find(':', at);
  if (value != std::string_view::npos) value = header.find_first_not_of(' ', value + 1);
  if (value == std::string_view::npos)
    fail(path, "offset 10: the .npy header has no '" + std::string(key) + "'");
  return header.substr(value);
}

Npy parse_npy(const std::string& path, std::string_view file) {
  if (file.size() < 12)
    fail(path, "offset 6: a .npy header needs 12 bytes, the file has " + std::to_string(file.size()));
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<unsigned char>(file[at])); };
  const size_t version = byte(6);
  if (version < 1 || version > 3)
    fail(path, "offset 6: expected .npy version 1, 2 or 3, got " + std::to_string(version));
  const size_t start = version == 1 ? 10 : 12;
  const size_t bytes =
      version == 1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (bytes > file.size() - start) {
    fail(path, "offset 8: the .npy header needs " + std::to_string(bytes) + " bytes, the file has " +
                   std::to_string(file.size() - start) + " left");
  }
  const std::string_view header = file.substr(start, bytes);

  Npy npy;
  npy.data = file.substr(start + bytes);
  const std::string_view descr = header_value(path, header, "descr");
  const std::string type(descr.substr(0, descr.find_first_of(",}")));
  if (descr.size() < 5 || descr[0] != '\'' || std::strchr("<>|=", descr[1]) == nullptr ||
      std::strchr("iuf", descr[2]) == nullptr || descr[3] < '1' || descr[3] > '8' || descr[4] != '\'') {
    fail(path, "expected numbers (integers or floats), got dtype " + type);
  }
  npy.order = descr[1];
  npy.kind = descr[2];
  npy.item_bytes = static_cast<size_t>(descr[3] - '0');
  if (!std::has_single_bit(npy.item_bytes) || (npy.kind == 'f' && npy.item_bytes < 4)) {
    fail(path, "expected numbers of 1, 2, 4 or 8 bytes (floats: 4 or 8), got dtype " + type);
  }

  std::string_view shape = header_value(path, header, "shape");
  shape = shape.substr(0, shape.find(')') == std::string_view::npos ? shape.size() : shape.find(')') + 1);
  const auto end =
      std::from_chars(shape.data() + (shape.empty() ? 0 : 1), shape.data() + shape.size(), npy.count);
  const std::string_view rest(end.ptr, static_cast<size_t>(shape.data() + shape.size() - end.ptr));
  if (shape.empty() || shape[0] != '(' || end.ec != std::errc() || (rest != ",)" && rest != ", )")) {
    fail(path, "expected one dimension, got shape " + std::string(shape));
  }
  if (npy.count > npy.data.size() / npy.item_bytes) {
    fail(path, "offset " + std::to_string(start + bytes) + ": expected " + std::to_string(npy.count) +
                   " numbers of " + std::to_string(npy.item_bytes) + " bytes, the file has " +
                   std::to_string(npy.data.size()) + " bytes left");
  }
  return npy;
}

uint64_t item_bits(const Npy& npy, size_t at) {
  uint64_t bits = 0;
  const char* from = npy.data.data() + at * npy.item_bytes;
  for (size_t i = 0; i < npy.item_bytes; ++i) {
    const size_t place = npy.order == '>' ? npy.item_bytes - 1 - i : i;
    bits |= static_cast<uint64_t>(static_cast<unsigned char>(from[i])) << (8 * place);
  }
  return bits;
}

int64_t sign_extended(uint64_t bits, size_t bytes) {
  const auto unused = static_cast<int>(64 - 8 * bytes);
  return static_cast<int64_t>(bits << unused) >> unused;
}

// The whole number that a float means: NumPy's savetxt writes 5 as 5.000000000000000000e+00.
bool whole(double value, int64_t* out) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: not every whole number beyond it is a double
  if (!(std::fabs(value) < kExact) || value != std::floor(value)) return false;
  *out = static_cast<int64_t>(value);
  return true;
}

bool convert(const Npy& npy, size_t at, int64_t* out) {
  const uint64_t bits = item_bits(npy, at);
  if (npy.kind == 'f') return false;
  if (npy.kind == 'u' && bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return false;
  *out = npy.kind == 'i' ? sign_extended(bits, npy.item_bytes) : static_cast<int64_t>(bits);
  return true;
}

bool convert(const Npy& npy, size_t at, double* out) {
  const uint64_t bits = item_bits(npy, at);
  if (npy.kind == 'i') *out = static_cast<double>(sign_extended(bits, npy.item_bytes));
  if (npy.kind == 'u') *out = static_cast<double>(bits);
  if (npy.kind == 'f') {
    *out =
        npy.item_bytes == 8 ? std::bit_cast<double>(bits) : std::bit_cast<float>(static_cast<uint32_t>(bits));
  }
  return true;
}

bool convert(std::string_view word, double* out) {
  const auto end = std::from_chars(word.data(), word.data() + word.size(), *out);
  return end.ec == std::errc() && end.ptr == word.data() + word.size();
}

bool convert(std::string_view word, int64_t* out) {
  const auto end = std::from_chars(word.data(), word.data() + word.size(), *out);
  if (end.ec == std::errc() && end.ptr == word.data() + word.size()) return true;
  double value = 0;
  return convert(word, &value) && whole(value, out);
}

template <typename T>
std::vector<T> parse_text(const std::string& path, std::string_view text, const char* expected) {
  std::vector<T> values;
  int64_t line = 1;
  size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',') {
      line += c == '\n' ? 1 : 0;
      ++at;
    } else {
      const size_t end = std::min(text.find_first_of(" \t\r\n,#", at), text.size());
      T value{};
      if (!convert(text.substr(at, end - at), &value)) {
        fail(path, "line " + std::to_string(line) + ": expected " + expected + ", got '" +
                       std::string(start_of(text.substr(at, end - at), 40)) + "'");
      }
      values.push_back(value);
      at = end;
    }
  }
  return values;
}

template <typename T>
std::vector<T> read_array(const std::string& path, const Interrupts& interrupts, const char* expected) {
  const std::string file = read_file(path, interrupts);
  if (!file.starts_with(kMagic)) return parse_text<T>(path, file, expected);
  const Npy npy = parse_npy(path, file);
  std::vector<T> values(npy.count);
  for (size_t at = 0; at < npy.count; ++at) {
    if (!convert(npy, at, &values[at])) {
      fail(path, "number " + std::to_string(at) + ": expected " + expected + ", got dtype " + npy.kind +
                     std::to_string(npy.item_bytes * 8) + (npy.kind == 'u' ? " and a value above 2^63" : ""));
    }
  }
  return values;
}

}  // namespace

std::vector<int64_t> read_indices(const std::string& path, const Interrupts& interrupts) {
  return read_array<int64_t>(path, interrupts, "a sample index");
}
std::vector<int64_t> read_lengths(const std::string& path, const Interrupts& interrupts) {
  return read_array<int64_t>(path, interrupts, "a length");
}
std::vector<double> read_weights(const std::string& path, const Interrupts& interrupts) {
  return read_array<double>(path, interrupts, "a number");
}

}  // namespace dataline::cli
