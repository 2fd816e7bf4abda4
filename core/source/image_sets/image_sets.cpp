// SPDX-License-Identifier: Apache-2.0
#include "core/source/image_sets/image_sets.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/bytes.h"
#include "core/memory/file_error.h"
#include "core/source/directory.h"
#include "core/source/format.h"
#include "core/source/forward.h"

namespace dataline {
namespace {

constexpr std::string_view kCompressions[] = {"", ".gz"};

// The errno of stat(); 0 if the path exists.
int stat_errno(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 ? 0 : errno;
}

Status check_folder(const std::string& path, std::string_view wanted) {
  DL_ASSIGN_OR_RETURN(bool directory, is_directory(path));
  if (directory) return Status::ok();
  return error(Code::kNotFound, path, ": is a file, expected the directory that holds ", wanted);
}

// The path of `name` in `folder`, plain or .gz; empty if neither exists.
Result<std::string> find_name(const std::string& folder, std::string_view name) {
  for (std::string_view suffix : kCompressions) {
    std::string path = join_path(folder, concat(name, suffix));
    int failure = stat_errno(path);
    if (failure == 0) return path;
    if (failure != ENOENT && failure != ENOTDIR) return file_error(path, failure);
  }
  return std::string();
}

Result<std::string> find_any(const std::string& folder, std::span<const std::string_view> names) {
  for (std::string_view name : names) {
    DL_ASSIGN_OR_RETURN(std::string path, find_name(folder, name));
    if (!path.empty()) return path;
  }
  return std::string();
}

class LabelCheck final : public ForwardSource {
 public:
  LabelCheck(SourceRef source, std::string path, std::vector<LabelBound> bounds)
      : ForwardSource(std::move(source)), path_(std::move(path)), bounds_(std::move(bounds)) {}

  void locate(Run& run) const override {
    source_->locate(run);
    for (const LabelBound& bound : bounds_) check(run, bound);
  }

 private:
  int64_t label(const Field& field, const std::byte* data) const {
    return field.dtype == DType::kU8 ? std::to_integer<int64_t>(*data) : load_native<int64_t>(data);
  }

  void check(Run& run, const LabelBound& bound) const {
    const Field& field = schema().fields[bound.field];
    const Run::ColumnRows& rows = run.columns[schema().places[bound.field].column];
    for (int64_t i = 0; i < run.count; ++i) {
      if (rows.data[i] == nullptr || label(field, rows.data[i]) <= bound.max) continue;
      run.fail(i, schema().columns.size(),
               error(Code::kCorrupt, path_, ": record ", run.indices[i], ": ", field.name, " is ",
                     label(field, rows.data[i]), ", expected 0 to ", bound.max));
    }
  }

  std::string path_;
  std::vector<LabelBound> bounds_;
};

constexpr KeySpec kSplit{"split", "train|test", "train", "which part of the set"};
constexpr KeySpec kKeys[] = {kSplit, kLabelDtypeKey};

using Open = Result<SourceRef> (*)(const std::string&, const ImageSetOptions&, const OpenContext&);

template <Open open>
Result<OpenOne> configure(const Uri& uri) {
  ImageSetOptions options;
  DL_ASSIGN_OR_RETURN(options.test, uri_is(uri, kSplit, "test"));
  DL_ASSIGN_OR_RETURN(options.label_u8, uri_is(uri, kLabelDtypeKey, "u8"));
  return OpenOne([options](const std::string& path, const OpenContext& context) {
    return open(path, options, context);
  });
}

bool any_exists(const std::string& directory, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return path_exists(join_path(directory, name)); });
}

bool is_mnist(const std::string& directory, const OpenContext&) {
  return any_exists(directory, {"train-images-idx3-ubyte", "train-images-idx3-ubyte.gz",
                                "train-images.idx3-ubyte", "train-images.idx3-ubyte.gz", "MNIST/raw"});
}

bool is_cifar10(const std::string& directory, const OpenContext&) {
  return any_exists(directory, {"data_batch_1.bin", "data_batch_1.bin.gz", "cifar-10-batches-bin"});
}

// Token sets also have files called train.bin and test.bin, so cifar100 needs the file of its class names, or files that
// are whole records.
bool is_cifar100(const std::string& directory, const OpenContext& context) {
  if (any_exists(directory, {"cifar-100-binary", "fine_label_names.txt"})) return true;
  constexpr int64_t kRecordBytes = 3074;
  for (std::string_view name : {"train.bin", "test.bin"}) {
    Result<FirstBytes> file = read_first_bytes(join_path(directory, name), context);
    if (!file.is_ok() || file.value().file_bytes == 0 || file.value().file_bytes % kRecordBytes != 0)
      return false;
    if (kTokensFormat.sniff(file.value()) != Sniff::kNo) return false;
  }
  return true;
}

}  // namespace

constinit const Format kMnistFormat{
    .name = "mnist",
    .doc = "MNIST and sets published under its file names, from their directory",
    .keys = kKeys,
    .configure = configure<open_mnist>,
    .is_set = is_mnist,
};
constinit const Format kCifar10Format{
    .name = "cifar10",
    .doc = "CIFAR-10's binary version, from its directory",
    .keys = kKeys,
    .configure = configure<open_cifar10>,
    .is_set = is_cifar10,
};
constinit const Format kCifar100Format{
    .name = "cifar100",
    .doc = "CIFAR-100's binary version, from its directory",
    .keys = kKeys,
    .configure = configure<open_cifar100>,
    .is_set = is_cifar100,
};

Result<std::string> find_set_folder(const std::string& path, std::span<const std::string_view> folders,
                                    std::span<const std::string_view> names) {
  DL_RETURN_IF_ERROR(check_folder(path, names.front()));
  for (std::string_view inner : folders) {
    std::string folder = inner.empty() ? path : join_path(path, inner);
    DL_ASSIGN_OR_RETURN(std::string found, find_any(folder, names));
    if (!found.empty()) return folder;
  }
  return error(Code::kNotFound, path, ": no ", names.front(), " in it, plain or .gz");
}

Result<std::string> find_set_file(const std::string& folder, std::span<const std::string_view> names) {
  DL_ASSIGN_OR_RETURN(std::string found, find_any(folder, names));
  if (!found.empty()) return found;
  return error(Code::kNotFound, join_path(folder, names.front()), ": no such file, plain or .gz");
}

SourceRef with_label_check(SourceRef source, std::string path, std::vector<LabelBound> bounds) {
  return std::make_shared<LabelCheck>(std::move(source), std::move(path), std::move(bounds));
}

}  // namespace dataline
