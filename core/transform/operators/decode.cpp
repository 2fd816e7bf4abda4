// Encoded bytes to a frame. What comes out has one type for all records: with mode=unchanged that of the first one.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "core/transform/operators/checks.h"

namespace dataline {
namespace {

enum Argument : size_t { kMode, kOrientation };

constexpr std::array<std::string_view, 4> kModes = {"rgb", "gray", "rgba", "unchanged"};
constexpr std::array kPixelModes = {PixelMode::kRgb, PixelMode::kGray, PixelMode::kRgba,
                                    PixelMode::kUnchanged};
constexpr std::array<int64_t, 3> kChannels = {3, 1, 4};

}  // namespace

Status add_decode(const Arguments& arguments, Plan& plan) {
  const Field& field = plan.field();
  if (plan.decoded()) return arguments.fault("expected encoded bytes, got what is decoded already");
  if (field.kind != FieldKind::kRagged || field.dtype != DType::kU8 || field.shape.size() != 1)
    return arguments.fault("expected encoded bytes, u8[-1], got ", field_type_text(field),
                           field.kind == FieldKind::kDense && plan.image() ? ", pixels already" : "");
  size_t mode = 0;
  if (arguments.given(kMode)) {
    DL_ASSIGN_OR_RETURN(mode, arguments.choice(kMode, kModes));
  }
  bool orient = false;
  if (arguments.given(kOrientation)) {
    DL_ASSIGN_OR_RETURN(orient, arguments.boolean(kOrientation));
  }
  if (kPixelModes[mode] != PixelMode::kUnchanged) {
    plan.add_decode(kPixelModes[mode], orient, kChannels[mode], DType::kU8);
    return Status::ok();
  }
  Result<ImageHeader> header = plan.first_header();
  if (!header.is_ok())
    return arguments.fault_at(
        kMode, "expected a first record whose header tells channels and bits: ", header.status().message());
  plan.add_decode(PixelMode::kUnchanged, orient, header.value().channels,
                  header.value().bits > 8 ? DType::kU16 : DType::kU8);
  return Status::ok();
}

}  // namespace dataline
