// Saved positions: small text, one "key: value" a line, closed by a checksum.
//
//   dataline state 1
//   epoch: 3
//   step: 17
//   samples: 60000
//   ...
//   checksum: 0123456789abcdef
//
// What identifies the job must agree; paths, transforms, workers, depth, io, memory and device are not in it, and rank
// and world size are free at an equal global batch.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/loader/loader.h"
#include "core/loader/parts.h"

namespace dataline {
namespace {

constexpr size_t kMaxBytes = size_t{16} << 20;  // far more than any job's; larger texts are not looked at
constexpr std::string_view kFirstLine = "dataline state 1";
constexpr std::string_view kSumKey = "checksum: ";
constexpr std::string_view kIndicesKey = "sample_indices";

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
  if (!text.starts_with("dataline state ")) return bad_state("expected a first line 'dataline state 1'");
  const size_t first_end = text.find('\n');
  if (first_end == std::string_view::npos) return bad_state("cut after the first line");
  if (text.substr(0, first_end) == concat(kFirstLine, "\r"))
    return bad_state("its line ends were changed (CR LF); keep the text as it was saved");
  if (text.substr(0, first_end) != kFirstLine) {
    return bad_state(
        concat("expected '", kFirstLine, "', got '", text.substr(0, std::min<size_t>(first_end, 40)), "'"));
  }
  const size_t sum_at = text.rfind(kSumKey);
  if (sum_at == std::string_view::npos || sum_at == 0 || text[sum_at - 1] != '\n')
    return bad_state("cut: no checksum");
  const std::string expected = checksum_of(text.substr(0, sum_at));
  const std::string_view sum = text.substr(sum_at + kSumKey.size());
  if (!sum.starts_with(expected))
    return bad_state(concat("damaged: the checksum differs: expected ", expected, ", got '",
                            sum.substr(0, expected.size()), "'"));
  // What editors, print() and strip() do to the end of a text: told apart from damage.
  const std::string_view rest = sum.substr(expected.size());
  if (rest.empty())
    return bad_state("cut: the line of the checksum has no line end; keep the text as it was saved");
  if (rest != "\n")
    return bad_state(
        concat("the checksum is right, but ", rest.size() - (rest.front() == '\n' ? 1 : 0),
               " more bytes stand after its line",
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
    if (again) return bad_state(concat("'", key, "' is given twice"));
    lines.push_back({key, line.substr(colon + 2)});
    body.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

// What must agree, in a fixed order.
std::string Loader::state_body(std::string_view indices_digest) const {
  return concat(mix_fingerprint_, "samples: ", pipeline_.source->count(), "\nfields: ", fingerprint_fields_,
                "\ndata: ", fingerprint_data_, "\nseed: ", config_.seed,
                "\nshuffle: ", option_word(Option::kShuffle, config_.shuffle),
                "\nsample_indices: ", indices_digest, "\nweights: ", weights_digest_,
                "\nepoch_slots: ", steps_.slots(), "\nglobal_batch_size: ", config_.global_batch,
                "\nlast_batch: ", option_word(Option::kLastBatch, config_.last_batch),
                "\non_error: ", option_word(Option::kOnError, config_.on_error), "\n");
}

Result<std::string> Loader::save_state() const {
  if (forked()) return forked_error();
  ThreadLock lock(mutex_);
  std::string text = concat(kFirstLine, "\nepoch: ", position_.epoch, "\nstep: ", position_.step, "\n",
                            state_body(orders_->of(position_.epoch).indices_digest));
  text += concat(kSumKey, checksum_of(text), "\n");
  return text;
}

Status Loader::load_state(std::string_view text) {
  if (forked()) return forked_error();
  DL_ASSIGN_OR_RETURN(std::vector<Line> lines, read_lines(text));
  Position to;
  size_t known = 0;
  for (const Line& line : lines) {
    if (line.key != "epoch" && line.key != "step") continue;
    std::optional<int64_t> number = parse_i64(line.value);
    if (!number || *number < 0)
      return bad_state(concat(line.key, ": expected a whole number, got '", line.value, "'"));
    (line.key == "epoch" ? to.epoch : to.step) = *number;
    ++known;
  }
  if (known != 2) return bad_state("expected one epoch and one step");

  ThreadLock lock(mutex_);
  const bool has_parts =
      std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.key == kPartsKey; });
  if (has_parts && mix_source_ == nullptr)
    return error(Code::kStateRefused,
                 "state of another job: it is of a mix of datasets, this dataset is none");
  const auto indices =
      std::find_if(lines.begin(), lines.end(), [](const Line& line) { return line.key == kIndicesKey; });
  // The state's own epoch chooses which of the caller's orders is meant, not the one that the loader is in.
  const OrderVersion& version =
      orders_->saved_under(to.epoch, indices == lines.end() ? std::string_view() : indices->value);
  const std::string body = state_body(version.indices_digest);
  std::string_view rest = body;
  for (; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1), ++known) {
    const std::string_view mine = rest.substr(0, rest.find('\n'));
    const std::string_view key = mine.substr(0, mine.find(": "));
    const std::string_view value = mine.substr(key.size() + 2);
    auto saved = std::find_if(lines.begin(), lines.end(), [&](const Line& line) { return line.key == key; });
    if (saved == lines.end() && key == kPartsKey) {
      return error(Code::kStateRefused, "state of another job: this dataset is a mix of ", part_count(),
                   " parts, that of the state is none");
    }
    if (saved == lines.end()) return bad_state(concat("no line '", key, "'"));
    if (saved->value != value && key == kPartsKey) {
      return error(Code::kStateRefused, "state of another job: ", parts_difference(saved->value, value));
    }
    if (saved->value != value) {
      const bool other_order = key == kIndicesKey && config_.indices.given && saved->value != "none";
      return error(
          Code::kStateRefused, "state of another job: ", key, " is '", saved->value, "' in the state, '",
          value, "' here",
          other_order ? "; if the job has had these indices, set them again before the state is loaded" : "");
    }
  }
  if (known != lines.size()) return bad_state("lines this release does not know");
  Status fits = check_position(to);
  if (!fits.is_ok()) return error(Code::kStateRefused, "state does not fit this job: ", fits.message());
  orders_ = std::make_shared<const OrderVersions>(orders_->restored(version, to.epoch));
  window_->set_orders(orders_, to.epoch);
  start_at(to);
  return Status::ok();
}

}  // namespace dataline
