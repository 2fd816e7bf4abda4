// `dataline convert`: runs the loader once and writes what it delivers as a set of another format.
//
// What a killed run had finished is gone on with: each shard's line in the manifest has the loader's position behind it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/cli/clock.h"
#include "bindings/cli/commands.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/job.h"
#include "bindings/cli/job_line.h"
#include "bindings/cli/json.h"
#include "bindings/cli/output.h"
#include "bindings/cli/text.h"
#include "bindings/cli/views.h"

namespace dataline::cli {
namespace {

using Writer = std::unique_ptr<dl_writer, Call<dl_writer_destroy>>;

// Where it begins is the writer's to say; pads are no samples.
constexpr std::array<std::string_view, 3> kNotForConvert = {"start_epoch", "start_step", "device"};

// Batches in flight where each is one sample, so that several workers find work.
constexpr char kDepthOfSingles[] = "8";

// "0 17": the epoch and step that come next.
struct Position {
  int64_t epoch = 0, step = 0;

  std::string text() const { return std::to_string(epoch) + " " + std::to_string(step); }
  static Position read(std::string_view text) {
    Position out;
    const char* const end = text.data() + text.size();
    const auto [at, failure] = std::from_chars(text.data(), end, out.epoch);
    if (failure != std::errc() || at == end || std::from_chars(at + 1, end, out.step).ptr != end)
      throw Failure{.message = "the unfinished set has a position that is none: '" + std::string(text) + "'"};
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

class Convert {
 public:
  Convert(const Request& request, const Interrupts& interrupts)
      : request_(request),
        interrupts_(interrupts),
        progress_(standard_output_is_terminal()),
        job_(request, interrupts, progress_),
        target_(request.positionals.at(1)) {
    for (const Setting& setting : request.options) {
      if (std::find(kNotForConvert.begin(), kNotForConvert.end(), setting.key) == kNotForConvert.end())
        continue;
      throw usage_failure("convert takes no " + flag_text(setting.key), "convert");
    }
    if (const auto bytes = request.flag("shard_bytes"))
      target_ += (target_.find('?') == std::string::npos ? "?shard_bytes=" : "&shard_bytes=") + *bytes;
  }

  int run() {
    open();
    create_writer();
    JobLine line("convert", job_, loader_.get());
    const Clock::time_point begin = Clock::now();
    pump(line);
    progress_.clear();
    if (interrupts_.came()) {
      tell_rest();
      throw Interrupted{interrupts_.signal()};
    }
    dl_error error = DL_ERROR_INIT;
    check(dl_writer_finish(writer_.get(), &error), error);
    tell(std::chrono::duration<double>(Clock::now() - begin).count());
    return 0;
  }

 private:
  // Rows of one size many at a time; others one by one, so that a large sample needs no setting.
  void open() {
    dataset_ = job_.open();
    const Views fields(dataset_.get());
    const bool ragged = std::any_of(fields.begin(), fields.end(),
                                    [](const dl_view& field) { return field.kind == DL_KIND_RAGGED; });
    if (ragged) {
      job_.one_at_a_time(request_);
      if (request_.option("prefetch_depth").empty()) job_.set("prefetch_depth", kDepthOfSingles);
    }
    loader_ = job_.create(dataset_.get());
  }

  void create_writer() {
    std::vector<SampleField> fields;
    for (const dl_view& field : Views(loader_.get())) fields.emplace_back(field);
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
                           job_text().c_str(), &writer, &error),
          error);
    writer_.reset(writer);
    const std::string_view position = dl_writer_position(writer);
    if (position.empty()) return;
    const Position next = Position::read(position);
    job_.check(dl_loader_seek(loader_.get(), next.epoch, next.step, &error), error);
    progress_.say("going on behind " + grouped(info().samples) + " samples that were written before");
  }

  // What the samples are made of: the loader's state before the first, which has no paths, and the transform.
  std::string job_text() const {
    size_t bytes = 0;
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_loader_state_save(loader_.get(), nullptr, &bytes, &error), error);
    std::string state(bytes, '\0');
    job_.check(dl_loader_state_save(loader_.get(), state.data(), &bytes, &error), error);
    state.resize(bytes - 1);
    return "transform " + request_.option("transform") + "\nskip_bad " + (skips() ? "true" : "false") + "\n" +
           state;
  }

  bool skips() const { return request_.has("skip_bad"); }

  void pump(JobLine& line) {
    for (int64_t batches = 0; !interrupts_.came();) {
      const int64_t timeout_ns =
          progress_.live() ? std::chrono::nanoseconds(Progress::kInterval).count() : int64_t{-1};
      dl_batch* raw = nullptr;
      dl_error error = DL_ERROR_INIT;
      const dl_status status = dl_loader_next(loader_.get(), timeout_ns, &raw, &error);
      const Batch batch(raw);
      if (status == DL_OK) {
        append(batch.get());
        ++batches;
      } else if (status == DL_ERR_BAD_SAMPLE && skips()) {
        tell_new_bad();
      } else if (status == DL_END) {
        return;
      } else if (status == DL_ERR_BAD_SAMPLE) {
        progress_.clear();
        tell_rest();
        progress_.say("--skip-bad leaves bad samples out, and lists them");
        job_.check(status, error);
      } else if (status != DL_TIMEOUT && status != DL_END_OF_EPOCH) {
        progress_.clear();
        tell_rest();
        job_.check(status, error);
      }
      if (progress_.due()) progress_.show(line.after(batches, kNoLimit, info().bytes));
    }
  }

  void append(const dl_batch* batch) {
    auto about = sized<dl_batch_info>();
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_batch_get_info(batch, &about, &error), error);
    arrays_.clear();
    shapes_.clear();
    for (const dl_view& view : Views(batch)) shapes_.emplace_back(view.shape, view.shape + view.rank);
    auto shape = shapes_.begin();
    for (const dl_view& view : Views(batch)) arrays_.push_back(array_of(view, about.valid, *shape++));
    Position next;
    job_.check(dl_loader_position(loader_.get(), &next.epoch, &next.step, &error), error);
    check(dl_writer_append(writer_.get(), arrays_.data(), static_cast<int32_t>(arrays_.size()),
                           next.text().c_str(), &error),
          error);
  }

  // The rows that are no pads.
  static dl_array array_of(const dl_view& view, int64_t samples, std::vector<int64_t>& shape) {
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

  dl_writer_info info() const {
    auto info = sized<dl_writer_info>();
    dl_error error = DL_ERROR_INIT;
    check(dl_writer_get_info(writer_.get(), &info, &error), error);
    return info;
  }

  // The writer's errors are about the target's text.
  void check(dl_status status, const dl_error& error) const {
    cli::check(status, error, {.uri = target_, .transform = request_.option("transform")});
  }

  void tell_new_bad() {
    for (const int64_t found = dl_loader_bad_sample_count(loader_.get()); bad_ < found; ++bad_) {
      auto bad = sized<dl_bad_sample>();
      dl_error error = DL_ERROR_INIT;
      job_.check(dl_loader_bad_sample_at(loader_.get(), bad_, &bad, &error), error);
      progress_.say("left out: sample " + std::to_string(bad.index) + ": " + bad.message);
    }
  }

  void tell_rest() const {
    if (const dl_writer_info now = info(); now.shards > 0)
      progress_.say(grouped(now.shards) + (now.shards == 1 ? " shard is" : " shards are") +
                     " finished; the same command goes on behind them");
  }

  void tell(double seconds) {
    const dl_writer_info now = info();
    Output output(interrupts_);
    if (request_.has("json")) {
      Json json;
      json.begin_object()
          .key("uri")
          .value(target_.substr(0, target_.find('?')))
          .key("samples")
          .value(now.samples);
      json.key("resumed").value(now.resumed_samples).key("bad").value(bad_).key("shards").value(now.shards);
      json.key("bytes").value(now.bytes).key("seconds").value(seconds).end_object();
      output.append(json.text() + "\n");
    } else {
      output.append(grouped(now.samples) + (now.samples == 1 ? " sample, " : " samples, ") +
                    bytes_text(static_cast<double>(now.bytes)) + " in " + grouped(now.shards) +
                    (now.shards == 1 ? " shard" : " shards") +
                    (bad_ == 0 ? "" : ", " + grouped(bad_) + " bad left out") + ": " +
                    target_.substr(0, target_.find('?')) + "\n");
    }
    output.flush();
    if (output.state() == Output::State::kFailed) throw system_failure("standard output", output.error());
  }

  const Request& request_;
  const Interrupts& interrupts_;
  mutable Progress progress_;
  Job job_;
  std::string target_;
  Dataset dataset_;
  Loader loader_;
  Writer writer_;
  std::vector<dl_array> arrays_;
  std::vector<std::vector<int64_t>> shapes_;
  int64_t bad_ = 0;
};

}  // namespace

int run_convert(const Request& request, const Interrupts& interrupts) {
  return Convert(request, interrupts).run();
}

}  // namespace dataline::cli
