// Encoded bytes to a frame. All records have the same type: with mode=unchanged that of the first one.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/operators/operator.h"

namespace dataline {
namespace {

constexpr OperatorArgument kDecodeArguments[] = {{"mode", "rgb, gray, rgba or unchanged", "rgb"},
                                                 {"orientation", "true or false", "false"}};

Status add_decode(const Arguments& arguments, Plan& plan) {
  enum Argument : size_t { kMode, kOrientation };
  const Field& field = plan.field();
  if (plan.decoded()) return arguments.fault("expected encoded bytes, got an image that is already decoded");
  if (field.kind != FieldKind::kRagged || field.dtype != DType::kU8 || field.shape.size() != 1)
    return arguments.fault(
        "expected encoded bytes, u8[-1], got ", field_type_text(field),
        field.kind == FieldKind::kDense && plan.image() ? ", which is already pixels" : "");
  DL_ASSIGN_OR_RETURN(const PixelMode mode,
                      arguments.choice<PixelMode>(kMode, {{"rgb", PixelMode::kRgb},
                                                          {"gray", PixelMode::kGray},
                                                          {"rgba", PixelMode::kRgba},
                                                          {"unchanged", PixelMode::kUnchanged}}));
  DL_ASSIGN_OR_RETURN(const bool orient, arguments.boolean(kOrientation));
  if (mode != PixelMode::kUnchanged) {
    plan.add_decode(mode, orient, channels_of(mode), DType::kU8);
    return Status::ok();
  }
  Result<ImageHeader> header = plan.first_header();
  if (!header.is_ok())
    return arguments.fault_at(
        kMode, "expected a first record whose header states channels and bits: ", header.status().message());
  plan.add_decode(mode, orient, header.value().channels, header.value().bits > 8 ? DType::kU16 : DType::kU8);
  return Status::ok();
}

}  // namespace

const Operator decode_operator = {
    {"decode", kDecodeArguments,
     "Decodes JPEG, PNG, WebP or PNM bytes to u8 pixels, HWC: 3 channels (rgb), 1 (gray), 4 (rgba), or as in "
     "the first record (unchanged, 16 bits as u16). orientation=true turns the image upright by its Exif tag "
     "or XMP. Decodes only the part that the next operators need.",
     "PIL.Image.convert, torchvision.io.decode_image", "0.1"},
    add_decode};

}  // namespace dataline
