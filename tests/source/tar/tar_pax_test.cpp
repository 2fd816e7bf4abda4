// The records of a pax header by themselves: how long one may say that it is. Within archives: bad_files/tar_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/tar/tar_members.h"

#include "tests/source/source_support.h"
#include "tests/source/tar/tar_files.h"

namespace dataline::tar_pax_test {
namespace {

Result<PaxRecords> parse(const std::string& text) { return parse_pax("a.tar", 512, text, /*global=*/false); }

// A record of no bytes behind a good one would be read again and again; one of less than "5 k=\n" has no key.
TEST(TarPax, ARecordThatSaysItIsShorterThanItsOwnFormIsRefused) {
  const std::string good = pax_record("comment", "x");
  for (const char* length : {"0", "1", "2", "3", "4", "00", "003"}) {
    for (const std::string& record :
         {concat(length, " size=4\n"), concat(length, " =\n"), concat(length, " \n")}) {
      SCOPED_TRACE(record);
      std::string shown = record;
      shown.replace(shown.size() - 1, 1, "\\n");
      const std::string end = concat("pax record '", shown, "' is not of the form '<length> <key>=<value>'");
      expect_error(parse(record), Code::kCorrupt, {"a.tar: offset 512: " + end});
      expect_error(parse(good + record), Code::kCorrupt,
                   {concat("a.tar: offset ", 512 + good.size(), ": ", end)});
    }
  }
}

TEST(TarPax, TheShortestRecordHasAKeyOfOneLetterAndNoValue) {
  expect_error(parse("5 k=\n"), Code::kUnsupported, {"offset 512: pax record 'k' is not known"});
  expect_error(parse("5 =\n\n"), Code::kCorrupt, {"not of the form"});
  expect_error(parse("06 k=\n7 size=\n"), Code::kUnsupported, {"'k' is not known"});
}

TEST(TarPax, PathAndSizeAreTakenOutOfTheList) {
  const std::string text =
      pax_record("comment", "") + pax_record("path", "b=c d.jpg") + pax_record("size", "007");
  Result<PaxRecords> records = parse(text);
  ASSERT_TRUE(records.is_ok()) << records.status().message();
  EXPECT_EQ(records.value().path, "b=c d.jpg");
  EXPECT_EQ(records.value().size, 7);
  EXPECT_FALSE(parse("").value().path.has_value());
  EXPECT_FALSE(parse("").value().size.has_value());
}

}  // namespace
}  // namespace dataline::tar_pax_test
