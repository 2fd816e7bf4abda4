// The text grammar: what parses and to what, and what does not, with the column and the message.
// SPDX-License-Identifier: Apache-2.0
#include "core/transform/grammar/grammar.h"

#include <gtest/gtest.h>

#include "tests/support/peak_growth.h"

namespace dataline::grammar_test {
namespace {

std::string written(const Value& value) {
  switch (value.kind) {
    case ValueKind::kNumber:
      return concat("number ", value.text);
    case ValueKind::kWord:
      return concat("word ", value.text);
    case ValueKind::kText:
      return concat("text <", value.text, ">");
    case ValueKind::kShape: {
      std::string out = "shape";
      for (int64_t dim : value.shape) out += concat(" ", dim);
      return out;
    }
    case ValueKind::kList:
      break;
  }
  std::string out = "list (";
  for (const Value& item : value.items) out += concat(out.size() > 6 ? ", " : "", written(item));
  return out + ")";
}

// One line that shows the whole tree.
std::string written(const std::vector<ClauseSyntax>& clauses) {
  std::string out;
  for (const ClauseSyntax& clause : clauses) {
    if (!out.empty()) out += " ; ";
    for (const FieldSyntax& field : clause.fields) out += concat("<", field.name, ">");
    for (const CallSyntax& call : clause.calls) {
      out += concat(out.empty() || out.back() == ' ' ? "" : " ", call.name, "{");
      for (const ArgumentSyntax& argument : call.arguments)
        out += concat(out.back() == '{' ? "" : ", ", argument.name, argument.name.empty() ? "" : "=",
                      written(argument.value));
      out += "}";
    }
  }
  return out;
}

struct Good {
  std::string_view text;
  std::string_view tree;
};

constexpr Good kGood[] = {
    {"", ""},
    {"   \t ", ""},
    {"flatten", "flatten{}"},
    {"  flatten  ", "flatten{}"},
    {"flatten()", "flatten{}"},
    {"flatten ( )", "flatten{}"},
    {"chw, flatten", "chw{} flatten{}"},
    {"chw,flatten", "chw{} flatten{}"},
    {"cast(f32)", "cast{word f32}"},
    {"cast( f32 )", "cast{word f32}"},
    {"cast(dtype=f32)", "cast{dtype=word f32}"},
    {"cast ( dtype = f32 )", "cast{dtype=word f32}"},
    {"scale(0.5)", "scale{number 0.5}"},
    {"scale(-1e-3)", "scale{number -1e-3}"},
    {"scale(.5)", "scale{number .5}"},
    {"scale(5.)", "scale{number 5.}"},
    {"op(1, [2], three, d=4)", "op{number 1, list (number 2), word three, d=number 4}"},
    {"op(1,5)", "op{number 1, number 5}"},
    {"pad_to(1024, value=-1)", "pad_to{number 1024, value=number -1}"},
    {"reshape(3x32x32)", "reshape{shape 3 32 32}"},
    {"reshape(0x4)", "reshape{shape 0 4}"},
    {"resize([256, 128])", "resize{list (number 256, number 128)}"},
    {"resize([ 256 ])", "resize{list (number 256)}"},
    {"resize([])", "resize{list ()}"},
    {"op([1,\"a,b\", c, 2x3])", "op{list (number 1, text <a,b>, word c, shape 2 3)}"},
    {"op(\"a;b:c,d)\")", "op{text <a;b:c,d)>}"},
    {"op(\"\")", "op{text <>}"},
    {"normalize(mean=[0.1, 0.2], std=0.5)", "normalize{mean=list (number 0.1, number 0.2), std=number 0.5}"},
    {"image: chw", "<image> chw{}"},
    {"image:chw", "<image> chw{}"},
    {" image : chw ", "<image> chw{}"},
    {"x, y: cast(i64)", "<x><y> cast{word i64}"},
    {"x,y:cast(i64),flatten", "<x><y> cast{word i64} flatten{}"},
    {"image: chw; label: cast(i64)", "<image> chw{} ; <label> cast{word i64}"},
    {"image:chw;label:cast(i64)", "<image> chw{} ; <label> cast{word i64}"},
    {"chw; label: cast(i64)", "chw{} ; <label> cast{word i64}"},
    {"meta/pose.json: flatten", "<meta/pose.json> flatten{}"},
    {"\"a: b\", c: flatten", "<a: b><c> flatten{}"},
    {"7: flatten", "<7> flatten{}"},
    {"op(a=1, b=two, c=\"three\", d=[4], e=5x6)",
     "op{a=number 1, b=word two, c=text <three>, d=list (number 4), e=shape 5 6}"},
    {"op(inf)", "op{word inf}"},
    {"op(a-b.c/d)", "op{word a-b.c/d}"},
    {"op(x3)", "op{word x3}"},
    {"_op2(_a=1)", "_op2{_a=number 1}"},
    {"op(\n1\n,\n b=2\n)", "op{number 1, b=number 2}"},
};

TEST(Grammar, GoodTextsParse) {
  for (const auto& [text, tree] : kGood) {
    const auto parsed = parse_transforms(text);
    ASSERT_TRUE(parsed.is_ok()) << text << ": " << parsed.status().message();
    EXPECT_EQ(written(parsed.value()), tree) << text;
  }
}

struct Bad {
  std::string_view text;
  int64_t column;
  std::string_view message;  // after "transform: column N: "
};

constexpr Bad kBad[] = {
    {",", 1, "expected an operator, got ','"},
    {"chw,", 5, "expected an operator, got the end of the text"},
    {"chw, ", 6, "expected an operator, got the end of the text"},
    {"chw,,flatten", 5, "expected an operator, got ','"},
    {"chw;", 5, "expected an operator, got the end of the text"},
    {";chw", 1, "expected an operator, got ';'"},
    {"chw;;flatten", 5, "expected an operator, got ';'"},
    {"chw flatten", 5, "expected ',' or ';', got 'flatten'"},
    {"chw)", 4, "expected ',' or ';', got ')'"},
    {"chw]", 4, "expected ',' or ';', got ']'"},
    {"chw = 3", 5, "expected ',' or ';', got '='"},
    {"cast(f32", 9, "expected ',' or ')', got the end of the text"},
    {"cast(", 6, "expected a value, got the end of the text"},
    {"cast(,)", 6, "expected a value, got ','"},
    {"cast(f32,)", 10, "expected a value, got ')'"},
    {"cast(f32 f16)", 10, "expected ',' or ')', got 'f16'"},
    {"cast(f32]", 9, "expected ',' or ')', got ']'"},
    {"cast(dtype=)", 12, "expected a value, got ')'"},
    {"cast(=f32)", 6, "expected a value, got '='"},
    {"cast(f32=f32=f32)", 13, "expected ',' or ')', got '='"},
    {"cast(f32)(f16)", 10, "expected ',' or ';', got '('"},
    {"random_crop(padding=4, 32)", 24, "expected name=value after an argument with a name, got '32'"},
    {"op(1, a=2, 3)", 12, "expected name=value after an argument with a name, got '3'"},
    {"random_crop(32, padding=4, padding=5)", 28,
     "expected each argument of random_crop once, got 'padding' twice"},
    {"op(a=1, a=1)", 9, "expected each argument of op once, got 'a' twice"},
    {"resize([256, 256)", 17, "expected ',' or ']', got ')'"},
    {"affine(5, translate=((1), 2))", 21,
     "expected a list in [ ], got '(': write affine(..., translate=[height, width])"},
    {"resize((224, 224", 8, "expected a list in [ ], got '(': write resize([height, width])"},
    {"resize([256,])", 13, "expected a value, got ']'"},
    {"resize([,])", 9, "expected a value, got ','"},
    {"resize([256", 12, "expected ',' or ']', got the end of the text"},
    {"resize([[1], 2])", 9, "expected a value that is not a list, got '['"},
    {"resize([a=1])", 10, "expected ',' or ']', got '='"},
    {"op(\"abc)", 4, "expected a closing '\"', got the end of the text"},
    {"op(3x)", 4, "expected a number, word, \"text\", list or shape, got '3x'"},
    {"op(3x-1)", 4, "expected a number, word, \"text\", list or shape, got '3x-1'"},
    {"op(+1)", 4, "expected a number, word, \"text\", list or shape, got '+1'"},
    {"op(-inf)", 4, "expected a number, word, \"text\", list or shape, got '-inf'"},
    {"op(1e999)", 4, "expected a number, word, \"text\", list or shape, got '1e999'"},
    {"op(1.2.3)", 4, "expected a number, word, \"text\", list or shape, got '1.2.3'"},
    {"op(#)", 4, "expected a number, word, \"text\", list or shape, got '#'"},
    {"2op", 1, "expected an operator, got '2op'"},
    {"o-p", 1, "expected an operator, got 'o-p'"},
    {"\"chw\"", 1, "expected an operator, got '\"'"},
    {": chw", 1, "expected a field name, got ':'"},
    {"image:", 7, "expected an operator, got the end of the text"},
    {"image: , chw", 8, "expected an operator, got ','"},
    {"image label: chw", 7, "expected ',' or ':', got 'label'"},
    {"image,: chw", 7, "expected a field name, got ':'"},
    {",image: chw", 1, "expected a field name, got ','"},
    {"\"\": chw", 3, "expected a field name, got ':'"},
    {"image: chw: flatten", 11, "expected ',' or ';', got ':'"},
    {"chw, image: chw, label: cast(i64)", 23, "expected ',' or ';', got ':'"},
    {"cast(f32): chw", 5, "expected ',' or ':', got '('"},
    {"caf\xc3\xa9(1)", 1, "expected an operator, got 'caf\xc3\xa9'"},
};

TEST(Grammar, BadTextsNameColumnExpectedAndGot) {
  for (const auto& [text, column, message] : kBad) {
    const auto parsed = parse_transforms(text);
    ASSERT_FALSE(parsed.is_ok()) << text;
    EXPECT_EQ(parsed.status().code(), Code::kBadTransform) << text;
    EXPECT_EQ(parsed.status().column(), column) << text;
    EXPECT_EQ(parsed.status().message(), concat("transform: column ", column, ": ", message)) << text;
  }
  static_assert(std::size(kBad) >= 40);
  RecordProperty("cases", static_cast<int>(std::size(kBad)));
}

TEST(Grammar, ColumnsOfGoodTextsPointAtTheirPlaces) {
  const auto parsed = parse_transforms("x, y: cast(i64), op(1, b=[2])");
  ASSERT_TRUE(parsed.is_ok());
  const ClauseSyntax& clause = parsed.value()[0];
  EXPECT_EQ(clause.column, 1);
  EXPECT_EQ(clause.fields[1].column, 4);
  EXPECT_EQ(clause.calls[0].column, 7);
  EXPECT_EQ(clause.calls[1].column, 18);
  EXPECT_EQ(clause.calls[1].arguments[0].value.column, 21);
  EXPECT_EQ(clause.calls[1].arguments[1].column, 24);
  EXPECT_EQ(clause.calls[1].arguments[1].value.column, 26);
  EXPECT_EQ(clause.calls[1].arguments[1].value.items[0].column, 27);
}

TEST(Grammar, LongWordsAreCutInMessages) {
  const std::string text = "op(" + std::string(5000, '9') + "x)";
  const auto parsed = parse_transforms(text);
  ASSERT_FALSE(parsed.is_ok());
  EXPECT_LT(parsed.status().message().size(), 200u);
}

// Texts made to take long or much memory; each is refused by code and column.
TEST(Grammar, HostileTextsCostNextToNothing) {
  auto repeated = [](std::string_view unit, size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += unit;
    return text;
  };
  std::string arguments = "op(a0=1", names;
  for (int i = 1; i < 10'000; ++i) arguments += concat(", a", i, "=1");
  for (int i = 0; i < 9'000; ++i) names += concat("f", i, ",");
  const std::string most = repeated("chw,", 16'383) + "hwc";
  const std::vector<std::pair<std::string, std::string>> table = {
      {repeated("chw,", 16'384) + "hwc", "column 1: expected a text of at most 65536 bytes, got 65539"},
      {std::string(16 << 20, 'a'), "column 1: expected a text of at most 65536 bytes, got 16777216"},
      {std::string(16 << 20, ' '), "column 1: expected a text of at most 65536 bytes"},
      {"op(" + repeated("a=1,", 4 << 20) + "b=1)", "expected a text of at most 65536 bytes"},
      {std::string(65'536, ','), "column 1: expected an operator, got ','"},
      {std::string(65'536, '('), "column 1: expected an operator, got '('"},
      {"op(" + std::string(60'000, '['), "column 5: expected a value that is not a list, got '['"},
      {"op([" + repeated("1,", 30'000), "column 60005: expected a value, got the end of the text"},
      {"op(\"" + std::string(60'000, 'x'), "column 4: expected a closing '\"'"},
      {std::string(60'000, '7'), "column 1: expected an operator, got '7777"},
      {repeated("chw;", 16'000), "column 64001: expected an operator, got the end of the text"},
      {names + "f: ,", "expected an operator, got ','"},
      {arguments.substr(0, 60'000), "column 442: expected at most 64 arguments, got 'a64'"},
  };
  PeakGrowth growth;
  ASSERT_EQ(most.size(), 65'535u);
  EXPECT_EQ(parse_transforms(most).value()[0].calls.size(), 16'384u);
  for (const auto& [text, message] : table) {
    const auto parsed = parse_transforms(text);
    ASSERT_FALSE(parsed.is_ok()) << text.substr(0, 60);
    EXPECT_EQ(parsed.status().code(), Code::kBadTransform);
    EXPECT_NE(parsed.status().message().find(message), std::string::npos)
        << "'" << message << "' is not in: " << parsed.status().message();
    EXPECT_LT(parsed.status().message().size(), 200u);
  }
  EXPECT_LT(growth.bytes(), kMostGrowthBytes);
}

// Every text of up to four marks and letters ends in a tree or an error with a column inside the text.
TEST(Grammar, ShortTextsOfAllMarksNeverFallThrough) {
  constexpr std::string_view kMarks = "a1,;:()[]=\" ";
  std::string text(4, ' ');
  for (size_t code = 0; code < kMarks.size() * kMarks.size() * kMarks.size() * kMarks.size(); ++code) {
    size_t rest = code;
    for (char& c : text) c = kMarks[rest % kMarks.size()], rest /= kMarks.size();
    const auto parsed = parse_transforms(text);
    if (parsed.is_ok()) continue;
    EXPECT_GE(parsed.status().column(), 1) << text;
    EXPECT_LE(parsed.status().column(), 5) << text;
  }
}

}  // namespace
}  // namespace dataline::grammar_test
