// A device that is lost, at each call and at each operation of a job: kDeviceLost everywhere, no further call of the driver,
// nothing hangs, the host side ends cleanly. And faults that are no loss: an error, never silence.
// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "tests/device/device_support.h"

namespace dataline::loss_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int64_t kSlots = 2, kBatches = 6, kBytes = 3000;
constexpr int32_t kSticky[] = {719, 4}, kPlain[] = {1, 2};

// Everything that a loader does in its life, with a consumer's stream that it does not own. The consumer itself makes no
// call of the driver, so that each one counted is the library's.
class Job {
 public:
  explicit Job(void* stream) : stream_(stream) {}

  // Runs until something fails; the first error, or ok.
  Status run(const DeviceRequest& request) {
    DL_ASSIGN_OR_RETURN(device, open_for_workers(request));
    opened = true;
    pinned = device->pin(host_.slot(0), host_.stride(), kSlots).take();
    DL_ASSIGN_OR_RETURN(slots_, device->make_slots(kSlots, host_.stride()));
    DL_ASSIGN_OR_RETURN(auto block, device->make_block(kBytes));
    DL_RETURN_IF_ERROR(block->upload(0, host_.slot(0), kBytes));
    for (int64_t batch = 0; batch < kBatches; ++batch) DL_RETURN_IF_ERROR(deliver(batch));
    finished = true;
    return Status::ok();
  }

  // What is left to do after a loss: each is refused, none calls.
  void expect_refusals() {
    const int64_t calls = fake_cuda_calls(nullptr);
    EXPECT_TRUE(device->lost());
    EXPECT_EQ(device->make_slots(1, 100).status().code(), Code::kDeviceLost);
    EXPECT_EQ(device->make_block(100).status().code(), Code::kDeviceLost);
    EXPECT_EQ(device->pin(host_.slot(0), host_.stride(), kSlots).take(), 0);
    for (auto& slot : slots_) {
      const Status sent = slot->send(host_.slot(0), whole(kBytes), {});
      EXPECT_EQ(sent.code(), Code::kDeviceLost);
      EXPECT_THAT(sent.message(), AllOf(HasSubstr("cuda:0 is lost: "), HasSubstr("cu")));
      EXPECT_TRUE(slot->copies_done()) << "nothing keeps the host memory";
      EXPECT_EQ(slot->wait_for_copies().code(), Code::kDeviceLost);
      EXPECT_EQ(slot->wait(stream_).code(), Code::kDeviceLost);
      EXPECT_EQ(slot->release(stream_).code(), Code::kDeviceLost);
      EXPECT_EQ(device->copy_slot(*slot, 100).status().code(), Code::kDeviceLost);
      slot->done();
    }
    EXPECT_EQ(fake_cuda_calls(nullptr), calls);
  }

  void end() {
    slots_.clear();
    if (device != nullptr) device->unpin();
    device.reset();
  }

  std::shared_ptr<Device> device;
  int64_t pinned = 0;
  bool opened = false, finished = false;
  int64_t telling_calls = 0;  // of the driver, after which nothing comes that could tell of a failure

 private:
  Status deliver(int64_t batch) {
    const int64_t i = batch % kSlots;
    DeviceSlot& slot = *slots_[static_cast<size_t>(i)];
    if (!slot.copies_done()) DL_RETURN_IF_ERROR(slot.wait_for_copies());
    DL_RETURN_IF_ERROR(slot.send(host_.slot(i), whole(kBytes), {}));
    if (batch == 3) {
      DL_ASSIGN_OR_RETURN(auto copy, device->copy_slot(slot, kBytes));
      DL_RETURN_IF_ERROR(copy->wait(stream_));
      copy->done();
    }
    DL_RETURN_IF_ERROR(slot.wait(stream_));
    if (batch % 2 == 0) DL_RETURN_IF_ERROR(slot.release(stream_));
    telling_calls = fake_cuda_calls(nullptr) - 2;  // the last give the thread its context and mode back
    slot.done();
    return Status::ok();
  }

  HostSlots host_{kSlots, kBytes};
  void* stream_;
  std::vector<std::unique_ptr<DeviceSlot>> slots_;
};

class Loss : public FakeCuda {
 protected:
  Loss() {
    expect_leaks();
    make_stream();
  }
  // A consumer's stream, made anew with each driver.
  void make_stream() {
    fake_cuda_limit_pinned(2 * 4096 - 1);  // the ladder is gone down too
    CUcontext context = nullptr;
    ASSERT_EQ(cuInit(0), 0);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
    ASSERT_EQ(cuCtxPushCurrent(context), 0);
    ASSERT_EQ(cuStreamCreate(&stream_, 0), 0);
    ASSERT_EQ(cuCtxPopCurrent(&context), 0);
  }
  void start_over() {
    fake_cuda_reset();
    make_stream();
  }
  // How many calls a job without faults makes.
  int64_t count_calls() {
    const int64_t before = fake_cuda_calls(nullptr);
    Job job(stream_);
    const Status status = job.run(request());
    EXPECT_TRUE(status.is_ok()) << status.message();
    job.end();
    return fake_cuda_calls(nullptr) - before;
  }

  CUstream stream_ = nullptr;
};

TEST_F(Loss, AtEachCallIsTheLastCall) {
  const int64_t count = count_calls();
  ASSERT_GT(count, 100);
  int64_t losses = 0;
  for (const int32_t code : kSticky) {
    for (const int64_t times : {1, -1}) {
      for (int64_t index = 0; index < count; ++index) {
        start_over();
        Job job(stream_);
        fake_cuda_fail_call(index, code, times);
        const Status status = job.run(request());
        if (!job.finished) {
          EXPECT_EQ(status.code(), job.opened ? Code::kDeviceLost : Code::kNoDevice)
              << index << ": " << status.message();
        }
        if (job.opened && job.device->lost()) {
          ++losses;
          job.expect_refusals();
        }
        job.end();
        const bool looking_up = index < kLookups;
        if (!looking_up) {
          EXPECT_EQ(fake_cuda_calls_after_loss(), 0) << code << " at " << index;
        }
        EXPECT_EQ(fake_cuda_misuses(), 0) << code << " at " << index << ": " << fake_cuda_misuse(0);
        fake_cuda_reset();  // before the job's host memory goes
      }
    }
  }
  EXPECT_GT(losses, 200);
  start_over();
}

// Codes that say nothing about the device: whatever the call, the job ends with an error or goes on rightly.
TEST_F(Loss, OtherFailuresAtEachCallAreErrorsNeverMisuse) {
  const int64_t count = count_calls();
  int64_t errors = 0;
  for (const int32_t code : kPlain) {
    for (const int64_t times : {1, -1}) {
      for (int64_t index = 0; index < count; ++index) {
        start_over();
        fake_cuda_seed(static_cast<uint64_t>(index));
        Job job(stream_);
        const int64_t before = fake_cuda_calls(nullptr);
        fake_cuda_fail_call(index, code, times);
        const Status status = job.run(request());
        errors += status.is_ok() ? 0 : 1;
        EXPECT_EQ(status.is_ok(), job.finished);
        // Counted in this very run: delays decide which events have to be waited for.
        if (times == -1 && before + index < job.telling_calls && index > kLookups && job.opened) {
          EXPECT_FALSE(status.is_ok()) << code << " for ever from " << index << " on";
        }
        job.end();
        EXPECT_EQ(fake_cuda_misuses(), 0) << code << " at " << index << ": " << fake_cuda_misuse(0);
        fake_cuda_reset();
      }
    }
  }
  EXPECT_GT(errors, 300);
  start_over();
}

// Errors of kernels and copies come later, in whatever call is next.
TEST_F(Loss, AtEachOperationIsToldByALaterCall) {
  count_calls();
  const int64_t operations = fake_cuda_trace(nullptr, 0);
  ASSERT_GT(operations, 20);
  for (uint64_t seed = 0; seed < 3; ++seed) {
    for (int64_t nth = 0; nth < operations; ++nth) {
      start_over();
      fake_cuda_seed(seed);
      Job job(stream_);
      fake_cuda_fail_operation(nth, 719);
      const Status status = job.run(request());
      if (!status.is_ok()) {
        EXPECT_EQ(status.code(), Code::kDeviceLost) << nth << ": " << status.message();
      }
      if (job.device != nullptr && job.device->lost()) job.expect_refusals();
      job.end();
      EXPECT_EQ(fake_cuda_calls_after_loss(), 0);
      EXPECT_EQ(fake_cuda_misuses(), 0) << nth << ": " << fake_cuda_misuse(0);
      fake_cuda_reset();
    }
  }
  start_over();
}

TEST_F(Loss, NamesTheCallThatSawItFirst) {
  Job job(stream_);
  fake_cuda_fail_name("cuMemcpyHtoDAsync", 2, 700, 1);
  const Status status = job.run(request());
  EXPECT_EQ(status.code(), Code::kDeviceLost);
  EXPECT_EQ(status.message(), "cuda:0 is lost: cuMemcpyHtoDAsync: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  job.end();
  fake_cuda_reset();
  start_over();
}

// A batch of which a part is in the stream cannot be sent again.
TEST_F(Loss, ASendThatIsRefusedForAnyReasonLosesTheDevice) {
  struct Call {
    const char* name;
    int64_t nth;  // within a send: the first copy is the block's, the first two waits are the consumer's
  };
  for (const auto& [call, nth] :
       {Call{"cuMemcpyHtoDAsync", 1}, Call{"cuEventRecord", 0}, Call{"cuStreamWaitEvent", 2}}) {
    start_over();
    Job job(stream_);
    fake_cuda_fail_name(call, nth, 2, 1);
    const Status status = job.run(request());
    EXPECT_EQ(status.code(), Code::kDeviceLost) << call << ": " << status.message();
    EXPECT_THAT(status.message(), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (2)"));
    job.end();
    fake_cuda_reset();
  }
  start_over();
}

TEST_F(Loss, ADriverThatShutsDownIsLeftAlone) {
  Job job(stream_);
  ASSERT_TRUE(job.run(request()).is_ok());
  fake_cuda_shut_down();
  job.end();
  EXPECT_EQ(fake_cuda_calls_after_loss(), 0) << "one call finds out, nothing comes after";
  EXPECT_EQ(fake_cuda_misuses(), 0);
  fake_cuda_reset();
  start_over();
}

}  // namespace
}  // namespace dataline::loss_test
