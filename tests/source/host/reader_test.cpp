// Records from the host's callbacks: what they are given, what they may answer, and what is made of wrong
// answers.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/source/host/reader_host.h"
#include "tests/support/data_digest.h"

namespace dataline::reader_test {
namespace {

using testing::HasSubstr;

TEST_F(ReaderTest, RecordsAreReadInRunsOfAtMostSixtyFour) {
  SourceRef source = make(read_ids);
  EXPECT_NE(source->facts().host_calls, HostCalls::kNone);
  EXPECT_EQ(source->info().format, "reader");
  Fetched rows = fetch_all(*source);
  EXPECT_EQ(host_.calls, (std::vector<int64_t>{64, 36}));
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(values_of<int64_t>(rows.bytes[0][i]), std::vector<int64_t>{static_cast<int64_t>(i)});
    EXPECT_EQ(rows.bytes[1][i], std::string(i, 'a'));
  }
}

TEST_F(ReaderTest, IsPromptWhenItSaysSo) {
  host_.read = read_ids;
  for (const bool prompt : {false, true}) {
    ReaderTable table = host_.table(100);
    table.prompt = prompt;
    SourceRef source =
        reader_source({dense_field("id", DType::kI64, {})}, std::move(table), *HostMemory::create({})).take();
    EXPECT_EQ(source->facts().host_calls, prompt ? HostCalls::kPrompt : HostCalls::kMayBlock);
  }
}

TEST_F(ReaderTest, CellsSayTheirRoomAndAreAligned) {
  SourceRef source = make([](ReaderRequest& request) {
    EXPECT_EQ(request.struct_size, sizeof(ReaderRequest));
    EXPECT_EQ(request.field_count, 2);
    EXPECT_EQ(request.cell_bytes, int32_t{sizeof(ReaderCell)});
    ReaderCell* cells = request.cells;
    for (int32_t r = 0; r < request.record_count; ++r) {
      EXPECT_EQ(cells[2 * r].capacity, 8);
      EXPECT_EQ(cells[2 * r].bytes, 8);
      EXPECT_EQ(cells[2 * r + 1].capacity, 100);
      EXPECT_EQ(cells[2 * r + 1].bytes, 0);
      for (int f = 0; f < 2; ++f) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(cells[2 * r + f].data) % 64, 0u);
        EXPECT_EQ(cells[2 * r + f].status, 0);
        EXPECT_EQ(cells[2 * r + f].borrowed, nullptr);
        std::memset(cells[2 * r + f].data, 0xee, static_cast<size_t>(cells[2 * r + f].capacity));
      }
    }
    return 0;
  });
  EXPECT_EQ(source->scratch_bytes(100), 64 + 128);
  FetchOptions options;
  options.max_bytes_per_sample = 100;
  EXPECT_TRUE(fetch_all(*source, options).errors.empty());
}

TEST_F(ReaderTest, AWideRowNarrowsTheCallsNotTheRows) {
  std::vector<Field> fields;
  for (int f = 0; f < 256; ++f) fields.push_back(dense_field(concat("f", f), DType::kU8, {3}));
  host_.read = [](ReaderRequest& request) {
    for (int64_t c = 0; c < request.record_count * 256; ++c)
      std::memset(request.cells[c].data, static_cast<int>(request.indices[c / 256]), 3);
    return 0;
  };
  SourceRef source = reader_source(std::move(fields), host_.table(10), *HostMemory::create({})).take();
  Fetched rows = fetch_all(*source);
  EXPECT_EQ(host_.calls, std::vector<int64_t>(5, 2));
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(rows.bytes[255][i], std::string(3, static_cast<char>(i)));
}

TEST_F(ReaderTest, EachBadRecordFailsAloneWithTheHostsCodeAndItsOwnWords) {
  SourceRef source = make([](ReaderRequest& request) {
    read_ids(request);
    for (int32_t r = 0; r < request.record_count; ++r) {
      const int64_t index = request.indices[r];
      if (index % 40 == 17) request.cells[2 * r + 1].status = -5;
      if (index != 97) std::strcpy(message_of(request, r), concat("no page ", index, "\nand more").c_str());
    }
    return 0;
  });
  Fetched rows = fetch_all(*source);
  ASSERT_EQ(rows.errors.size(), 3u);
  const Status& error = rows.errors.at(57);
  EXPECT_EQ(error.code(), Code::kReader);
  EXPECT_EQ(error.sample_index(), 57);
  EXPECT_EQ(error.message(), "reader: record 57: failed with code -5: no page 57\\nand more");
  EXPECT_EQ(rows.errors.at(17).message(), "reader: record 17: failed with code -5: no page 17\\nand more");
  EXPECT_EQ(rows.errors.at(97).message(), "reader: record 97: failed with code -5");
  EXPECT_EQ(rows.bytes[1][58], std::string(58, 'a'));
}

TEST_F(ReaderTest, ACallThatFailsFailsAllItsRecords) {
  SourceRef source = make([](ReaderRequest&) { return 42; });
  Fetched rows = fetch(*source, {5, 6, 8});
  ASSERT_EQ(rows.errors.size(), 3u);
  EXPECT_EQ(rows.errors.at(2).message(), "reader: record 8: failed with code 42");
  EXPECT_EQ(rows.errors.at(2).sample_index(), 8);
}

TEST_F(ReaderTest, RecordsOfACallThatFailsHaveTheirOwnWordsOrThoseOfTheFirst) {
  SourceRef source = make([](ReaderRequest& request) {
    std::strcpy(message_of(request, 0), "the server is gone");
    std::strcpy(message_of(request, 2), "half of it came");
    return 42;
  });
  Fetched rows = fetch(*source, {5, 6, 8});
  EXPECT_THAT(rows.errors.at(0).message(), HasSubstr("record 5: failed with code 42: the server is gone"));
  EXPECT_THAT(rows.errors.at(1).message(), HasSubstr("record 6: failed with code 42: the server is gone"));
  EXPECT_THAT(rows.errors.at(2).message(), HasSubstr("record 8: failed with code 42: half of it came"));
}

TEST_F(ReaderTest, AMessageWithoutAnEndIsCutAtItsRoom) {
  SourceRef source = make([](ReaderRequest& request) {
    std::memset(request.messages, 'x', kReaderMessageBytes);
    std::memset(message_of(request, 1), 'y', kReaderMessageBytes);
    return 1;
  });
  Fetched rows = fetch(*source, {5, 6});
  EXPECT_EQ(rows.errors.at(0).message(),
            "reader: record 5: failed with code 1: " + std::string(kReaderMessageBytes, 'x'));
  EXPECT_EQ(rows.errors.at(1).message(),
            "reader: record 6: failed with code 1: " + std::string(kReaderMessageBytes, 'y'));
}

TEST_F(ReaderTest, ALaterCallGoesOnAfterAFailure) {
  int call = 0;
  SourceRef source = make([&call](ReaderRequest& request) { return ++call == 1 ? -1 : read_ids(request); });
  EXPECT_EQ(fetch(*source, {1, 2}).errors.size(), 2u);
  EXPECT_TRUE(fetch(*source, {1, 2}).errors.empty());
}

TEST_F(ReaderTest, ASampleAboveTheOptionIsTooLarge) {
  Fetched rows = fetch_text([](ReaderCell& cell) { cell.bytes = 66; });
  EXPECT_EQ(rows.errors.at(0).code(), Code::kTooLarge);
  EXPECT_EQ(rows.errors.at(0).sample_index(), 7);
  EXPECT_EQ(rows.errors.at(0).message(),
            "reader: record 7: field 'text': 66 bytes, at most 64 by the option max_bytes_per_sample");
}

TEST_F(ReaderTest, ASampleAboveTheFieldsOwnMaximumIsTooLarge) {
  Fetched rows = fetch_text([](ReaderCell& cell) { cell.bytes = 34; }, 32);
  EXPECT_EQ(rows.errors.at(0).code(), Code::kTooLarge);
  EXPECT_THAT(rows.errors.at(0).message(), HasSubstr("34 bytes, at most 32 by the field's own max_bytes"));
}

TEST_F(ReaderTest, TheSmallerOfOptionAndFieldBoundsTheRoom) {
  auto room = [&](int64_t field, int64_t option) {
    int64_t seen = -1;
    fetch_text([&seen](ReaderCell& cell) { seen = cell.capacity; }, field, option);
    return seen;
  };
  EXPECT_EQ(room(-1, 64), 64);
  EXPECT_EQ(room(32, 64), 32);
  EXPECT_EQ(room(128, 64), 64);
  EXPECT_EQ(room(0, 64), 0);
}

TEST_F(ReaderTest, ExactlyTheRoomAndNothingAreFine) {
  EXPECT_TRUE(fetch_text([](ReaderCell& cell) {
                cell.bytes = cell.capacity;
                std::memset(cell.data, 1, static_cast<size_t>(cell.capacity));
              }).errors.empty());
  EXPECT_TRUE(fetch_text([](ReaderCell& cell) { cell.bytes = 0; }).errors.empty());
}

TEST_F(ReaderTest, WrongSizesFromTheHostAreRefused) {
  auto message = [&](int64_t bytes) {
    Fetched rows = fetch_text([bytes](ReaderCell& cell) { cell.bytes = bytes; });
    EXPECT_EQ(rows.errors.size(), 1u) << bytes;
    return rows.errors.empty()
               ? ""
               : concat(code_name(rows.errors.at(0).code()), " ", rows.errors.at(0).message());
  };
  EXPECT_EQ(message(-1), "DL_ERR_READER reader: record 7: field 'text': -1 bytes reported");
  EXPECT_EQ(message(INT64_MIN),
            concat("DL_ERR_READER reader: record 7: field 'text': ", INT64_MIN, " bytes reported"));
  EXPECT_THAT(message(3), HasSubstr("3 bytes reported, expected a multiple of 2"));
  EXPECT_THAT(message(INT64_MAX), HasSubstr("DL_ERR_TOO_LARGE"));
}

TEST_F(ReaderTest, ADenseFieldOfAnotherSizeIsRefused) {
  for (int64_t bytes : {int64_t{0}, int64_t{7}, int64_t{9}, int64_t{-8}, INT64_MAX}) {
    SourceRef source = make([bytes](ReaderRequest& request) {
      read_ids(request);
      request.cells[0].bytes = bytes;
      return 0;
    });
    Fetched rows = fetch(*source, {3, 4});
    ASSERT_EQ(rows.errors.size(), 1u) << bytes;
    EXPECT_EQ(rows.errors.at(0).code(), Code::kReader);
    EXPECT_EQ(rows.errors.at(0).message(),
              concat("reader: record 3: field 'id': ", bytes, " bytes reported, expected 8"));
  }
}

TEST_F(ReaderTest, WhatTheHostDoesToWhatItIsGivenIsIgnored) {
  SourceRef source = make([](ReaderRequest& request) {
    read_ids(request);
    for (int64_t c = 0; c < 2 * request.record_count; ++c) {
      request.cells[c].data = nullptr;
      request.cells[c].capacity = INT64_MAX;
      request.cells[c].reserved32 = -1;
      std::fill_n(request.cells[c].reserved, 3, ~uint64_t{0});
    }
    request.cells[3].bytes = 100'000;
    const ReaderRequest given = request;
    std::memset(static_cast<void*>(&request), 0xee, sizeof request);
    request.release = given.release;
    return 0;
  });
  Fetched rows = fetch(*source, {3, 4});
  EXPECT_EQ(rows.bytes[1][0], "aaa");
  ASSERT_EQ(rows.errors.size(), 1u);
  EXPECT_EQ(rows.errors.at(1).code(), Code::kTooLarge);
}

TEST_F(ReaderTest, DestroyIsCalledOnceWhenTheLastReferenceGoes) {
  SourceRef source = make(read_ids);
  SourceRef other = source;
  source.reset();
  EXPECT_EQ(host_.destroyed, 0);
  other.reset();
  EXPECT_EQ(host_.destroyed, 1);
}

TEST_F(ReaderTest, ARefusedTableIsNotDestroyed) {
  std::vector<Field> good = {dense_field("x", DType::kU8, {})};
  ReaderTable no_read = host_.table(1);
  no_read.read = nullptr;
  expect_error(reader_source(good, no_read, *HostMemory::create({})), Code::kInvalidArgument,
               {"read is null"});
  expect_error(reader_source(good, host_.table(-1), *HostMemory::create({})), Code::kInvalidArgument,
               {"record_count is -1"});
  expect_error(reader_source({}, host_.table(1), *HostMemory::create({})), Code::kInvalidArgument,
               {"reader: no fields"});
  expect_error(reader_source({good[0], good[0]}, host_.table(1), *HostMemory::create({})),
               Code::kInvalidArgument, {"two fields"});
  expect_error(reader_source({ragged_field("x", DType::kU8, {3})}, host_.table(1), *HostMemory::create({})),
               Code::kInvalidArgument, {"-1"});
  EXPECT_EQ(host_.destroyed, 0);
}

TEST_F(ReaderTest, NoDestroyIsFine) {
  host_.read = read_ids;
  ReaderTable table = host_.table(1);
  table.destroy = nullptr;
  EXPECT_TRUE(reader_source({dense_field("x", DType::kU8, {})}, table, *HostMemory::create({})).is_ok());
}

TEST_F(ReaderTest, TheHostsFingerprintEntersTheState) {
  auto print = [&](std::string text) {
    ReaderTable table = host_.table(3);
    table.fingerprint = std::move(text);
    return data_digest(
        *reader_source({dense_field("x", DType::kU8, {})}, table, *HostMemory::create({})).value());
  };
  EXPECT_EQ(print("v1"), print("v1"));
  EXPECT_NE(print("v1"), print("v2"));
  EXPECT_NE(print("v1"), print(""));
}

}  // namespace
}  // namespace dataline::reader_test
