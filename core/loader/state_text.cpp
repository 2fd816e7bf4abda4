// SPDX-License-Identifier: Apache-2.0
#include "core/loader/state_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/digest.h"
#include "core/base/message_text.h"
#include "core/base/text.h"

namespace dataline {
namespace {

constexpr size_t kMaxBytes = size_t{16} << 20;  // far more than any job's; larger texts are not looked at
constexpr std::string_view kFirstLine = "dataline state 2";
constexpr std::string_view kOldFirstLine = "dataline state 1";  // it identified data by sizes alone
constexpr std::string_view kSumKey = "checksum: ";

std::string checksum_of(std::string_view text) {
  Digest digest;
  digest.add(text);
  return digest.hex();
}

// The lines between the first and the checksum, both checked.
Result<std::string_view> body_of(std::string_view text) {
  if (text.size() > kMaxBytes)
    return bad_state(concat("expected at most ", kMaxBytes, " bytes, got ", text.size()));
  if (!text.starts_with("dataline state "))
    return bad_state(concat("expected a first line '", kFirstLine, "'"));
  const size_t first_end = text.find('\n');
  if (first_end == std::string_view::npos) return bad_state("truncated after the first line");
  if (text.substr(0, first_end) == concat(kFirstLine, "\r"))
    return bad_state("its line ends were changed (CR LF); keep the text as it was saved");
  if (text.substr(0, first_end) == kOldFirstLine) {
    return error(Code::kStateRefused,
                 "state: saved by a release before 0.3, which did not check the contents of files; if the "
                 "data is the same, seek to its epoch and step instead");
  }
  if (text.substr(0, first_end) != kFirstLine) {
    return bad_state(concat("expected '", kFirstLine, "', got ", printable(text.substr(0, first_end))));
  }
  const size_t sum_at = text.rfind(kSumKey);
  if (sum_at == std::string_view::npos || sum_at == 0 || text[sum_at - 1] != '\n')
    return bad_state("truncated: no checksum");
  const std::string expected = checksum_of(text.substr(0, sum_at));
  const std::string_view sum = text.substr(sum_at + kSumKey.size());
  if (!sum.starts_with(expected))
    return bad_state(concat("damaged: the checksum differs: expected ", expected, ", got '",
                            sum.substr(0, expected.size()), "'"));
  // What editors, print() and strip() do to the end of a text: told apart from damage.
  const std::string_view rest = sum.substr(expected.size());
  if (rest.empty())
    return bad_state("truncated: the checksum line has no line end; keep the text as it was saved");
  if (rest != "\n")
    return bad_state(
        concat("the checksum is right, but ", rest.size() - (rest.front() == '\n' ? 1 : 0),
               " more bytes follow its line",
               rest.find_first_not_of(" \t\r\n") == std::string_view::npos ? " (blank lines or spaces)" : "",
               "; keep the text as it was saved"));
  return text.substr(first_end + 1, sum_at - first_end - 1);
}

}  // namespace

Status bad_state(std::string_view what) { return error(Code::kBadState, "state: ", what); }

Result<SavedState> SavedState::parse(std::string_view text) {
  DL_ASSIGN_OR_RETURN(std::string_view body, body_of(text));
  SavedState state;
  while (!body.empty()) {
    const size_t end = body.find('\n');
    const std::string_view line = body.substr(0, end);
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return bad_state(concat("not a 'key: value' line: '", line, "'"));
    const std::string_view key = line.substr(0, colon);
    if (state.find(key) != nullptr) return bad_state(concat("'", key, "' appears twice"));
    state.lines_.push_back({key, line.substr(colon + 2)});
    body.remove_prefix(end + 1);
  }
  Position& at = state.position_;
  for (const auto& [key, number] : {std::pair("epoch", &at.epoch), std::pair("step", &at.step)}) {
    const std::string_view* const value_text = state.find(key);
    if (value_text == nullptr) return bad_state("expected one epoch and one step");
    const std::optional<int64_t> value = parse_i64(*value_text);
    if (!value || *value < 0)
      return bad_state(concat(key, ": expected a whole number, got '", *value_text, "'"));
    *number = *value;
  }
  return state;
}

const std::string_view* SavedState::find(std::string_view key) const {
  const auto found =
      std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) { return line.key == key; });
  return found != lines_.end() ? &found->value : nullptr;
}

std::string state_text(Position position, const std::vector<StateLine>& lines) {
  std::string text = concat(kFirstLine, "\nepoch: ", position.epoch, "\nstep: ", position.step, "\n");
  for (const StateLine& line : lines) text += concat(line.key, ": ", line.value, "\n");
  text += concat(kSumKey, checksum_of(text), "\n");
  return text;
}

}  // namespace dataline
