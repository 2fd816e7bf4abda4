// Saved positions: small text, one "key: value" a line, closed by a checksum.
//
//   dataline state 2
//   epoch: 3
//   step: 17
//   samples: 60000
//   ...
//   checksum: 0123456789abcdef
//
// What identifies the job must agree: its data by their ContentIdentity (core/source/identity.h), and its order. Directories,
// transforms, workers, depth, io, memory and device are not in it, and rank and world size are free at an equal global batch.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/base/message_text.h"
#include "core/base/text.h"
#include "core/loader/buckets.h"
#include "core/loader/loader.h"
#include "core/loader/parts.h"

namespace dataline {
namespace {

constexpr size_t kMaxBytes = size_t{16} << 20;  // far more than any job's; larger texts are not looked at
constexpr std::string_view kFirstLine = "dataline state 2";
constexpr std::string_view kOldFirstLine = "dataline state 1";  // it identified data by sizes alone
constexpr std::string_view kSumKey = "checksum: ";
constexpr std::string_view kIndicesKey = "sample_indices";
// Lines that stand in the states of some jobs only, as in those of releases that had none; where one does not stand its
// value is kNone.
constexpr std::string_view kSomeKeys[] = {kPartsKey, "mix", "packing", "bucket_edges", "lengths"};
constexpr std::string_view kNone = "none";
// Stands in the states of jobs with tune=on: what the next start begins with, whatever it is. Identifies nothing.
constexpr std::string_view kTunedKey = "tuned";

struct Line {
  std::string_view key, value;
};

std::string checksum_of(std::string_view text) {
  Digest digest;
  digest.add(text);
  return digest.hex();
}

Status bad_state(std::string_view what) { return error(Code::kBadState, "state: ", what); }

// The lines between the first and the checksum, both checked.
Result<std::vector<Line>> read_lines(std::string_view text) {
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

  std::vector<Line> lines;
  std::string_view body = text.substr(first_end + 1, sum_at - first_end - 1);
  while (!body.empty()) {
    const size_t end = body.find('\n');
    const std::string_view line = body.substr(0, end);
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return bad_state(concat("not a 'key: value' line: '", line, "'"));
    const std::string_view key = line.substr(0, colon);
    const bool again = std::any_of(lines.begin(), lines.end(), [&](const Line& l) { return l.key == key; });
    if (again) return bad_state(concat("'", key, "' appears twice"));
    lines.push_back({key, line.substr(colon + 2)});
    body.remove_prefix(end + 1);
  }
  return lines;
}

const Line* line_of(const std::vector<Line>& lines, std::string_view key) {
  const auto found =
      std::find_if(lines.begin(), lines.end(), [&](const Line& line) { return line.key == key; });
  return found != lines.end() ? &*found : nullptr;
}

// The lines "key: value" of a text of this release's own.
std::vector<Line> split_lines(std::string_view text) {
  std::vector<Line> lines;
  for (; !text.empty(); text.remove_prefix(text.find('\n') + 1)) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const size_t colon = line.find(": ");
    lines.push_back({line.substr(0, colon), line.substr(colon + 2)});
  }
  return lines;
}

Result<Position> saved_position(const std::vector<Line>& lines) {
  Position at;
  for (const auto& [key, number] : {std::pair("epoch", &at.epoch), std::pair("step", &at.step)}) {
    const Line* line = line_of(lines, key);
    if (line == nullptr) return bad_state("expected one epoch and one step");
    const std::optional<int64_t> value = parse_i64(line->value);
    if (!value || *value < 0)
      return bad_state(concat(key, ": expected a whole number, got '", line->value, "'"));
    *number = *value;
  }
  return at;
}

// What a line of the data's identity compares.
std::string_view meaning_of(std::string_view key) {
  constexpr std::string_view kMeanings[][2] = {
      {"data", " (format, fields, number or order of the parts)"},
      {"file_names", " (names of the files, in order)"},
      {"file_sizes", " (sizes of the files, in order)"},
      {"contents",
       " (checksum of the first and last 64 KiB of the files, or of the first and last samples in memory)"}};
  for (const auto& [name, meaning] : kMeanings) {
    if (name == key) return meaning;
  }
  return {};
}

Status another_job(const Line& mine, std::string_view saved, std::string_view more) {
  if (mine.key == kPartsKey && saved == kNone) {
    return error(Code::kStateRefused,
                 "state of another job: this dataset is a mix of datasets, the state's dataset is not");
  }
  if (mine.key == kPartsKey && mine.value == kNone) {
    return error(Code::kStateRefused,
                 "state of another job: the state's dataset is a mix of datasets, this dataset is not");
  }
  if (mine.key == kPartsKey)
    return error(Code::kStateRefused, "state of another job: ", parts_difference(saved, mine.value));
  return error(Code::kStateRefused, "state of another job: ", mine.key, meaning_of(mine.key), " is '", saved,
               "' in the state, '", mine.value, "' here", more);
}

}  // namespace

// When a state first needs it: it reads files, and most loaders save none. A drive that fails now may work the next time.
Status Loader::find_content() {
  if (content_) return Status::ok();
  DL_ASSIGN_OR_RETURN(ContentIdentity content, content_identity(*pipeline_.source));
  content_ = std::move(content);
  return Status::ok();
}

// What must agree, in a fixed order.
std::string Loader::state_body(std::string_view indices_digest) const {
  return concat("samples: ", pipeline_.source->count(), "\nfields: ", fingerprint_fields_,
                "\ndata: ", content_->structure, "\nfile_names: ", content_->names,
                "\nfile_sizes: ", content_->sizes, "\ncontents: ", content_->contents,
                "\nseed: ", config_.seed, "\nshuffle: ", shuffle_text_, "\nsample_indices: ", indices_digest,
                "\nweights: ", weights_digest_, "\nepoch_slots: ", steps_.slots(),
                "\nglobal_batch_size: ", global_batch_text(),
                "\nlast_batch: ", option_word(Option::kLastBatch, config_.last_batch),
                "\non_error: ", option_word(Option::kOnError, config_.on_error), "\n");
}

// The values of kSomeKeys.
std::vector<std::string> Loader::state_extras() const {
  const Mix* mix = mix_source_ != nullptr ? mix_source_->facts().mix : nullptr;
  const std::string none(kNone);
  const std::string_view packing = pipeline_.source->facts().packing;
  return {mix != nullptr ? mix_parts_text(*mix) : none,
          mix != nullptr ? mix_recipe_text(*mix, config_) : none,
          packing.empty() ? none : std::string(packing),
          config_.bucket_edges.empty() ? none : buckets_text(config_), lengths_digest_};
}

Result<std::string> Loader::save_state() {
  if (forked()) return forked_error();
  ThreadLock lock(mutex_);
  DL_RETURN_IF_ERROR(find_content());
  std::string text = concat(kFirstLine, "\nepoch: ", position_.epoch, "\nstep: ", position_.step, "\n",
                            state_body(orders_->of(position_.epoch).indices_digest));
  const std::vector<std::string> extras = state_extras();
  for (size_t i = 0; i < extras.size(); ++i) {
    if (extras[i] != kNone) text += concat(kSomeKeys[i], ": ", extras[i], "\n");
  }
  if (const std::string tuned = tune_text(); !tuned.empty()) text += concat(kTunedKey, ": ", tuned, "\n");
  text += concat(kSumKey, checksum_of(text), "\n");
  return text;
}

Status Loader::load_state(std::string_view text) {
  if (forked()) return forked_error();
  DL_ASSIGN_OR_RETURN(std::vector<Line> lines, read_lines(text));
  DL_ASSIGN_OR_RETURN(const Position to, saved_position(lines));

  ThreadLock lock(mutex_);
  DL_RETURN_IF_ERROR(find_content());
  const Line* const indices = line_of(lines, kIndicesKey);
  // The state's own epoch chooses which of the caller's orders is meant, not the one that the loader is in.
  const OrderVersion& version =
      orders_->saved_under(to.epoch, indices == nullptr ? std::string_view() : indices->value);
  // First what some jobs have only: it says best what is different.
  const std::vector<std::string> extras = state_extras();
  std::string text_here;
  for (size_t i = 0; i < extras.size(); ++i) text_here += concat(kSomeKeys[i], ": ", extras[i], "\n");
  text_here += state_body(version.indices_digest);
  const std::vector<Line> here = split_lines(text_here);
  size_t known = 2;  // epoch and step
  for (const Line& mine : here) {
    const Line* saved = line_of(lines, mine.key);
    const bool may_lack =
        std::find(std::begin(kSomeKeys), std::end(kSomeKeys), mine.key) != std::end(kSomeKeys);
    if (saved == nullptr && !may_lack) return bad_state(concat("no line '", mine.key, "'"));
    known += saved != nullptr ? 1 : 0;
    const std::string_view value = saved != nullptr ? saved->value : kNone;
    if (value == mine.value) continue;
    const bool other_order = mine.key == kIndicesKey && config_.indices.given && value != kNone;
    return another_job(
        mine, value,
        other_order ? "; if the job used these indices before, set them again before you load the state"
                    : "");
  }
  const Line* const tuned = line_of(lines, kTunedKey);
  known += tuned != nullptr ? 1 : 0;
  if (known != lines.size()) return bad_state("it has lines that this release does not know");
  Status fits = check_position(to);
  if (!fits.is_ok()) return error(Code::kStateRefused, "state does not match this job: ", fits.message());
  orders_ = std::make_shared<const OrderVersions>(orders_->restored(version, to.epoch));
  window_->set_orders(orders_, to.epoch);
  start_at(to);
  if (tuned != nullptr) tune_from(tuned->value);
  return Status::ok();
}

}  // namespace dataline
