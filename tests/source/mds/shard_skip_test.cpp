// bad_files=skip and keep for sets of shards (MDS, LitData): a shard that is damaged, and one that the index describes wrongly.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/source/open.h"
#include "tests/source/litdata/litdata_files.h"
#include "tests/source/mds/mds_files.h"
#include "tests/source/source_support.h"

namespace dataline::shard_skip_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What is wrong with the shard of number `bad` of three, each of two samples.
struct Damage {
  const char* name;
  std::function<void(std::string& shard, std::string& entry)> apply;
};

void replace(std::string& text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  ASSERT_NE(at, std::string::npos) << what << " in " << text;
  text.replace(at, what.size(), with);
}

class ShardSkip : public testing::Test {
 protected:
  Result<SourceRef> open(const std::string& uri, BadFiles bad_files) {
    OpenContext context = test_context();
    context.bad_files = bad_files;
    return open_source(uri, context);
  }
  // The values of column `text`, by bad_files=skip, are those of the sound shards, and a note names the other one.
  void expect_skipped(const std::string& uri, int bad, const std::vector<std::string>& texts,
                      size_t column = 1) {
    const Result<SourceRef> strict = open(uri, BadFiles::kError);
    EXPECT_FALSE(strict.is_ok());
    const Result<SourceRef> source = open(uri, BadFiles::kSkip);
    ASSERT_TRUE(source.is_ok()) << source.status().message();
    EXPECT_EQ(fetch_all(*source.value()).bytes[column], texts);
    const std::vector<std::string> notes = source.value()->info().notes;
    ASSERT_FALSE(notes.empty());
    // Where the columns differ, it is the shards that most have that decide which one is wrong.
    const std::string said = strict.status().message();
    if (said.find("the columns of shard") == std::string::npos) {
      EXPECT_EQ(notes[0], std::string(kLeftOut) + said);
    } else {
      EXPECT_THAT(notes[0],
                  HasSubstr("the columns of shard " + std::to_string(bad) + " differ from those of shard "));
    }
  }

  TempDir dir_;
};

const std::vector<std::string> kTexts[] = {{"a", "b"}, {"c", "d"}, {"e", "f"}};
std::vector<std::string> texts_without(int bad) {
  std::vector<std::string> out;
  for (int i = 0; i < 3; ++i) {
    if (i != bad) out.insert(out.end(), kTexts[i].begin(), kTexts[i].end());
  }
  return out;
}

const std::vector<Damage> kMdsDamage = {
    {"missing", [](std::string& shard, std::string&) { shard = "none"; }},
    {"empty", [](std::string& shard, std::string&) { shard.clear(); }},
    {"cut", [](std::string& shard, std::string&) { shard.pop_back(); }},
    {"garbage", [](std::string& shard, std::string&) { shard.assign(shard.size(), '\xff'); }},
    {"other columns", [](std::string&, std::string& entry) { replace(entry, "\"text\"", "\"words\""); }},
    {"another encoding", [](std::string&, std::string& entry) { replace(entry, "\"str\"", "\"bytes\""); }},
    {"a column more",
     [](std::string&, std::string& entry) { replace(entry, "[\"label\"", "[\"x\", \"label\""); }},
    {"another format", [](std::string&, std::string& entry) { replace(entry, "\"mds\"", "\"json\""); }},
    {"more samples",
     [](std::string&, std::string& entry) { replace(entry, "\"samples\": 2", "\"samples\": 3"); }},
    {"no bytes", [](std::string&, std::string& entry) { replace(entry, "\"bytes\"", "\"byte\""); }},
    {"a name above the index",
     [](std::string&, std::string& entry) { replace(entry, "basename\": \"s", "basename\": \"../s"); }},
};

TEST_F(ShardSkip, AnMdsShardThatCannotBeReadIsLeftOut) {
  for (const Damage& damage : kMdsDamage) {
    for (const int bad : {0, 1, 2}) {
      SCOPED_TRACE(std::string(damage.name) + " " + std::to_string(bad));
      const std::string set = std::string(damage.name) + std::to_string(bad);
      std::vector<std::string> entries;
      for (int i = 0; i < 3; ++i) {
        const MdsFile file = mds_file(kTexts[i], 2 * i);
        const std::string name = "s" + std::to_string(i) + ".mds";
        std::string bytes = file.bytes(), entry = mds_entry(file, name);
        if (i == bad) damage.apply(bytes, entry);
        if (bytes != "none") dir_.write(set + "/" + name, bytes);
        entries.push_back(entry);
      }
      dir_.write(set + "/index.json", mds_index(entries));
      expect_skipped("mds:" + dir_.path(set), bad, texts_without(bad));
    }
  }
}

TEST_F(ShardSkip, AnMdsShardWithOtherColumnsKeepsItsPlaceWhereSamplesAre) {
  std::vector<std::string> entries;
  for (int i = 0; i < 3; ++i) {
    const MdsFile file = mds_file(kTexts[i], 2 * i);
    const std::string name = "s" + std::to_string(i) + ".mds";
    dir_.write("set/" + name, file.bytes());
    entries.push_back(mds_entry(file, name));
  }
  replace(entries[1], "\"text\"", "\"words\"");
  dir_.write("set/index.json", mds_index(entries));
  const SourceRef source = open("mds:" + dir_.path("set"), BadFiles::kKeep).take();
  const Fetched rows = fetch_all(*source);
  EXPECT_THAT(rows.bytes[1], ElementsAre("a", "b", "", "", "e", "f"));
  ASSERT_EQ(rows.errors.size(), 2u);
  EXPECT_THAT(rows.errors.at(2).message(), HasSubstr("the columns of shard 1 differ from those of shard 0"));
  // How many samples a shard has must be known.
  replace(entries[1], "\"samples\"", "\"sample\"");
  dir_.write("set/index.json", mds_index(entries));
  expect_error(open("mds:" + dir_.path("set"), BadFiles::kKeep), Code::kCorrupt, {"samples is missing"});
}

TEST_F(ShardSkip, AnMdsSetWithoutASoundShardIsTheFirstOnesError) {
  std::vector<std::string> entries;
  for (int i = 0; i < 2; ++i)
    entries.push_back(mds_entry(mds_file(kTexts[i]), "s" + std::to_string(i) + ".mds"));
  dir_.write("set/index.json", mds_index(entries));
  expect_error(open("mds:" + dir_.path("set"), BadFiles::kSkip), Code::kNotFound,
               {"none of 2 shards can be opened, the first because of", "s0.mds"});
}

const std::vector<Damage> kLitdataDamage = {
    {"missing", [](std::string& shard, std::string&) { shard = "none"; }},
    {"empty", [](std::string& shard, std::string&) { shard.clear(); }},
    {"cut", [](std::string& shard, std::string&) { shard.pop_back(); }},
    {"garbage", [](std::string& shard, std::string&) { shard.assign(shard.size(), '\xff'); }},
    {"no bytes", [](std::string&, std::string& entry) { replace(entry, "\"chunk_bytes\"", "\"byte\""); }},
    {"a name above the index",
     [](std::string&, std::string& entry) { replace(entry, "filename\": \"s", "filename\": \"../s"); }},
};

TEST_F(ShardSkip, ALitdataChunkThatCannotBeReadIsLeftOut) {
  for (const Damage& damage : kLitdataDamage) {
    for (const int bad : {0, 1, 2}) {
      SCOPED_TRACE(std::string(damage.name) + " " + std::to_string(bad));
      const std::string set = std::string("l") + damage.name + std::to_string(bad);
      std::vector<std::string> entries;
      for (int i = 0; i < 3; ++i) {
        // Arrays: the first item has their dtype and shape.
        LitChunk chunk;
        for (const std::string& text : kTexts[i])
          chunk.items.push_back({text, lit_array({0, 1, 2}, mds_bytes(uint16_t{7}), false)});
        const std::string name = "s" + std::to_string(i) + ".bin";
        std::string bytes = chunk.bytes(), entry = lit_entry(chunk, name);
        if (i == bad) damage.apply(bytes, entry);
        if (bytes != "none") dir_.write(set + "/" + name, bytes);
        entries.push_back(entry);
      }
      const LitConfig config{{"str", "numpy"}, lit_spec(lit_dict({"text", "array"}))};
      dir_.write(set + "/index.json", lit_index(entries, config));
      expect_skipped("litdata:" + dir_.path(set), bad, texts_without(bad), 0);
    }
  }
}

TEST_F(ShardSkip, TokensOfALitdataChunkAreItsOwnBesideOneThatIsLeftOut) {
  std::vector<std::string> entries;
  for (int i = 0; i < 3; ++i) {
    const LitChunk chunk{{{std::string(static_cast<size_t>(2 * i + 2), static_cast<char>('a' + i))}}, false};
    const std::string name = "s" + std::to_string(i) + ".bin";
    dir_.write("t/" + name, chunk.bytes());
    entries.push_back(lit_entry(chunk, name, std::to_string(2 * i + 2)));
  }
  replace(entries[0], "\"chunk_bytes\"", "\"byte\"");
  const LitConfig config{{"no_header_numpy:4"}, "", "null", "null", "\"TokensLoader\""};
  dir_.write("t/index.json", lit_index(entries, config));
  expect_skipped("litdata:" + dir_.path("t"), 0, {"bbbb", "cccccc"}, 0);
}

}  // namespace
}  // namespace dataline::shard_skip_test
