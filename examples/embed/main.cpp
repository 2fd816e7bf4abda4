// A game's frame loop that learns on the side: the loader is polled once a frame and never waited for.
// SPDX-License-Identifier: Apache-2.0
//
//   example_embed [FRAMES [FRAMES_PER_SECOND [BUDGET_US]]]
//
// With BUDGET_US there is no thread: each frame loads for so many microseconds. Without, one worker loads beside the game.
//
// Built without exceptions and without run-time type information, linked with the static library. Memory
// comes from the engine's heap, remarks go to the engine's log, the data is the engine's own, borrowed and
// not copied.
#include <dataline.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "engine.h"
#include "pilot.h"

namespace {

constexpr int64_t kHeapBytes = 64 << 20;

struct Tally {
  int64_t frames = 0;
  int64_t batches = 0;
  int64_t epochs = 0;
  double longest_call_us = 0.0;
  float first_error = 0.0f;
  float last_error = 0.0f;
};

int fail(const char* doing, const dl_error& error) {
  std::fprintf(stderr, "example_embed: %s: %s\n", doing, error.message);
  return 1;
}

// The recording is lent: `returned` becomes true when nothing of Dataline's looks at it any more.
dl_status lend_recording(const Recording& recording, std::atomic<bool>* returned, const dl_options* options,
                         dl_dataset** out, dl_error* error) {
  const int64_t sensor_shape[] = {Recording::kMoments, kSensors};
  const int64_t control_shape[] = {Recording::kMoments, kControls};
  dl_array arrays[2] = {};
  for (dl_array& array : arrays) {
    array.struct_size = sizeof array;
    array.kind = DL_KIND_DENSE;
    array.dtype = DL_DTYPE_F32;
    array.rank = 2;
  }
  arrays[0].name = "sensors";
  arrays[0].shape = sensor_shape;
  arrays[0].data = recording.sensors;
  arrays[1].name = "controls";
  arrays[1].shape = control_shape;
  arrays[1].data = recording.controls;
  const auto give_back = [](void* context) { static_cast<std::atomic<bool>*>(context)->store(true); };
  return dl_dataset_from_arrays(arrays, 2, give_back, returned, options, out, error);
}

dl_status configure(dl_options* options, EngineHeap& heap, int64_t budget_us, dl_error* error) {
  const dl_allocator allocator = heap.table();
  const dl_log log = engine_log();
  dl_status status = dl_options_set_allocator(options, &allocator, error);
  if (status == DL_OK) status = dl_options_set_log(options, &log, error);
  if (status == DL_OK) status = dl_options_set(options, "memory_budget", "16MiB", error);
  if (status == DL_OK) status = dl_options_set(options, "shuffle", "full", error);
  if (status == DL_OK) status = dl_options_set_i64(options, "batch_size", 64, error);
  if (status == DL_OK) status = dl_options_set_i64(options, "num_workers", budget_us > 0 ? 0 : 1, error);
  return status;
}

// Takes a batch if one is ready. DL_TIMEOUT says that none is: the frame goes on without.
dl_status poll_loader(dl_loader* loader, int64_t budget_us, Pilot& pilot, Tally& tally, dl_error* error) {
  dl_batch* batch = nullptr;
  const auto before = FrameClock::Clock::now();
  dl_status status = budget_us > 0 ? dl_loader_work(loader, budget_us * 1000, error) : DL_OK;
  if (status == DL_OK) status = dl_loader_next(loader, 0, &batch, error);
  const std::chrono::duration<double, std::micro> took = FrameClock::Clock::now() - before;
  if (took.count() > tally.longest_call_us) tally.longest_call_us = took.count();
  if (status == DL_END_OF_EPOCH) ++tally.epochs;
  if (status != DL_OK) return status;

  int32_t count = 0;
  const dl_view* views = dl_batch_views(batch, &count);
  const auto floats = [views](int32_t field) {
    const dl_view& view = *dl_view_at(views, field);
    return reinterpret_cast<const float*>(static_cast<const char*>(view.data) + view.byte_offset);
  };
  tally.last_error = pilot.learn(floats(0), floats(1), views->shape[0]);
  if (tally.batches++ == 0) tally.first_error = tally.last_error;
  dl_batch_release(batch);
  return status;
}

// Stands for everything else a game does in a frame.
float simulate(int64_t frame) {
  float energy = 0.0f;
  for (int body = 1; body <= 2000; ++body) energy += std::sin(static_cast<float>(frame * body) * 1e-3f);
  return energy;
}

int play(dl_loader* loader, int64_t frames, int frames_per_second, int64_t budget_us, Tally& tally) {
  Pilot pilot;
  FrameClock clock(frames_per_second);
  dl_error error = DL_ERROR_INIT;
  float energy = 0.0f;
  for (; tally.frames < frames; ++tally.frames) {
    energy += simulate(tally.frames);
    if (poll_loader(loader, budget_us, pilot, tally, &error) < 0) return fail("loading", error);
    clock.wait_for_next_frame();
  }
  return std::isfinite(energy) ? 0 : 1;
}

int run(EngineHeap& heap, int64_t frames, int frames_per_second, int64_t budget_us) {
  const std::unique_ptr<Recording> recording(new Recording);
  recording->fill();
  std::atomic<bool> returned{false};
  Tally tally;
  dl_options* options = nullptr;
  dl_dataset* dataset = nullptr;
  dl_loader* loader = nullptr;
  dl_error error = DL_ERROR_INIT;
  dl_status status = dl_options_create(&options, &error);
  if (status == DL_OK) status = configure(options, heap, budget_us, &error);
  if (status == DL_OK) status = lend_recording(*recording, &returned, options, &dataset, &error);
  if (status == DL_OK) status = dl_loader_create(dataset, options, &loader, &error);
  int result =
      status == DL_OK ? play(loader, frames, frames_per_second, budget_us, tally) : fail("starting", error);
  dl_loader_destroy(loader);
  dl_dataset_destroy(dataset);
  dl_options_destroy(options);
  if (result == 0 && !returned.load()) {
    std::fprintf(stderr, "example_embed: the recording was not given back\n");
    result = 1;
  }
  std::printf("frames: %" PRId64 " at %d a second\n", tally.frames, frames_per_second);
  std::printf("batches: %" PRId64 ", frames without one: %" PRId64 "\n", tally.batches,
              tally.frames - tally.batches);
  std::printf("epochs finished: %" PRId64 "\n", tally.epochs);
  std::printf("longest time of a frame in the loader: %.1f us\n", tally.longest_call_us);
  std::printf("pilot's error: %.4f at first, %.4f at last\n", tally.first_error, tally.last_error);
  return result;
}

// A whole number in 1 .. most, or -1.
int64_t number(const char* text, int64_t most) {
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  return end != text && *end == '\0' && value >= 1 && value <= most ? value : -1;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t frames = argc > 1 ? number(argv[1], 1000000) : 600;
  const int64_t frames_per_second = argc > 2 ? number(argv[2], 1000) : 120;
  const int64_t budget_us = argc > 3 ? number(argv[3], 1000000) : 0;
  if (argc > 4 || frames < 0 || frames_per_second < 0 || budget_us < 0) {
    std::fprintf(
        stderr,
        "usage: example_embed [FRAMES [FRAMES_PER_SECOND [BUDGET_US]]]   (600, 120 and a worker; at most "
        "1000000, 1000 and 1000000)\n");
    return 2;
  }
  EngineHeap heap(kHeapBytes);
  const int result = run(heap, frames, static_cast<int>(frames_per_second), budget_us);
  std::printf("engine heap: peak %.2f MiB in %" PRId64 " allocations, %" PRId64 " bytes left\n",
              static_cast<double>(heap.peak_bytes()) / (1 << 20), heap.allocations(), heap.used_bytes());
  return heap.used_bytes() == 0 ? result : 1;
}
