// Any bytes as frames of LZ4 or Zstandard: the first says which, the next two how much they should inflate to. Refused by name, or
// they inflate to the same a second time, and to no byte more or less; frames of Zstandard hold at most their bound.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/frames.h"

#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

constexpr int64_t kMostBytes = 1 << 20;

Status inflate(FrameCodec codec, Bytes frames, std::string& out) {
  return FrameInflater().inflate(codec, "fuzz.frames", frames, std::as_writable_bytes(std::span(out)));
}

void check_exact(FrameCodec codec, Bytes frames, size_t length) {
  std::string out(length, '\x5a'), again(length, '\x00');
  const Status status = inflate(codec, frames, out);
  if (!status.is_ok()) return check_names(status, "fuzz.frames");
  check(inflate(codec, frames, again).is_ok() && again == out, "the same bytes inflate to the same");
  check(static_cast<int64_t>(length) <= max_inflated_frame_bytes(codec, std::ssize(frames)),
        "no more comes out than the format can make");
  std::string more(length + 1, '\0');
  check(!inflate(codec, frames, more).is_ok(), "data that ends early is told");
  if (length == 0) return;
  std::string less(length - 1, '\0');
  check(!inflate(codec, frames, less).is_ok(), "data that goes on is told");
}

void check_bound(Bytes frames) {
  const Result<int64_t> bound = zstd_frames_bound("fuzz.frames", frames);
  if (!bound.is_ok()) return check_names(bound.status(), "fuzz.frames: offset ");
  check(bound.value() <= max_inflated_frame_bytes(FrameCodec::kZstd, std::ssize(frames)),
        "the bound is one that the format allows");
  if (bound.value() > kMostBytes) return;
  std::string out(static_cast<size_t>(bound.value()), '\0');
  FrameInflater inflater;
  const Result<int64_t> written =
      inflater.inflate_zstd("fuzz.frames", frames, std::as_writable_bytes(std::span(out)));
  if (!written.is_ok()) return check_names(written.status(), "fuzz.frames");
  check(written.value() <= bound.value(), "frames hold no more than their bound");
  check_exact(FrameCodec::kZstd, frames, static_cast<size_t>(written.value()));
}

void run(std::string_view input) {
  if (input.size() < 3) return;
  const FrameCodec codec = byte_at(input, 0) % 2 == 0 ? FrameCodec::kLz4 : FrameCodec::kZstd;
  const auto length = static_cast<size_t>(number_at(input, 1, 2, true));
  const Bytes frames = std::as_bytes(std::span(input.substr(3)));
  check_exact(codec, frames, length);
  if (codec == FrameCodec::kZstd) check_bound(frames);
}

const Target kTarget("frames", run);

}  // namespace
}  // namespace dataline::fuzz
