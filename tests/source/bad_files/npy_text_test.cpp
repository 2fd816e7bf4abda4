// Header texts of .npy files that are not the grammar, each with the offset where it breaks.
// SPDX-License-Identifier: Apache-2.0
#include "core/source/open.h"
#include "tests/source/bad_files/bad_file_table.h"

namespace dataline::npy_text_test {
namespace {

constexpr size_t kTextOffset = 10;  // in a version 1.0 file

// '@' stands where the text is wrong, and is not in the file.
BadFile bad(const std::string& name, std::string text, const std::string& what) {
  size_t at = text.find('@');
  text.erase(at, 1);
  std::string file =
      std::string("\x93NUMPY\x01\x00", 8) + raw_bytes(static_cast<uint16_t>(text.size())) + text;
  return {name,
          file + "abcdefgh",
          Code::kCorrupt,
          {concat(": offset ", kTextOffset + at, ": npy header: "), what}};
}

// A good text but for one value.
BadFile bad_descr(const std::string& value, const std::string& what) {
  return bad("descr " + value, "{'descr': " + value + ", 'fortran_order': False, 'shape': (8,)}", what);
}
BadFile bad_order(const std::string& value, const std::string& what) {
  return bad("order " + value, "{'descr': '|u1', 'fortran_order': " + value + ", 'shape': (8,)}", what);
}
BadFile bad_shape(const std::string& value, const std::string& what) {
  return bad("shape " + value, "{'descr': '|u1', 'fortran_order': False, 'shape': " + value + "}", what);
}

TEST(NpyBadText, NamesTheOffsetAndWhatWasExpected) {
  const std::string d = "'descr': '|u1', ", f = "'fortran_order': False, ", s = "'shape': (8,), ",
                    all = d + f + s;
  const std::string nul(1, '\0');
  check_bad_files(
      {bad("blank", "     @", "expected '{', got its end"),
       bad("a list", "@[1, 2]", "expected '{', got '['"),
       bad("a call", "@dict(descr='|u1')", "expected '{', got 'd'"),
       bad("code instead of a key", "{@exit(): 1}", "expected a quoted string, got 'e'"),
       bad("code after the dict", "{" + all + "}@; import os", "only blanks after the dict, got ';'"),
       bad("an index after the dict", "{" + all + "}@['x']", "only blanks after the dict, got '['"),
       bad("two dicts", "{" + all + "}@{}", "only blanks after the dict, got '{'"),
       bad("a comment", "{" + all + "} @# c", "only blanks after the dict, got '#'"),
       bad("NUL after the dict", "{" + all + "}@" + nul, "only blanks after the dict, got '\\x00'"),
       bad("no descr", "{" + f + s + "}@", "the key 'descr' is missing"),
       bad("no fortran_order", "{" + d + s + "}@", "the key 'fortran_order' is missing"),
       bad("no shape", "{" + d + f + "}@", "the key 'shape' is missing"),
       bad("empty dict", "{}@", "the key 'descr' is missing"),
       bad("a key twice", "{" + all + "@" + d + "}", "the key 'descr' appears twice"),
       bad("shape twice", "{" + all + "@'shape': (9,)}", "the key 'shape' appears twice"),
       bad("another key", "{" + all + "@'extra': 1}",
           "expected the keys descr, fortran_order and shape, got 'extra'"),
       bad("a key of 5000 letters", "{@'" + std::string(5000, 'k') + "': 1}", "kkk...'"),
       bad("a key with a NUL", "{'de@" + nul + "scr': '|u1'}",
           "expected a string without escapes, got '\\x00'"),
       bad("a key in Latin-1",
           "{@'d\xe9"
           "scr': '|u1'}",
           "got 'd\\xe9scr'"),
       bad("upper case", "{@'DESCR': '|u1'}", "got 'DESCR'"),
       bad("a bytes key", "{@b'descr': '|u1'}", "expected a quoted string, got 'b'"),
       bad("no colon", "{'descr' @'|u1'}", "expected ':', got '''"),
       bad("no comma", "{'descr': '|u1' @'shape': (8,)}", "expected ',' or '}', got '''"),
       bad("two commas", "{'descr': '|u1',@, }", "expected a quoted string, got ','"),
       bad("no end", "{" + all + "@", "expected a quoted string, got its end"),
       bad("string without end", "{'descr': '|u1@", "expected the end of a string, got its end"),
       bad("string over two lines", "{'descr': '|u@\n1'}", "expected a string without escapes"),
       bad_descr("'@\\x7cu1'", "expected a string without escapes, got '\\'"),
       bad_descr("@__import__('os').system('true')", "expected a quoted string, got '_'"),
       bad_descr("@4", "expected a quoted string, got '4'"),
       bad_descr("@None", "expected a quoted string, got 'N'"),
       bad_descr("@{}", "expected a quoted string, got '{'"),
       bad_descr("'<f4' @'<f8'", "expected ',' or '}', got '''"),
       bad_order("@0", "expected True or False, got '0'"),
       bad_order("@'False'", "expected True or False, got '''"),
       bad_order("@true", "expected True or False, got 't'"),
       bad_order("False@hood", "expected ',' or '}', got 'h'"),
       bad_shape("@[8]", "expected a tuple of dims, got '['"),
       bad_shape("@8", "expected a tuple of dims, got '8'"),
       bad_shape("@'(8,)'", "expected a tuple of dims, got '''"),
       bad_shape("(8@)", "expected ',' after the only dim of a tuple"),
       bad_shape("(@-8,)", "expected a dim, got '-'"),
       bad_shape("(@+8,)", "expected a dim, got '+'"),
       bad_shape("(8@.0,)", "expected ',' or ')', got '.'"),
       bad_shape("(1@e3,)", "expected ',' or ')', got 'e'"),
       bad_shape("(0@x8,)", "expected ',' or ')', got 'x'"),
       bad_shape("(1@_0,)", "expected ',' or ')', got '_'"),
       bad_shape("(@08,)", "dim '08' starts with 0"),
       bad_shape("(2 @4)", "expected ',' or ')', got '4'"),
       bad_shape("(2,@,4)", "expected a dim, got ','"),
       bad_shape("(@,)", "expected a dim, got ','"),
       bad_shape("(@(8,),)", "expected a dim, got '('"),
       bad_shape("(@'8',)", "expected a dim, got '''"),
       bad_shape("(4@+4,)", "expected ',' or ')', got '+'"),
       bad_shape("(@True,)", "expected a dim, got 'T'"),
       bad("shape without end", "{'shape': (8,@", "expected a dim, got its end")},
      npy_file("|u1", "(8,)", "abcdefgh"), [](const std::string& path, const OpenContext& context) {
        return open_source("npy:" + path, context);
      });
}

}  // namespace
}  // namespace dataline::npy_text_test
