// Dataset: samples by index.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/array.hpp>
#include <dataline/batch.hpp>
#include <dataline/calls.hpp>
#include <dataline/error.hpp>
#include <dataline/loan.hpp>
#include <dataline/options.hpp>
#include <dataline/reader.hpp>
#include <dataline/span.hpp>
#include <dataline/views.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dataline {
inline namespace DATALINE_CPP_ABI {

class Dataset;

// A part of a composed dataset: a Dataset, which must live during the call, and its name for zip.
class Part {
 public:
  Part(const Dataset& dataset) noexcept;  // NOLINT(google-explicit-constructor): concat({a, b})
  Part(std::string name, const Dataset& dataset) noexcept;
  const std::string& name() const noexcept { return name_; }
  dl_dataset* get() const noexcept { return dataset_; }

 private:
  std::string name_;
  dl_dataset* dataset_;
};

// A part of a mix. The Dataset must live during the call. `name` appears in messages and statistics; "" uses the
// part's number. Set either the weight, relative to the other parts, or the number of times that an epoch repeats
// each sample. `transform` applies to the part's samples before the loader's transform; "": none.
struct MixPart {
  static MixPart weighted(std::string name, const Dataset& dataset, double weight,
                          std::string transform = "") {
    return MixPart{std::move(name), &dataset, weight, 0, std::move(transform)};
  }
  static MixPart repeated(std::string name, const Dataset& dataset, double repeat,
                          std::string transform = "") {
    return MixPart{std::move(name), &dataset, 0, repeat, std::move(transform)};
  }
  std::string name;
  const Dataset* dataset = nullptr;
  double weight = 0;
  double repeat = 0;
  std::string transform;
};

// Weights, one per part, that apply from a step of the job.
struct MixStage {
  int64_t step = 0;
  std::vector<double> weights;
};

// Immutable; any thread. Loaders and composed datasets hold their own references to it. Usable in a forked child.
class Dataset : public detail::DatasetCalls<Dataset> {
 public:
  Dataset() noexcept = default;
  explicit Dataset(dl_dataset* taken) noexcept : dataset_(taken) {}
  explicit operator bool() const noexcept { return dataset_ != nullptr; }

  // Opens `scheme:path[,path...][?key=value&...]` or a bare path. Reads headers only (except .gz and io=memory).
  // Applies options of scope dataset. DL_ERR_BAD_URI (column), DL_ERR_NOT_FOUND, DL_ERR_CORRUPT, ...: see
  // dl_dataset_open.
  explicit Dataset(const std::string& uri, const Options& options = {})
      : Dataset(try_open(uri, options).value()) {}
  static Result<Dataset> try_open(const std::string& uri, const Options& options = {}) {
    return detail::make<Dataset, dl_dataset>([&](dl_dataset** out, dl_error* error) {
      return dl_dataset_open(uri.c_str(), options.raw(), out, error);
    });
  }

  // A table in memory: a stream of Arrow's C stream interface, or one array of its C data interface. The host
  // defines the structs. The call takes ownership of them, also on an error. They are released, from any thread,
  // when they are no longer needed. `keys`: "fields=a,b&nulls=fill(0)". DL_ERR_UNSUPPORTED (a type that is not
  // supported), DL_ERR_CORRUPT, DL_ERR_READER, ...: see dl_dataset_from_arrow.
  static Result<Dataset> try_from_arrow(ArrowArrayStream* stream, const std::string& keys = "",
                                        const Options& options = {}) {
    return detail::make<Dataset, dl_dataset>([&](dl_dataset** out, dl_error* error) {
      return dl_dataset_from_arrow(stream, keys.c_str(), options.raw(), out, error);
    });
  }
  static Dataset from_arrow(ArrowArrayStream* stream, const std::string& keys = "",
                            const Options& options = {}) {
    return try_from_arrow(stream, keys, options).value();
  }
  static Result<Dataset> try_from_arrow(ArrowSchema* schema, ArrowArray* array, const std::string& keys = "",
                                        const Options& options = {}) {
    return detail::make<Dataset, dl_dataset>([&](dl_dataset** out, dl_error* error) {
      return dl_dataset_from_arrow_array(schema, array, keys.c_str(), options.raw(), out, error);
    });
  }
  static Dataset from_arrow(ArrowSchema* schema, ArrowArray* array, const std::string& keys = "",
                            const Options& options = {}) {
    return try_from_arrow(schema, array, keys, options).value();
  }

  // Copies fields of equal length from host memory.
  static Result<Dataset> try_copy_arrays(const std::vector<Array>& arrays, const Options& options = {}) {
    return from_arrays(arrays, nullptr, nullptr, options);
  }
  static Dataset copy_arrays(const std::vector<Array>& arrays, const Options& options = {}) {
    return try_copy_arrays(arrays, options).value();
  }
  // Borrows the memory, which must not change. `release` (a callable without arguments, moved here) is called
  // once, from any thread, after this dataset and everything created from it (loaders, composed datasets) are
  // destroyed. Batches do not need the memory. `release` is not called if this call fails, and must not throw.
  // keep(owner) returns a release that owns the memory. NoRelease{} is for memory that outlives everything.
  template <typename Release>
  static Result<Dataset> try_borrow_arrays(const std::vector<Array>& arrays, Release&& release,
                                           const Options& options = {}) {
    Result<Dataset> made = Error();
    static_cast<void>(
        detail::lend(std::forward<Release>(release), [&](void (*give_back)(void*), void* context) {
          made = from_arrays(arrays, give_back, context, options);
          return made.status();
        }));
    return made;
  }
  template <typename Release>
  static Dataset borrow_arrays(const std::vector<Array>& arrays, Release&& release,
                               const Options& options = {}) {
    return try_borrow_arrays(arrays, std::forward<Release>(release), options).value();
  }

  // Records from the host's own code (reader.hpp).
  static Result<Dataset> try_from_reader(std::unique_ptr<Reader> reader, const Options& options = {});
  static Dataset from_reader(std::unique_ptr<Reader> reader, const Options& options = {}) {
    return try_from_reader(std::move(reader), options).value();
  }
  // The same from a callable void(int64_t index, Record& record).
  template <typename Call>
  static Result<Dataset> try_from_reader(std::vector<Field> fields, int64_t count, Call&& call,
                                         std::string fingerprint = "", const Options& options = {}) {
    return try_from_reader(std::make_unique<detail::CallReader<std::decay_t<Call>>>(
                               std::move(fields), count, std::forward<Call>(call), std::move(fingerprint)),
                           options);
  }
  template <typename Call>
  static Dataset from_reader(std::vector<Field> fields, int64_t count, Call&& call,
                             std::string fingerprint = "", const Options& options = {}) {
    return try_from_reader(std::move(fields), count, std::forward<Call>(call), std::move(fingerprint),
                           options)
        .value();
  }

  // Puts fields side by side; all parts have equal lengths: zip({{"image", images}, {"label", labels}}). A name
  // renames the field of its part, or, if it has several, prefixes them ("name/field"). "" keeps the names.
  static Result<Dataset> try_zip(const std::vector<Part>& parts) {
    std::vector<const char*> names;
    for (const Part& part : parts) names.push_back(part.name().c_str());
    return compose(parts, [&](dl_dataset* const* datasets, int32_t count, dl_dataset** out, dl_error* error) {
      return dl_dataset_zip(datasets, names.data(), count, nullptr, out, error);
    });
  }
  static Dataset zip(const std::vector<Part>& parts) { return try_zip(parts).value(); }
  // Concatenates parts with equal fields: concat({train, extra}).
  static Result<Dataset> try_concat(const std::vector<Part>& parts) {
    return compose(parts, [](dl_dataset* const* datasets, int32_t count, dl_dataset** out, dl_error* error) {
      return dl_dataset_concat(datasets, count, nullptr, out, error);
    });
  }
  static Dataset concat(const std::vector<Part>& parts) { return try_concat(parts).value(); }
  // Draws from all parts by weight, or repeats each sample: mix({MixPart::weighted("web", web, 0.7), ...}).
  // samples_per_epoch applies to weights; -1: the sample count of all parts together. The option pack_length packs
  // the documents that are drawn. Errors: see dl_dataset_mix.
  static Result<Dataset> try_mix(const std::vector<MixPart>& parts,
                                 const std::vector<MixStage>& schedule = {}, int64_t samples_per_epoch = -1,
                                 const Options& options = {});
  static Dataset mix(const std::vector<MixPart>& parts, const std::vector<MixStage>& schedule = {},
                     int64_t samples_per_epoch = -1, const Options& options = {}) {
    return try_mix(parts, schedule, samples_per_epoch, options).value();
  }
  // The samples `indices` of this dataset, in that order. The indices are copied, or borrowed as arrays are.
  Result<Dataset> try_subset(Span<const int64_t> indices) const {
    return subset_of(indices, nullptr, nullptr);
  }
  Dataset subset(Span<const int64_t> indices) const { return try_subset(indices).value(); }
  template <typename Release>
  Result<Dataset> try_borrow_subset(Span<const int64_t> indices, Release&& release) const {
    Result<Dataset> made = Error();
    static_cast<void>(
        detail::lend(std::forward<Release>(release), [&](void (*give_back)(void*), void* context) {
          made = subset_of(indices, give_back, context);
          return made.status();
        }));
    return made;
  }
  template <typename Release>
  Dataset borrow_subset(Span<const int64_t> indices, Release&& release) const {
    return try_borrow_subset(indices, std::forward<Release>(release)).value();
  }

  // The sample count; -1 if unknown.
  int64_t size() const noexcept { return dl_dataset_count(dataset_.get()); }
  // The fields of one sample, without a batch dim. Borrows from this dataset.
  Views fields() const noexcept {
    int32_t count = 0;
    const dl_view* views = dl_dataset_fields(dataset_.get(), &count);
    return Views(views, count);
  }
  // "idx", "zip", "arrays", ... Borrowed, like the next two.
  const char* format() const noexcept { return dl_dataset_format(dataset_.get()); }
  // The URI passed to open, or "".
  const char* uri() const noexcept { return dl_dataset_uri(dataset_.get()); }
  // Notes for the user: what was assumed, what is slow.
  std::vector<std::string> notes() const {
    std::vector<std::string> texts;
    const int32_t count = dl_dataset_note_count(dataset_.get());
    for (int32_t i = 0; i < count; ++i) texts.emplace_back(dl_dataset_note(dataset_.get(), i));
    return texts;
  }
  // Class names, indexed by label; empty if the dataset has none.
  std::vector<std::string> classes() const {
    std::vector<std::string> names;
    const int64_t count = dl_dataset_class_count(dataset_.get());
    for (int64_t i = 0; i < count; ++i) names.emplace_back(dl_dataset_class_name(dataset_.get(), i));
    return names;
  }
  // Describes the files on this machine that the samples are read from, as lines of "key: value". Two texts are
  // equal if the structure (formats, fields, keys, order of parts) is equal and no file was replaced, rewritten or
  // renamed. Compare them to decide whether earlier results computed from the dataset are still valid. Checks
  // every file of a folder. DL_ERR_UNSUPPORTED: data in memory; a reader or a stored object with neither files nor
  // a fingerprint.
  Result<std::string> try_identity() const {
    return detail::text_of([&](char* room, size_t* bytes, dl_error* error) {
      return dl_dataset_identity(dataset_.get(), room, bytes, error);
    });
  }
  std::string identity() const { return try_identity().value(); }
  // The header of a sample's encoded image; does not decode it. Reads the field `image`, or the only field with
  // encoded bytes. DL_ERR_NO_SUCH_FIELD, DL_ERR_UNSUPPORTED, DL_ERR_CORRUPT, ...: see dl_dataset_image_info.
  Result<dl_image_info> try_image_info(int64_t index) const { return header_of(nullptr, index); }
  dl_image_info image_info(int64_t index) const { return try_image_info(index).value(); }
  // The same for a field by its name.
  Result<dl_image_info> try_image_info(int64_t index, const std::string& field) const {
    return header_of(field.c_str(), index);
  }
  dl_image_info image_info(int64_t index, const std::string& field) const {
    return try_image_info(index, field).value();
  }
  // Reads one sample through the transforms of `options`, as a batch of one. For viewers and tests, not for
  // training. DL_ERR_OUT_OF_RANGE, and the errors of a loader.
  Result<Batch> try_read(int64_t index, const Options& options = {}) const {
    return detail::make<Batch, dl_batch>([&](dl_batch** out, dl_error* error) {
      return dl_dataset_read(dataset_.get(), index, options.raw(), out, error);
    });
  }
  Batch read(int64_t index, const Options& options = {}) const { return try_read(index, options).value(); }
  dl_dataset* get() const noexcept { return dataset_.get(); }
  // Transfers the handle to the caller.
  dl_dataset* release() noexcept { return dataset_.release(); }

 private:
  Result<dl_image_info> header_of(const char* field, int64_t index) const {
    dl_image_info info = {};
    info.struct_size = sizeof info;
    const Result<void> done = detail::result_of(
        [&](dl_error* error) { return dl_dataset_image_info(dataset_.get(), field, index, &info, error); });
    if (!done) return done.error();
    return info;
  }
  static Result<Dataset> from_arrays(const std::vector<Array>& arrays, void (*give_back)(void*),
                                     void* context, const Options& options) {
    const Result<std::vector<dl_array>> raw = detail::raw_of(arrays);
    if (!raw) return raw.error();
    return detail::make<Dataset, dl_dataset>([&](dl_dataset** out, dl_error* error) {
      return dl_dataset_from_arrays(raw->data(), static_cast<int32_t>(raw->size()), give_back, context,
                                    options.raw(), out, error);
    });
  }
  template <typename Call>
  static Result<Dataset> compose(const std::vector<Part>& parts, Call&& call) {
    std::vector<dl_dataset*> datasets;
    for (const Part& part : parts) datasets.push_back(part.get());
    return detail::make<Dataset, dl_dataset>([&](dl_dataset** out, dl_error* error) {
      return call(datasets.data(), static_cast<int32_t>(datasets.size()), out, error);
    });
  }
  Result<Dataset> subset_of(Span<const int64_t> indices, void (*give_back)(void*), void* context) const {
    return detail::make<Dataset, dl_dataset>([&](dl_dataset** out, dl_error* error) {
      return dl_dataset_subset(dataset_.get(), indices.data(), static_cast<int64_t>(indices.size()),
                               give_back, context, nullptr, out, error);
    });
  }

  std::unique_ptr<dl_dataset, detail::Destroyer<dl_dataset, dl_dataset_destroy>> dataset_;
};

inline Part::Part(const Dataset& dataset) noexcept : dataset_(dataset.get()) {}
inline Part::Part(std::string name, const Dataset& dataset) noexcept
    : name_(std::move(name)), dataset_(dataset.get()) {}

inline Result<Dataset> Dataset::try_mix(const std::vector<MixPart>& parts,
                                        const std::vector<MixStage>& schedule, int64_t samples_per_epoch,
                                        const Options& options) {
  std::vector<dl_mix_part> raw(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    raw[i].struct_size = sizeof raw[i];
    raw[i].name = parts[i].name.empty() ? nullptr : parts[i].name.c_str();
    raw[i].dataset = parts[i].dataset == nullptr ? nullptr : parts[i].dataset->get();
    raw[i].weight = parts[i].weight;
    raw[i].repeat = parts[i].repeat;
    raw[i].transform = parts[i].transform.empty() ? nullptr : parts[i].transform.c_str();
  }
  std::vector<dl_mix_stage> stages(schedule.size());
  for (size_t i = 0; i < schedule.size(); ++i) {
    if (schedule[i].weights.size() != parts.size())
      return Error(DL_ERR_INVALID_ARGUMENT, "a stage of a mix needs one weight per part");
    stages[i].struct_size = sizeof stages[i];
    stages[i].step = schedule[i].step;
    stages[i].weights = schedule[i].weights.data();
  }
  return detail::make<Dataset, dl_dataset>([&](dl_dataset** out, dl_error* error) {
    return dl_dataset_mix(raw.data(), static_cast<int32_t>(raw.size()), stages.data(),
                          static_cast<int32_t>(stages.size()), samples_per_epoch, options.raw(), out, error);
  });
}

inline Result<Dataset> Dataset::try_from_reader(std::unique_ptr<Reader> reader, const Options& options) {
  if (reader == nullptr) return Error(DL_ERR_INVALID_ARGUMENT, "reader is nullptr");
  auto state = std::make_unique<detail::ReaderState>();
  state->fields = reader->fields();
  const int64_t count = reader->count();
  const std::string fingerprint = reader->fingerprint();
  const std::vector<int64_t> block_ends = reader->block_ends();
  const std::vector<std::string> files = reader->files();
  const std::vector<int64_t> file_ends = reader->file_ends();
  if (!file_ends.empty() && file_ends.size() != files.size())
    return Error(DL_ERR_INVALID_ARGUMENT, "reader: " + std::to_string(file_ends.size()) + " file_ends for " +
                                              std::to_string(files.size()) + " files, expected one per file");
  std::vector<const char*> paths;
  for (const std::string& file : files) paths.push_back(file.c_str());
  state->reader = std::move(reader);

  const detail::FieldViews views(state->fields);
  dl_reader table = {};
  table.struct_size = sizeof table;
  table.field_count = views.size();
  table.fields = views.data();
  table.record_count = count;
  table.context = state.get();
  table.read = &detail::ReaderState::read;
  table.destroy = &detail::ReaderState::destroy;
  table.fingerprint = fingerprint.empty() ? nullptr : fingerprint.c_str();
  table.prompt = state->reader->prompt() ? 1 : 0;
  table.file_count = static_cast<int64_t>(paths.size());
  table.files = paths.data();
  table.file_ends = file_ends.empty() ? nullptr : file_ends.data();
  if (!block_ends.empty()) {
    table.block_count = static_cast<int64_t>(block_ends.size());
    table.block_ends = block_ends.data();
    table.held_blocks = state->reader->held_blocks();
    table.advise = &detail::ReaderState::advise;
  }
  Result<Dataset> made = detail::make<Dataset, dl_dataset>([&](dl_dataset** out, dl_error* error) {
    return dl_dataset_from_reader(&table, options.raw(), out, error);
  });
  if (made) static_cast<void>(state.release());  // a failed call has not taken it
  return made;
}

}  // namespace DATALINE_CPP_ABI
}  // namespace dataline
