// `dataline show`: prints what the loader delivers, sample by sample, for people.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "bindings/cli/commands.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/half_blocks.h"
#include "bindings/cli/job.h"
#include "bindings/cli/json.h"
#include "bindings/cli/output.h"
#include "bindings/cli/pixels.h"
#include "bindings/cli/show_json.h"
#include "bindings/cli/text.h"
#include "bindings/cli/values.h"
#include "bindings/cli/views.h"
#include "bindings/cli/vocabulary.h"

namespace dataline::cli {
namespace {

constexpr int64_t kDefaultSamples = 3;
constexpr int64_t kWhole = 64;       // values up to which an array is shown in full
constexpr size_t kTextBytes = 2000;  // of a text, shown
constexpr int64_t kTokens = 2000;    // decoded
constexpr size_t kShowIndent = 4;

const char* encoded_as(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xD8\xFF")) return "JPEG";
  if (bytes.starts_with("\x89PNG\r\n")) return "PNG";
  if (bytes.starts_with("RIFF") && bytes.substr(std::min<size_t>(8, bytes.size())).starts_with("WEBP"))
    return "WebP";
  return nullptr;
}

std::string hex_text(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  constexpr size_t kShown = 24;
  std::string out;
  for (const char c : bytes.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    out += {out.empty() ? '\0' : ' ', kHex[byte >> 4], kHex[byte & 15]};
  }
  if (!out.empty()) out.erase(0, 1);
  return out + (bytes.size() > kShown ? " ..." : "");
}

// An image by its axes, or by bytes in the shape of one.
bool is_picture(const dl_view& view) {
  constexpr int64_t kLeastSide = 8;
  if (view.kind != DL_KIND_DENSE || view.dtype == DL_DTYPE_C64 || view.dtype == DL_DTYPE_C128) return false;
  try {
    const PictureShape shape = picture_shape(view);
    return view.axes[0] != '\0' ||
           (view.dtype == DL_DTYPE_U8 && shape.height >= kLeastSide && shape.width >= kLeastSide);
  } catch (const Failure&) {
    return false;
  }
}

class Show {
 public:
  Show(const Request& request, const Interrupts& interrupts)
      : request_(request),
        interrupts_(interrupts),
        sample_(request.count("sample", 0)),
        wanted_(request.count("count", 1).value_or(kDefaultSamples)),
        json_wanted_(request.has("json")),
        ascii_(!terminal_shows_utf8()),
        colours_(terminal_colours()),
        progress_(standard_output_is_terminal()),
        job_(request, interrupts, progress_),
        output_(interrupts) {
    if (sample_ && request.flag("count"))
      throw usage_failure("-n counts samples of an epoch, --sample names one", "show");
    if (sample_) wanted_ = 1;
  }

  int run() {
    if (job_.value("device") != "cpu")
      throw usage_failure(
          "show reads from host memory: expected --device cpu, got '" + job_.value("device") + "'", "show");
    if (const auto path = request_.flag("vocabulary")) vocabulary_ = Vocabulary::read(*path, interrupts_);
    open();
    json_.begin_object().key("samples").begin_array();
    pump();
    json_.end_array().end_object();
    if (json_wanted_) output_.append(json_.text() + "\n");
    if (shown_ == 0 && !json_wanted_ && !interrupts_.came()) output_.append("0 samples\n");
    output_.flush();
    if (output_.state() == Output::State::kFailed) throw system_failure("standard output", output_.error());
    if (interrupts_.came()) throw Interrupted{interrupts_.signal()};
    return 0;
  }

 private:
  void open() {
    dataset_ = job_.open();
    const int64_t samples = dl_dataset_count(dataset_.get());
    if (sample_ && samples >= 0 && *sample_ >= samples)
      throw Failure{.message = "--sample " + std::to_string(*sample_) + ": the dataset has " +
                               grouped(samples) + " samples, counted from 0"};
    if (request_.option("transform").empty()) decode_images();
    if (sample_) job_.set_sample(*sample_);
    job_.one_at_a_time(request_, dataset_.get());
    loader_ = job_.create(dataset_.get());
    if (request_.flag("field")) field_ = choose_field(request_, loader_.get());
  }

  void decode_images() {
    for (const dl_view& field : Views(dataset_.get())) {
      if (std::string_view(field.name) == "image" && field.kind == DL_KIND_RAGGED &&
          field.dtype == DL_DTYPE_U8)
        job_.set("transform", "image: decode");
    }
  }

  void pump() {
    while (shown_ < wanted_ && output_.state() == Output::State::kOpen && !interrupts_.came()) {
      dl_batch* raw = nullptr;
      dl_error error = DL_ERROR_INIT;
      const dl_status status = dl_loader_next(loader_.get(), -1, &raw, &error);
      const Batch batch(raw);
      if (status < 0) output_.flush();  // what came before the error
      job_.check(status, error);
      if (status != DL_OK) return;
      show(batch.get());
    }
  }

  void show(const dl_batch* batch) {
    auto info = sized<dl_batch_info>();
    dl_error error = DL_ERROR_INIT;
    job_.check(dl_batch_get_info(batch, &info, &error), error);
    const Views views(batch);
    for (int64_t row = 0; row < info.samples && shown_ < wanted_; ++row, ++shown_) {
      if (json_wanted_)
        append_json(info, views, row);
      else
        append_text(info, views, row);
    }
  }

  void append_text(const dl_batch_info& info, const Views& views, int64_t row) {
    std::string out = (shown_ > 0 ? "\n" : "") + ("sample " + grouped(info.sample_indices[row])) + "\n";
    for (int32_t i = 0; i < views.size(); ++i)
      if (!field_ || *field_ == i) out += field_text(views, i, row);
    output_.append(out);
  }

  // "  image  u8 28x28 HW" and the values, on the same line if they are short.
  std::string field_text(const Views& views, int32_t field, int64_t row) {
    const dl_view& view = views[field];
    const SampleView sample = sample_of(view, row);
    const std::string head = "  " + safe(view.name) + ": " + type_text(sample);
    const std::string_view bytes = sample.is_bytes() ? sample.bytes() : "";
    if (sample.is_bytes() && encoded_as(bytes) != nullptr)
      return head + ", " + encoded_as(bytes) + " of " + grouped(static_cast<int64_t>(bytes.size())) +
             " bytes\n";
    if (sample.is_bytes())
      return head + "\n" + (is_utf8(bytes) ? block(text_of(bytes)) : block(hex_text(bytes)));
    if (sample.shape.empty()) return head + " " + value_text(view, sample.first) + class_text(sample) + "\n";
    std::string out = head + class_text(sample) + "\n";
    if (sample.count() == 0) return out;
    const bool picture = is_picture(view);
    if (picture && colours_ != Colours::kNone)
      out += half_blocks(picture_of(view, row, pixel_scale(loader_.get(), field, dataset_.get())), colours_,
                         output_width(), kShowIndent);
    const bool whole = sample.count() <= kWhole && !picture;
    out += whole ? indented(array_text(sample)) : block(summary_text(sample, output_width() - kShowIndent));
    if (vocabulary_ && sample.is_integer() && sample.shape.size() == 1)
      out += block(text_of(decoded(sample)));
    return out;
  }

  std::string type_text(const SampleView& sample) const {
    std::string out = dl_dtype_name(sample.view->dtype);
    if (!sample.shape.empty())
      out += " " + shape_text(sample.shape.data(), static_cast<int32_t>(sample.shape.size()));
    if (sample.view->axes[0] != '\0' && sample.shape.size() > 1)
      out += std::string(" ") + (sample.view->axes + 1);
    return out;
  }

  // Of a label, or of one weight per class the greatest: " (cat)".
  std::optional<std::string> class_of(const SampleView& sample) const {
    const int64_t classes = dl_dataset_class_count(dataset_.get());
    int64_t label = -1;
    if (std::string_view(sample.view->name) != "label" || sample.is_complex()) return std::nullopt;
    if (sample.shape.empty() && sample.is_integer()) label = integer_at(*sample.view, sample.first);
    if (sample.shape.size() == 1 && sample.shape[0] == classes) {
      double greatest = 0;
      for (int64_t i = 0; i < classes; ++i) {
        const double weight = value_at(*sample.view, sample.first + i * sample.strides[0]);
        if (weight > greatest) greatest = weight, label = i;
      }
    }
    if (label < 0 || label >= classes) return std::nullopt;
    return dl_dataset_class_name(dataset_.get(), label);
  }
  std::string class_text(const SampleView& sample) const {
    const auto name = class_of(sample);
    return name ? " (" + safe(*name) + ")" : "";
  }

  std::string decoded(const SampleView& sample) const {
    std::string out;
    const int64_t count = std::min(sample.count(), kTokens);
    for (int64_t i = 0; i < count; ++i)
      out += vocabulary_->text_of(integer_at(*sample.view, sample.first + i * sample.strides[0]));
    return out;
  }

  std::string safe(std::string_view text) const { return escaped_text(text, ascii_); }
  std::string text_of(std::string_view bytes) const {
    const std::string_view shown = start_of(bytes, kTextBytes);
    return "\"" + safe(shown) + "\"" + (shown.size() < bytes.size() ? " ..." : "");
  }
  static std::string block(const std::string& text) {
    return std::string(kShowIndent, ' ') + wrapped_text(text, output_width() - kShowIndent, kShowIndent) +
           "\n";
  }
  static std::string indented(const std::string& lines) {
    std::string out(kShowIndent, ' ');
    for (const char c : lines) out += c == '\n' ? "\n" + std::string(kShowIndent, ' ') : std::string(1, c);
    return out + "\n";
  }

  void append_sample(const SampleView& sample) {
    std::optional<std::string> text;
    if (sample.is_bytes() && is_utf8(sample.bytes()))
      text = sample.bytes();
    else if (vocabulary_ && sample.is_integer() && sample.shape.size() == 1)
      text = decoded(sample);
    append_field(sample, class_of(sample).value_or(""), text, json_);
  }

  void append_json(const dl_batch_info& info, const Views& views, int64_t row) {
    json_.begin_object();
    json_.key("index").value(info.sample_indices[row]);
    json_.key("epoch").value(info.epoch);
    json_.key("step").value(info.step);
    json_.key("fields").begin_array();
    for (int32_t i = 0; i < views.size(); ++i)
      if (!field_ || *field_ == i) append_sample(sample_of(views[i], row));
    json_.end_array().end_object();
  }

  const Request& request_;
  const Interrupts& interrupts_;
  const std::optional<int64_t> sample_;
  int64_t wanted_;
  const bool json_wanted_, ascii_;
  const Colours colours_;
  Progress progress_;
  Job job_;
  Output output_;
  Json json_;
  Dataset dataset_;
  Loader loader_;
  std::optional<int32_t> field_;
  std::optional<Vocabulary> vocabulary_;
  int64_t shown_ = 0;
};

}  // namespace

int run_show(const Request& request, const Interrupts& interrupts) { return Show(request, interrupts).run(); }

}  // namespace dataline::cli
