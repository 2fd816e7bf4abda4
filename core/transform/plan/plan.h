// What operators build: the sample as it is after the operators so far, and the passes that produce it.
//
// Operators are fused into the pass being drafted as long as one reading of the row can do all of them: element steps
// always fuse; crops, flips and layout changes fuse while they apply to the same image. A pass ends where padding would
// have to appear between element steps, where a shape is lost that the pass depends on, and around a pass of its own
// (one_hot, random_erasing of tensors).
//
// A frame begins with decode or with an operator on pixels that raw tensors have no pass for (resize, colour, ...). From
// then on crops and flips are its views, casts and affine maps its tail, and chw and hwc only set its output layout.
//
// Failure: operators check their arguments against field() before they add anything; adding cannot fail.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/field.h"
#include "core/base/simd.h"
#include "core/transform/frame/frame_pass.h"
#include "core/transform/frame/geometry.h"
#include "core/transform/frame/image_pass.h"
#include "core/transform/mix/mix.h"
#include "core/transform/passes/flat_pass.h"
#include "core/transform/passes/program.h"

namespace dataline {

// To operators as written, one more.
void append_operator(std::string& list, std::string_view text);

class Plan {
 public:
  // `settings` outlives the plan; `index`: of the field among the source's.
  Plan(const Field& input, size_t index, const TransformSettings& settings, SimdTarget target);

  const Field& field() const { return field_; }
  // Index of the operator that is adding itself, in its field's list.
  int64_t place() const { return place_; }
  SimdTarget target() const { return target_; }
  // `text`: the operator as the user wrote it.
  void next_operator(std::string_view text);
  // The field is a float only because u8 or u16 were cast to it: still 0..255, not 0..1.
  bool cast_from_pixels() const { return pixels_ && dtype_is_float(field_.dtype); }

  // The field as an image, by its axes (HW, HWC, CHW), or else by its shape: two dims are HW; of three, the one of 1, 3 or
  // 4 is C. Nothing if it is not an image or ambiguous.
  std::optional<ImageShape> image() const;
  // A frame that crops, flips and layouts may join: one that began and was not reshaped since.
  bool in_frame() const { return draft_.frame.has_value() && !draft_.shape_lost; }
  // The same, with pixels as decoded or stored: no casts or affine maps since.
  bool in_pixels() const { return in_frame() && draft_.steps.empty(); }
  // What is 0 in the pixels of the frame is 0 in the field: padding may be added to either.
  bool keeps_zero() const;
  bool decoded() const { return decoded_; }
  bool upright() const { return upright_; }  // decoded as its Exif orientation says
  // Of the field's first record. kUnsupported where the caller has no access to it.
  Result<ImageHeader> first_header() const;

  // The position of channels, by the field's axes; nothing if they do not tell.
  std::optional<Channels> channels() const;

  void add_cast(DType to);
  void add_affine(std::vector<float> a, std::vector<float> b);  // one value, or one per channel
  void add_reshape(std::vector<int64_t> shape, std::string axes);
  // `fill`: one element of the field's type per channel; empty if the step does not pad. In a frame a step that does not pad
  // becomes a view, and `image` is not used.
  void add_geometry(const GeometryStep& step, const ImageShape& image, std::vector<std::byte> fill);
  void add_layout(const ImageShape& image, ImageLayout layout);
  void add_padding(int64_t length, std::vector<std::byte> element);  // to `length` on the first dim
  // To the edge of the batch's bucket. Of a ragged field; must be the last operator of a list.
  void add_bucket_padding(std::vector<std::byte> element);
  bool pads_to_bucket() const { return draft_.padding && draft_.padding->elements < 0; }
  BucketBy buckets() const { return settings_->buckets; }

  // On a ragged u8 field of one dim. The limits are the settings'; `channels` and `dtype` describe the output.
  void add_decode(PixelMode mode, bool orient, int64_t channels, DType dtype);
  // On a frame that want_frame() accepts (operators/operator.h). `place` is filled in.
  void add_view(ViewStep step);
  void add_stage(FrameStage stage);
  // A pass of its own on rows of one size, whose type it keeps.
  void add_pass(PassRef pass, bool draws);
  // A pass of its own that makes `output`.
  struct Made {
    bool draws = false;
    bool pixels = false;  // values of u8 and u16 are those of pixels
  };
  void replace(PassRef pass, Field output, Made made);

  // Must be the last operator of a list.
  void add_mix(MixRequest mix) { mix_ = mix; }
  const std::optional<MixRequest>& mix() const { return mix_; }

  // After the last operator; before program() and split().
  void finish();
  std::unique_ptr<const Program> program() const;
  // The same in two parts, if a device can do the last pass.
  std::optional<DeviceSplit> split() const;
  std::string text() const;  // the operators as written

 private:
  struct BuiltPass {
    Field input, output;
    bool draws = false;
    PassRef pass;
    std::shared_ptr<const FramePlan> frame;  // instead of `pass`, which is made from it
    std::shared_ptr<const FlatPass> flat;    // `pass`, if it is one without padding
    std::optional<ImagePlan> image;          // of `pass`, without its chain
    std::vector<ElementStep> steps;          // of the last three
  };
  struct Padding {
    int64_t elements = 0;  // -1: to the bucket
    size_t step = 0;       // element steps before it
    std::vector<std::byte> element;
  };
  // The pass being drafted.
  struct Draft {
    Field input;
    int64_t item_elements = 1;
    std::vector<ElementStep> steps;
    std::optional<ImagePlan> image;  // its chain is filled in at the end
    std::optional<FramePlan> frame;  // the same
    std::optional<Channels> channels;
    std::optional<Padding> padding;
    bool shape_lost = false;  // reshaped after `image`, `frame` or `channels` was set

    bool empty() const { return steps.empty() && !image && !frame && !padding; }
  };
  struct OperatorText {
    std::string_view text;
    size_t pass = 0;      // index of the pass that it joined
    bool pixels = false;  // a frame's decoding, views and stages, which no device does
  };

  void begin_draft();
  void end_draft();
  void push_step(ElementStep step);
  ImagePlan& image_draft(const ImageShape& image);
  void set_image(const ImageShape& image);
  void pad(int64_t length, int64_t elements, std::vector<std::byte> element);
  std::vector<std::byte> padded_element(const Padding& padding) const;
  void end_image(ElementChain chain, BuiltPass& made);
  void end_flat(ElementChain chain, BuiltPass& made);
  FramePlan& frame_draft(bool before_elements);
  void begin_frame();
  void set_frame(const FrameShape& shape);
  void end_frame(ElementChain chain, BuiltPass& made);
  std::optional<Tail> split_frame(BuiltPass& made) const;
  std::unique_ptr<const Program> program_of(const std::vector<BuiltPass>& passes, Field output,
                                            std::vector<PixelScale> scales) const;

  Field input_;
  size_t index_;
  const TransformSettings* settings_;
  Field field_;
  SimdTarget target_;
  int64_t place_ = 0;
  bool pixels_ = false;  // the values are those of a u8 or u16, whatever the type now
  bool decoded_ = false, upright_ = false;
  std::vector<PixelScale> scales_;  // from pixels to values; empty if there is no such map
  Draft draft_;
  std::vector<BuiltPass> passes_;
  std::vector<OperatorText> written_;
  std::optional<MixRequest> mix_;
  bool joined_frame_ = false;  // the operator that is adding itself did
};

}  // namespace dataline
