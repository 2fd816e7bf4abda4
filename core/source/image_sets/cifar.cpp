// CIFAR's binary files: packed records of label bytes (cifar100: coarse, then fine) and 3,072 image bytes, red plane
// first.
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/source/composed/composed.h"
#include "core/source/compressed_file.h"
#include "core/source/files.h"
#include "core/source/flat_file.h"
#include "core/source/image_sets/image_sets.h"

namespace dataline {
namespace {

constexpr int64_t kImageBytes = 3 * 32 * 32;

struct Label {
  std::string_view name;
  int64_t offset;  // in the record
  int64_t max;     // labels are 0 .. max
};

struct Cifar {
  std::string_view format;
  std::span<const std::string_view> train_files;
  std::span<const std::string_view> test_files;
  std::span<const std::string_view> folders;        // where archives and torchvision put them
  std::span<const std::string_view> pickled_files;  // of the Python version
  std::span<const Label> labels;                    // in the order of the fields

  int64_t image_offset() const { return static_cast<int64_t>(labels.size()); }
  int64_t record_bytes() const { return image_offset() + kImageBytes; }
};

constexpr std::string_view kTrain10[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                         "data_batch_4.bin", "data_batch_5.bin"};
constexpr std::string_view kTest10[] = {"test_batch.bin"};
constexpr std::string_view kFolders10[] = {"", "cifar-10-batches-bin"};
constexpr std::string_view kPickled10[] = {"data_batch_1", "cifar-10-batches-py/data_batch_1"};
constexpr Label kLabels10[] = {{"label", 0, 9}};
constexpr Cifar kCifar10{"cifar10", kTrain10, kTest10, kFolders10, kPickled10, kLabels10};

constexpr std::string_view kTrain100[] = {"train.bin"};
constexpr std::string_view kTest100[] = {"test.bin"};
constexpr std::string_view kFolders100[] = {"", "cifar-100-binary"};
constexpr std::string_view kPickled100[] = {"train", "cifar-100-python/train"};
constexpr Label kLabels100[] = {{"label", 1, 99}, {"coarse", 0, 19}};
constexpr Cifar kCifar100{"cifar100", kTrain100, kTest100, kFolders100, kPickled100, kLabels100};

Schema cifar_schema(const Cifar& set, const ImageSetOptions& options) {
  DType label_dtype = options.label_u8 ? DType::kU8 : DType::kI64;
  std::vector<Field> fields = {{"image", FieldKind::kDense, DType::kU8, {3, 32, 32}, "CHW", -1}};
  for (const Label& label : set.labels) {
    fields.push_back({std::string(label.name), FieldKind::kDense, label_dtype, {}, "", -1});
  }
  return column_per_field(std::move(fields));
}

FlatLayout cifar_layout(const Cifar& set, const ImageSetOptions& options, int64_t file_bytes) {
  FlatLayout layout;
  layout.record_stride = layout.record_bytes = set.record_bytes();
  layout.record_count = file_bytes / set.record_bytes();
  layout.columns.push_back({set.image_offset(), kImageBytes, FlatConversion::kNone});
  FlatConversion conversion = options.label_u8 ? FlatConversion::kNone : FlatConversion::kU8ToI64;
  for (const Label& label : set.labels) layout.columns.push_back({label.offset, 1, conversion});
  return layout;
}

Status check_size(const Cifar& set, const MappedFile& file) {
  int64_t rest = file.bytes() % set.record_bytes();
  if (file.bytes() > 0 && rest == 0) return Status::ok();
  std::string what = describe_first_bytes(file);
  if (file.bytes() > 0 && !what.starts_with("bytes ")) {
    return error(Code::kCorrupt, file.path(), ": offset 0: expected ", set.format, " records, got ", what);
  }
  return error(Code::kTruncated, file.path(), ": offset ", file.bytes() - rest, ": a ", set.format,
               " record needs ", set.record_bytes(), " bytes, the file has ", rest);
}

Result<SourceRef> open_batch(const Cifar& set, const std::string& path, const ImageSetOptions& options,
                             const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(MappedFile file, open_maybe_compressed(path, nullptr, context));
  DL_RETURN_IF_ERROR(file.load(context));
  DL_RETURN_IF_ERROR(check_size(set, file));
  FlatLayout layout = cifar_layout(set, options, file.bytes());
  DL_ASSIGN_OR_RETURN(SourceRef source,
                      FlatFile::create(std::move(file), cifar_schema(set, options), std::move(layout),
                                       {std::string(set.format), path, {}}));
  std::vector<LabelBound> bounds;
  for (size_t i = 0; i < set.labels.size(); ++i) bounds.push_back({i + 1, set.labels[i].max});
  return with_label_check(std::move(source), path, std::move(bounds));
}

// Explains a directory without binary files.
Status not_found(const Cifar& set, const std::string& path, Status status) {
  if (status.code() != Code::kNotFound) return status;
  for (std::string_view name : set.pickled_files) {
    std::string pickled = join_path(path, name);
    if (!path_exists(pickled)) continue;
    return error(Code::kUnsafeType, pickled, ": is the Python version of ", set.format,
                 ", a pickle, which can run code; use the binary version");
  }
  return status;
}

Result<SourceRef> open_cifar(const Cifar& set, const ImageSetOptions& options, const std::string& path,
                             const OpenContext& context) {
  std::span<const std::string_view> names = options.test ? set.test_files : set.train_files;
  Result<std::string> folder = find_set_folder(path, set.folders, names);
  if (!folder.is_ok()) return not_found(set, path, folder.take_status());
  std::vector<Part> parts;
  for (const std::string_view& name : names) {
    DL_ASSIGN_OR_RETURN(std::string file, find_set_file(folder.value(), {&name, 1}));
    DL_ASSIGN_OR_RETURN(SourceRef batch, open_batch(set, file, options, context));
    parts.push_back({"", std::move(batch), std::move(file)});
  }
  return concat_sources(std::move(parts));
}

template <const Cifar& set>
Result<OpenOne> configure_cifar(const Uri& uri) {
  DL_ASSIGN_OR_RETURN(const ImageSetOptions options, image_set_options(uri));
  return OpenOne(std::bind_front(open_cifar, std::cref(set), options));
}

bool is_cifar10(const std::string& directory, const OpenContext&) {
  return any_exists(directory, {"data_batch_1.bin", "data_batch_1.bin.gz", "cifar-10-batches-bin"});
}

// Token sets also have files called train.bin and test.bin, so cifar100 needs the file of its class names, or files that
// are whole records.
bool is_cifar100(const std::string& directory, const OpenContext& context) {
  if (any_exists(directory, {"cifar-100-binary", "fine_label_names.txt"})) return true;
  for (std::string_view name : {"train.bin", "test.bin"}) {
    Result<FirstBytes> file = read_first_bytes(join_path(directory, name), context);
    if (!file.is_ok() || file.value().file_bytes == 0) return false;
    if (file.value().file_bytes % kCifar100.record_bytes() != 0) return false;
    if (kTokensFormat.sniff(file.value()) != Sniff::kNo) return false;
  }
  return true;
}

}  // namespace

constinit const Format kCifar10Format{
    .name = "cifar10",
    .doc = "CIFAR-10's binary version, from its directory. Fields: image, label",
    .keys = kImageSetKeys,
    .configure = configure_cifar<kCifar10>,
    .is_set = is_cifar10,
};
constinit const Format kCifar100Format{
    .name = "cifar100",
    .doc = "CIFAR-100's binary version, from its directory. Fields: image, label, coarse",
    .keys = kImageSetKeys,
    .configure = configure_cifar<kCifar100>,
    .is_set = is_cifar100,
};

}  // namespace dataline
