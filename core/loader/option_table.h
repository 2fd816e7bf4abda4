// The table of the options of datasets and loaders. Bindings generate their arguments from it, the shell its flags and its help.
//
// Include this only where options are read or described: a new option recompiles all that does. Elsewhere include options.h for
// the values that a caller has set, or a header of config/ for the settings of one reader.
// Threads: immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace dataline {

// Values of DL_OPTION_* and DL_SCOPE_*.
enum class OptionType : int32_t {
  kBool = 1,
  kInt = 2,
  kSize = 3,
  kWord = 4,
  kText = 5,
  kIndices = 6,
  kWeights = 7,
  kLengths = 8
};
constexpr int32_t kScopeDataset = 1, kScopeLoader = 2, kScopeBoth = 3;

enum class Option : int32_t {
#define OPTION(name, ...) name,
#include "core/loader/option_rows.inc"
#undef OPTION
  kCount
};

struct LoaderConfig;
class Options;

// A value that a kWord option accepts. Several words may share a value; the first of them is the one reported.
struct OptionWord {
  const char* text = nullptr;
  int64_t value = 0;
};

struct OptionInfo {
  Option option;
  const char* key;
  OptionType type;
  int32_t scope;
  const char* default_value;  // as text; "" for none
  int64_t minimum;
  int64_t maximum;  // minimum > maximum: no range
  bool takes_auto;  // "auto" is a value too, beside the range
  std::array<OptionWord, 5> words;
  char choices[40];  // "keep|drop|pad"
  const char* unit;
  const char* doc;
  // Copies the value in force to its member of LoaderConfig; null if the row names none.
  void (*fill)(LoaderConfig&, const Options&, Option);
};
std::span<const OptionInfo> option_table();
// The word of a kWord option for `value`; "" if it has none.
std::string_view option_word(Option option, int64_t value);
template <typename Enum>
requires std::is_enum_v<Enum> std::string_view option_word(Option option, Enum value) {
  return option_word(option, static_cast<int64_t>(value));
}
constexpr const char* kOptionsSince = "0.1";

}  // namespace dataline
