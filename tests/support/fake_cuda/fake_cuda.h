/* The controls of the fake CUDA driver: what it pretends to be, what goes wrong, what it saw. Plain C, so that any
 * language can load it. README.md tells what the fake does and what it checks.
 * Threads: any. The fake serializes itself.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FAKE_CUDA_API __attribute__((visibility("default")))

/* What the option `cuda_library` is given: this file, or the real driver that DATALINE_CUDA_LIBRARY names (README.md). */
FAKE_CUDA_API const char* fake_cuda_library(void);
#define FAKE_CUDA_LIBRARY fake_cuda_library()
/* For a test whose controls are asked for in another process: on a real driver it ends here, skipped. */
FAKE_CUDA_API void fake_cuda_only(void);
/* How to find out whether the test has failed already: it is then not skipped, but has failed. on_real_driver.h asks GoogleTest. */
FAKE_CUDA_API void fake_cuda_ask_whether_failed(bool (*failed)(void));

/* What it pretends to be */

/* Ends the streams and forgets everything: 1 device of 1 GiB, CUDA 13.0, no delays, no faults, nothing counted.
 * Handles given out before are unknown from then on. Not while other threads are inside the driver. */
FAKE_CUDA_API void fake_cuda_reset(void);
/* Seed of the delays before each operation and of how late events tell; 0: as fast as it goes. */
FAKE_CUDA_API void fake_cuda_seed(uint64_t seed);
FAKE_CUDA_API void fake_cuda_devices(int32_t count, int64_t bytes_each);
FAKE_CUDA_API void fake_cuda_version(int32_t version);       /* 12040 is 12.4 */
FAKE_CUDA_API void fake_cuda_capability(int32_t capability); /* 90 is 9.0, at first */
FAKE_CUDA_API void fake_cuda_hide(const char* entry_point);
FAKE_CUDA_API void fake_cuda_memory_pools(int32_t supported);
/* Devices that share the host's memory, as Jetson's do: without memory pools; `host_register` 0: those that cannot page-lock
 * (801), which are of before Xavier. */
FAKE_CUDA_API void fake_cuda_integrated(int32_t host_register);
/* A registration takes all pages that it touches, and no other may touch them: what CUDA 4.0 asked for. Else it is its bytes. */
FAKE_CUDA_API void fake_cuda_register_pages(int32_t whole);
/* What a call on a destroyed stream returns: 709 at first, as drivers do where they see it; some say 400. */
FAKE_CUDA_API void fake_cuda_dead_streams(int32_t code);
/* A new stream gets the handle of the one that was destroyed last, as with a real driver, instead of a fresh one. */
FAKE_CUDA_API void fake_cuda_reuse_streams(int32_t on);
/* Page-locking beyond so many bytes is refused as out of memory; -1: no limit. */
FAKE_CUDA_API void fake_cuda_limit_pinned(int64_t bytes);
/* Streams start no operation from now on / go on. */
FAKE_CUDA_API void fake_cuda_pause(void);
FAKE_CUDA_API void fake_cuda_resume(void);
/* Lets the streams of a paused driver run so many operations, in any order; returns when they have. */
FAKE_CUDA_API void fake_cuda_step(int64_t operations);
/* Returns when nothing is queued. Unlike a call of the driver it tells the program nothing: what ran is not known to be
 * done. Not while paused. */
FAKE_CUDA_API void fake_cuda_drain(void);

/* What goes wrong */

/* The call with this index (0: the first from now on), or the `nth` (0: the first from now on) call of `name`, returns
 * `code` and does nothing; `times` calls of those that follow too (1: only that one; -1: for ever). A sticky code loses
 * the device. */
FAKE_CUDA_API void fake_cuda_fail_call(int64_t index, int32_t code, int64_t times);
FAKE_CUDA_API void fake_cuda_fail_name(const char* name, int64_t nth, int32_t code, int64_t times);
/* The nth operation from now on fails in its stream: the device is lost, and calls tell from then on. */
FAKE_CUDA_API void fake_cuda_fail_operation(int64_t nth, int32_t code);
/* The driver goes away, as when the process ends: streams stop where they are, calls return 4. */
FAKE_CUDA_API void fake_cuda_shut_down(void);
FAKE_CUDA_API void fake_cuda_clear_faults(void);

/* What it checks on request */

/* This thread is on the hot path: waiting, allocating and making objects are misuses. */
FAKE_CUDA_API void fake_cuda_hot_path(int32_t on);
/* Copies from host memory that is not registered are misuses. */
FAKE_CUDA_API void fake_cuda_require_pinned(int32_t on);

/* What it saw */

FAKE_CUDA_API int64_t fake_cuda_calls(const char* name); /* since reset; NULL: all */
FAKE_CUDA_API int64_t fake_cuda_calls_here(void);        /* of this thread, since it began */
FAKE_CUDA_API int64_t fake_cuda_calls_after_loss(
    void); /* once a call has told; giving a thread back its context and mode left out */
FAKE_CUDA_API int64_t
fake_cuda_calls_in_child(void); /* in this process, if it is a fork of the one that reset */

/* Misuses, in words: "kind: what". The text lives until reset. */
FAKE_CUDA_API int64_t fake_cuda_misuses(void);
FAKE_CUDA_API const char* fake_cuda_misuse(int64_t index);

/* Live objects: "contexts" (retained), "streams", "events", "modules", "allocations", "registrations". */
FAKE_CUDA_API int64_t fake_cuda_live(const char* kind);
/* Of "streams", "events" and "registrations" those that were made with all of these flags. */
FAKE_CUDA_API int64_t fake_cuda_live_with(const char* kind, uint32_t flags);
FAKE_CUDA_API int64_t fake_cuda_used_bytes(int32_t device);
FAKE_CUDA_API int64_t fake_cuda_pinned_bytes(void);
/* Operations that have not run. */
FAKE_CUDA_API int64_t fake_cuda_pending(void);

enum fake_cuda_kind {
  FAKE_CUDA_COPY_TO_DEVICE = 1,
  FAKE_CUDA_COPY_TO_HOST = 2,
  FAKE_CUDA_COPY_ON_DEVICE = 3,
  FAKE_CUDA_SET = 4,
  FAKE_CUDA_KERNEL = 5,
  FAKE_CUDA_RECORD = 6,
  FAKE_CUDA_WAIT = 7,
  FAKE_CUDA_ALLOCATE = 8,
  FAKE_CUDA_FREE = 9
};

struct fake_cuda_operation {
  int32_t kind;
  int32_t device;
  uint64_t stream;  /* its handle; 0 the legacy one, 2 one of a thread */
  uint64_t event;   /* of a record or wait */
  uint64_t address; /* device memory written, or read by a copy to the host */
  uint64_t host;    /* host memory of a copy */
  int64_t bytes;
  int32_t pinned;    /* of a copy: the host range is registered */
  int64_t queued_ns; /* monotonic */
  int64_t begin_ns;
  int64_t end_ns;
};
/* Operations that ran, in the order of their ends. Fills at most `capacity`; returns how many there are. */
FAKE_CUDA_API int64_t fake_cuda_trace(struct fake_cuda_operation* out, int64_t capacity);

#ifdef __cplusplus
}
#endif
#endif
