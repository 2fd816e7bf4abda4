// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/set_writer.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>
#include <utility>

#include "bindings/cli/clock.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/own_files.h"
#include "bindings/cli/system.h"
#include "bindings/cli/text.h"
#include "bindings/cli/views.h"

namespace dataline::cli {
namespace {

// "0 17": the epoch and step that come next.
struct Position {
  int64_t epoch = 0, step = 0;

  std::string text() const { return std::to_string(epoch) + " " + std::to_string(step); }
  static Position read(std::string_view text) {
    Position out;
    const char* const end = text.data() + text.size();
    const auto [at, failure] = std::from_chars(text.data(), end, out.epoch);
    if (failure != std::errc() || at == end || std::from_chars(at + 1, end, out.step).ptr != end)
      throw Failure{.message = "the unfinished set has an invalid position: '" + std::string(text) + "'"};
    return out;
  }
};

// A field of the loader's batches as one sample has it.
struct SampleField {
  explicit SampleField(const dl_view& field)
      : name(field.name), axes(field.kind == DL_KIND_DENSE && field.axes[0] != '\0' ? field.axes + 1 : "") {
    const int32_t first = field.kind == DL_KIND_DENSE ? 1 : 0;
    shape.assign(field.shape + first, field.shape + field.rank);
    view.struct_size = sizeof view;
    view.kind = field.kind;
    view.dtype = field.dtype;
    view.rank = static_cast<int32_t>(shape.size());
  }
  std::string name, axes;
  std::vector<int64_t> shape;
  dl_view view = {};
};

// The rows that are no pads.
dl_array array_of(const dl_view& view, int64_t samples, std::vector<int64_t>& shape) {
  auto array = sized<dl_array>();
  array.kind = view.kind;
  array.name = view.name;
  array.dtype = view.dtype;
  array.rank = view.rank;
  array.data = static_cast<const char*>(view.data) + view.byte_offset;
  if (view.kind == DL_KIND_RAGGED) {
    array.offsets = view.offsets;
    array.sample_count = samples;
  } else {
    shape[0] = samples;
    array.kind = DL_KIND_STRIDED;
    array.row_stride_bytes = view.strides[0] * dl_dtype_bytes(view.dtype);
  }
  array.shape = shape.data();
  return array;
}

// What is about how samples are loaded, or is in the state by its content.
bool changes_samples(const dl_option_info& option) {
  constexpr std::string_view kNot[] = {
      "num_workers", "prefetch_depth", "max_leases", "lease_overflow", "io",
      "fault_guard", "memory_budget",  "stats",      "trace",          "tune"};
  return !is_array_option(option) &&
         std::find(std::begin(kNot), std::end(kNot), option.key) == std::end(kNot);
}

// The path in "SCHEME:PATH?keys". A single letter is a drive of Windows.
std::string path_of_target(const std::string& target) {
  const std::string path = target.substr(0, target.find('?'));
  const size_t colon = path.find(':');
  return colon != std::string::npos && colon > 1 ? path.substr(colon + 1) : path;
}

}  // namespace

std::string target_of(const Request& request) {
  std::string target = request.positionals.at(1);
  for (const char* const key : {"shard_bytes", "codec"}) {
    const auto value = request.flag(key);
    if (!value) continue;
    target += target.find('?') == std::string::npos ? "?" : "&";
    target += std::string(key) + "=" + *value;
  }
  return target;
}

SetWriter::SetWriter(const char* command, const Request& request, const Interrupts& interrupts,
                     Progress& progress, const Job& job, bool skip_bad)
    : command_(command),
      request_(request),
      interrupts_(interrupts),
      progress_(progress),
      job_(job),
      skip_bad_(skip_bad),
      target_(target_of(request)) {
  refuse_own_file(path_of_target(target_), request.uri());
}

void SetWriter::write(const dl_dataset* dataset, dl_loader* loader) {
  if (job_.value("epochs") == "0") throw usage_failure("--epochs 0 never ends, and a set must end", command_);
  create_writer(dataset, loader);
  const Clock::time_point begin = Clock::now();
  pump(loader);
  progress_.clear();
  if (interrupts_.came()) {
    tell_rest();
    throw Interrupted{interrupts_.signal()};
  }
  dl_error error = DL_ERROR_INIT;
  check(dl_writer_finish(writer_.get(), &error), error);
  seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();
}

void SetWriter::create_writer(const dl_dataset* dataset, dl_loader* loader) {
  std::vector<SampleField> fields;
  for (const dl_view& field : Views(loader)) fields.emplace_back(field);
  std::vector<dl_view> views;
  for (SampleField& field : fields) {
    field.view.name = field.name.c_str();
    field.view.shape = field.shape.data();
    field.view.strides = field.shape.data();  // not looked at
    field.view.axes = field.axes.c_str();
    views.push_back(field.view);
  }
  dl_error error = DL_ERROR_INIT;
  dl_writer* writer = nullptr;
  check(dl_writer_create(target_.c_str(), views.data(), static_cast<int32_t>(views.size()),
                         job_text(dataset, loader).c_str(), &writer, &error),
        error);
  writer_.reset(writer);
  const std::string_view position = dl_writer_position(writer);
  if (position.empty()) return;
  const Position next = Position::read(position);
  job_.check(dl_loader_seek(loader, next.epoch, next.step, &error), error);
  progress_.say("continuing after " + grouped(info().samples) + " samples that were already written");
}

// Which files the samples come from. A source that nobody can identify is never the same one: its conversion starts anew.
std::string SetWriter::source_text(const dl_dataset* dataset) const {
  size_t bytes = 0;
  dl_error error = DL_ERROR_INIT;
  const dl_status status = dl_dataset_identity(dataset, nullptr, &bytes, &error);
  if (status == DL_ERR_UNSUPPORTED)
    return "source: cannot be identified (" + message_text(error.message) + "), read at " +
           std::to_string(std::chrono::system_clock::now().time_since_epoch().count()) + "\n";
  job_.check(status, error);
  std::string text(bytes, '\0');
  job_.check(dl_dataset_identity(dataset, text.data(), &bytes, &error), error);
  text.resize(bytes - 1);
  return text;
}

// What the samples are made of: the files; the loader's state before the first sample; the keys of the URI; and all options but
// those that change no sample. No paths: the text is stored in the set. A rank that is auto is the launcher's.
std::string SetWriter::job_text(const dl_dataset* dataset, dl_loader* loader) const {
  size_t bytes = 0;
  dl_error error = DL_ERROR_INIT;
  job_.check(dl_loader_state_save(loader, nullptr, &bytes, &error), error);
  std::string state(bytes, '\0');
  job_.check(dl_loader_state_save(loader, state.data(), &bytes, &error), error);
  state.resize(bytes - 1);
  std::string out = source_text(dataset) + state + "skip_bad: " + (skip_bad_ ? "true" : "false") + "\n";
  if (const size_t keys = request_.uri().find('?'); keys != std::string::npos)
    out += "keys: " + request_.uri().substr(keys + 1) + "\n";
  for (const dl_option_info& option : options_of(request_.option_scope())) {
    const std::string value = request_.option(option.key);
    if (!value.empty() && changes_samples(option)) out += std::string(option.key) + ": " + value + "\n";
  }
  if (request_.option("rank") == "auto") {
    auto launcher = sized<dl_launcher>();
    job_.check(dl_launcher_detect(environment(), &launcher, &error), error);
    out += "launcher's rank: " + std::to_string(launcher.rank) + "\n";
  }
  return out;
}

void SetWriter::pump(dl_loader* loader) {
  JobLine line(command_, job_, loader);
  for (int64_t batches = 0; !interrupts_.came();) {
    const int64_t timeout_ns =
        progress_.live() ? std::chrono::nanoseconds(Progress::kInterval).count() : int64_t{-1};
    dl_batch* raw = nullptr;
    dl_error error = DL_ERROR_INIT;
    const dl_status status = dl_loader_next(loader, timeout_ns, &raw, &error);
    const Batch batch(raw);
    if (status == DL_OK) {
      append(loader, batch.get());
      ++batches;
    } else if (status == DL_ERR_BAD_SAMPLE && skip_bad_) {
      tell_new_bad(loader);
    } else if (status == DL_END) {
      return;
    } else if (status == DL_ERR_BAD_SAMPLE) {
      progress_.clear();
      tell_rest();
      progress_.say("--skip-bad leaves out bad samples and lists them");
      job_.check(status, error);
    } else if (status != DL_TIMEOUT && status != DL_END_OF_EPOCH) {
      progress_.clear();
      tell_rest();
      job_.check(status, error);
    }
    if (progress_.due()) progress_.show(line.after(batches, kNoLimit, info().bytes));
  }
}

void SetWriter::append(dl_loader* loader, const dl_batch* batch) {
  auto about = sized<dl_batch_info>();
  dl_error error = DL_ERROR_INIT;
  job_.check(dl_batch_get_info(batch, &about, &error), error);
  arrays_.clear();
  shapes_.clear();
  for (const dl_view& view : Views(batch)) shapes_.emplace_back(view.shape, view.shape + view.rank);
  auto shape = shapes_.begin();
  for (const dl_view& view : Views(batch)) arrays_.push_back(array_of(view, about.valid, *shape++));
  Position next;
  job_.check(dl_loader_position(loader, &next.epoch, &next.step, &error), error);
  const dl_status status = dl_writer_append(
      writer_.get(), arrays_.data(), static_cast<int32_t>(arrays_.size()), next.text().c_str(), &error);
  if (status == DL_OK) return;
  progress_.clear();
  tell_rest();
  check(status, error);
}

dl_writer_info SetWriter::info() const {
  auto info = sized<dl_writer_info>();
  dl_error error = DL_ERROR_INIT;
  check(dl_writer_get_info(writer_.get(), &info, &error), error);
  return info;
}

void SetWriter::check(dl_status status, const dl_error& error) const {
  cli::check(status, error, {.uri = target_, .transform = request_.option("transform")});
}

void SetWriter::tell_new_bad(const dl_loader* loader) {
  for (const int64_t found = dl_loader_bad_sample_count(loader); bad_ < found; ++bad_) {
    auto bad = sized<dl_bad_sample>();
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_loader_bad_sample_at(loader, bad_, &bad, &error), error);
    progress_.say("left out: sample " + std::to_string(bad.index) + ": " + bad.message);
  }
}

void SetWriter::tell_rest() const {
  if (const dl_writer_info now = info(); now.shards > 0)
    progress_.say(grouped(now.shards) + (now.shards == 1 ? " shard is" : " shards are") + " finished (" +
                  bytes_text(static_cast<double>(now.bytes)) + "); the same command continues after " +
                  (now.shards == 1 ? "it" : "them"));
}

std::string SetWriter::summary() const {
  const dl_writer_info now = info();
  return grouped(now.samples) + (now.samples == 1 ? " sample, " : " samples, ") +
         bytes_text(static_cast<double>(now.bytes)) + " in " + grouped(now.shards) +
         (now.shards == 1 ? " shard" : " shards") +
         (bad_ == 0 ? "" : ", " + grouped(bad_) + " bad left out") + ": " +
         target_.substr(0, target_.find('?'));
}

void SetWriter::summary(Json& json) const {
  const dl_writer_info now = info();
  json.key("uri").value(target_.substr(0, target_.find('?'))).key("samples").value(now.samples);
  json.key("resumed").value(now.resumed_samples).key("bad").value(bad_).key("shards").value(now.shards);
  json.key("bytes").value(now.bytes).key("seconds").value(seconds_);
}

}  // namespace dataline::cli
