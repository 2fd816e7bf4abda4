// memory_budget: whatever it refuses is DL_ERR_OVER_BUDGET with the numbers and the option, in every format and every mode.
// SPDX-License-Identifier: Apache-2.0
#include "tests/write/sets.h"

namespace dataline::tests::budget_test {
namespace {

constexpr int64_t kRows = 20'000;

class Budgets : public Sets {
 protected:
  // Opens and loads the first batch within the budget.
  dl_status job(const std::string& uri, int64_t budget, const Settings& more, Error& error) const {
    const Options options = make_options(
        with({{"memory_budget", std::to_string(budget)}, {"num_workers", "0"}, {"batch_size", "4"}}, more));
    dl_dataset* raw = nullptr;
    dl_status status = dl_dataset_open(uri.c_str(), options.get(), &raw, &error);
    const Dataset dataset(raw);
    if (status != DL_OK) return status;
    dl_loader* made = nullptr;
    status = dl_loader_create(dataset.get(), options.get(), &made, &error);
    const Loader loader(made);
    if (status != DL_OK) return status;
    dl_batch* batch = nullptr;
    status = dl_loader_next(loader.get(), -1, &batch, &error);
    dl_batch_release(batch);
    return status;
  }
  // From far too little to enough: each budget works, or is refused in those words.
  void expect_refusals(const std::string& uri, const Settings& more = {}) const {
    bool refused = false, worked = false;
    for (int64_t budget = 64; budget <= int64_t{1} << 28 && !worked; budget *= 2) {
      Error error;
      const dl_status status = job(uri, budget, more, error);
      worked = status == DL_OK;
      if (worked) break;
      refused = true;
      ASSERT_EQ(status, DL_ERR_OVER_BUDGET) << uri << " in " << budget << ": " << error.message;
      const std::string message = error.message;
      EXPECT_NE(message.find("memory_budget"), std::string::npos) << message;
      EXPECT_NE(message.find("raise"), std::string::npos) << message;
      EXPECT_NE(message.find(std::to_string(budget)), std::string::npos) << message;
    }
    EXPECT_TRUE(refused) << uri;
    EXPECT_TRUE(worked) << uri;
  }
  std::string written(const char* format, const Columns& columns, int64_t rows) const {
    const std::string uri = std::string(format) + ":" + path(format);
    TestWriter writer(uri, columns);
    EXPECT_EQ(writer.made.status, DL_OK) << writer.made.error.message;
    EXPECT_EQ(writer.append(columns, 0, rows).status, DL_OK);
    EXPECT_EQ(writer.finish().status, DL_OK);
    return uri;
  }
  std::string lines(const std::string& name, const std::string& head, const std::string& line) const {
    std::string text = head;
    for (int64_t i = 0; i < kRows; ++i) text += line;
    write_file(path(name), text);
    return path(name);
  }
};

TEST_F(Budgets, OfTextAreNamed) {
  expect_refusals(lines("rows.csv", "a,b\n", "1,2\n"));
  expect_refusals(lines("rows.jsonl", "", "{\"a\": 1}\n"));
}

TEST_F(Budgets, OfWrittenSetsAreNamed) {
  const Columns numbers = {dense("x", DL_DTYPE_I64, {}, counting<int64_t>(kRows))};
  expect_refusals(written("tfrecord", numbers, kRows));
  expect_refusals(written("arrow", numbers, kRows));
  expect_refusals("arrow:" + path("arrow"), {{"io", "memory"}});
  const Columns words = {texts("txt", std::vector<std::string>(2000, "word"))};
  expect_refusals(written("tar", words, 2000));
  expect_refusals("arrow:" + path("arrow") + "," + path("arrow"));
}

TEST_F(Budgets, OfDocumentsAndFoldersAreNamed) {
  std::string tokens;
  for (int64_t i = 0; i < kRows; ++i) tokens += std::string("\x01\x00\x02\x00\x00\x00", 6);
  write_file(path("tokens.bin"), tokens);
  expect_refusals("tokens:" + path("tokens.bin") + "?dtype=u16&documents=eot:0");
  expect_refusals("tokens:" + path("tokens.bin") + "?dtype=u16&length=32", {{"io", "memory"}});
  std::filesystem::create_directories(path("folder/a"));
  for (int i = 0; i < 500; ++i) write_file(path("folder/a/" + std::to_string(i) + ".jpg"), "x");
  expect_refusals("folder:" + path("folder"));
}

TEST_F(Budgets, OfOrdersAndSlotsAreNamed) {
  std::string rows(static_cast<size_t>(kRows) * 4, 'r');
  write_file(path("rows.bin"), rows);
  const std::string uri = "raw:" + path("rows.bin") + "?dtype=u8&shape=4";
  expect_refusals(uri, {{"shuffle", "full"}});
  expect_refusals(uri, {{"shuffle", "window"}});
  expect_refusals(uri, {{"max_leases", "1000000"}, {"batch_size", "1"}});
}

TEST_F(Budgets, TheOptionsOfTooManySlotsAreNamed) {
  write_file(path("rows.bin"), std::string(1'000'000, 'r'));
  Error error;
  const dl_status status =
      job("raw:" + path("rows.bin") + "?dtype=u8&shape=1", 64 << 20,
          {{"prefetch_depth", "1000000"}, {"num_workers", "1"}, {"batch_size", "1"}}, error);
  EXPECT_EQ(status, DL_ERR_OVER_BUDGET) << error.message;
  EXPECT_NE(std::string(error.message).find("prefetch_depth"), std::string::npos) << error.message;
}

}  // namespace
}  // namespace dataline::tests::budget_test
