// Recipes that are no JSON, no recipe, or name what cannot be mixed.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"

namespace dataline::mix_test {
namespace {

Result<SourceRef> open_mix(const std::string& path, const OpenContext& context) {
  return open_source("mix:" + path, context);
}

// A recipe of these parts; `a.npy` and `b.npy` lie beside it.
std::string recipe(const std::string& parts, const std::string& rest = "") {
  return "{\"parts\": [" + parts + "]" + rest + "}";
}
const std::string kA = R"({"name": "a", "uri": "npy:a.npy", "weight": 1})";
const std::string kB = R"({"name": "b", "uri": "npy:b.npy", "weight": 3})";
const std::string kGood =
    recipe(kA + ", " + kB, R"(, "schedule": [{"step": 5, "weights": {"a": 1}}], "samples_per_epoch": 7)");

// As check_bad_files(), with the parts beside each recipe.
void check_recipes(const std::vector<BadFile>& table) {
  TempDir dir;
  dir.write("a.npy", npy_file("|u1", "(3,)", "abc"));
  dir.write("b.npy", npy_file("|u1", "(2,)", "de"));
  dir.write("wide.npy", npy_file("<u2", "(2,)", "ABCD"));
  dir.write("empty.npy", npy_file("|u1", "(0,)", ""));
  dir.write("cut.npy", npy_file("|u1", "(9,)", "ab"));
  const std::string good = dir.write("good.json", kGood);
  PeakGrowth growth;
  for (const BadFile& bad : table) {
    SCOPED_TRACE(bad.name);
    expect_refused(bad, dir.write("bad.json", bad.bytes), open_mix);
    EXPECT_TRUE(open_mix(good, test_context()).is_ok()) << "the next good recipe";
  }
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
  ::testing::Test::RecordProperty("cases", static_cast<int>(table.size()));
}

TEST(MixBadFiles, TextThatIsNoRecipe) {
  std::string deep(100000, '[');
  check_recipes({
      {"empty", "", Code::kCorrupt, {"line 1: byte 1: expected '{', got the end of the file"}},
      {"spaces", " \n\n ", Code::kCorrupt, {"line 3: byte 2: expected '{', got the end of the file"}},
      {"a list", "[]", Code::kCorrupt, {"line 1: byte 1: expected '{', got '['"}},
      {"a number", "3", Code::kCorrupt, {"expected '{', got '3'"}},
      {"null", "null", Code::kCorrupt, {"expected '{', got 'n'"}},
      {"an empty object", "{}", Code::kCorrupt, {"the key 'parts' is missing"}},
      {"cut in a key", "{\"par", Code::kCorrupt, {"a string that is never closed"}},
      {"cut after a key", "{\"parts\"", Code::kCorrupt, {"expected ':', got the end of the file"}},
      {"cut in the list", "{\"parts\": [", Code::kCorrupt, {"expected '{', got the end of the file"}},
      {"cut in a part",
       "{\"parts\": [{\"uri\": \"npy:a.npy\"",
       Code::kCorrupt,
       {"expected ',', got the end of the file"}},
      {"text behind", kGood + " x", Code::kCorrupt, {"expected the end of the file, got 'x'"}},
      {"two recipes", kGood + kGood, Code::kCorrupt, {"expected the end of the file, got '{'"}},
      {"a comma too many", "{\"parts\": [" + kA + ",]}", Code::kCorrupt, {"expected '{', got ']'"}},
      {"a comment", "// parts\n" + kGood, Code::kCorrupt, {"line 1: byte 1: expected '{', got '/'"}},
      {"single quotes", "{'parts': []}", Code::kCorrupt, {"expected a string"}},
      {"100,000 levels", "{\"parts\": " + deep, Code::kCorrupt, {"expected '{', got '['"}},
      {"UTF-16", std::string("{\0\"\0", 4), Code::kUnsupported, {"offset 0: UTF-16LE, expected UTF-8"}},
      {"a git-LFS pointer",
       "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
       Code::kCorrupt,
       {"git-LFS"}},
      {"an HTML page", "<!DOCTYPE html><html></html>", Code::kCorrupt, {"HTML"}},
      {"a number with a zero before it",
       recipe(R"({"uri": "npy:a.npy", "weight": 01})"),
       Code::kCorrupt,
       {"starts with 0"}},
      {"a bare minus", recipe(R"({"uri": "npy:a.npy", "weight": -})"), Code::kCorrupt, {"expected a digit"}},
      {"NaN",
       recipe(R"({"uri": "npy:a.npy", "weight": NaN})"),
       Code::kCorrupt,
       {"expected a number as 'weight', got 'N'"}},
      {"Infinity",
       recipe(R"({"uri": "npy:a.npy", "weight": Infinity})"),
       Code::kCorrupt,
       {"expected a number as 'weight'"}},
      {"a weight as text",
       recipe(R"({"uri": "npy:a.npy", "weight": "1"})"),
       Code::kCorrupt,
       {"expected a number as 'weight', got '\"'"}},
      {"a weight as null",
       recipe(R"({"uri": "npy:a.npy", "weight": null})"),
       Code::kCorrupt,
       {"expected a number as 'weight'"}},
      {"a weight of 1e999",
       recipe(R"({"uri": "npy:a.npy", "weight": 1e999})"),
       Code::kCorrupt,
       {"'weight' is '1e999': too large"}},
      {"a URI that is a number", recipe(R"({"uri": 7, "weight": 1})"), Code::kCorrupt, {"expected a string"}},
      {"a URI that is a list",
       recipe(R"({"uri": ["a.npy"], "weight": 1})"),
       Code::kCorrupt,
       {"expected a string, got '['"}},
      {"an empty URI",
       recipe(R"({"uri": "", "weight": 1})"),
       Code::kCorrupt,
       {"the value of 'uri' is empty"}},
      {"a NUL in a URI",
       recipe("{\"uri\": \"npy:a\\u0000.npy\", \"weight\": 1}"),
       Code::kCorrupt,
       {"'uri' has a control character"}},
      {"half a surrogate",
       recipe("{\"uri\": \"\\ud800\", \"weight\": 1}"),
       Code::kCorrupt,
       {"a high surrogate without its low one"}},
  });
}

TEST(MixBadFiles, KeysAndNumbersThatCannotBe) {
  check_recipes({
      {"an unknown key",
       R"({"part": []})",
       Code::kCorrupt,
       {"unknown key 'part', did you mean 'parts'?", "samples_per_epoch"}},
      {"a key twice",
       "{\"parts\": [" + kA + "], \"parts\": []}",
       Code::kCorrupt,
       {"the key 'parts' appears twice"}},
      {"an unknown key of a part",
       recipe(R"({"uri": "npy:a.npy", "wieght": 1})"),
       Code::kCorrupt,
       {"unknown key 'wieght', did you mean 'weight'?"}},
      {"a key of a part twice",
       recipe(R"({"uri": "npy:a.npy", "weight": 1, "weight": 2})"),
       Code::kCorrupt,
       {"the key 'weight' appears twice"}},
      {"a transform that is no text",
       recipe(R"x({"uri": "npy:a.npy", "weight": 1, "transform": 5})x"),
       Code::kCorrupt,
       {"expected a string, got '5'"}},
      {"an empty transform",
       recipe(R"x({"uri": "npy:a.npy", "weight": 1, "transform": ""})x"),
       Code::kCorrupt,
       {"the value of 'transform' is empty"}},
      {"no URI", recipe(R"({"name": "a", "weight": 1})"), Code::kCorrupt, {"the key 'uri' is missing"}},
      {"neither weight nor repeat",
       recipe(R"({"name": "a", "uri": "npy:a.npy"})"),
       Code::kCorrupt,
       {"part a has neither a weight nor a repeat"}},
      {"weight and repeat",
       recipe(R"({"uri": "npy:a.npy", "weight": 1, "repeat": 1})"),
       Code::kCorrupt,
       {"part 0 has a weight and a repeat"}},
      {"weights and repeats",
       recipe(kA + R"(, {"name": "b", "uri": "npy:b.npy", "repeat": 2})"),
       Code::kInvalidArgument,
       {"part a has no repeat, but others have", "give every part a weight"}},
      {"no part", recipe(""), Code::kInvalidArgument, {"expected 1 to", "parts, got 0"}},
      {"a weight below 0",
       recipe(R"({"name": "a", "uri": "npy:a.npy", "weight": -0.5})"),
       Code::kOutOfRange,
       {"part a: weight: expected a finite number >= 0, got -0.5"}},
      {"a denormal weight",
       recipe(R"({"name": "a", "uri": "npy:a.npy", "weight": 1e-310})"),
       Code::kOutOfRange,
       {"part a: weight"}},
      {"no weight left",
       recipe(R"({"uri": "npy:a.npy", "weight": 0}, {"uri": "npy:b.npy", "weight": 0})"),
       Code::kOutOfRange,
       {"all 2 weights are 0, so no part can be drawn"}},
      {"a repeat of 0",
       recipe(R"({"uri": "npy:a.npy", "repeat": 0})"),
       Code::kCorrupt,
       {"part 0: repeat: expected more than 0"}},
      {"a repeat below 0",
       recipe(R"({"uri": "npy:a.npy", "repeat": -1})"),
       Code::kCorrupt,
       {"repeat: expected more than 0"}},
      {"two parts of one name", recipe(kA + ", " + kA), Code::kInvalidArgument, {"two parts are called 'a'"}},
      {"a name that is another's number",
       recipe(R"({"uri": "npy:a.npy", "weight": 1}, {"name": "0", "uri": "npy:b.npy", "weight": 1})"),
       Code::kInvalidArgument,
       {"two parts are called '0'"}},
      {"a name of 300 bytes",
       recipe("{\"name\": \"" + std::string(300, 'n') + R"(", "uri": "npy:a.npy", "weight": 1})"),
       Code::kInvalidArgument,
       {"a name of 300 bytes, expected at most 256"}},
      {"samples_per_epoch 0",
       recipe(kA, R"(, "samples_per_epoch": 0)"),
       Code::kCorrupt,
       {"'samples_per_epoch' is '0', expected a whole number of at least 1"}},
      {"samples_per_epoch 1.5",
       recipe(kA, R"(, "samples_per_epoch": 1.5)"),
       Code::kCorrupt,
       {"'samples_per_epoch' is '1.5'"}},
      {"samples_per_epoch 1e30",
       recipe(kA, R"(, "samples_per_epoch": 1000000000000000000000000000000)"),
       Code::kCorrupt,
       {"expected a whole number"}},
      {"samples_per_epoch with repeats",
       recipe(R"({"uri": "npy:a.npy", "repeat": 2})", R"(, "samples_per_epoch": 9)"),
       Code::kInvalidArgument,
       {"samples_per_epoch needs weights"}},
      {"a schedule with repeats",
       recipe(R"({"name": "a", "uri": "npy:a.npy", "repeat": 2})",
              R"(, "schedule": [{"step": 1, "weights": {"a": 1}}])"),
       Code::kInvalidArgument,
       {"a schedule needs weights"}},
      {"a stage without a step",
       recipe(kA, R"(, "schedule": [{"weights": {"a": 1}}])"),
       Code::kCorrupt,
       {"the key 'step' is missing"}},
      {"a stage without weights",
       recipe(kA, R"(, "schedule": [{"step": 1}])"),
       Code::kCorrupt,
       {"the key 'weights' is missing"}},
      {"a stage at 0",
       recipe(kA, R"(, "schedule": [{"step": 0, "weights": {"a": 1}}])"),
       Code::kCorrupt,
       {"'step' is '0'"}},
      {"stages that do not ascend",
       recipe(kA, R"(, "schedule": [{"step": 5, "weights": {"a": 1}}, {"step": 5, "weights": {"a": 2}}])"),
       Code::kOutOfRange,
       {"schedule: step 5: expected more than 5"}},
      {"a stage of an unknown part",
       recipe(kA, R"(, "schedule": [{"step": 5, "weights": {"c": 1}}])"),
       Code::kCorrupt,
       {"schedule: step 5: no part is called 'c'"}},
      {"a stage with a weight twice",
       recipe(kA, R"(, "schedule": [{"step": 5, "weights": {"a": 1, "a": 2}}])"),
       Code::kCorrupt,
       {"the weight of 'a' appears twice"}},
      {"a stage that leaves nothing",
       recipe(kA + ", " + kB, R"(, "schedule": [{"step": 5, "weights": {"a": 0}}])"),
       Code::kOutOfRange,
       {"all 2 weights from step 5 are 0"}},
      {"a stage with a weight below 0",
       recipe(kA, R"(, "schedule": [{"step": 5, "weights": {"a": -1}}])"),
       Code::kOutOfRange,
       {"part a: weight from step 5"}},
      {"a schedule that is an object",
       recipe(kA, R"(, "schedule": {"5": {"a": 1}})"),
       Code::kCorrupt,
       {"expected '[', got '{'"}},
  });
}

TEST(MixBadFiles, PartsThatCannotBeMixed) {
  const auto with = [](const std::string& uri) {
    return recipe(kA + ", {\"name\": \"other\", \"uri\": \"" + uri + R"(", "weight": 1})");
  };
  check_recipes({
      {"a missing file", with("npy:none.npy"), Code::kNotFound, {"part other: ", "none.npy"}},
      {"a cut file", with("npy:cut.npy"), Code::kTruncated, {"part other: ", "cut.npy"}},
      {"an unknown scheme",
       with("npx:a.npy"),
       Code::kCorrupt,
       {"part other: URI column 1: unknown scheme 'npx'"}},
      {"an unknown key", with("npy:a.npy?x=1"), Code::kCorrupt, {"part other: ", "has no key 'x'"}},
      {"remote storage",
       with("s3://bucket/a.npy"),
       Code::kCorrupt,
       {"part other: ", "s3:// is remote storage"}},
      {"an empty part", with("npy:empty.npy"), Code::kEmpty, {"part other has no samples"}},
      {"another dtype",
       with("npy:wide.npy"),
       Code::kMismatch,
       {"part other: field 'data' is u16, in part a it is u8", "open them with the same keys"}},
      {"other fields",
       with("raw:a.npy?fields=x:u8"),
       Code::kMismatch,
       {"part other has fields x; part a has data"}},
      {"itself", with("mix:bad.json"), Code::kUnsupported, {"part other: mix:bad.json is a mix"}},
      {"another mix",
       with("mix:good.json"),
       Code::kUnsupported,
       {"part other: mix:good.json is a mix", "weights multiplied"}},
  });
}

TEST(MixBadFiles, SeveralRecipesInOneUriAndUnknownKeys) {
  TempDir dir;
  const std::string path = dir.write("good.json", kGood);
  for (const std::string& uri : {"mix:" + path + "," + path, "mix:x=" + path, "mix:" + path + "?weight=1"}) {
    Result<SourceRef> source = open_source(uri, test_context());
    ASSERT_FALSE(source.is_ok()) << uri;
    EXPECT_EQ(source.status().code(), Code::kBadUri);
    EXPECT_GT(source.status().column(), 0);
  }
}

TEST(MixBadFiles, HundredThousandPartsAreRefusedOrOpenedInAMoment) {
  TempDir dir;
  dir.write("a.npy", npy_file("|u1", "(3,)", "abc"));
  std::string parts;
  for (int k = 0; k < 100000; ++k)
    parts += (k == 0 ? "" : ",") + std::string(R"({"uri":"npy:a.npy","weight":)") +
             (k == 99999 ? "-1" : "1") + "}";
  Result<SourceRef> source = open_mix(dir.write("many.json", recipe(parts)), test_context());
  ASSERT_FALSE(source.is_ok());  // by its last weight, before a file is opened
  EXPECT_NE(source.status().message().find("part 99999: weight"), std::string::npos)
      << source.status().message();
}

TEST(MixBadFiles, EveryPrefixAndFlippedBitIsAnErrorOrARecipe) {
  TempDir dir;
  dir.write("a.npy", npy_file("|u1", "(3,)", "abc"));
  dir.write("b.npy", npy_file("|u1", "(2,)", "de"));
  for (size_t length = 0; length < kGood.size(); ++length)
    EXPECT_FALSE(open_mix(dir.write("cut.json", kGood.substr(0, length)), test_context()).is_ok()) << length;
  for (size_t bit = 0; bit < kGood.size() * 8; bit += static_cast<size_t>(sweep_stride())) {
    std::string flipped = kGood;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    Result<SourceRef> source = open_mix(dir.write("flipped.json", flipped), test_context());
    if (source.is_ok()) {
      EXPECT_LE(source.value()->count(), 6);
    }
  }
}

}  // namespace
}  // namespace dataline::mix_test
