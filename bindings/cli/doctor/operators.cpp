// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/doctor/operators.h"

#include <cstdlib>

#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

// The places of `mark` outside of brackets and quotes.
std::vector<size_t> outside(std::string_view text, char mark) {
  std::vector<size_t> places;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == mark && depth == 0) places.push_back(i);
  }
  return places;
}

std::string operator_of(std::string_view text) {
  if (const auto colon = outside(text, ':'); !colon.empty()) text.remove_prefix(colon.front() + 1);
  return trimmed(std::string(text));
}

}  // namespace

std::vector<OperatorPrefix> prefixes_of(std::string_view transform) {
  std::vector<OperatorPrefix> out;
  if (!outside(transform, ';').empty()) return out;
  // `x, y: cast(i64)` is one list for several fields: the first operator is behind the colon.
  const auto colon = outside(transform, ':');
  size_t start = colon.empty() ? 0 : colon.front() + 1;
  for (const size_t comma : outside(transform, ',')) {
    if (comma < start) continue;
    out.push_back(
        {operator_of(transform.substr(start, comma - start)), std::string(transform.substr(0, comma))});
    start = comma + 1;
  }
  // The whole is the run as asked, but without its consumer: it is needed for the last operator's cost.
  if (!out.empty()) out.push_back({operator_of(transform.substr(start)), std::string(transform)});
  return out;
}

int64_t delivered_side(std::string_view transform) {
  int64_t side = 0;
  for (const std::string_view name : {"resize(", "crop("}) {
    const size_t at = transform.rfind(name);
    if (at == std::string_view::npos) continue;
    const size_t digit = transform.find_first_of("0123456789", at);
    const int64_t value =
        digit == std::string_view::npos ? 0 : std::atoll(std::string(transform.substr(digit)).c_str());
    if (value > 0 && (side == 0 || value < side)) side = value;
  }
  return side;
}

}  // namespace dataline::cli
