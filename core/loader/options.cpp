// SPDX-License-Identifier: Apache-2.0
#include "core/loader/options.h"

#include <iterator>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/base/text.h"
#include "core/loader/config.h"
#include "core/loader/option_table.h"
#include "core/source/format.h"
#include "core/source/packing/packing.h"

namespace dataline {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kAuto = -1;  // what "auto" means as a number
constexpr int64_t kMaxBatch = int64_t{1} << 40;
constexpr int64_t kMaxCount = 1'000'000;  // slots, leases, scans: keeps sizes far from overflow
constexpr int64_t kMaxWorkers = 4096;     // a typo must not exhaust the machine's threads

// The member of LoaderConfig that `path` leads to: &LoaderConfig::decode_limits, &DecodeLimits::max_scans.
template <auto... path>
using Member = std::remove_cvref_t<decltype((std::declval<LoaderConfig&>().*....*path))>;

template <auto... path>
void fill_member(LoaderConfig& config, const Options& options, Option option) {
  using Type = Member<path...>;
  Type& member = (config.*....*path);
  if constexpr (std::is_same_v<Type, std::string>) {
    member = options.text(option);
  } else if constexpr (std::is_same_v<Type, HostArray<int64_t>>) {
    member = option == Option::kLengths ? options.lengths : options.indices;
  } else if constexpr (std::is_same_v<Type, HostArray<double>>) {
    member = options.weights;
  } else {
    member = static_cast<Type>(options.integer(option));
  }
}

// The kinds of option_rows.inc: each gives the columns that its type needs.
template <auto... path>
constexpr OptionInfo kind(OptionType type, const char* default_value, int64_t minimum, int64_t maximum) {
  OptionInfo entry = {};
  entry.type = type;
  entry.default_value = default_value;
  entry.minimum = minimum;
  entry.maximum = maximum;
  entry.takes_auto = std::string_view(default_value) == "auto";
  if constexpr (sizeof...(path) > 0) entry.fill = fill_member<path...>;
  return entry;
}
template <auto... path>
constexpr OptionInfo integer(const char* default_value, int64_t minimum, int64_t maximum) {
  return kind<path...>(OptionType::kInt, default_value, minimum, maximum);
}
constexpr OptionInfo or_auto(OptionInfo entry) {
  entry.takes_auto = true;
  return entry;
}
template <auto... path>
constexpr OptionInfo size(const char* default_value, int64_t minimum, int64_t maximum) {
  return kind<path...>(OptionType::kSize, default_value, minimum, maximum);
}
template <auto... path>
constexpr OptionInfo boolean(const char* default_value) {
  return kind<path...>(OptionType::kBool, default_value, 0, 1);
}
template <auto... path>
constexpr OptionInfo text(const char* default_value) {
  return kind<path...>(OptionType::kText, default_value, 1, 0);
}
template <auto... path>
constexpr OptionInfo array(OptionType type) {
  return kind<path...>(type, "", 1, 0);
}

template <typename Value>
struct Word {
  const char* text;
  Value value;
};

// The first word is the default.
template <typename Value, size_t count>
constexpr OptionInfo with_words(OptionInfo entry, const Word<Value> (&words)[count]) {
  size_t end = 0;
  for (size_t i = 0; i < count; ++i) {
    entry.words.at(i) = {words[i].text, static_cast<int64_t>(words[i].value)};
    if (i > 0) entry.choices[end++] = '|';
    for (const char* c = words[i].text; *c != '\0'; ++c) entry.choices[end++] = *c;
  }
  entry.choices[end] = '\0';  // does not compile if the array is too small
  return entry;
}
template <auto... path, size_t count>
constexpr OptionInfo word(const Word<Member<path...>> (&words)[count]) {
  return with_words(kind<path...>(OptionType::kWord, words[0].text, 1, 0), words);
}
// A word that fills no member of LoaderConfig.
template <typename Value, size_t count>
constexpr OptionInfo choice(const Word<Value> (&words)[count]) {
  return with_words(kind<>(OptionType::kWord, words[0].text, 1, 0), words);
}

constexpr OptionInfo row(Option option, const char* key, int32_t scope, OptionInfo entry, const char* unit,
                         const char* doc) {
  entry.option = option;
  entry.key = key;
  entry.scope = scope;
  entry.unit = unit;
  entry.doc = doc;
  return entry;
}

constexpr OptionInfo kOptions[] = {
#define OPTION(name, ...) row(Option::name, __VA_ARGS__),
#include "core/loader/option_rows.inc"
#undef OPTION
};

const OptionInfo& info(Option option) { return kOptions[static_cast<size_t>(option)]; }

bool has_range(const OptionInfo& entry) { return entry.minimum <= entry.maximum; }

bool in_range(const OptionInfo& entry, int64_t number) {
  return !has_range(entry) || (number >= entry.minimum && number <= entry.maximum);
}

bool is_array(OptionType type) {
  return type == OptionType::kIndices || type == OptionType::kWeights || type == OptionType::kLengths;
}

std::optional<int64_t> value_of_word(const OptionInfo& entry, std::string_view text) {
  for (const OptionWord& word : entry.words) {
    if (word.text != nullptr && text == word.text) return word.value;
  }
  return std::nullopt;
}

// The number that `text` means for this option; nothing if it means none.
std::optional<int64_t> parse_integer(const OptionInfo& entry, std::string_view text) {
  switch (entry.type) {
    case OptionType::kBool: {
      const std::optional<bool> value = parse_bool(text);
      return value ? std::optional<int64_t>(*value) : std::nullopt;
    }
    case OptionType::kWord:
      return value_of_word(entry, text);
    case OptionType::kInt:
    case OptionType::kSize:
      if (text == "auto" && entry.takes_auto) return kAuto;
      return entry.type == OptionType::kSize ? parse_size(text) : parse_i64(text);
    default:
      return std::nullopt;
  }
}

std::string expected_text(const OptionInfo& entry) {
  if (entry.type == OptionType::kBool) return "true or false";
  if (entry.type == OptionType::kWord) return concat("one of ", entry.choices);
  std::string what = entry.type == OptionType::kSize ? "a size such as 64MiB" : "a whole number";
  if (has_range(entry)) {
    what += concat(" from ", entry.minimum);
    if (entry.maximum < kMax) what += concat(" to ", entry.maximum);
  }
  return entry.takes_auto && entry.minimum > kAuto ? what + ", or auto" : what;
}

Status bad_value(const OptionInfo& entry, std::string_view got) {
  return error(Code::kBadOption, "option ", entry.key, ": expected ", expected_text(entry), ", got '", got,
               "'");
}

// " and URIs have this key" where a format has one of this name.
std::string uri_key_note(std::string_view key) {
  for (const Format* format : formats()) {
    for (const KeySpec& spec : format->keys) {
      if (spec.name == key)
        return concat("; it is a key of URIs, as in ", format->name, ":PATH?", key, "=", spec.values);
    }
  }
  return "";
}

}  // namespace

std::span<const OptionInfo> option_table() { return kOptions; }

std::string_view option_word(Option option, int64_t value) {
  for (const OptionWord& word : info(option).words) {
    if (word.text != nullptr && word.value == value) return word.text;
  }
  return "";
}

Options::Options() : values_(std::size(kOptions)) {}

Result<Option> Options::find(std::string_view key) {
  std::vector<std::string_view> keys;
  for (const OptionInfo& entry : kOptions) {
    if (key == entry.key) return entry.option;
    keys.push_back(entry.key);
  }
  const std::string note = uri_key_note(key);
  return error(Code::kUnknownOption, "no option '", key, "'", note.empty() ? did_you_mean(key, keys) : note);
}

Status Options::set(std::string_view key, std::string_view text) {
  DL_ASSIGN_OR_RETURN(Option option, find(key));
  const OptionInfo& entry = info(option);
  if (is_array(entry.type)) return error(Code::kBadOption, "option ", key, ": expected an array, got text");
  Value value;
  value.set = true;
  if (entry.type == OptionType::kText) {
    value.text = text;
  } else {
    const std::optional<int64_t> number = parse_integer(entry, text);
    const bool is_auto = text == "auto" && entry.takes_auto;
    if (!number || (!is_auto && !in_range(entry, *number))) return bad_value(entry, text);
    value.integer = *number;
  }
  slot(option) = std::move(value);
  return Status::ok();
}

Status Options::set_i64(std::string_view key, int64_t number) {
  DL_ASSIGN_OR_RETURN(Option option, find(key));
  const OptionInfo& entry = info(option);
  if (entry.type == OptionType::kWord) {
    // Languages pass their booleans as 0 and 1.
    const bool boolean = number == 0 || number == 1;
    const char* const name = number == 0 ? "false" : "true";
    if (boolean && value_of_word(entry, name)) return set(key, name);
    return error(Code::kBadOption, "option ", key, ": expected ", expected_text(entry), ", got a number");
  }
  if (entry.type == OptionType::kText || is_array(entry.type)) {
    return error(Code::kBadOption, "option ", key, ": expected text or an array, got a number");
  }
  if (!in_range(entry, number)) return bad_value(entry, std::to_string(number));
  slot(option) = {.set = true, .integer = number, .text = {}};
  return Status::ok();
}

int64_t Options::integer(Option option) const {
  if (slot(option).set) return slot(option).integer;
  return parse_integer(info(option), info(option).default_value).value_or(-1);
}

std::string_view Options::text(Option option) const {
  if (!slot(option).set) return info(option).default_value;
  if (info(option).type == OptionType::kWord) return option_word(option, slot(option).integer);
  return slot(option).text;
}

std::string Options::as_text(Option option) const {
  const OptionInfo& entry = info(option);
  if (!slot(option).set) return entry.default_value;
  const int64_t number = slot(option).integer;
  switch (entry.type) {
    case OptionType::kBool:
      return number != 0 ? "true" : "false";
    case OptionType::kInt:
    case OptionType::kSize:
      if (number == kAuto && entry.takes_auto) return "auto";
      return std::to_string(number);
    default:
      return std::string(text(option));
  }
}

}  // namespace dataline
