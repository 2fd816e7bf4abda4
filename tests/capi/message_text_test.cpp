// Messages quote what the caller wrote and what files are called; they are one line of printable UTF-8 all the same.
// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "tests/conformance/files.h"

namespace dataline::tests::message_text_test {
namespace {

struct Nasty {
  const char* name;
  const char* bytes;
  const char* shown;
};

// What stands between a and z in the texts below, and what of it a message shows.
constexpr Nasty kNasty[] = {
    {"LineFeed", "\n", "?"},
    {"CarriageReturn", "\r", "?"},
    {"Tab", "\t", "?"},
    {"Escape", "\x1b[31m", "?[31m"},
    {"Bell", "\a", "?"},
    {"Delete", "\x7f", "?"},
    {"C1Control", "\xc2\x9b", "??"},
    {"LoneContinuation", "\x80", "?"},
    {"Latin1", "\xe4", "?"},
    {"LeadWithoutRest", "\xe2\x82", "??"},
    {"LongLeadWithoutRest", "\xf0\x9f\x93", "???"},
    {"OverlongTwo", "\xc0\xaf", "??"},
    {"OverlongThree", "\xe0\x80\xaf", "???"},
    {"OverlongFour", "\xf0\x80\x80\xaf", "????"},
    {"Surrogate", "\xed\xa0\x80", "???"},
    {"AboveUnicode", "\xf4\x90\x80\x80", "????"},
    {"NeverALead", "\xff\xfe", "??"},
    {"TwoBytes", "\xc3\xa4", "\xc3\xa4"},
    {"ThreeBytes", "\xe2\x82\xac", "\xe2\x82\xac"},
    {"BeforeTheSurrogates", "\xed\x9f\xbf", "\xed\x9f\xbf"},
    {"FourBytes", "\xf0\x9f\x93\x88", "\xf0\x9f\x93\x88"},
    {"LastCharacter", "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
};

struct Quote {
  const char* name;
  dl_status code;
  std::function<dl_status(const std::string& word, dl_error* error)> provoke;
};

dl_status open(const std::string& uri, dl_error* error) {
  dl_dataset* dataset = nullptr;
  return dl_dataset_open(uri.c_str(), nullptr, &dataset, error);
}

dl_status create(const char* key, const std::string& value, dl_error* error) {
  Dataset dataset = counting_dataset(3);
  dl_loader* loader = nullptr;
  return dl_loader_create(dataset.get(), make_options({{key, value}}).get(), &loader, error);
}

// Every place where a message quotes a text that is not the library's.
const std::vector<Quote>& quotes() {
  static const std::vector<Quote> all = {
      {"Path", DL_ERR_NOT_FOUND,
       [](const std::string& word, dl_error* error) { return open("/nowhere/" + word, error); }},
      {"UriKey", DL_ERR_BAD_URI,
       [](const std::string& word, dl_error* error) { return open("npy:x.npy?" + word + "=1", error); }},
      {"UriValue", DL_ERR_BAD_URI,
       [](const std::string& word, dl_error* error) { return open("npy:x.npy?trailing=" + word, error); }},
      {"FieldName", DL_ERR_BAD_URI,
       [](const std::string& word, dl_error* error) { return open("npy:" + word + " =x.npy", error); }},
      {"OptionKey", DL_ERR_UNKNOWN_OPTION,
       [](const std::string& word, dl_error* error) {
         return dl_options_set(make_options().get(), word.c_str(), "1", error);
       }},
      {"OptionValue", DL_ERR_BAD_OPTION,
       [](const std::string& word, dl_error* error) {
         return dl_options_set(make_options().get(), "batch_size", word.c_str(), error);
       }},
      {"Device", DL_ERR_BAD_OPTION,
       [](const std::string& word, dl_error* error) { return create("device", word, error); }},
      {"TransformText", DL_ERR_BAD_TRANSFORM,
       [](const std::string& word, dl_error* error) {
         return create("transform", "cast(\"" + word + "\")", error);
       }},
      {"State", DL_ERR_BAD_STATE,
       [](const std::string& word, dl_error* error) {
         Dataset dataset = counting_dataset(3);
         Loader loader = make_loader(dataset);
         return dl_loader_state_load(loader.get(), ("dataline state " + word + "\n").c_str(), error);
       }},
  };
  return all;
}

class QuotedText : public ::testing::TestWithParam<Nasty> {};

TEST_P(QuotedText, IsOneLineOfPrintableTextInEveryMessage) {
  const std::string word = std::string("a") + GetParam().bytes + "z";
  const std::string shown = std::string("a") + GetParam().shown + "z";
  for (const Quote& quote : quotes()) {
    if (quote.name == std::string("State") && word[1] == '\n') continue;  // a state is read line by line
    Error error;
    ASSERT_EQ(quote.provoke(word, &error), quote.code) << quote.name << ": " << error.message;
    const std::string message = error.message;
    EXPECT_NE(message.find(shown), std::string::npos) << quote.name << ": " << message;
    for (const char c : message) {
      EXPECT_FALSE((c >= 0 && c < 0x20) || c == 0x7F) << quote.name << ": " << message;
    }
    EXPECT_TRUE(shown == word || message.find(GetParam().bytes) == std::string::npos) << quote.name;
  }
}

// A reader's own words go into the list of bad samples.
TEST_P(QuotedText, IsPrintableInTheReasonsOfAReaderToo) {
  static std::string word;
  word = std::string("a") + GetParam().bytes + "z";
  const auto read = [](void*, dl_reader_request* request) {
    snprintf(request->messages, static_cast<size_t>(request->message_bytes), "%s", word.c_str());
    return 1;
  };
  Dataset dataset = reader_dataset({field_of("data", DL_DTYPE_U8)}, 1, read);
  Loader loader = make_loader(dataset, {{"num_workers", "0"}});
  EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
  dl_bad_sample bad = {};
  bad.struct_size = sizeof bad;
  Error error;
  ASSERT_EQ(dl_loader_bad_sample_at(loader.get(), 0, &bad, &error), DL_OK) << error.message;
  std::string shown = std::string("a") + GetParam().shown + "z";
  if (shown[1] == '?' && word[1] > 0) shown[1] = ' ';  // readers' own controls become blanks
  EXPECT_NE(std::string(bad.message).find(shown), std::string::npos) << bad.message;
}

INSTANTIATE_TEST_SUITE_P(All, QuotedText, ::testing::ValuesIn(kNasty),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace dataline::tests::message_text_test
