// A file that is cut, grown back, grown or taken away while its rows are copied: after it was looked at for a batch, and
// before the batch is complete. The interleaving is certain: a reader of the host is zipped behind the file, and its
// callback, which runs once the file's rows are located and before they are copied, does the damage.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/status.h"
#include "tests/conformance/files.h"
#include "tests/source/arrow/arrow_files.h"
#include "tests/source/litdata/litdata_files.h"
#include "tests/source/mds/mds_files.h"
#include "tests/source/tar/tar_files.h"
#include "tests/source/tfrecord/tfrecord_files.h"

namespace dataline::tests::cut_while_copied_test {
namespace {

using Row = std::vector<std::string>;  // a sample, field by field

// What a clock's tick could hide is over.
void make_file_old(const std::string& path) {
  const timespec times[2] = {{1'600'000'000, 123'456'789}, {1'600'000'000, 123'456'789}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

Row row_of(const dl_batch* batch, int64_t row, int32_t fields) {
  int32_t count = 0;
  const dl_view* views = dl_batch_views(batch, &count);
  Row out;
  for (int32_t f = 0; f < fields; ++f) {
    const dl_view& view = *dl_view_at(views, f);
    const char* data = static_cast<const char*>(view.data);
    int64_t begin = 0, bytes = 0;
    if (view.kind == DL_KIND_RAGGED) {
      begin = view.offsets[row], bytes = view.offsets[row + 1] - begin;
    } else {
      bytes = view.bytes / view.shape[0], begin = row * bytes;
    }
    out.emplace_back(data + begin, static_cast<size_t>(bytes));
  }
  return out;
}

struct Format {
  const char* name;
  // Writes the files; returns the URI. `victim` is the file that is damaged, which is left with `left` bytes.
  std::string (*write)(const TempDir& dir, std::string& victim, int64_t& left);
};

std::string damage(const TempDir& dir, const std::string& file, int64_t left_bytes, std::string& victim,
                   int64_t& left) {
  victim = dir.path(file);
  left = left_bytes;
  return victim;
}

const Format kFormats[] = {
    {"raw",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       dir.write("a.bin", pattern_bytes(3072));
       return "raw:" + damage(dir, "a.bin", 1000, victim, left) + "?dtype=u8&shape=32";
     }},
    {"npy",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       dir.write("a.npy", npy_file("|u1", "(30, 100)", pattern_bytes(3000)));
       return "npy:" + damage(dir, "a.npy", 1000, victim, left);
     }},
    {"npy in Fortran order",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       std::string file = npy_file("|u1", "(30, 100)", pattern_bytes(3000));
       file.replace(file.find("False"), 5, "True ");
       dir.write("a.npy", file);
       return "npy:" + damage(dir, "a.npy", 1000, victim, left);
     }},
    {"npy of the other byte order",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       dir.write("a.npy", npy_file(">u2", "(30, 50)", pattern_bytes(3000)));
       return "npy:" + damage(dir, "a.npy", 1000, victim, left);
     }},
    {"idx",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       dir.write("a.idx", idx_file({30, 10, 10}, pattern_bytes(3000)));
       return "idx:" + damage(dir, "a.idx", 1000, victim, left);
     }},
    {"tokens",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       dir.write("a.bin", pattern_bytes(3000));
       return "tokens:" + damage(dir, "a.bin", 1000, victim, left) + "?dtype=u16&length=16";
     }},
    {"cifar10",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       for (int i = 1; i <= 5; ++i) {
         std::string records = pattern_bytes(2 * 3073, static_cast<uint32_t>(i));
         records[0] = records[3073] = static_cast<char>(i);  // labels
         dir.write(concat("c/data_batch_", i, ".bin"), records);
       }
       dir.write("c/test_batch.bin", std::string(3073, 1));
       damage(dir, "c/data_batch_3.bin", 5000, victim, left);
       return "cifar10:" + dir.path("c");
     }},
    {"mnist",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       const std::string size(3, 0), digits = concat(size, char(28), size, char(28));
       const std::string image_header = concat(std::string("\0\0\x08\x03", 4), size, char(3), digits);
       dir.write("m/train-images-idx3-ubyte", image_header + pattern_bytes(3 * 784));
       dir.write("m/train-labels-idx1-ubyte",
                 concat(std::string("\0\0\x08\x01", 4), size, char(3), "\7\1\2"));
       damage(dir, "m/train-images-idx3-ubyte", 1000, victim, left);
       return "mnist:" + dir.path("m");
     }},
    {"tar",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       std::string archive;
       for (int i = 0; i < 3; ++i) archive += tar_member(concat(i, ".bin"), pattern_bytes(300 + i));
       dir.write("a.tar", archive + tar_end());
       return "tar:" + damage(dir, "a.tar", 1200, victim, left);
     }},
    {"jsonl",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       std::string lines;
       for (char c : {'a', 'b', 'c'}) lines += concat("{\"text\": \"", std::string(300, c), "\"}\n");
       dir.write("a.jsonl", lines);
       return "jsonl:" + damage(dir, "a.jsonl", 400, victim, left);
     }},
    {"csv",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       std::string records = "text,n\n";
       for (char c : {'a', 'b', 'c'}) records += concat(std::string(300, c), ",1\n");
       dir.write("a.csv", records);
       return "csv:" + damage(dir, "a.csv", 400, victim, left);
     }},
    {"mds",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       MdsFile file = mds_file({std::string(300, 'a'), std::string(300, 'b'), std::string(300, 'c')});
       dir.write("m/a.mds", file.bytes());
       dir.write("m/index.json", mds_index({mds_entry(file, "a.mds")}));
       damage(dir, "m/a.mds", 500, victim, left);
       return "mds:" + dir.path("m");
     }},
    {"litdata",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       const LitChunk chunk =
           lit_chunk({std::string(300, 'a'), std::string(300, 'b'), std::string(300, 'c')});
       dir.write("l/a.bin", chunk.bytes());
       dir.write("l/index.json", lit_index({lit_entry(chunk, "a.bin")}, lit_config()));
       damage(dir, "l/a.bin", 500, victim, left);
       return "litdata:" + dir.path("l");
     }},
    {"arrow",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       const TestColumn text =
           texts("t", {pattern_bytes(300, 1), pattern_bytes(300, 2), pattern_bytes(300, 3)});
       dir.write("a.arrow", arrow_table({{numbers<int32_t>("x", {1, 2, 3}), text}}).stream());
       return "arrow:" + damage(dir, "a.arrow", 900, victim, left);
     }},
    {"tfrecord",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       std::string records;
       for (uint32_t i = 0; i < 3; ++i) records += record(pattern_bytes(300, i + 1));
       dir.write("a.tfrecord", records);
       return "tfrecord:" + damage(dir, "a.tfrecord", 400, victim, left) + "?records=bytes";
     }},
    {"shards of npy",
     [](const TempDir& dir, std::string& victim, int64_t& left) {
       for (int i = 0; i < 40; ++i)
         dir.write(concat("s/", i, ".npy"),
                   npy_file("|u1", "(2, 100)", pattern_bytes(200, static_cast<uint32_t>(i + 1))));
       damage(dir, "s/7.npy", 200, victim, left);
       return "npy:" + dir.path("s");
     }},
};

class CutWhileCopied : public ::testing::TestWithParam<std::tuple<Format, const char*>> {
 protected:
  // Pages that are cut off whole would end the process with io=mmap: every file here keeps its last page.
  CutWhileCopied() {
    uri_ = std::get<0>(GetParam()).write(dir_, victim_, left_);
    make_file_old(victim_);
    bytes_ = static_cast<int64_t>(std::filesystem::file_size(victim_));
    kept_ = dir_.path("kept");
    std::filesystem::copy_file(victim_, kept_);
    Opened plain = open_dataset(uri_, {{"io", "memory"}});
    EXPECT_EQ(plain.status, DL_OK) << plain.error.message;
    dl_dataset_fields(plain.dataset.get(), &fields_);
    Loader loader = make_loader(plain.dataset, {{"batch_size", "4"}});
    for (Delivered got = next(loader); got.status == DL_OK; got = next(loader)) {
      for (size_t i = 0; i < got.indices.size(); ++i)
        truth_.push_back(row_of(got.batch.get(), static_cast<int64_t>(i), fields_));
    }
  }

  // The set and beside it a reader, whose first call does the damage: all rows of the set are located then, none is copied.
  Dataset zipped(const std::function<void()>& damage) {
    reader_.before = [this, damage](const int64_t*, int64_t) {
      if (!done_.exchange(true)) damage();
    };
    set_ = open_dataset(uri_, {{"io", std::get<1>(GetParam())}});
    EXPECT_EQ(set_.status, DL_OK) << set_.error.message;
    beside_ = reader_.dataset(static_cast<int64_t>(truth_.size()));
    dl_dataset* parts[] = {set_.dataset.get(), beside_.get()};
    const char* names[] = {"set", "beside"};
    dl_dataset* both = nullptr;
    Error error;
    EXPECT_EQ(dl_dataset_zip(parts, names, 2, nullptr, &both, &error), DL_OK) << error.message;
    return Dataset(both);
  }

  // One epoch of one batch. Rows that come are the file's; all others are told, with `code` and the file's name.
  void run(const std::function<void()>& damage, dl_status code, const char* workers, const char* on_error) {
    SCOPED_TRACE(concat(workers, " workers, ", on_error));
    std::filesystem::remove(victim_);
    std::filesystem::copy_file(kept_, victim_);
    make_file_old(victim_);
    done_.store(false);
    const auto samples = static_cast<int64_t>(truth_.size());
    Dataset both = zipped(damage);
    Loader loader = make_loader(both, {{"batch_size", std::to_string(samples)},
                                       {"epochs", "1"},
                                       {"num_workers", workers},
                                       {"on_error", on_error}});
    std::string told;
    for (Delivered got; got.status != DL_END;) {
      got = next(loader);
      ASSERT_TRUE(got.status >= 0 || got.status == DL_ERR_BAD_SAMPLE) << got.message;
      if (got.status < 0) told += got.message;
      if (got.status != DL_OK) continue;
      for (size_t i = 0; i < got.indices.size(); ++i) {
        EXPECT_EQ(row_of(got.batch.get(), static_cast<int64_t>(i), fields_),
                  truth_[static_cast<size_t>(got.indices[i])])
            << "sample " << got.indices[i] << " is not the file's";
      }
    }
    ASSERT_TRUE(done_.load());
    const dl_stats stats = stats_of(loader);
    EXPECT_EQ(stats.samples + stats.skipped, samples);
    EXPECT_EQ(stats.bad > 0, code != DL_OK);
    EXPECT_EQ(told.find(victim_) != std::string::npos, stats.skipped > 0) << told;
    for (int64_t i = 0; i < stats.bad; ++i) {
      dl_bad_sample bad = {};
      bad.struct_size = sizeof bad;
      EXPECT_EQ(dl_loader_bad_sample_at(loader.get(), i, &bad, nullptr), DL_OK);
      EXPECT_EQ(bad.code, code) << bad.message;
      EXPECT_NE(std::string(bad.message).find(victim_), std::string::npos) << bad.message;
    }
  }
  void run_all(const std::function<void()>& damage, dl_status code) {
    for (const char* workers : {"0", "1"}) {
      for (const char* on_error : {"raise", "replace", "quarantine"}) run(damage, code, workers, on_error);
    }
  }

  TempDir dir_;
  std::string uri_, victim_, kept_;
  int64_t left_ = 0, bytes_ = 0;
  int32_t fields_ = 0;
  std::vector<Row> truth_;
  TestReader reader_;
  Opened set_;
  Dataset beside_;
  std::atomic<bool> done_{false};
};

TEST_P(CutWhileCopied, RowsBeyondTheNewEndAreToldAsTruncatedAndNeverDeliveredAsZeros) {
  run_all([this] { EXPECT_EQ(::truncate(victim_.c_str(), left_), 0); }, DL_ERR_TRUNCATED);
}

TEST_P(CutWhileCopied, AFileThatIsAsLongAgainIsToldAsChanged) {
  run_all(
      [this] {
        EXPECT_EQ(::truncate(victim_.c_str(), left_), 0);
        EXPECT_EQ(::truncate(victim_.c_str(), bytes_), 0);
      },
      DL_ERR_CHANGED);
}

TEST_P(CutWhileCopied, AFileThatGrowsIsDeliveredAsItWas) {
  run_all([this] { std::ofstream(victim_, std::ios::app | std::ios::binary) << "more"; }, DL_OK);
}

TEST_P(CutWhileCopied, AFileThatIsReplacedOrTakenAwayIsDeliveredAsItWas) {
  run_all(
      [this] {
        std::ofstream(dir_.path("other"), std::ios::binary) << std::string(static_cast<size_t>(bytes_), 'x');
        std::filesystem::rename(dir_.path("other"), victim_);
      },
      DL_OK);
  run_all([this] { std::filesystem::remove(victim_); }, DL_OK);
}

INSTANTIATE_TEST_SUITE_P(Formats, CutWhileCopied,
                         ::testing::Combine(::testing::ValuesIn(kFormats),
                                            ::testing::Values("auto", "mmap", "pread")),
                         [](const auto& parameters) {
                           std::string name =
                               concat(std::get<0>(parameters.param).name, "_", std::get<1>(parameters.param));
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

// Samples 3, 11 and 12 are bad by themselves; 0 stands in for 3 (a draw of stand_in_test.cpp). The file is cut and grown
// back while one for 11 is looked for: then all rows are looked for that have not been in vain before.
TEST(CutWhileStoodIn, AStandInThatNobodyCanVouchForAnyMoreIsNotDelivered) {
  constexpr int64_t kRows = 20, kRowBytes = 32, kDraws = 16;
  for (const char* workers : {"0", "1"}) {
    const TempDir dir;
    const std::string path = dir.write("a.bin", pattern_bytes(kRows * kRowBytes));
    make_file_old(path);
    std::atomic<int64_t> looked_for{0}, first{-1};
    TestReader reader;
    reader.fails = [](int64_t index) { return index == 3 || index == 11 || index == 12; };
    reader.before = [&](const int64_t* indices, int64_t count) {
      if (count != 1) return;
      if (++looked_for == 1) first.store(indices[0]);
      if (looked_for.load() != 2) return;
      EXPECT_EQ(::truncate(path.c_str(), kRowBytes), 0);
      EXPECT_EQ(::truncate(path.c_str(), kRows * kRowBytes), 0);
    };
    const Opened set = open_dataset("raw:" + path + "?dtype=u8&shape=32", {{"io", "pread"}});
    ASSERT_EQ(set.status, DL_OK) << set.error.message;
    const Dataset beside = reader.dataset(kRows);
    dl_dataset* parts[] = {set.dataset.get(), beside.get()};
    dl_dataset* both = nullptr;
    Error error;
    const char* names[] = {"set", "beside"};
    ASSERT_EQ(dl_dataset_zip(parts, names, 2, nullptr, &both, &error), DL_OK) << error.message;
    const Loader loader = make_loader(Dataset(both), {{"batch_size", "20"},
                                                      {"epochs", "1"},
                                                      {"seed", "7"},
                                                      {"num_workers", workers},
                                                      {"on_error", "replace"}});
    EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
    EXPECT_EQ(next(loader).status, DL_END_OF_EPOCH) << "no row is left";
    EXPECT_EQ(first.load(), 0);
    EXPECT_EQ(looked_for.load(), 1 + kRows * kDraws) << workers << " workers";
    const dl_stats stats = stats_of(loader);
    EXPECT_EQ(stats.samples + stats.replaced, 0);
    EXPECT_EQ(stats.skipped, kRows);
  }
}

}  // namespace
}  // namespace dataline::tests::cut_while_copied_test
