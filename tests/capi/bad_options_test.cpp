// Option strings that are refused: each by its exact code and words, naming the key, what was expected and what came,
// at next to no memory; and nothing of the options changes.
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/job.h"
#include "tests/support/peak_growth.h"

namespace dataline::tests::bad_options_test {
namespace {

struct BadOption {
  std::string key, value;
  dl_status code;
  std::string message;
};

BadOption bad(const std::string& key, const std::string& value, const std::string& expected) {
  return {key, value, DL_ERR_BAD_OPTION,
          "option " + key + ": expected " + expected + ", got '" + value + "'"};
}
BadOption unknown(const std::string& key, const std::string& hint) {
  return {key, "1", DL_ERR_UNKNOWN_OPTION,
          "no option '" + key + "'" + (hint.empty() ? "" : ", did you mean '" + hint + "'?")};
}

std::vector<std::string> values_of(const Options& options) {
  std::vector<std::string> values;
  for (int32_t i = 0; i < dl_option_count(); ++i) {
    dl_option_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(dl_option_at(i, &info, nullptr), DL_OK);
    const char* text = nullptr;
    EXPECT_EQ(dl_options_get(options.get(), info.key, &text, nullptr), DL_OK) << info.key;
    values.emplace_back(text == nullptr ? "" : text);
  }
  return values;
}

TEST(BadOptions, AreRefusedByKeyExpectedAndGotAndChangeNothing) {
  const std::string count = "a whole number from 1 to 1000000", from0 = "a whole number from 0",
                    batch = "a whole number from 1 to 1099511627776", flag = "true or false",
                    budget = "a size such as 64MiB from -1",
                    share = "a size such as 64MiB from 1 to 1099511627776";
  const std::vector<BadOption> table = {
      // Just beyond each end of a range.
      bad("batch_size", "0", batch),
      bad("batch_size", "1099511627777", batch),
      bad("global_batch_size", "0", batch),
      bad("world_size", "0", batch + ", or auto"),
      bad("samples_per_epoch", "0", batch),
      bad("prefetch_depth", "0", count + ", or auto"),
      bad("max_leases", "1000001", count),
      bad("num_workers", "-2", "a whole number from -1 to 4096"),
      bad("num_workers", "4097", "a whole number from -1 to 4096"),
      bad("pack_length", "0", "a whole number from 1 to 16777215"),
      bad("pack_length", "16777216", "a whole number from 1 to 16777215"),
      bad("pack_window", "65537", "a whole number from 1 to 65536"),
      bad("pack_method", "bfd", "one of concat|best_fit"),
      bad("pack_split", "maybe", flag),
      bad("max_bad", "-2", "a whole number from -1"),
      bad("seed", "-1", from0),
      bad("seed", "9223372036854775808", from0),
      bad("epochs", "18446744073709551616", from0),
      bad("start_epoch", "-9223372036854775809", from0),
      bad("start_step", "-1", from0),
      bad("rank", "-9223372036854775808", from0 + ", or auto"),
      bad("memory_budget", "-2", budget),
      bad("memory_budget", "8589934592GiB", budget),
      bad("max_bytes_per_sample", "0", share),
      bad("max_bytes_per_sample", "1025GiB", share),
      bad("shuffle_block", "0", share),
      bad("shuffle_block", "1025GiB", share),
      bad("shuffle_block", "auto", share),
      bad("shuffle_blocks", "0", count),
      bad("shuffle_blocks", "1000001", count),
      // What is no number, or not the whole of it.
      bad("batch_size", "", batch),
      bad("batch_size", "many", batch),
      bad("batch_size", "auto", batch),
      bad("batch_size", "32 ", batch),
      bad("batch_size", " 32", batch),
      bad("batch_size", "+32", batch),
      bad("batch_size", "3.0", batch),
      bad("batch_size", "1e3", batch),
      bad("batch_size", "0x20", batch),
      bad("batch_size", "1,000", batch),
      bad("batch_size", "\xef\xbc\x93\xef\xbc\x92", batch),  // full-width digits
      bad("num_workers", "Auto", "a whole number from -1 to 4096"),
      bad("epochs", "inf", from0),
      bad("seed", "--1", from0),
      // Sizes.
      bad("memory_budget", "64MB", budget),
      bad("memory_budget", "64mib", budget),
      bad("memory_budget", "64 MiB", budget),
      bad("memory_budget", "MiB", budget),
      bad("memory_budget", "1TiB", budget),
      bad("memory_budget", "1.5", budget),
      bad("memory_budget", "1,5GiB", budget),
      bad("memory_budget", "nanKiB", budget),
      bad("memory_budget", "1e400GiB", budget),
      bad("memory_budget", "-1KiB", budget),
      bad("max_bytes_per_sample", "auto", share),
      // Booleans and words.
      bad("drop_last", "yes", flag),
      bad("drop_last", "1", flag),
      bad("drop_last", "True", flag),
      bad("replacement", "", flag),
      bad("pin_memory", "on", flag),
      bad("shuffle", "maybe", "one of none|full|window|false|true"),
      bad("shuffle", "FULL", "one of none|full|window|false|true"),
      bad("shuffle", "full,none", "one of none|full|window|false|true"),
      bad("last_batch", "", "one of keep|drop|pad"),
      bad("last_batch", "kee", "one of keep|drop|pad"),
      bad("lease_overflow", "copy|wait", "one of copy|error|wait"),
      bad("io", "direct", "one of auto|mmap|pread|memory|device"),
      bad("on_error", "skip", "one of raise|replace|quarantine"),
      // Arrays are not text.
      {"sample_indices", "0,1,2", DL_ERR_BAD_OPTION, "option sample_indices: expected an array, got text"},
      {"weights", "weights.npy", DL_ERR_BAD_OPTION, "option weights: expected an array, got text"},
      // Keys.
      unknown("", ""),
      unknown("batchsize", "batch_size"),
      unknown("batch-size", "batch_size"),
      unknown("BATCH_SIZE", ""),
      unknown("batch_size ", "batch_size"),
      unknown("--seed", "seed"),
      unknown("num_worker", "num_workers"),
      unknown("zzzzzzzz", ""),
  };
  PeakGrowth growth;
  Options options = make_options({{"batch_size", "5"}, {"shuffle", "full"}, {"memory_budget", "1GiB"}});
  const std::vector<std::string> before = values_of(options);
  for (const BadOption& one : table) {
    SCOPED_TRACE(one.key + "=" + one.value);
    Error error;
    EXPECT_EQ(dl_options_set(options.get(), one.key.c_str(), one.value.c_str(), &error), one.code);
    EXPECT_EQ(error.code, one.code);
    EXPECT_EQ(std::string(error.message), one.message);
    EXPECT_EQ(values_of(options), before);
  }
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
  EXPECT_GE(table.size(), 40u);
  RecordProperty("cases", static_cast<int>(table.size()));
}

TEST(BadOptions, KeysAndValuesOfAMegabyteAreRefusedInShortTimeAndLittleMemory) {
  const std::string digits(1 << 20, '9'), letters(1 << 20, 'k');
  Options options = make_options();
  PeakGrowth growth;
  Error error;
  EXPECT_EQ(dl_options_set(options.get(), "batch_size", digits.c_str(), &error), DL_ERR_BAD_OPTION);
  EXPECT_EQ(std::string(error.message).rfind("option batch_size: expected a whole number", 0), 0u);
  EXPECT_EQ(dl_options_set(options.get(), letters.c_str(), "1", &error), DL_ERR_UNKNOWN_OPTION);
  EXPECT_EQ(dl_options_set(options.get(), "shuffle", letters.c_str(), &error), DL_ERR_BAD_OPTION);
  EXPECT_EQ(dl_options_set(options.get(), "memory_budget", (digits + "KiB").c_str(), &error),
            DL_ERR_BAD_OPTION);
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
}

// What each allows, but not together, or not here: found when the loader is made.
TEST(BadOptions, ThoseThatDoNotFitTheJobAreRefusedAtCreate) {
  struct Misfit {
    Settings settings;
    dl_status code;
    std::string message;
  };
  const std::vector<Misfit> table = {
      {{{"rank", "2"}, {"world_size", "2"}},
       DL_ERR_BAD_OPTION,
       "option rank: expected less than world_size 2, got 2"},
      {{{"rank", "9223372036854775807"}},
       DL_ERR_BAD_OPTION,
       "option rank: expected less than world_size 1, got 9223372036854775807"},
      {{{"batch_size", "1099511627776"}, {"world_size", "1099511627776"}},
       DL_ERR_BAD_OPTION,
       "options batch_size and world_size: their product is too large"},
      {{{"device", ""}}, DL_ERR_BAD_OPTION, "option device: expected cpu, cuda or cuda:N, got ''"},
      {{{"device", "gpu"}}, DL_ERR_BAD_OPTION, "option device: expected cpu, cuda or cuda:N, got 'gpu'"},
      {{{"device", "CPU"}}, DL_ERR_BAD_OPTION, "option device: expected cpu, cuda or cuda:N, got 'CPU'"},
      {{{"io", "device"}},
       DL_ERR_BAD_OPTION,
       "options io and device: io=device needs device=cuda, got device=cpu"},
      {{{"cuda_library", "libcuda.so.1"}},
       DL_ERR_BAD_OPTION,
       "option cuda_library: needs device=cuda or pin_memory"},
      {{{"pin_memory_device", "cuda:0"}},
       DL_ERR_BAD_OPTION,
       "option pin_memory_device: needs pin_memory and device=cpu"},
      {{{"pin_memory_device", "cuda:0"}, {"device", "cuda:0"}},
       DL_ERR_BAD_OPTION,
       "option pin_memory_device: needs pin_memory and device=cpu"},
      {{{"pin_memory_device", "gpu"}, {"pin_memory", "true"}},
       DL_ERR_BAD_OPTION,
       "option pin_memory_device: expected cuda or cuda:N, got 'gpu'"},
      {{{"device", "cuda:0"}, {"pin_memory", "false"}},
       DL_ERR_BAD_OPTION,
       "options pin_memory and device contradict each other: pin_memory=false, device=cuda:0, which "
       "page-locks its "
       "slots"},
      {{{"start_epoch", "9223372036854775807"}},
       DL_ERR_OUT_OF_RANGE,
       "epoch 9223372036854775807: too large for 1 steps per epoch"},
      {{{"epochs", "1"}, {"start_epoch", "2"}},
       DL_ERR_OUT_OF_RANGE,
       "epoch 2, step 0: expected at most epoch 1, step 0: the job has 1 epochs"},
  };
  Dataset dataset = counting_dataset(10);
  PeakGrowth growth;
  for (const Misfit& one : table) {
    const auto [status, message] = create_error(dataset, one.settings);
    EXPECT_EQ(status, one.code) << message;
    EXPECT_EQ(message, one.message);
  }
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
  RecordProperty("cases", static_cast<int>(table.size()));
}

}  // namespace
}  // namespace dataline::tests::bad_options_test
