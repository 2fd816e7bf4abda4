// Host memory end to end: dense, strided and ragged arrays, readers of ragged records, loans.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/capi/host_data.h"

namespace dataline::tests::arrays_test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Arrays, DenseAndStridedFieldsComeOutPacked) {
  // Rows of three u16s, of which `pair` sees two and `last` one.
  const uint16_t rows[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
  const std::vector<int64_t> pair_shape = {4, 2}, last_shape = {4};
  dl_array pair = array_of("pair", DL_DTYPE_U16, pair_shape, &rows[0][0]);
  dl_array last = array_of("last", DL_DTYPE_U16, last_shape, &rows[0][2]);
  pair.kind = last.kind = DL_KIND_STRIDED;
  pair.row_stride_bytes = last.row_stride_bytes = sizeof rows[0];
  for (bool borrowed : {false, true}) {
    Loan loan;
    Made made = from_arrays({pair, last}, borrowed ? &loan : nullptr);
    ASSERT_EQ(made.status, DL_OK) << made.error.message;
    EXPECT_EQ(dl_dataset_count(made.dataset.get()), 4);
    EXPECT_STREQ(dl_dataset_format(made.dataset.get()), "arrays");
    Delivered got = next(make_loader(made.dataset, {{"batch_size", "4"}}));
    const dl_view& view = view_of(got.batch.get());
    EXPECT_EQ(view.rank, 2);
    EXPECT_EQ(std::vector<int64_t>(view.shape, view.shape + 2), (std::vector<int64_t>{4, 2}));
    EXPECT_EQ(std::vector<int64_t>(view.strides, view.strides + 2), (std::vector<int64_t>{2, 1}));
    EXPECT_EQ(row_bytes(got.batch.get(), 0), bytes_of(std::vector<uint16_t>{1, 2, 4, 5, 7, 8, 10, 11}));
    EXPECT_EQ(row_bytes(got.batch.get(), 1), bytes_of(std::vector<uint16_t>{3, 6, 9, 12}));
    made.dataset.reset();
    EXPECT_EQ(loan.released.load(), borrowed ? 1 : 0) << "a batch needs none of the arrays";
  }
}

TEST(Arrays, AStrideIsWhatItSaysZeroAndNegativeTooAndPackedRowsHaveNone) {
  const uint16_t items[6] = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> shape = {3, 2};
  dl_array packed = array_of("packed", DL_DTYPE_U16, shape, items);
  dl_array same = packed, down = packed;
  same.name = "same", down.name = "down";
  same.kind = down.kind = DL_KIND_STRIDED;
  down.data = items + 4;
  down.row_stride_bytes = -4;
  for (bool borrowed : {false, true}) {
    Loan loan;
    Made made = from_arrays({packed, same, down}, borrowed ? &loan : nullptr);
    ASSERT_EQ(made.status, DL_OK) << made.error.message;
    int32_t fields = 0;
    EXPECT_EQ(dl_dataset_fields(made.dataset.get(), &fields)[1].kind, DL_KIND_DENSE);
    Delivered got = next(make_loader(made.dataset, {{"batch_size", "3"}}));
    EXPECT_EQ(row_bytes(got.batch.get(), 0), bytes_of(std::vector<uint16_t>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(row_bytes(got.batch.get(), 1), bytes_of(std::vector<uint16_t>{1, 2, 1, 2, 1, 2}));
    EXPECT_EQ(row_bytes(got.batch.get(), 2), bytes_of(std::vector<uint16_t>{5, 6, 3, 4, 1, 2}));
  }
  // A stride without the kind is a mistake, not another way to say it.
  packed.row_stride_bytes = 4;
  Made refused = from_arrays({packed});
  EXPECT_EQ(refused.status, DL_ERR_INVALID_ARGUMENT);
  EXPECT_STREQ(refused.error.message,
               "field 'packed': row_stride_bytes is 4, expected 0, or the kind DL_KIND_STRIDED");
  // Rows that no address space has.
  same.row_stride_bytes = INT64_MIN;
  EXPECT_EQ(from_arrays({same}).status, DL_ERR_TOO_LARGE);
}

TEST(Arrays, ALoanEndsWithTheLastThatNeedsItAndNotAtAllWhenRefused) {
  const uint8_t data[4] = {1, 2, 3, 4};
  const std::vector<int64_t> shape = {4};
  dl_array array = array_of("data", DL_DTYPE_U8, shape, data);
  Loan loan;
  {
    Made made = from_arrays({array}, &loan);
    Loader loader = make_loader(made.dataset, {{"epochs", "1"}});
    dl_dataset* subset = nullptr;
    const int64_t indices[] = {3, 0};
    Loan index_loan;
    ASSERT_EQ(dl_dataset_subset(made.dataset.get(), indices, 2, &Loan::release, &index_loan, nullptr, &subset,
                                nullptr),
              DL_OK);
    Dataset part(subset);
    made.dataset.reset();
    EXPECT_EQ(epoch_bytes(loader), std::string("\1\2\3\4", 4));
    loader.reset();
    EXPECT_EQ(loan.released.load(), 0) << "the subset still needs it";
    EXPECT_EQ(epoch_bytes(make_loader(part)), std::string("\4\1", 2));
    EXPECT_EQ(index_loan.released.load(), 0);
    part.reset();
    EXPECT_EQ(index_loan.released.load(), 1);
  }
  EXPECT_EQ(loan.released.load(), 1);

  Loan refused;
  array.dtype = 99;
  EXPECT_EQ(from_arrays({array}, &refused).status, DL_ERR_INVALID_ARGUMENT);
  array.dtype = DL_DTYPE_U8;
  EXPECT_EQ(from_arrays({array, array}, &refused).status, DL_ERR_INVALID_ARGUMENT)
      << "two fields of one name";
  dl_array longer = array;
  const std::vector<int64_t> shape_3 = {3};
  longer.name = "other";
  longer.shape = shape_3.data();
  Made mismatch = from_arrays({array, longer}, &refused);
  EXPECT_EQ(mismatch.status, DL_ERR_MISMATCH);
  EXPECT_TRUE(contains(mismatch.error.message, "4") && contains(mismatch.error.message, "3"))
      << mismatch.error.message;
  const int64_t wrong[] = {4};
  dl_dataset* none = nullptr;
  Dataset four = counting_dataset(4);
  EXPECT_EQ(dl_dataset_subset(four.get(), wrong, 1, &Loan::release, &refused, nullptr, &none, nullptr),
            DL_ERR_OUT_OF_RANGE);
  Options options = make_options();
  EXPECT_EQ(dl_options_set_indices(options.get(), nullptr, 1, &Loan::release, &refused, nullptr),
            DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(dl_options_set_weights(options.get(), nullptr, 1, &Loan::release, &refused, nullptr),
            DL_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(refused.released.load(), 0) << "what was refused was never lent";
}

TEST(Arrays, OptionsGiveArraysBackWhenReplacedOrDestroyed) {
  const int64_t indices[] = {1, 0};
  const double weights[] = {1, 0};
  Loan first, second, third;
  Options options = make_options();
  ASSERT_EQ(dl_options_set_indices(options.get(), indices, 2, &Loan::release, &first, nullptr), DL_OK);
  ASSERT_EQ(dl_options_set_indices(options.get(), indices, 2, &Loan::release, &second, nullptr), DL_OK);
  EXPECT_EQ(first.released.load(), 1);
  Dataset dataset = counting_dataset(2);
  dl_loader* made = nullptr;
  ASSERT_EQ(dl_loader_create(dataset.get(), options.get(), &made, nullptr), DL_OK);
  Loader loader(made);
  options.reset();
  EXPECT_EQ(second.released.load(), 0) << "the loader needs it";
  EXPECT_EQ(epoch_samples(loader), (std::vector<uint64_t>{1, 0}));
  loader.reset();
  EXPECT_EQ(second.released.load(), 1);
  options = make_options();
  ASSERT_EQ(dl_options_set_weights(options.get(), weights, 2, &Loan::release, &third, nullptr), DL_OK);
  options.reset();
  EXPECT_EQ(third.released.load(), 1);
}

class Ragged : public ::testing::TestWithParam<int64_t> {};

TEST_P(Ragged, OffsetsAndPackedDataOfEachBatchAreThoseOfItsSamples) {
  const int64_t width = GetParam();
  const std::vector<int64_t> lengths = {3, 0, 5, 1, 0, 0, 7};
  const RaggedData data(lengths, width);
  for (const char* workers : {"0", "2"}) {
    Made made = from_arrays({data.array()});
    ASSERT_EQ(made.status, DL_OK) << made.error.message;
    int32_t fields = 0;
    EXPECT_EQ(dl_dataset_fields(made.dataset.get(), &fields)[0].kind, DL_KIND_RAGGED);
    EXPECT_EQ(dl_dataset_fields(made.dataset.get(), &fields)[0].shape[0], -1);
    Loader loader =
        make_loader(made.dataset, {{"batch_size", "3"}, {"num_workers", workers}, {"epochs", "1"}});
    for (size_t begin = 0; begin < lengths.size(); begin += 3) {
      Delivered got = next(loader);
      ASSERT_EQ(got.status, DL_OK) << got.message;
      const dl_view& view = view_of(got.batch.get());
      const size_t samples = std::min<size_t>(3, lengths.size() - begin);
      ASSERT_EQ(view.kind, DL_KIND_RAGGED);
      ASSERT_EQ(view.rank, width > 1 ? 2 : 1);
      EXPECT_EQ(view.offsets[0], 0);
      for (size_t i = 0; i < samples; ++i)
        EXPECT_EQ(view.offsets[i + 1] - view.offsets[i], lengths[begin + i]);
      EXPECT_EQ(view.shape[0], view.offsets[samples]);
      EXPECT_EQ(view.bytes, view.offsets[samples] * width * 2);
      const char* from = reinterpret_cast<const char*>(data.items.data() + data.offsets[begin] * width);
      EXPECT_EQ(row_bytes(got.batch.get(), 0), std::string(from, static_cast<size_t>(view.bytes)));
    }
    EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH);
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, Ragged, ::testing::Values(1, 3));

TEST(Ragged, ABatchOfNothingButEmptySamplesIsDelivered) {
  const RaggedData data({0, 0, 0}, 1);
  Made made = from_arrays({data.array()});
  ASSERT_EQ(made.status, DL_OK) << made.error.message;
  Delivered got = next(make_loader(made.dataset));
  ASSERT_EQ(got.status, DL_OK) << got.message;
  EXPECT_EQ(view_of(got.batch.get()).bytes, 0);
  EXPECT_EQ(view_of(got.batch.get()).shape[0], 0);
  EXPECT_EQ(view_of(got.batch.get()).offsets[3], 0);
}

TEST(Ragged, ASampleBeyondMaxBytesPerSampleIsBadAndNamesTheOption) {
  const RaggedData data({2, 9, 3}, 1);
  Made made = from_arrays({data.array()});
  Loader loader = make_loader(made.dataset, {{"max_bytes_per_sample", "16"}});
  Delivered raised = next(loader);
  EXPECT_EQ(raised.status, DL_ERR_BAD_SAMPLE);
  for (const char* part : {"sample 1", "18 bytes", "max_bytes_per_sample", "16"}) {
    EXPECT_TRUE(contains(raised.message, part)) << raised.message;
  }
  Delivered others = next(loader);
  ASSERT_EQ(others.status, DL_OK);
  EXPECT_EQ(others.indices, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(row_bytes(others.batch.get(), 0), bytes_of(std::vector<uint16_t>{0, 1, 11, 12, 13}));
  EXPECT_EQ(view_of(others.batch.get()).offsets[1], 2);
  EXPECT_EQ(epoch_bytes(make_loader(made.dataset, {{"max_bytes_per_sample", "18"}})).size(), 28u)
      << "exactly fits";
}

TEST(Ragged, PadToMakesItDense) {
  const RaggedData data({2, 0, 3}, 1);
  Made made = from_arrays({data.array()});
  Loader loader = make_loader(made.dataset, {{"transform", "words: pad_to(4, value=9)"}});
  Delivered got = next(loader);
  ASSERT_EQ(got.status, DL_OK) << got.message;
  const dl_view& view = view_of(got.batch.get());
  EXPECT_EQ(view.kind, DL_KIND_DENSE);
  EXPECT_EQ(view.offsets, nullptr);
  EXPECT_EQ(std::vector<int64_t>(view.shape, view.shape + view.rank), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(row_bytes(got.batch.get(), 0),
            bytes_of(std::vector<uint16_t>{0, 1, 9, 9, 9, 9, 9, 9, 2, 3, 4, 9}));
  Delivered raised = next(make_loader(made.dataset, {{"transform", "words: pad_to(2)"}}));
  EXPECT_EQ(raised.status, DL_ERR_BAD_SAMPLE);
  EXPECT_TRUE(contains(raised.message, "sample 2") && contains(raised.message, "pad_to")) << raised.message;
}

TEST(Ragged, BatchesBeyondMaxLeasesAreWholeCopies) {
  const RaggedData data({3, 1, 0, 2, 5, 4}, 2);
  Made made = from_arrays({data.array()});
  Loader loader = make_loader(made.dataset, {{"batch_size", "2"}, {"max_leases", "1"}, {"epochs", "1"}});
  std::vector<Delivered> held;
  while (held.empty() || held.back().status == DL_OK) held.push_back(next(loader));
  ASSERT_EQ(held.size(), 4u);
  EXPECT_EQ(stats_of(loader).lease_copies, 2);
  std::string all;
  for (size_t b = 0; b < 3; ++b) all += row_bytes(held[b].batch.get(), 0);
  EXPECT_EQ(all, bytes_of(data.items));
  EXPECT_EQ(view_of(held[2].batch.get()).offsets[1], 5);
}

// Record i is i copies of the letter of i; records of 8 letters and more do not fit when the room is 7.
struct LetterReader {
  static int32_t read(void*, dl_reader_request* request) {
    for (int32_t i = 0; i < request->record_count; ++i) {
      const int64_t length = request->indices[i];
      dl_reader_cell& cell = *dl_reader_cell_at(request, i, 0);
      cell.bytes = length;
      if (length <= cell.capacity) {
        std::memset(cell.data, static_cast<int>('a' + length % 26), static_cast<size_t>(length));
      }
    }
    return 0;
  }
  static Dataset dataset(int64_t records) {
    return reader_dataset({field_of("text", DL_DTYPE_U8, {-1})}, records, &LetterReader::read);
  }
};

TEST(RaggedReader, RecordsOfAnyLengthAreDelivered) {
  Dataset dataset = LetterReader::dataset(100);
  std::string expected;
  for (int i = 0; i < 100; ++i)
    expected += std::string(static_cast<size_t>(i), static_cast<char>('a' + i % 26));
  for (const char* workers : {"0", "3"}) {
    EXPECT_EQ(epoch_bytes(make_loader(dataset, {{"batch_size", "7"}, {"num_workers", workers}})), expected);
  }
}

TEST(RaggedReader, ARecordBeyondTheRoomIsBadAndNamesSampleAndOption) {
  Dataset dataset = LetterReader::dataset(9);
  Loader loader = make_loader(dataset, {{"batch_size", "9"}, {"max_bytes_per_sample", "7"}});
  Delivered raised = next(loader);
  EXPECT_EQ(raised.status, DL_ERR_BAD_SAMPLE);
  EXPECT_TRUE(contains(raised.message, "sample 8") && contains(raised.message, "max_bytes_per_sample"))
      << raised.message;
  Delivered rest = next(loader);
  EXPECT_EQ(rest.indices.size(), 8u);
  EXPECT_EQ(row_bytes(rest.batch.get(), 0), "bccdddeeeefffffgggggghhhhhhh");
}

}  // namespace
}  // namespace dataline::tests::arrays_test
