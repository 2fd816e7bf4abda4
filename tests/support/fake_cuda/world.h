// All that the fake driver knows, behind one mutex: devices, streams, events, memory, faults and what was seen.
// The entry points (entry_*.cpp) hold it through a Call. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/fake_cuda/clock.h"
#include "tests/support/fake_cuda/driver_api.h"
#include "tests/support/fake_cuda/fake_cuda.h"
#include "tests/support/fake_cuda/memory.h"
#include "tests/support/fake_cuda/twins.h"

namespace fake_cuda {

enum Code : CUresult {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kUnsupportedPtx = 222,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kContextIsDestroyed = 709,
  kAlreadyRegistered = 712,
  kNotRegistered = 713,
  kMisalignedAddress = 716,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCaptureImplicit = 906,
  kCapturedEvent = 907,
  kCaptureWrongThread = 908,
};
bool is_sticky(CUresult code);

// One recording of an event.
struct Mark {
  bool done = false;
  Clock clock;         // what has happened when it has
  int32_t hidden = 0;  // host queries that still do not see it
  int64_t end_ns = 0;
};

// What a stream is put into by cuStreamBeginCapture, and others by waiting for its events: what they are given is noted
// and does not run.
struct Capture {
  int32_t mode = 0;
  std::thread::id thread;  // that began it
  uint32_t origin = 0;     // the stream in which it began
  bool invalid = false, over = false;
  std::set<uint32_t> unjoined;  // streams it went to and did not come back from
};

struct Event {
  int32_t device = 0;
  unsigned flags = 0;                // it was made with
  std::shared_ptr<Mark> latest;      // null: never recorded, or captured
  std::shared_ptr<Capture> capture;  // it was last recorded in
  uint32_t captured_in = 0;          // the stream
};

struct Operation {
  fake_cuda_operation told = {};
  std::vector<std::shared_ptr<Mark>> wait_for;  // of a wait; and what the legacy stream's order asks for
  std::shared_ptr<Mark> mark;                   // done with it
  Clock clock;
  int64_t sequence = 0;
  std::function<void(Operation&)> run;  // null: nothing to do
};

struct Stream : std::enable_shared_from_this<Stream> {
  uint32_t id = 0;
  int32_t device = 0;
  uint64_t handle = 0;         // as a program knows it
  std::shared_ptr<Mark> last;  // of the operation that was queued last
  std::deque<Operation> queue;
  Clock clock;  // before the next operation
  int64_t issued = 0;
  bool blocking = true;              // ordered with the legacy stream
  std::shared_ptr<Capture> capture;  // null: what it is given runs
  bool destroyed = false;            // its thread ends when the queue is done
};

struct Device {
  uint64_t bytes = uint64_t{1} << 30;
  int32_t retained = 0;
  CUresult lost = kSuccess;
  bool told = false;        // some call has returned that code
  uint64_t code_bytes = 0;  // of functions that are loaded
};

// A kernel that was looked up: with lazy loading, the driver's default, its code comes to the device at the first launch.
struct Function {
  const Twin* twin = nullptr;
  uint64_t module = 0;
  bool loaded = false;
};
constexpr uint64_t kFunctionBytes = uint64_t{16} << 10;

struct Fault {
  std::string name;  // empty: any call
  int64_t skip = 0;
  CUresult code = kSuccess;
  int64_t times = 1;  // -1: for ever
};

// What fake_cuda_reset() makes anew.
struct State {
  int32_t version = 13000;
  int32_t capability = 90;
  bool memory_pools = true;
  bool integrated = false;
  bool host_register = true;
  std::set<std::string> hidden;
  std::vector<Device> devices{1};
  int64_t pinned_limit = -1;
  uint64_t seed = 0;
  bool require_pinned = false;

  bool initialized = false;
  bool paused = false;
  int64_t steps = 0;  // operations a paused driver may still run
  bool shut_down = false;
  bool shut_down_told = false;
  std::vector<Fault> faults;
  int64_t operation_fault_in = -1;  // operations until one fails; -1: none does
  CUresult operation_fault = kSuccess;

  DeviceMemory memory;
  HostRanges host;
  std::map<uint64_t, std::shared_ptr<Stream>> streams;  // by handle; default streams by default_stream()
  std::vector<std::shared_ptr<Stream>> dying;           // destroyed, perhaps with work that is still to run
  std::set<uint64_t> dead_streams;                      // handles of destroyed ones
  CUresult dead_stream_code = kContextIsDestroyed;
  bool reuse_streams = false;
  std::vector<uint64_t> reusable;  // handles, the last destroyed at the end
  std::map<uint64_t, Event> events;
  std::map<uint64_t, int32_t> modules;  // handle -> device
  std::map<uint64_t, Function> functions;
  std::vector<std::shared_ptr<Capture>> captures;  // not over
  uint32_t next_id = 1;
  Clock host_clock;  // what the host has learnt to have happened

  int32_t process = 0;
  std::map<std::string, int64_t> calls;
  int64_t calls_total = 0;
  int64_t calls_after_loss = 0;
  std::deque<std::string> misuses;  // a deque: texts stay where they are
  std::vector<fake_cuda_operation> trace;

  uint64_t free_bytes(int32_t device) const {
    const Device& d = devices[static_cast<size_t>(device)];
    const uint64_t used = memory.used(device) + d.code_bytes;
    return used < d.bytes ? d.bytes - used : 0;
  }
};

struct World : State {
  std::mutex mutex;
  std::condition_variable changed;
  int64_t threads = 0;  // of streams
  bool ending = false;  // they all shall end

  void misuse(std::string text) { misuses.push_back(std::move(text)); }
  void lose(int32_t device, CUresult code);
};

World& world();  // never destroyed: streams may outlive main()
extern std::atomic<int64_t> calls_in_child;

int64_t now_ns();
uint64_t draw(uint64_t seed, uint64_t a, uint64_t b);

// What a call asks for beforehand: nothing, that the driver was started, or a context too. Only those that need a context say
// what has become of it: cuda.h lists no such code at the others (cuCtxGetCurrent, say).
enum class Needs { kNothing, kDriver, kContext };

// Entering the driver: counts the call, lets it fail, and holds the mutex as long as it lasts.
class Call {
 public:
  explicit Call(const char* name, Needs needs = Needs::kContext);

  CUresult code = kSuccess;  // not success: return it at once
  int32_t device = -1;       // of the current context

  // A call to a lost device: counted once its caller has been told. Returns what to tell.
  CUresult tell(int32_t lost_device);
  bool in_child() const { return !lock_.owns_lock(); }
  // The call waits for the device, allocates, makes or ends an object: not on a hot path, and unsafe in a capture.
  void blocks();
  // A capture is open that prohibits this thread from what is unsafe: `code` says so.
  void unsafe();
  // An operation that is not allowed in a capture ends it.
  void refuse(CUresult why, const std::shared_ptr<Capture>& capture);
  void wrong(const char* kind, const std::string& what);
  Stream* stream(CUstream handle);  // null: the misuse is told and `code` says so
  Stream* to_queue(
      CUstream handle);             // the same, for an operation; null too where a capture does not allow it
  Stream* to_ask(CUstream handle);  // the same, to wait for it or ask how far it is
  Event* event(CUevent handle);
  void wait(const std::function<bool()>& condition);  // or until the device is lost: then `code` says so

  World& w;

 private:
  CUresult judge();
  CUresult faulty();  // what fake_cuda_fail_*() says of it
  bool gives_back() const;
  CUresult lost() const;  // of the current context's device
  std::unique_lock<std::mutex> lock_;
  const char* name_;
  const Needs needs_;
};

// A thread's current contexts, as devices. No vector: it is used until the thread's very end.
class ContextStack {
 public:
  bool empty() const { return count_ == 0; }
  int32_t back() const { return at_[count_ - 1]; }
  void push_back(int32_t device) { at_.at(count_++) = device; }
  void pop_back() { --count_; }
  void clear() { count_ = 0; }

 private:
  std::array<int32_t, 64> at_ = {};
  size_t count_ = 0;
};
ContextStack& context_stack();  // of this thread
int& capture_mode();            // of this thread
bool& hot_path();               // of this thread
int64_t& calls_here();          // of this thread

// stream.cpp
constexpr uint64_t kLegacy = 1, kPerThread = 2;  // handles; 0 is the legacy stream too
bool is_legacy(const Stream& stream);
// Where a default stream is kept: below all handles that are given out.
uint64_t default_stream(uint64_t handle, int32_t device);
std::shared_ptr<Stream> make_stream(World& w, int32_t device, bool blocking);  // with its thread
void queue_operation(World& w, Stream& stream, Operation operation);
void end_streams(World& w, std::unique_lock<std::mutex>& lock);  // returns when all threads are gone
// Uses a range in the operation that runs; throws IllegalAddress.
std::byte* use_range(World& w, const Operation& operation, uint64_t stream_id, uint64_t address,
                     uint64_t bytes, bool write, const char* what);
struct IllegalAddress {};
struct MisalignedAddress {};

// entry_capture.cpp
// What a wait for the event is where one of the two is captured; false: neither is.
bool capture_wait(Call& call, Stream& stream, const Event& event);

// image.cpp
// What a driver of this version says of the image on a device of this compute capability (90 is 9.0).
CUresult judge_image(const void* image, int32_t capability, int32_t driver);

// Handles: numbers that are no addresses, so that a stale one is found and never followed.
constexpr uint64_t kContextBase = 0xC000000000, kStreamBase = 0x5000000000, kEventBase = 0xE000000000,
                   kModuleBase = 0xA000000000, kFunctionBase = 0xF000000000;
template <typename Handle>
Handle handle_of(uint64_t value) {
  return reinterpret_cast<Handle>(value);
}
template <typename Handle>
uint64_t value_of(Handle handle) {
  return reinterpret_cast<uint64_t>(handle);
}
inline CUcontext context_of(int32_t device) {
  return handle_of<CUcontext>(kContextBase + static_cast<uint64_t>(device) * 16);
}

void need_fake(const char* control);  // real_driver.cpp: ends the process where tests run on a real driver

}  // namespace fake_cuda
