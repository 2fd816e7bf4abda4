// center_crop, random_crop, pad, hflip and vflip: pixels that move without being scaled.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/text.h"
#include "core/transform/elements/fill.h"
#include "core/transform/operators/operator.h"
#include "core/transform/operators/stages.h"

namespace dataline {
namespace {

constexpr OperatorArgument kPadModeArgument = {"mode", "constant, edge, reflect or symmetric", "constant"};
constexpr OperatorArgument kCenterCropArguments[] = {{"size", "integer, list or bucket", ""}};
constexpr OperatorArgument kRandomCropArguments[] = {
    {"size", "integer, list or bucket", ""},
    {"padding", "integer or list", "0"},
    kNamedFillArgument,  // torchvision's third is pad_if_needed
    {"mode", "constant, edge, reflect or symmetric, by name", "constant", "", kByName}};
constexpr OperatorArgument kPadArguments[] = {
    {"padding", "integer or list", ""}, kFillArgument, kPadModeArgument};
constexpr OperatorArgument kFlipArguments[] = {kProbabilityArgument};

// The source of the pixel at `at`, which may be outside [0, size).
int64_t source_of(int64_t at, int64_t size, PadMode mode) {
  if (mode == PadMode::kEdge) return std::clamp<int64_t>(at, 0, size - 1);
  const int64_t mirror = mode == PadMode::kReflect ? 0 : 1;
  if (at < 0) return -at - mirror;
  return at < size ? at : 2 * size - 2 - at + mirror;
}

void copy_pixel(std::byte* to, const std::byte* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; ++i) to[i] = from[i];
}

// Takes memory for the padded frame from the scratch.
Status pad(const Padding& padding, FrameScratch& scratch, Frame& frame) {
  DL_RETURN_IF_ERROR(padding.fits(frame.height, frame.width));
  Frame out = frame;
  out.height += padding.top + padding.bottom;
  out.width += padding.left + padding.right;
  DL_RETURN_IF_ERROR(scratch.take_pixels(out));
  const int64_t line = out.line_bytes(), pixel = frame.channels;
  const std::byte* const fill = reinterpret_cast<const std::byte*>(padding.fill.data());
  for (int64_t y = 0; y < frame.height; ++y) {
    std::byte* const to = out.pixels + (y + padding.top) * line;
    std::byte* const inner = to + padding.left * pixel;
    std::memcpy(inner, frame.pixels + y * frame.line_bytes(), static_cast<size_t>(frame.line_bytes()));
    std::byte* const after = inner + frame.line_bytes();
    if (padding.mode == PadMode::kConstant) {
      fill_elements(to, padding.left, fill, pixel);
      fill_elements(after, padding.right, fill, pixel);
      continue;
    }
    for (int64_t x = -padding.left; x < 0; ++x)
      copy_pixel(inner + x * pixel, inner + source_of(x, frame.width, padding.mode) * pixel, pixel);
    for (int64_t x = frame.width; x < frame.width + padding.right; ++x)
      copy_pixel(inner + x * pixel, inner + source_of(x, frame.width, padding.mode) * pixel, pixel);
  }
  for (int64_t y = -padding.top; y < frame.height + padding.bottom; ++y) {
    if (y >= 0 && y < frame.height) continue;
    std::byte* const to = out.pixels + (y + padding.top) * line;
    if (padding.mode == PadMode::kConstant)
      fill_elements(to, out.width, fill, pixel);
    else
      std::memcpy(to, out.pixels + (source_of(y, frame.height, padding.mode) + padding.top) * line,
                  static_cast<size_t>(line));
  }
  frame = out;
  return Status::ok();
}

struct PaddingArguments {
  size_t padding, fill, mode;  // their indices in the table row
};

// "padding" in torchvision's order: all sides; left and right, top and bottom; or left, top, right, bottom. "fill" is
// allowed with mode=constant only; its value is read later.
Result<Padding> padding_argument(const Arguments& arguments, const PaddingArguments& places) {
  Padding padding;
  DL_ASSIGN_OR_RETURN(const std::vector<int64_t> sides, arguments.integers(places.padding, 0, kMaxSide));
  if (sides.size() == 3 || sides.size() > 4) return arguments.expected(places.padding, "1, 2 or 4 numbers");
  padding.left = sides[0];
  padding.top = sides[sides.size() > 1 ? 1 : 0];
  padding.right = sides.size() == 4 ? sides[2] : padding.left;
  padding.bottom = sides.size() == 4 ? sides[3] : padding.top;
  DL_ASSIGN_OR_RETURN(padding.mode,
                      arguments.choice<PadMode>(places.mode, {{"constant", PadMode::kConstant},
                                                              {"edge", PadMode::kEdge},
                                                              {"reflect", PadMode::kReflect},
                                                              {"symmetric", PadMode::kSymmetric}}));
  if (padding.mode != PadMode::kConstant && arguments.given(places.fill)) {
    DL_ASSIGN_OR_RETURN(const std::string_view mode, arguments.word(places.mode));
    return arguments.fault_at(places.fill, "expected it only with mode=constant, got mode=", mode);
  }
  return padding;
}

// In a frame padding is a stage.
Status add_padding(const Arguments& arguments, Plan& plan, const PaddingArguments& places,
                   const FrameShape& shape, Padding padding) {
  DL_ASSIGN_OR_RETURN(padding.fill, fill_argument(arguments, places.fill, shape.channels));
  if (shape.fixed()) {
    Status fits = padding.fits(shape.height, shape.width);
    if (!fits.is_ok()) return arguments.fault_at(places.padding, fits.message());
  }
  plan.add_stage(make_pad(padding));
  return Status::ok();
}

// That a crop to the first argument fits. In a frame whose size varies, a crop that is too large is an error of the record.
Status want_inside(const Arguments& arguments, const Size& size, const ImageShape& image,
                   const Padding& padding, std::string_view what) {
  const int64_t height = padding.top + image.height + padding.bottom;
  const int64_t width = padding.left + image.width + padding.right;
  if (image.height == FrameShape::kVaries || image.width == FrameShape::kVaries) return Status::ok();
  if (size.height <= height && size.width <= width) return Status::ok();
  return arguments.fault_at(0, "expected at most ", shape_text(std::vector{height, width}), ", ", what,
                            ", got ", shape_text(std::vector{size.height, size.width}));
}

// A crop to the shape of the batch's bucket, of the padded frame. One that is too large is an error of the record.
Status add_bucket_crop(const Arguments& arguments, Plan& plan, const PaddingArguments* places,
                       const ViewStep& crop) {
  if (places != nullptr) {
    DL_ASSIGN_OR_RETURN(const Padding padding, padding_argument(arguments, *places));
    DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
    if (padding.any()) DL_RETURN_IF_ERROR(add_padding(arguments, plan, *places, shape, padding));
  }
  plan.add_view(crop);
  return Status::ok();
}

Status add_center_crop(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const std::optional<ViewStep> to_bucket,
                      bucket_step(arguments, 0, ViewStep::Kind::kCenterCrop, plan));
  if (to_bucket) {
    ViewStep crop = *to_bucket;
    crop.pads = plan.keeps_zero();
    return add_bucket_crop(arguments, plan, nullptr, crop);
  }
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_frame_or_image(arguments, plan));
  DL_ASSIGN_OR_RETURN(const Size size, size_argument(arguments, 0));
  GeometryStep crop{{.kind = ViewStep::Kind::kCenterCrop, .height = size.height, .width = size.width}};
  const bool varies = image.height == FrameShape::kVaries || image.width == FrameShape::kVaries;
  const bool inside = !varies && size.height <= image.height && size.width <= image.width;
  crop.pads = plan.in_frame() && plan.keeps_zero();
  if (inside || (plan.in_frame() && (varies || crop.pads))) {
    plan.add_geometry(crop, image, {});
    return Status::ok();
  }
  // torchvision's _center_crop_compute_padding: zeros, of the field as it is here.
  const int64_t rows = std::max<int64_t>(0, size.height - image.height);
  const int64_t columns = std::max<int64_t>(0, size.width - image.width);
  crop.pad_top = rows / 2, crop.pad_bottom = (rows + 1) / 2;
  crop.pad_left = columns / 2, crop.pad_right = (columns + 1) / 2;
  DL_ASSIGN_OR_RETURN(const ImageShape stored, want_image(arguments, plan));
  DL_RETURN_IF_ERROR(want_countable(arguments, {size.height, size.width, stored.channels}));
  plan.add_geometry(
      crop, stored,
      std::vector<std::byte>(static_cast<size_t>(stored.channels * dtype_bytes(plan.field().dtype))));
  return Status::ok();
}

Status add_random_crop(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kSize, kPadding, kFill, kMode };
  constexpr PaddingArguments kPlaces = {kPadding, kFill, kMode};
  DL_RETURN_IF_ERROR(want_decoded(arguments, plan));
  DL_ASSIGN_OR_RETURN(const std::optional<ViewStep> to_bucket,
                      bucket_step(arguments, kSize, ViewStep::Kind::kRandomCrop, plan));
  if (to_bucket) return add_bucket_crop(arguments, plan, &kPlaces, *to_bucket);
  DL_ASSIGN_OR_RETURN(const Size size, size_argument(arguments, kSize));
  DL_ASSIGN_OR_RETURN(const Padding padding, padding_argument(arguments, kPlaces));
  const DType dtype = plan.field().dtype;
  const bool in_frame = plan.in_frame() && (!padding.any() || (plan.in_pixels() && dtype == DType::kU8));
  DL_ASSIGN_OR_RETURN(const ImageShape image, in_frame ? *plan.image() : want_image(arguments, plan));
  DL_RETURN_IF_ERROR(want_inside(arguments, size, image, padding, "the image with its padding"));
  const ViewStep crop{.kind = ViewStep::Kind::kRandomCrop, .height = size.height, .width = size.width};
  if (in_frame || (padding.any() && padding.mode != PadMode::kConstant)) {
    if (padding.any()) {
      DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
      DL_RETURN_IF_ERROR(add_padding(arguments, plan, kPlaces, shape, padding));
    }
    plan.add_view(crop);
    return Status::ok();
  }
  // On raw tensors of any type one crop makes its constant padding as it copies.
  DL_RETURN_IF_ERROR(want_countable(arguments, {size.height, size.width, image.channels}));
  DL_ASSIGN_OR_RETURN(std::vector<std::byte> fill, arguments.elements(kFill, dtype, image.channels));
  if (!padding.any()) fill.clear();
  plan.add_geometry({crop, padding.left, padding.top, padding.right, padding.bottom}, image, std::move(fill));
  return Status::ok();
}

Status add_pad(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kPadding, kFill, kMode };
  constexpr PaddingArguments kPlaces = {kPadding, kFill, kMode};
  DL_ASSIGN_OR_RETURN(const FrameShape shape, want_frame(arguments, plan));
  DL_ASSIGN_OR_RETURN(const Padding padding, padding_argument(arguments, kPlaces));
  return add_padding(arguments, plan, kPlaces, shape, padding);
}

template <ViewStep::Kind kKind>
Status add_flip(const Arguments& arguments, Plan& plan) {
  DL_ASSIGN_OR_RETURN(const ImageShape image, want_frame_or_image(arguments, plan));
  DL_ASSIGN_OR_RETURN(const double probability, probability_argument(arguments, 0));
  plan.add_geometry({{.kind = kKind, .probability = probability}}, image, {});
  return Status::ok();
}

}  // namespace

Status Padding::fits(int64_t height, int64_t width) const {
  if (mode == PadMode::kConstant) return Status::ok();
  const int64_t beyond = mode == PadMode::kReflect ? 1 : 0;
  int64_t min_height = std::max(top, bottom) + beyond, min_width = std::max(left, right) + beyond;
  if (mode == PadMode::kEdge) min_height = min_width = 1;
  if (height >= min_height && width >= min_width) return Status::ok();
  return error(Code::kOutOfRange, "pad: expected an image of at least ", picture_size(min_height, min_width),
               " for this padding and mode, got ", picture_size(height, width));
}

FrameStage make_pad(const Padding& padding) {
  const auto shape = [padding](FrameShape out) {
    out.of_bucket = false;
    if (out.height != FrameShape::kVaries) out.height += padding.top + padding.bottom;
    if (out.width != FrameShape::kVaries) out.width += padding.left + padding.right;
    return out;
  };
  const auto apply = [padding](const Draws&, FrameScratch& scratch, Frame& frame) {
    return pad(padding, scratch, frame);
  };
  return {false, apply, shape};
}

const Operator center_crop_operator = {{"center_crop", kCenterCropArguments,
                                        "Crops the middle of the image: size, [height, width], or the "
                                        "bucket's shape. A smaller image is padded with zeros.",
                                        "torchvision.transforms.v2.CenterCrop", "0.1"},
                                       add_center_crop};
const Operator random_crop_operator = {
    {"random_crop", kRandomCropArguments,
     "Pads the image on all sides, then crops size (or [height, width], or the bucket's shape) at a random "
     "position. Padding: all sides, [left and right, top and bottom] or [left, top, right, bottom]. mode "
     "chooses fill, or pixels of the image.",
     "torchvision.transforms.v2.RandomCrop", "0.1"},
    add_random_crop};
const Operator pad_operator = {{"pad", kPadArguments,
                                "Adds borders: all sides, [left and right, top and bottom] or [left, top, "
                                "right, bottom]. mode chooses fill, or pixels of the image.",
                                "torchvision.transforms.v2.Pad", "0.1"},
                               add_pad};
const Operator hflip_operator = {
    {"hflip", kFlipArguments, "Mirrors the image left to right with probability p.",
     "torchvision.transforms.v2.RandomHorizontalFlip", "0.1"},
    add_flip<ViewStep::Kind::kFlipX>};
const Operator vflip_operator = {
    {"vflip", kFlipArguments, "Mirrors the image top to bottom with probability p.",
     "torchvision.transforms.v2.RandomVerticalFlip", "0.1"},
    add_flip<ViewStep::Kind::kFlipY>};

}  // namespace dataline
