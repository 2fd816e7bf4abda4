// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/transform/operators/color_rows.h"
#include "core/transform/operators/warp_rows.h"

namespace dataline {
namespace {

constexpr std::string_view kSince = "0.1";

// The first argument may be given without its name.
constexpr OperatorArgument kCast[] = {OperatorArgument{"dtype", "dtype", ""}};
constexpr OperatorArgument kScale[] = {OperatorArgument{"factor", "number", ""}};
constexpr OperatorArgument kNormalize[] = {OperatorArgument{"preset", "word", "none"},
                                           OperatorArgument{"mean", "number or list", "none"},
                                           OperatorArgument{"std", "number or list", "none"}};
constexpr OperatorArgument kReshape[] = {OperatorArgument{"shape", "shape", ""}};
constexpr OperatorArgument kPadTo[] = {OperatorArgument{"length", "integer", ""},
                                       OperatorArgument{"value", "number", "0"}};
constexpr OperatorArgument kOneHot[] = {OperatorArgument{"n", "integer", ""},
                                        OperatorArgument{"dtype", "dtype", "f32"}};
constexpr OperatorArgument kRandomCrop[] = {
    OperatorArgument{"size", "integer or list", ""}, OperatorArgument{"padding", "integer or list", "0"},
    OperatorArgument{"fill", "number or list", "0"},
    OperatorArgument{"mode", "constant, edge, reflect or symmetric", "constant"}};
constexpr OperatorArgument kCenterCrop[] = {OperatorArgument{"size", "integer or list", ""}};
constexpr OperatorArgument kHflip[] = {OperatorArgument{"p", "number", "0.5"}};

constexpr OperatorArgument kVflip[] = {OperatorArgument{"p", "number", "0.5"}};
constexpr OperatorArgument kDecode[] = {OperatorArgument{"mode", "rgb, gray, rgba or unchanged", "rgb"},
                                        OperatorArgument{"orientation", "true or false", "false"}};
constexpr OperatorArgument kResize[] = {
    OperatorArgument{"size", "integer or list", ""},
    OperatorArgument{"filter", "nearest, bilinear, bicubic, area or lanczos", "bilinear"},
    OperatorArgument{"antialias", "true or false", "true"}, OperatorArgument{"max_size", "integer", "none"}};
constexpr OperatorArgument kRandomResizedCrop[] = {
    OperatorArgument{"size", "integer or list", ""}, OperatorArgument{"scale", "list", "[0.08, 1]"},
    OperatorArgument{"ratio", "list", "[3/4, 4/3]"},
    OperatorArgument{"filter", "nearest, bilinear, bicubic, area or lanczos", "bilinear"},
    OperatorArgument{"antialias", "true or false", "true"}};

constexpr OperatorArgument kMix[] = {OperatorArgument{"alpha", "number", "1"},
                                     OperatorArgument{"labels", "field", "label"}};

constexpr Operator kOwnOperators[] = {
    Operator{{"cast", kCast,
              "Another dtype: integers saturate, floats go to integers toward zero (NaN to 0), to floats to "
              "nearest even.",
              "numpy.ndarray.astype, saturating", kSince},
             add_cast},
    Operator{{"scale", kScale, "Multiplies by a number; the result is f32.",
              "torchvision.transforms.v2.ToDtype(scale=True)", kSince},
             add_scale},
    Operator{{"normalize", kNormalize,
              "(x - mean) / std as f32; u8 and u16 are divided by their maximum first. A preset (imagenet, "
              "cifar10, "
              "mnist), or mean= and std= with one value or one a channel.",
              "torchvision.transforms.v2.Normalize after ToTensor", kSince},
             add_normalize},
    Operator{{"reshape", kReshape, "The same elements in another shape.", "numpy.reshape", kSince},
             add_reshape},
    Operator{{"flatten", {}, "One dim.", "torch.flatten", kSince}, add_flatten},
    Operator{
        {"chw", {}, "Channels first: HWC to CHW, HW to 1xHxW.", "torchvision.transforms.ToTensor", kSince},
        add_chw},
    Operator{{"hwc", {}, "Channels last: CHW to HWC, HW to HxWx1.", "numpy.moveaxis", kSince}, add_hwc},
    Operator{{"pad_to", kPadTo,
              "Fills the first dim up to a length with a value; sequences of their own lengths become dense. "
              "A longer "
              "one is an error.",
              "torch.nn.utils.rnn.pad_sequence", kSince},
             add_pad_to},
    Operator{{"one_hot", kOneHot, "A label to n elements, one of them 1; a label out of range is an error.",
              "torch.nn.functional.one_hot", kSince},
             add_one_hot},
    Operator{{"random_crop", kRandomCrop,
              "Pads the image on all sides, then takes size (or [height, width]) anywhere in it. Padding: "
              "all sides, "
              "[left and right, top and bottom] or [left, top, right, bottom]; by mode it is fill, or pixels "
              "of the "
              "image.",
              "torchvision.transforms.v2.RandomCrop", kSince},
             add_random_crop},
    Operator{{"center_crop", kCenterCrop, "The middle of the image: size, or [height, width].",
              "torchvision.transforms.v2.CenterCrop", kSince},
             add_center_crop},
    Operator{{"hflip", kHflip, "Mirrors the image left to right with probability p.",
              "torchvision.transforms.v2.RandomHorizontalFlip", kSince},
             add_hflip},
    Operator{{"vflip", kVflip, "Mirrors the image top to bottom with probability p.",
              "torchvision.transforms.v2.RandomVerticalFlip", kSince},
             add_vflip},
    Operator{
        {"decode", kDecode,
         "JPEG, PNG or WebP bytes to u8 pixels, HWC: 3 channels (rgb), 1 (gray), 4 (rgba), or as the first "
         "record has them (unchanged, 16 bits as u16). orientation=true turns the image by its Exif tag. "
         "Only "
         "what the operators behind it need is decoded.",
         "PIL.Image.convert, torchvision.io.decode_image", kSince},
        add_decode},
    Operator{
        {"resize", kResize,
         "Scales the image: a number is the length of the shorter side (max_size limits the longer one), or "
         "[height, width]. antialias=false takes as many taps for smaller images as for larger ones.",
         "torchvision.transforms.v2.Resize", kSince},
        add_resize},
    Operator{
        {"random_resized_crop", kRandomResizedCrop,
         "A random part of the image, scale of its area and ratio of width to height drawn from the ranges, "
         "scaled to size (or [height, width]).",
         "torchvision.transforms.v2.RandomResizedCrop", kSince},
        add_random_resized_crop},
    Operator{
        {"mixup", kMix,
         "Last of a list, on finished batches: lambda * row + (1 - lambda) * the row before, of the image "
         "and of the float field labels; lambda from Beta(alpha, alpha), one a batch.",
         "torchvision.transforms.v2.MixUp", kSince},
        add_mixup},
    Operator{
        {"cutmix", kMix,
         "Last of a list, on finished batches: each image takes one rectangle of the image before it, and "
         "its float field labels that share of the area; lambda from Beta(alpha, alpha), one a batch.",
         "torchvision.transforms.v2.CutMix", kSince},
        add_cutmix},
};

constexpr auto kOperators = [] {
  std::array<Operator, std::size(kOwnOperators) + std::size(kColorOperators) + std::size(kWarpOperators)>
      all{};
  auto* end = std::copy(std::begin(kOwnOperators), std::end(kOwnOperators), all.begin());
  end = std::copy(std::begin(kColorOperators), std::end(kColorOperators), end);
  std::copy(std::begin(kWarpOperators), std::end(kWarpOperators), end);
  return all;
}();

constexpr auto kInfos = [] {
  std::array<OperatorInfo, std::size(kOperators)> infos{};
  for (size_t i = 0; i < infos.size(); ++i) infos[i] = kOperators[i].info;
  return infos;
}();

}  // namespace

std::span<const OperatorInfo> operator_table() { return kInfos; }

const Operator* find_operator(std::string_view name) {
  for (const Operator& entry : kOperators) {
    if (entry.info.name == name) return &entry;
  }
  return nullptr;
}

std::string nearest_operator(std::string_view name) {
  std::array<std::string_view, std::size(kOperators)> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kOperators[i].info.name;
  return did_you_mean(name, names);
}

}  // namespace dataline
