// Messages quote what the caller wrote and what files are called; they are one line of printable UTF-8 all the same.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "tests/conformance/files.h"
#include "tests/support/temp_folder.h"

namespace dataline::tests::message_text_test {
namespace {

struct Nasty {
  const char* name;
  const char* bytes;
  const char* shown;
};

// What stands between a and z in the texts below, and what of it a message shows.
constexpr Nasty kNasty[] = {
    {"LineFeed", "\n", "\\n"},
    {"CarriageReturn", "\r", "\\x0d"},
    {"Tab", "\t", "\\t"},
    {"Escape", "\x1b[31m", "\\x1b[31m"},
    {"Bell", "\a", "\\x07"},
    {"Delete", "\x7f", "\\x7f"},
    {"C1Control", "\xc2\x9b", "\\u009b"},
    {"ArabicLetterMark", "\xd8\x9c", "\\u061c"},
    {"RightToLeftMark", "\xe2\x80\x8f", "\\u200f"},
    {"LineSeparator", "\xe2\x80\xa8", "\\u2028"},
    {"RightToLeftOverride", "\xe2\x80\xae", "\\u202e"},
    {"LeftToRightIsolate", "\xe2\x81\xa6", "\\u2066"},
    {"ByteOrderMark", "\xef\xbb\xbf", "\\ufeff"},
    {"LoneContinuation", "\x80", "\\x80"},
    {"Latin1", "\xe4", "\\xe4"},
    {"LeadWithoutRest", "\xe2\x82", "\\xe2\\x82"},
    {"LongLeadWithoutRest", "\xf0\x9f\x93", "\\xf0\\x9f\\x93"},
    {"OverlongTwo", "\xc0\xaf", "\\xc0\\xaf"},
    {"OverlongThree", "\xe0\x80\xaf", "\\xe0\\x80\\xaf"},
    {"OverlongFour", "\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf"},
    {"Surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80"},
    {"AboveUnicode", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
    {"NeverALead", "\xff\xfe", "\\xff\\xfe"},
    {"BetweenTheMarks", "\xe2\x80\x90", "\xe2\x80\x90"},
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
  const std::string shown = std::string("a") + GetParam().shown + "z";
  EXPECT_NE(std::string(bad.message).find(shown), std::string::npos) << bad.message;
}

// Names in files: of a table, and of the library's notes.
TEST(MessageText, NamesOutsideAsciiAreShownAsTheyAre) {
  const std::string folder = make_temp_folder("dataline-message"),
                    path = folder + "/\xe6\x97\xa5\xe6\x9c\xac.csv";
  std::ofstream(path) << "pr\xc3\xa9nom,\xe5\x90\x8d\xe5\x89\x8d,\xe2\x80\xaetxt\n1,2,3\n";
  Error error;
  EXPECT_EQ(open("csv:" + path + "?fields=n\xc3\xb6m:text", &error), DL_ERR_NO_SUCH_FIELD);
  const std::string message = error.message;
  EXPECT_NE(message.find("\xe6\x97\xa5\xe6\x9c\xac.csv: no column 'n\xc3\xb6m'"), std::string::npos)
      << message;
  EXPECT_NE(message.find("it has pr\xc3\xa9nom, \xe5\x90\x8d\xe5\x89\x8d, \\u202etxt"), std::string::npos)
      << message;
  dl_dataset* opened = nullptr;
  ASSERT_EQ(dl_dataset_open(("csv:" + path).c_str(), nullptr, &opened, &error), DL_OK) << error.message;
  const Dataset dataset(opened);
  ASSERT_EQ(dl_dataset_note_count(opened), 2);
  const std::string note = dl_dataset_note(opened, 0), other = dl_dataset_note(opened, 1);
  EXPECT_NE(note.find("fields=pr\xc3\xa9nom:i64,\xe5\x90\x8d\xe5\x89\x8d:i64"), std::string::npos) << note;
  EXPECT_EQ(other, "not read: column 3, whose name cannot name a field");
  std::filesystem::remove_all(folder);
}

// That each character has all of its bytes.
bool is_utf8_text(const std::string& text) {
  size_t more = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = (byte & 0xC0) == 0x80;
    if (continues != (more > 0)) return false;
    more = continues ? more - 1 : byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : byte >= 0xC0 ? 1 : 0;
  }
  return more == 0;
}

TEST(MessageText, BuffersEndAtACharacterWhateverTheRoom) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "\xe2\x82\xac\n";  // three bytes, and one that becomes two
  for (uint32_t size = offsetof(dl_error, message) + 1; size <= sizeof(dl_error); ++size) {
    dl_error error = DL_ERROR_INIT;
    error.struct_size = size;
    std::memset(error.message, 'x', sizeof error.message);
    EXPECT_EQ(dl_error_set(&error, DL_ERR_READER, text.c_str()), DL_ERR_READER);
    const size_t room = size - offsetof(dl_error, message);
    const std::string shown(error.message, strnlen(error.message, room));
    ASSERT_LT(shown.size(), room);
    ASSERT_GE(shown.size() + 3, room - 1);
    ASSERT_TRUE(is_utf8_text(shown)) << size;
    ASSERT_TRUE(shown.empty() || shown.back() != '\\') << size << ": an escape is not cut";
  }
}

// A host that cuts its own text to fit may cut it within a character.
TEST(MessageText, ACharacterThatTheHostCutIsLeftOut) {
  const auto read = [](void*, dl_reader_request* request) {
    std::string text;
    while (text.size() < static_cast<size_t>(request->message_bytes)) text += "\xe2\x82\xac";
    snprintf(request->messages, static_cast<size_t>(request->message_bytes), "%s", text.c_str());
    return 1;
  };
  Dataset dataset = reader_dataset({field_of("data", DL_DTYPE_U8)}, 1, read);
  Loader loader = make_loader(dataset, {{"num_workers", "0"}});
  EXPECT_EQ(next(loader).status, DL_ERR_BAD_SAMPLE);
  dl_bad_sample bad = {};
  bad.struct_size = sizeof bad;
  Error error;
  ASSERT_EQ(dl_loader_bad_sample_at(loader.get(), 0, &bad, &error), DL_OK) << error.message;
  const std::string message = bad.message;
  EXPECT_TRUE(is_utf8_text(message)) << message;
  EXPECT_EQ(message.find('\\'), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with("\xe2\x82\xac")) << message;
}

INSTANTIATE_TEST_SUITE_P(All, QuotedText, ::testing::ValuesIn(kNasty),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace dataline::tests::message_text_test
