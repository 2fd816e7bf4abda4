// Readers of a C host: records that it lends at any address, through any transform, and in cells of a later library; its blocks.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "tests/capi/host_data.h"

namespace dataline::tests::reader_test {
namespace {

constexpr int64_t kRecords = 37;

// Rows of `bytes` each, one after another, lent from an address that no type likes.
struct LentRows {
  std::vector<char> memory;
  int64_t bytes;
  LentRows(const std::string& rows, int64_t row_bytes) : memory(rows.size() + 64), bytes(row_bytes) {
    std::memcpy(first(), rows.data(), rows.size());
  }
  char* first() { return memory.data() + (65 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64; }

  static int32_t read(void* context, dl_reader_request* request) {
    auto* self = static_cast<LentRows*>(context);
    for (int32_t r = 0; r < request->record_count; ++r)
      dl_reader_cell_at(request, r, 0)->borrowed = self->first() + request->indices[r] * self->bytes;
    return 0;
  }
  Dataset dataset(int32_t dtype, const std::vector<int64_t>& shape) {
    return reader_dataset({field_of("data", dtype, shape)}, kRecords, &LentRows::read, this);
  }
};

TEST(LentRows, AtOddAddressesAreConvertedAsAlignedOnes) {
  struct Case {
    int32_t dtype;
    std::vector<int64_t> shape;  // of one row
    const char* transform;
  };
  const Case cases[] = {{DL_DTYPE_F32, {19}, ""},
                        {DL_DTYPE_F32, {19}, "cast(f16)"},
                        {DL_DTYPE_F32, {19}, "cast(bf16)"},
                        {DL_DTYPE_F64, {7, 5}, "cast(f32), scale(0.5)"},
                        {DL_DTYPE_U16, {16, 9, 3}, "cast(f32), chw"},
                        {DL_DTYPE_U16, {16, 9, 3}, "random_crop(8x8), hflip, cast(f32), chw"},
                        {DL_DTYPE_I16, {33}, "cast(f32), pad_to(40)"},
                        {DL_DTYPE_F32, {16, 9, 3}, "chw"},
                        {DL_DTYPE_C128, {3}, ""},
                        {DL_DTYPE_U8, {16, 9, 3}, "resize(7x5), normalize(mean=0.5, std=0.25), chw"},
                        {DL_DTYPE_U8, {}, "one_hot(256)"},
                        {DL_DTYPE_I64, {}, ""}};
  for (const Case& one : cases) {
    int64_t bytes = dl_dtype_bytes(one.dtype);
    std::vector<int64_t> shape = {kRecords};
    for (const int64_t dim : one.shape) {
      bytes *= dim;
      shape.push_back(dim);
    }
    std::string rows(static_cast<size_t>(kRecords * bytes), '\0');
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<char>(i * 37 + i / 251);
    if (one.dtype == DL_DTYPE_F32 || one.dtype == DL_DTYPE_F64) {  // no NaN: their bits may change in a cast
      for (size_t i = 3; i < rows.size(); i += 4) rows[i] = 0x3f;
    }
    LentRows lent(rows, bytes);
    const Dataset odd = lent.dataset(one.dtype, one.shape);
    const Dataset aligned = from_arrays({array_of("data", one.dtype, shape, rows.data())}).dataset;
    for (const char* workers : {"0", "2"}) {
      const Settings job = {{"transform", one.transform},
                            {"shuffle", "full"},
                            {"batch_size", "10"},
                            {"num_workers", workers},
                            {"epochs", "1"}};
      EXPECT_EQ(epoch_bytes(make_loader(odd, job)), epoch_bytes(make_loader(aligned, job)))
          << dl_dtype_name(one.dtype) << " " << one.transform;
    }
  }
}

// Notes which of its blocks are open: those of which a record was read, and not yet all of them; and of which it was told.
struct CountingBlocks {
  std::vector<int64_t> ends;
  std::vector<int64_t> left;  // records of each block until it closes
  int64_t open = 0, most = 0, opened = 0;
  std::vector<int64_t> told;
  int64_t opened_untold = 0;

  explicit CountingBlocks(std::vector<int64_t> block_ends) : ends(std::move(block_ends)), left(ends.size()) {}
  int64_t size(size_t block) const { return ends[block] - (block == 0 ? 0 : ends[block - 1]); }

  static int32_t read(void* context, dl_reader_request* request) {
    auto& self = *static_cast<CountingBlocks*>(context);
    for (int32_t r = 0; r < request->record_count; ++r) {
      const int64_t index = request->indices[r];
      std::memcpy(dl_reader_cell_at(request, r, 0)->data, &index, sizeof index);
      const auto block = static_cast<size_t>(std::upper_bound(self.ends.begin(), self.ends.end(), index) -
                                             self.ends.begin());
      if (self.left[block] == 0) {
        self.left[block] = self.size(block);
        ++self.opened;
        const auto number = static_cast<int64_t>(block);
        if (std::find(self.told.begin(), self.told.end(), number) == self.told.end()) ++self.opened_untold;
        self.most = std::max(self.most, ++self.open);
      }
      if (--self.left[block] == 0) --self.open;
    }
    return 0;
  }
  static void advise(void* context, int64_t block) {
    static_cast<CountingBlocks*>(context)->told.push_back(block);
  }
  // The order of an epoch with `settings`; `held`: how many blocks the reader says that it can keep open.
  std::vector<int64_t> epoch(int64_t held, Settings settings, std::vector<std::string>* log = nullptr) {
    const dl_view field = field_of("data", DL_DTYPE_I64);
    dl_reader reader = {};
    reader.struct_size = sizeof reader;
    reader.field_count = 1;
    reader.fields = &field;
    reader.record_count = ends.back();
    reader.context = this;
    reader.read = &CountingBlocks::read;
    const std::vector<int64_t> lent = ends;
    reader.block_count = static_cast<int64_t>(lent.size());
    reader.block_ends = lent.data();
    reader.held_blocks = held;
    reader.advise = &CountingBlocks::advise;
    dl_dataset* made = nullptr;
    Error error;
    EXPECT_EQ(dl_dataset_from_reader(&reader, nullptr, &made, &error), DL_OK) << error.message;
    const Dataset dataset(made);
    if (settings.empty() || settings.front().first != "shuffle")
      settings.insert(settings.begin(), {"shuffle", "window"});
    settings.insert(settings.end(), {{"num_workers", "0"}, {"epochs", "1"}});
    Options options = make_options(settings);
    if (log != nullptr) {
      dl_log table = {};
      table.struct_size = sizeof table;
      table.context = log;
      table.write = [](void* context, int32_t, const char* text, size_t) {
        static_cast<std::vector<std::string>*>(context)->emplace_back(text);
      };
      EXPECT_EQ(dl_options_set_log(options.get(), &table, &error), DL_OK) << error.message;
    }
    dl_loader* loader = nullptr;
    EXPECT_EQ(dl_loader_create(dataset.get(), options.get(), &loader, &error), DL_OK) << error.message;
    const std::string bytes = epoch_bytes(Loader(loader));
    std::vector<int64_t> order(bytes.size() / 8);
    std::memcpy(order.data(), bytes.data(), bytes.size());
    return order;
  }
};

std::vector<int64_t> uneven_ends(int64_t blocks) {
  std::vector<int64_t> ends;
  for (int64_t i = 0, end = 0; i < blocks; ++i) ends.push_back(end += 50 + i * 37 % 101);
  return ends;
}

TEST(ReaderBlocks, AreOpenedOnceInAWindowOrderAndNoMoreAtATimeThanTheReaderCanKeep) {
  for (const int64_t held : {4, 8, 12, 50}) {
    for (const char* batch : {"1", "7", "32", "256"}) {
      CountingBlocks blocks(uneven_ends(90));
      std::vector<int64_t> order = blocks.epoch(held, {{"batch_size", batch}, {"seed", "11"}});
      EXPECT_EQ(blocks.opened, 90) << "each record once, so a block closes for good";
      EXPECT_LE(blocks.most, held) << "batch_size " << batch;
      std::sort(order.begin(), order.end());
      for (int64_t i = 0; i < blocks.ends.back(); ++i) ASSERT_EQ(order[static_cast<size_t>(i)], i);
    }
  }
}

TEST(ReaderBlocks, AreToldOfAndAllButTheFirstBeforeTheyAreOpened) {
  for (const int64_t held : {4, 12, 50}) {
    for (const char* batch : {"1", "7", "32", "256"}) {
      CountingBlocks blocks(uneven_ends(90));
      blocks.epoch(held, {{"batch_size", batch}, {"seed", "11"}});
      const size_t lanes = static_cast<size_t>(std::max<int64_t>(held / 4, 1));  // at most
      EXPECT_LE(blocks.opened_untold, static_cast<int64_t>(lanes)) << "of the first steps";
      EXPECT_LE(blocks.told.size(), 90 + lanes) << "a block that two lanes share is told of by both";
      std::sort(blocks.told.begin(), blocks.told.end());
      blocks.told.erase(std::unique(blocks.told.begin(), blocks.told.end()), blocks.told.end());
      EXPECT_EQ(blocks.told.size(), 90u) << "held " << held << " batch_size " << batch;
    }
  }
}

TEST(ReaderBlocks, AreNotToldOfInOtherOrders) {
  for (const char* shuffle : {"none", "full"}) {
    CountingBlocks blocks(uneven_ends(90));
    blocks.epoch(4, {{"shuffle", shuffle}});
    EXPECT_EQ(blocks.told, std::vector<int64_t>()) << shuffle;
  }
}

TEST(ReaderBlocks, DoNotDependOnShuffleBlock) {
  const std::vector<int64_t> ends = uneven_ends(40);
  const Settings few = {{"shuffle_blocks", "4"}, {"seed", "3"}};
  const std::vector<int64_t> order = CountingBlocks(ends).epoch(0, few);
  for (const char* bytes : {"1", "1KiB", "1GiB"}) {
    Settings settings = few;
    settings.emplace_back("shuffle_block", bytes);
    EXPECT_EQ(CountingBlocks(ends).epoch(0, settings), order);
  }
  EXPECT_EQ(CountingBlocks(ends).epoch(16, {{"seed", "3"}}), order) << "4 of the 512 are left";
}

TEST(ReaderBlocks, TheLogSaysHowManyMayBeOpen) {
  std::vector<std::string> log;
  CountingBlocks(uneven_ends(40)).epoch(35, {{"shuffle_blocks", "100"}}, &log);
  EXPECT_THAT(log,
              ::testing::Contains(::testing::HasSubstr(
                  "option shuffle_blocks: 100 is lowered to 8: the dataset can keep 35 of its blocks open")));
  log.clear();
  CountingBlocks(uneven_ends(40)).epoch(0, {{"shuffle_blocks", "100"}}, &log);
  EXPECT_THAT(log, ::testing::Not(::testing::Contains(::testing::HasSubstr("is lowered"))));
}

TEST(ReaderCells, AreTakenByTheirDistanceSoThatTheyMayGrow) {
  constexpr size_t kDistance = sizeof(dl_reader_cell) + 40;
  std::vector<char> memory(6 * kDistance, '\x5a');
  dl_reader_request request = {};
  request.record_count = 3;
  request.field_count = 2;
  request.cell_bytes = kDistance;
  request.cells = reinterpret_cast<dl_reader_cell*>(memory.data());
  for (int32_t r = 0; r < 3; ++r) {
    for (int32_t f = 0; f < 2; ++f) {
      EXPECT_EQ(reinterpret_cast<char*>(dl_reader_cell_at(&request, r, f)),
                memory.data() + static_cast<size_t>(2 * r + f) * kDistance);
    }
  }
}

}  // namespace
}  // namespace dataline::tests::reader_test
