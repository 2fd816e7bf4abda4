// SPDX-License-Identifier: Apache-2.0
#include "core/loader/job_state.h"

#include <utility>

#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/loader/buckets.h"
#include "core/loader/config.h"
#include "core/loader/option_table.h"
#include "core/loader/parts.h"

namespace dataline {
namespace {

// A longer description of the fields enters a state as its digest, so that the state stays below 4 KiB.
constexpr size_t kFieldsTextBytes = 1024;
constexpr std::string_view kIndicesKey = "sample_indices";
// The value of a line that stands in the states of some jobs only (extras()), where it does not stand.
constexpr std::string_view kNone = "none";
// Stands in the states of jobs with tune=on: what the next start begins with, whatever it is. Identifies nothing.
constexpr std::string_view kTunedKey = "tuned";

std::string describe_fields(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields) {
    std::string name = field.name;
    for (char& c : name) c = c >= 0 && c < ' ' ? '?' : c;  // a state is lines
    text += concat(text.empty() ? "" : ", ", name, " ", field_type_text(field));
  }
  if (text.size() <= kFieldsTextBytes) return text;
  Digest digest;
  digest.add(text);
  return concat(fields.size(), " fields, digest ", digest.hex());
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

Status another_job(const StateLine& mine, std::string_view saved, std::string_view more) {
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

JobState::JobState(const LoaderConfig& config, const Steps& steps, const std::vector<Field>& fields,
                   OrderTexts order)
    : config_(config), steps_(steps), fields_(describe_fields(fields)), order_(std::move(order)) {}

// When a state first needs it: it reads files, and most loaders save none. A drive that fails now may work the next time.
Status JobState::find_content(const Source& source) {
  if (content_) return Status::ok();
  DL_ASSIGN_OR_RETURN(ContentIdentity content, content_identity(source));
  content_ = std::move(content);
  return Status::ok();
}

// What must agree, in a fixed order. After find_content().
std::vector<StateLine> JobState::identity(const Job& job, std::string_view indices_digest) const {
  return {{"samples", concat(job.source.count())},
          {"fields", fields_},
          {"data", content_->structure},
          {"file_names", content_->names},
          {"file_sizes", content_->sizes},
          {"contents", content_->contents},
          {"seed", concat(config_.order.seed)},
          {"shuffle", order_.shuffle},
          {kIndicesKey, std::string(indices_digest)},
          {"weights", order_.weights},
          {"epoch_slots", concat(steps_.slots())},
          {"global_batch_size", numbers_text(steps_.global_batches())},
          {"last_batch", std::string(option_word(Option::kLastBatch, steps_.last_batch()))},
          {"on_error", std::string(option_word(Option::kOnError, config_.bad_samples.on_error))}};
}

// Lines that stand in the states of some jobs only, as in those of releases that had none.
std::vector<StateLine> JobState::extras(const Job& job) const {
  const std::string none(kNone);
  const std::string_view packing = job.source.facts().packing;
  return {{kPartsKey, job.mix != nullptr ? mix_parts_text(*job.mix) : none},
          {"mix", job.mix != nullptr ? mix_recipe_text(*job.mix, config_.order) : none},
          {"packing", packing.empty() ? none : std::string(packing)},
          {"bucket_edges", config_.buckets.edges.empty() ? none : buckets_text(config_.buckets)},
          {"lengths", order_.lengths}};
}

Result<std::string> JobState::save(const Job& job, Position at, std::string_view tuned) {
  DL_RETURN_IF_ERROR(find_content(job.source));
  std::vector<StateLine> lines = identity(job, job.orders.of(at.epoch).indices_digest);
  for (StateLine& line : extras(job)) {
    if (line.value != kNone) lines.push_back(std::move(line));
  }
  if (!tuned.empty()) lines.push_back({kTunedKey, std::string(tuned)});
  return state_text(at, lines);
}

Result<JobState::Match> JobState::match(const SavedState& saved, const Job& job) {
  DL_RETURN_IF_ERROR(find_content(job.source));
  const std::string_view* const indices = saved.find(kIndicesKey);
  // The state's own epoch chooses which of the caller's orders is meant, not the one that the loader is in.
  const OrderVersion& order =
      job.orders.saved_under(saved.position().epoch, indices == nullptr ? std::string_view() : *indices);
  // First what some jobs have only: it says best what is different.
  std::vector<StateLine> here = extras(job);
  const size_t may_lack = here.size();
  for (StateLine& line : identity(job, order.indices_digest)) here.push_back(std::move(line));
  size_t known = 2;  // epoch and step
  for (size_t i = 0; i < here.size(); ++i) {
    const StateLine& mine = here[i];
    const std::string_view* const found = saved.find(mine.key);
    if (found == nullptr && i >= may_lack) return bad_state(concat("no line '", mine.key, "'"));
    known += found != nullptr ? 1 : 0;
    const std::string_view value = found != nullptr ? *found : kNone;
    if (value == mine.value) continue;
    const bool other_order = mine.key == kIndicesKey && config_.order.indices.given && value != kNone;
    return another_job(
        mine, value,
        other_order ? "; if the job used these indices before, set them again before you load the state"
                    : "");
  }
  const std::string_view* const tuned = saved.find(kTunedKey);
  known += tuned != nullptr ? 1 : 0;
  if (known != saved.line_count()) return bad_state("it has lines that this release does not know");
  return Match{&order, tuned};
}

}  // namespace dataline
