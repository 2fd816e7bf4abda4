// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/source/composed/composed.h"
#include "core/source/flat_file.h"
#include "core/source/idx/idx.h"
#include "core/source/image_sets/image_sets.h"

namespace dataline {
namespace {

constexpr int64_t kMaxLabel = 9;

// Published with '-', in some archives with '.', before "idx".
constexpr std::string_view kTrainImages[] = {"train-images-idx3-ubyte", "train-images.idx3-ubyte"};
constexpr std::string_view kTrainLabels[] = {"train-labels-idx1-ubyte", "train-labels.idx1-ubyte"};
constexpr std::string_view kTestImages[] = {"t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte"};
constexpr std::string_view kTestLabels[] = {"t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte"};
constexpr std::string_view kFolders[] = {"", "MNIST/raw", "raw"};

// Opens an IDX file whose samples must be u8 of the given shape.
Result<SourceRef> open_part(const std::string& path, Field field, FlatConversion conversion,
                            const OpenContext& context) {
  DL_ASSIGN_OR_RETURN(IdxFile idx, read_idx(path, context));
  std::span<const int64_t> sample = std::span(idx.header.shape).subspan(1);
  if (idx.header.dtype != DType::kU8 ||
      !std::equal(sample.begin(), sample.end(), field.shape.begin(), field.shape.end())) {
    return error(Code::kMismatch, path, ": offset 0: samples of ", dtype_name(idx.header.dtype), "[",
                 shape_text(sample), "], mnist has u8[", shape_text(field.shape), "] here");
  }
  SourceInfo info{"mnist", path, {}};
  if (idx.inflated) info.notes.push_back("gzip: decompressed into memory");
  FlatLayout layout =
      FlatLayout::packed(idx.header.data_offset, idx.header.record_bytes, idx.header.shape[0], conversion);
  return FlatFile::create(std::move(idx.file), column_per_field({std::move(field)}), std::move(layout),
                          std::move(info));
}

Result<SourceRef> open_mnist(const ImageSetOptions& options, const std::string& path,
                             const OpenContext& context) {
  std::span<const std::string_view> image_names = options.test ? kTestImages : kTrainImages;
  std::span<const std::string_view> label_names = options.test ? kTestLabels : kTrainLabels;
  DL_ASSIGN_OR_RETURN(std::string folder, find_set_folder(path, kFolders, image_names));
  DL_ASSIGN_OR_RETURN(std::string image_path, find_set_file(folder, image_names));
  DL_ASSIGN_OR_RETURN(std::string label_path, find_set_file(folder, label_names));

  Field image{"image", FieldKind::kDense, DType::kU8, {28, 28}, "HW", -1};
  DL_ASSIGN_OR_RETURN(SourceRef images, open_part(image_path, image, FlatConversion::kNone, context));
  Field label{"label", FieldKind::kDense, options.label_u8 ? DType::kU8 : DType::kI64, {}, "", -1};
  FlatConversion widen = options.label_u8 ? FlatConversion::kNone : FlatConversion::kU8ToI64;
  DL_ASSIGN_OR_RETURN(SourceRef labels, open_part(label_path, label, widen, context));
  labels = with_label_check(std::move(labels), label_path, {{0, kMaxLabel}});

  std::vector<Part> parts;
  parts.push_back({"image", std::move(images), std::move(image_path)});
  parts.push_back({"label", std::move(labels), std::move(label_path)});
  return zip_sources(std::move(parts));
}

Result<OpenOne> configure_mnist(const Uri& uri) {
  DL_ASSIGN_OR_RETURN(const ImageSetOptions options, image_set_options(uri));
  return OpenOne(std::bind_front(open_mnist, options));
}

bool is_mnist(const std::string& directory, const OpenContext&) {
  return any_exists(directory, {"train-images-idx3-ubyte", "train-images-idx3-ubyte.gz",
                                "train-images.idx3-ubyte", "train-images.idx3-ubyte.gz", "MNIST/raw"});
}

}  // namespace

constinit const Format kMnistFormat{
    .name = "mnist",
    .doc = "MNIST and sets published under its file names, from their directory. Fields: image, label",
    .keys = kImageSetKeys,
    .configure = configure_mnist,
    .is_set = is_mnist,
};

}  // namespace dataline
