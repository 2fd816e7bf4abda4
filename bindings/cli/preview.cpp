// `dataline preview`: draws a contact sheet of what the loader delivers.
//
// The pictures come from a loader with the given options, so their order and random draws are those of training. Only the scaling
// of the values is undone, as the library reports it.
// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/preview.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "bindings/cli/commands.h"
#include "bindings/cli/failure.h"
#include "bindings/cli/job.h"
#include "bindings/cli/letters.h"
#include "bindings/cli/output.h"
#include "bindings/cli/own_files.h"
#include "bindings/cli/pixels.h"
#include "bindings/cli/sheet.h"
#include "bindings/cli/state_file.h"
#include "bindings/cli/text.h"
#include "bindings/cli/views.h"

namespace dataline::cli {
namespace {

constexpr int64_t kDefaultPictures = 64, kDefaultRepeats = 8;
constexpr int64_t kMaxBatch = 32;
constexpr int64_t kVaryingCell = 224;  // for pictures of varying size
constexpr int64_t kMaxCell = 512;      // larger pictures are reduced on the sheet
constexpr int64_t kSheetColumns = 16;

class Preview {
 public:
  // The first `count` pictures of another command's job.
  Preview(const Request& request, const Interrupts& interrupts, int64_t count)
      : request_(request), interrupts_(interrupts), wanted_(count) {}
  Preview(const Request& request, const Interrupts& interrupts)
      : request_(request),
        interrupts_(interrupts),
        sample_(request.count("sample", 0)),
        target_(request.flag("output").value_or("")) {
    if (target_.empty()) throw usage_failure("preview needs a file for the sheet: -o sheet.png", "preview");
    if (target_ == "-" && standard_output_is_terminal()) {
      throw usage_failure("preview does not write a picture to a terminal: use -o FILE, or a pipe",
                          "preview");
    }
    if (!sample_ && request.flag("repeat")) throw usage_failure("--repeat needs --sample", "preview");
    if (sample_ && request.flag("count")) {
      throw usage_failure("-n counts samples of an epoch; with --sample, use --repeat", "preview");
    }
    wanted_ = sample_ ? request.count("repeat", 1).value_or(kDefaultRepeats)
                      : request.count("count", 1).value_or(kDefaultPictures);
  }

  int run() {
    if (target_ != "-") check_file_target(target_);
    refuse_own_file(target_, request_.uri());
    write(png());
    return 0;
  }

  std::string png() {
    require_png_writer();
    check_host_memory();
    progress_.show("preview: opening");
    open();
    Sheet sheet = empty_sheet();
    const dl_status status = fill(sheet);
    progress_.clear();
    if (interrupts_.came()) throw Interrupted{interrupts_.signal()};
    if (shown_ == 0) throw Failure{.message = "no sample was delivered: nothing to show"};
    static_cast<void>(status);
    return png_bytes(sheet.picture());
  }

 private:
  void check_host_memory() {
    const std::string device = Job(request_, interrupts_, progress_).value("device");
    if (device == "cpu") return;
    throw usage_failure("preview draws from host memory: expected --device cpu, got '" + device + "'",
                        "preview");
  }

  // Without --transform, encoded pictures are decoded. Pictures of varying size are loaded one by one.
  void open() {
    job_.emplace(request_, interrupts_, progress_);
    dataset_ = job_->open();
    if (request_.option("transform").empty()) decode_encoded();
    if (sample_ && *sample_ >= dl_dataset_count(dataset_.get())) {
      throw Failure{.message = "--sample " + std::to_string(*sample_) + ": the dataset has " +
                               grouped(dl_dataset_count(dataset_.get())) + " samples, counted from 0"};
    }
    if (sample_) {
      job_->set_sample(*sample_);
      job_->one_at_a_time(request_, dataset_.get());
    } else if (request_.option("batch_size").empty() && request_.option("global_batch_size").empty()) {
      // Load no more than is shown.
      job_->set("batch_size", std::to_string(std::min(wanted_, kMaxBatch)));
    }
    loader_ = job_->create(dataset_.get());
    if (!choose_picture()) {
      loader_.reset();
      job_->one_at_a_time(request_, dataset_.get());
      loader_ = job_->create(dataset_.get());
      choose_picture();
    }
    read_scale();
    label_ = field_named("label");
    key_ = field_named("key");
  }

  void decode_encoded() {
    const Views fields(dataset_.get());
    const std::string wanted = request_.flag("field").value_or(fields.size() == 1 ? fields[0].name : "image");
    for (const dl_view& field : fields) {
      const bool bytes = field.kind == DL_KIND_RAGGED && field.dtype == DL_DTYPE_U8;
      if (field.name == wanted && bytes) job_->set("transform", wanted + ": decode");
    }
  }

  std::optional<int32_t> field_named(std::string_view name) const {
    const Views fields(loader_.get());
    for (int32_t i = 0; i < fields.size(); ++i) {
      if (fields[i].name == name) return i;
    }
    return std::nullopt;
  }

  // Chooses the field to draw. Returns false if its size varies and batches hold several samples.
  bool choose_picture() {
    const auto image = field_named("image");
    field_ = !request_.flag("field") && image ? *image : choose_field(request_, loader_.get());
    shape_ = picture_shape(Views(loader_.get())[field_]);
    const char* batch_size = "";
    dl_error error = DL_ERROR_INIT;
    job_->check(dl_options_get(job_->options(), "batch_size", &batch_size, &error), error);
    varies_ = shape_.height < 0 || shape_.width < 0;
    return !varies_ || std::string_view(batch_size) == "1" || !request_.option("batch_size").empty();
  }

  void read_scale() {
    pixels_ = pixel_scale(loader_.get(), field_, dataset_.get());
    if (pixels_.scale.empty()) {
      progress_.say("preview: the values of '" + std::string(Views(loader_.get())[field_].name) +
                    "' are no longer pixels; each picture is stretched from its lowest to its highest value");
    }
  }

  Sheet empty_sheet() const {
    const int64_t samples =
        sample_ ? wanted_ : std::min(wanted_, std::max<int64_t>(1, dl_dataset_count(dataset_.get())));
    const auto square = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(samples))));
    const int64_t columns = sample_ ? std::min(samples, kSheetColumns) : std::min(square, kSheetColumns);
    if (varies_) return Sheet(samples, columns, kVaryingCell, kVaryingCell);
    const int64_t longer = std::max(shape_.width, shape_.height);
    const double factor = longer > kMaxCell ? static_cast<double>(kMaxCell) / static_cast<double>(longer) : 1;
    const auto side = [&](int64_t n) {
      return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(n) * factor));
    };
    return Sheet(samples, columns, side(shape_.width), side(shape_.height));
  }

  // Draws at most one epoch or, of a single sample, as many epochs as asked for.
  dl_status fill(Sheet& sheet) {
    const int64_t places = sample_ ? wanted_ : std::min(wanted_, dl_dataset_count(dataset_.get()));
    while (shown_ < places && !interrupts_.came()) {
      dl_batch* raw = nullptr;
      dl_error error = DL_ERROR_INIT;
      const dl_status status = job_->check(dl_loader_next(loader_.get(), -1, &raw, &error), error);
      const Batch batch(raw);
      if (status == DL_END || (status == DL_END_OF_EPOCH && !sample_)) return status;
      if (status == DL_OK) add(batch.get(), places, sheet);
      if (progress_.due()) progress_.show("preview: " + grouped(shown_) + " of " + grouped(places));
    }
    return DL_OK;
  }

  void add(const dl_batch* batch, int64_t places, Sheet& sheet) {
    auto info = sized<dl_batch_info>();
    dl_error error = DL_ERROR_INIT;
    job_->check(dl_batch_get_info(batch, &info, &error), error);
    const Views views(batch);
    for (int64_t row = 0; row < info.samples && shown_ < places; ++row, ++shown_) {
      const std::string text = (sample_ ? "e" + std::to_string(info.epoch) + " " : "") +
                               caption(views, row, info.sample_indices[row]);
      sheet.add(picture_of(views[field_], row, pixels_), in_ascii(text));
    }
  }

  std::string caption(const Views& views, int64_t row, int64_t index) const {
    if (label_ && views[*label_].kind == DL_KIND_DENSE) {
      const dl_view& label = views[*label_];
      if (label.rank == 1) return class_text(static_cast<int64_t>(value_at(label, row * label.strides[0])));
      if (label.rank == 2 && label.shape[1] > 0) return mixed_text(label, row);
    }
    if (key_ && views[*key_].offsets != nullptr) {
      const dl_view& key = views[*key_];
      const auto* text = static_cast<const char*>(key.data) + key.byte_offset;
      return std::string(text + key.offsets[row], text + key.offsets[row + 1]);
    }
    return "#" + std::to_string(index);
  }

  std::string class_text(int64_t label) const {
    const bool named = label >= 0 && label < dl_dataset_class_count(dataset_.get());
    if (!named) return std::to_string(label);
    const std::string name = dl_dataset_class_name(dataset_.get(), label);
    // Names that the font cannot show are told apart by the number.
    return in_ascii(name).find(kUnknownLetter) == std::string::npos ? name
                                                                    : std::to_string(label) + " " + name;
  }

  // For a label with one weight per class: the class of the greatest weight, and the weight unless it is 1.
  std::string mixed_text(const dl_view& label, int64_t row) const {
    int64_t best = 0;
    double weight = -HUGE_VAL;
    for (int64_t i = 0; i < label.shape[1]; ++i) {
      const double value = value_at(label, row * label.strides[0] + i * label.strides[1]);
      if (value > weight) weight = value, best = i;
    }
    return class_text(best) + (weight < 0.995 ? " " + fixed(weight, 2) : "");
  }

  void write(const std::string& bytes) {
    if (target_ == "-") {
      print(bytes, interrupts_);
    } else {
      write_file(target_, bytes, "the sheet was not written");
    }
  }

  const Request& request_;
  const Interrupts& interrupts_;
  Progress progress_;
  std::optional<Job> job_;
  Dataset dataset_;
  Loader loader_;
  std::optional<int64_t> sample_;
  std::string target_;
  int64_t wanted_ = 0;
  int32_t field_ = 0;
  std::optional<int32_t> label_, key_;
  PictureShape shape_;
  bool varies_ = false;
  PixelScale pixels_;
  int64_t shown_ = 0;
};

}  // namespace

std::string preview_png(const Request& request, const Interrupts& interrupts, int64_t count) {
  return Preview(request, interrupts, count).png();
}

int run_preview(const Request& request, const Interrupts& interrupts) {
  return Preview(request, interrupts).run();
}

}  // namespace dataline::cli
