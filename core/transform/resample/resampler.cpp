// Streams lines through the kernels. Memory comes from the row's scratch: a block of lines between the passes (or a ring of
// them, columns first), a block of finished lines, a transposed strip, and tables too large for the cache.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/resample/resampler.h"

#include <algorithm>
#include <cstring>

#include "core/base/checked.h"
#include "core/transform/elements/kernels.h"
#include "core/transform/resample/kernels.h"

namespace dataline {
namespace {

constexpr int64_t kMaxBlock = 32;
constexpr int64_t kTurnedBytes = 24 << 10;  // of a strip, if taps are few enough: half of an L1 cache

// Memory of one view, allocated piece by piece; one check at the end tells whether all allocations succeeded.
class Room {
 public:
  Room(FrameScratch& scratch, const View& view) : scratch_(scratch), view_(view), mark_(scratch.mark()) {}
  ~Room() { scratch_.release(mark_); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  template <typename T>
  T* take(int64_t count) {
    const int64_t bytes = count * static_cast<int64_t>(sizeof(T));
    auto* at = reinterpret_cast<T*>(scratch_.take(bytes));
    if (at == nullptr && status_.is_ok()) status_ = scratch_.too_large(view_.height, view_.width, bytes);
    return at;
  }
  const Status& status() const { return status_; }

 private:
  FrameScratch& scratch_;
  const View& view_;
  int64_t mark_;
  Status status_;
};

// The state of one run().
struct Job {
  const View& view;
  LineSource& source;
  LineSink& sink;
  int64_t channels;
  const ViewLayout& layout;
  const ResampleKernels& kernels;
  Taps rows;
  ColumnsJob turn{};
};

void finish_line(const Job& job, int64_t y, const std::byte* line) {
  const int64_t at = job.view.flip_y ? job.view.out_height - 1 - y : y;
  std::memcpy(job.sink.line(at), line, static_cast<size_t>(job.view.out_width * job.channels));
  job.sink.done(at);
}

// Source columns that outputs [begin, begin + count) touch.
TapRange span_of(const Taps& taps, int64_t begin, int64_t count) {
  const int64_t a = taps.first[begin], b = taps.first[begin + count - 1];  // decreasing if flipped
  return {std::min(a, b), std::abs(b - a) + taps.stride};
}

int64_t widest_strip(const Taps& taps, int64_t outputs, int64_t strip) {
  int64_t widest = 0;
  for (int64_t x = 0; x < outputs; x += strip)
    widest = std::max(widest, span_of(taps, x, std::min(strip, outputs - x)).count);
  return widest;
}

// Fills job.turn but for its lines.
Status prepare_columns(Job& job, const Taps& taps, Room& room) {
  ColumnsJob& turn = job.turn;
  turn.channels = job.channels;
  turn.outputs = job.view.out_width;
  turn.taps = taps;
  turn.passes = job.layout.passes;
  if (job.kernels.block == 1) return Status::ok();
  const int64_t column_bytes = job.channels * job.kernels.block * static_cast<int64_t>(sizeof(int16_t));
  int64_t widest = 0;
  for (turn.strip = 64; turn.strip > 16; turn.strip /= 2) {
    widest = widest_strip(turn.taps, turn.outputs, turn.strip);
    if (widest * column_bytes <= kTurnedBytes) break;
  }
  if (turn.strip == 16) widest = widest_strip(turn.taps, turn.outputs, turn.strip);
  // Eight elements are transposed at once, starting at a multiple of eight.
  turn.turned = room.take<int16_t>((widest * job.channels + 16) * job.kernels.block);
  turn.results = room.take<int16_t>(turn.strip * job.channels * job.kernels.block);
  return room.status();
}

// A block of lines of `elements` and their pointers.
template <typename T>
void lay_out(T* memory, int64_t pitch, int64_t count, T** lines) {
  for (int64_t i = 0; i < count; ++i) lines[i] = memory + i * pitch;
}

// The sum of lines for output line y.
RowsJob rows_job(const Job& job, int64_t y, const std::byte* const* lines, int64_t elements, std::byte* out) {
  return {.lines = lines,
          .count = job.rows.counts[y],
          .weights = job.rows.weights + y * job.rows.stride,
          .elements = elements,
          .out = out,
          .passes = job.layout.passes,
          .shift = job.rows.shift};
}

Status rows_first(Job& job, Room& room) {
  const int64_t block = job.kernels.block, elements = job.layout.touched_columns.count * job.channels;
  const int64_t pitch = round_up(elements + kLineSlack, 64);
  const int64_t out_pitch = round_up(job.view.out_width * job.channels + kLineSlack, 64);
  auto* middle = room.take<int16_t>(block * pitch);
  auto* finished = room.take<std::byte>(block * out_pitch);
  DL_RETURN_IF_ERROR(room.status());
  int16_t* lines[kMaxBlock];
  std::byte* out[kMaxBlock];
  lay_out(middle, pitch, block, lines);
  lay_out(finished, out_pitch, block, out);
  ColumnsJob turn = job.turn;
  turn.lines = lines;
  turn.out = out;
  for (int64_t first = 0; first < job.view.out_height; first += block) {
    const int64_t count = std::min(block, job.view.out_height - first);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t y = first + i;
      const std::byte* const* source = job.source.lines(job.rows.first[y], job.rows.counts[y]);
      if (source == nullptr) return job.source.status();
      job.kernels.rows_from_bytes(rows_job(job, y, source, elements, reinterpret_cast<std::byte*>(lines[i])));
    }
    for (int64_t i = count; i < block; ++i) lines[i] = lines[count - 1];  // the last block: results not used
    job.kernels.columns_to_bytes(turn);
    for (int64_t i = 0; i < count; ++i) finish_line(job, first + i, out[i]);
  }
  return Status::ok();
}

// The next block of source lines, from `first` on, to `to`.
Status blend_columns(Job& job, int64_t first, int64_t count, int16_t* const* widened, std::byte* const* to,
                     std::byte* spare) {
  const std::byte* const* source = job.source.lines(first, count);
  if (source == nullptr) return job.source.status();
  const int16_t* lines[kMaxBlock];
  std::byte* out[kMaxBlock];
  for (int64_t i = 0; i < job.kernels.block; ++i) {
    lines[i] = widened[std::min(i, count - 1)];
    out[i] = i < count ? to[i] : spare;
    if (i < count) job.kernels.widen(source[i], job.layout.touched_columns.count * job.channels, widened[i]);
  }
  ColumnsJob turn = job.turn;
  turn.lines = lines;
  turn.out = out;
  job.kernels.columns_to_words(turn);
  return Status::ok();
}

Status columns_first(Job& job, Room& room) {
  const int64_t block = job.kernels.block, out_elements = job.view.out_width * job.channels;
  const int64_t pitch = round_up(job.layout.touched_columns.count * job.channels + kLineSlack, 64);
  const int64_t out_pitch = round_up(out_elements + kLineSlack, 64);
  const int64_t slots = job.rows.stride + block;
  auto* widened = room.take<int16_t>(block * pitch);
  // Lines after the column pass, kept as long as the line pass needs them: a ring, listed twice so that any run of them is
  // contiguous.
  auto* kept = room.take<int16_t>((slots + 1) * out_pitch);
  auto** ring = room.take<std::byte*>(2 * slots);
  auto* finished = room.take<std::byte>(out_pitch);
  DL_RETURN_IF_ERROR(room.status());
  int16_t* lines[kMaxBlock];
  lay_out(widened, pitch, block, lines);
  for (int64_t i = 0; i < 2 * slots; ++i)
    ring[i] = reinterpret_cast<std::byte*>(kept + i % slots * out_pitch);
  auto* const spare = reinterpret_cast<std::byte*>(kept + slots * out_pitch);
  int64_t ready = 0;
  for (int64_t y = 0; y < job.view.out_height; ++y) {
    const int64_t first = job.rows.first[y], count = job.rows.counts[y];
    while (ready < first + count) {
      const int64_t next = std::min(block, job.layout.touched_rows.count - ready);
      DL_RETURN_IF_ERROR(blend_columns(job, ready, next, lines, ring + ready % slots, spare));
      ready += next;
    }
    job.kernels.rows_from_words(rows_job(job, y, ring + first % slots, out_elements, finished));
    finish_line(job, y, finished);
  }
  return Status::ok();
}

Status copy_lines(const View& view, int64_t pixel_bytes, ReverseKernel reverse, LineSource& source,
                  LineSink& sink) {
  for (int64_t y = 0; y < view.out_height; ++y) {
    const std::byte* const* line = source.lines(y, 1);
    if (line == nullptr) return source.status();
    const int64_t at = view.flip_y ? view.out_height - 1 - y : y;
    if (view.flip_x)
      reverse(line[0], sink.line(at), view.out_width, pixel_bytes);
    else
      std::memcpy(sink.line(at), line[0], static_cast<size_t>(view.out_width * pixel_bytes));
    sink.done(at);
  }
  return Status::ok();
}

class StreamResampler : public Resampler {
 public:
  explicit StreamResampler(SimdTarget target) : target_(target) {
    for (const Arithmetic each : {Arithmetic::kPositive, Arithmetic::kSigned, Arithmetic::kExact})
      kernels_[static_cast<size_t>(each)] = resample_kernels(target, each);
  }

  Need need(const View& view) override {
    const ViewLayout layout = view_layout(view);
    Need need;
    need.region = {view.top + layout.touched_rows.first, view.left + layout.touched_columns.first,
                   layout.touched_rows.count, layout.touched_columns.count};
    if (view.scales()) {
      const Passes& passes = layout.passes;
      need.max_lines = passes.columns_first ? kernels_of(passes).block : max_taps(layout.rows.axis);
    }
    need.max_lines = std::min(need.max_lines, need.region.height);
    return need;
  }

  Status run(const View& view, int64_t channels, int64_t element_bytes, LineSource& source, LineSink& sink,
             FrameScratch& scratch) override {
    if (!view.scales()) {
      const int64_t pixel_bytes = channels * element_bytes;
      return copy_lines(view, pixel_bytes, reverse_kernel(target_, pixel_bytes), source, sink);
    }
    Room room(scratch, view);
    const ViewLayout layout = view_layout(view);
    Job job{view, source, sink, channels, layout, kernels_of(layout.passes), {}, {}};
    const auto memory = [&](int64_t bytes) { return room.take<std::byte>(bytes); };
    const Taps* row_taps = rows_.get(layout.rows, memory);
    const Taps* column_taps = columns_.get(layout.columns, memory);
    DL_RETURN_IF_ERROR(room.status());
    job.rows = *row_taps;
    DL_RETURN_IF_ERROR(prepare_columns(job, *column_taps, room));
    return layout.passes.columns_first ? columns_first(job, room) : rows_first(job, room);
  }

 private:
  const ResampleKernels& kernels_of(const Passes& passes) const {
    return kernels_[static_cast<size_t>(passes.arithmetic)];
  }

  SimdTarget target_;
  ResampleKernels kernels_[3];
  TapsCache rows_, columns_;
};

}  // namespace

std::unique_ptr<Resampler> make_resampler(SimdTarget target) {
  return std::make_unique<StreamResampler>(target);
}

}  // namespace dataline
