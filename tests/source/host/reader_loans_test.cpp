// What readers are told, and the memory that they lend instead of copying.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tests/source/host/reader_host.h"

namespace dataline::reader_loans_test {
namespace {

using testing::HasSubstr;

// Record i of `text` is i bytes of this, from an odd address on.
std::string lent_text(int64_t index) {
  std::string text = "-";
  for (int64_t i = 0; i < index; ++i) text += static_cast<char>('A' + (index + i) % 26);
  return text;
}

TEST_F(ReaderTest, RowsLieWhereTheHostSays) {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> out;
    for (int64_t i = 0; i < 100; ++i) out.push_back(lent_text(i));
    return out;
  }();
  SourceRef source = make([](ReaderRequest& request) {
    read_ids(request);
    for (int32_t r = 0; r < request.record_count; ++r) {
      const int64_t index = request.indices[r];
      if (index % 3 == 0) continue;  // these are copied
      request.cells[2 * r + 1].borrowed = texts[static_cast<size_t>(index)].data() + 1;
    }
    return 0;
  });
  Fetched rows = fetch_all(*source);
  for (int64_t i = 0; i < 100; ++i) {
    const auto row = static_cast<size_t>(i);
    EXPECT_EQ(values_of<int64_t>(rows.bytes[0][row]), std::vector<int64_t>{i});
    EXPECT_EQ(rows.bytes[1][row], i % 3 == 0 ? std::string(row, 'a') : lent_text(i).substr(1));
  }
}

TEST_F(ReaderTest, BorrowedRowsInOnePieceAreContiguous) {
  static const std::vector<uint32_t> values = {10, 11, 12, 13, 14, 15, 16, 17};
  host_.read = [](ReaderRequest& request) {
    for (int32_t r = 0; r < request.record_count; ++r)
      request.cells[r].borrowed = &values[static_cast<size_t>(request.indices[r])];
    return 0;
  };
  SourceRef source =
      reader_source({dense_field("x", DType::kU32, {})}, host_.table(8), *HostMemory::create({})).take();
  RunArrays arrays(*source);
  std::vector<std::byte> scratch(8 * 64);
  RowErrors errors;
  HostLoans loans;
  HostCall call(loans);
  const auto contiguous = [&](std::vector<int64_t> indices) {
    dataline::Run run;
    run.count = static_cast<int64_t>(indices.size());
    run.indices = indices.data();
    run.scratch = scratch.data();
    run.columns = arrays.columns.data();
    run.errors = &errors;
    run.call = &call;
    source->locate(run);
    EXPECT_EQ(run.columns[0].data[0],
              reinterpret_cast<const std::byte*>(&values[static_cast<size_t>(indices[0])]))
        << "not copied";
    return run.columns[0].contiguous;
  };
  EXPECT_TRUE(contiguous({2, 3, 4, 5}));
  EXPECT_FALSE(contiguous({2, 3, 5}));
  EXPECT_FALSE(contiguous({3, 2}));
}

TEST_F(ReaderTest, BorrowedBytesAreCheckedLikeOthers) {
  static const std::string lent(200, 'x');
  const auto refusal = [&](int64_t bytes) {
    Fetched rows = fetch_text([bytes](ReaderCell& cell) { cell.borrowed = lent.data(), cell.bytes = bytes; });
    return rows.errors.empty() ? "" : std::string(rows.errors.at(0).message());
  };
  EXPECT_EQ(refusal(0), "");
  EXPECT_EQ(refusal(64), "");
  EXPECT_EQ(refusal(66),
            "reader: record 7: field 'text': 66 bytes, at most 64 by the option max_bytes_per_sample");
  EXPECT_EQ(refusal(-2), "reader: record 7: field 'text': -2 bytes reported");
  EXPECT_THAT(refusal(3), HasSubstr("expected a multiple of 2"));
  SourceRef source = make([](ReaderRequest& request) {
    read_ids(request);
    request.cells[0].borrowed = lent.data();
    request.cells[0].bytes = 7;
    return 0;
  });
  EXPECT_EQ(fetch(*source, {3}).errors.at(0).message(),
            "reader: record 3: field 'id': 7 bytes reported, expected 8");
}

TEST_F(ReaderTest, WhatACallLendsGoesBackOnceHoweverItEnds) {
  int32_t code = 0, status = 0;
  SourceRef source = make([&](ReaderRequest& request) {
    host_.lend(request);
    read_ids(request);
    request.cells[1].status = status;
    return code;
  });
  const auto released_by = [&](int32_t call_code, int32_t record_status) {
    code = call_code, status = record_status;
    host_.released = 0;
    fetch_all(*source);  // two calls
    return host_.released;
  };
  EXPECT_EQ(released_by(0, 0), 2);
  EXPECT_EQ(released_by(0, 9), 2) << "a bad record";
  EXPECT_EQ(released_by(9, 0), 2) << "a call that failed";
}

TEST_F(ReaderTest, WhatIsLentIsKeptUntilTheRowsAreDone) {
  SourceRef source = make([&](ReaderRequest& request) {
    EXPECT_EQ(host_.released, 0);
    host_.lend(request);
    return read_ids(request);
  });
  RunArrays arrays(*source);
  std::vector<int64_t> indices(100);
  std::iota(indices.begin(), indices.end(), 0);
  std::vector<std::byte> scratch(static_cast<size_t>(100 * source->scratch_bytes(100)));
  RowErrors errors;
  HostLoans loans;
  HostCall call(loans);
  dataline::Run run;
  run.count = 100;
  run.indices = indices.data();
  run.max_bytes_per_sample = 100;
  run.scratch = scratch.data();
  run.columns = arrays.columns.data();
  run.errors = &errors;
  run.call = &call;
  source->locate(run);
  EXPECT_EQ(host_.released, 0);
  { const ReturnLoans done(loans); }
  EXPECT_EQ(host_.released, 2);
  loans.release_all();
  EXPECT_EQ(host_.released, 2) << "once";
}

TEST_F(ReaderTest, ACallIsToldOfTheLoaderAndEachRecordsSlot) {
  ReaderRequest seen{};
  std::vector<int64_t> slots;
  SourceRef source = make([&](ReaderRequest& request) {
    seen = request;
    slots.insert(slots.end(), request.slots, request.slots + request.record_count);
    return read_ids(request);
  });
  FetchOptions options;
  options.first_slot = 1000;
  options.epoch = 3;
  options.seed = 0xfeed'0000'0000'0001;
  fetch(*source, {9, 4, 7}, options);
  EXPECT_EQ(slots, (std::vector<int64_t>{1000, 1001, 1002}));
  EXPECT_EQ(seen.epoch, 3);
  EXPECT_EQ(seen.seed, 0xfeed'0000'0000'0001u);
  slots.clear();
  fetch_all(*source);
  EXPECT_EQ(slots, std::vector<int64_t>(100, -1)) << "without a loader";
  EXPECT_EQ(seen.epoch, -1);
  EXPECT_EQ(*seen.cancelled, 0);
}

TEST_F(ReaderTest, RecordsThatNobodyWantsAreCancelledAndNotBad) {
  Atomic<int32_t> cancelled{0};
  int32_t code = 1;
  SourceRef source = make([&](ReaderRequest& request) {
    EXPECT_EQ(*request.cancelled, 0);
    cancelled.store(1);
    EXPECT_EQ(*request.cancelled, 1);
    host_.lend(request);
    read_ids(request);
    return code;
  });
  FetchOptions options;
  options.cancelled = &cancelled;
  Fetched rows = fetch_all(*source, options);
  EXPECT_EQ(host_.calls, std::vector<int64_t>{64}) << "the rest is not asked for";
  ASSERT_EQ(rows.errors.size(), 100u);
  EXPECT_EQ(rows.errors.at(3).code(), Code::kCancelled);
  EXPECT_EQ(rows.errors.at(99).code(), Code::kCancelled);
  EXPECT_EQ(host_.released, 1);
  cancelled.store(0);
  code = 0;
  EXPECT_EQ(fetch_all(*source, options).errors.size(), 36u) << "what was read all the same is good";
}

}  // namespace
}  // namespace dataline::reader_loans_test
