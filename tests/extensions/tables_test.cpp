// What is refused of a host's tables, who owns what, and plug-ins that are none.
// SPDX-License-Identifier: Apache-2.0
#include "tests/extensions/extensions_support.h"
#include "tests/support/places.h"

namespace dataline::tests::tables_test {
namespace {

TEST_F(Extensions, RefuseNamesThatAreTakenOrNoNames) {
  for (const char* name :
       {"npy", "tar", "x", "Upper", "1st", "a-b", "", "name_that_is_longer_than_32_bytes"}) {
    format_.name = name;
    EXPECT_THAT(add_format(), HasSubstr("DL_ERR_INVALID_ARGUMENT")) << name;
  }
  format_.name = nullptr;
  EXPECT_THAT(add_format(), HasSubstr("NULL"));
  operator_.name = "resize";
  EXPECT_THAT(add_operator(), HasSubstr("'resize' already exists"));
  storage_.scheme = "file";
  EXPECT_THAT(add_storage(), HasSubstr("'file' already exists"));
  EXPECT_EQ(destroyed_, 0) << "a table that is refused stays the host's";
}

TEST_F(Extensions, RefuseASecondOfTheSameName) {
  EXPECT_THAT(add_format(), HasSubstr("DL_OK"));
  EXPECT_THAT(add_format(), HasSubstr("'mine' already exists"));
  EXPECT_THAT(add_operator(), HasSubstr("DL_OK"));
  EXPECT_THAT(add_operator(), HasSubstr("'keep' already exists"));
  EXPECT_THAT(add_storage(), HasSubstr("DL_OK"));
  EXPECT_THAT(add_storage(), HasSubstr("'mem' already exists"));
  EXPECT_EQ(destroyed_, 0);
}

TEST_F(Extensions, RefuseTablesWithoutTheirFunctions) {
  format_.open = nullptr;
  EXPECT_THAT(add_format(), HasSubstr("dl_format.open is NULL"));
  operator_.apply = nullptr;
  EXPECT_THAT(add_operator(), HasSubstr("dl_operator.apply is NULL"));
  operator_.prepare = nullptr;
  EXPECT_THAT(add_operator(), HasSubstr("dl_operator.prepare is NULL"));
  storage_.read = nullptr;
  EXPECT_THAT(add_storage(), HasSubstr("dl_storage.read is NULL"));
}

TEST_F(Extensions, TakeLongerTablesOnlyWhereTheRestIsZero) {
  struct Grown {
    dl_format format;
    uint64_t more;
  } grown = {format_, 0};
  grown.format.struct_size = sizeof grown;
  EXPECT_EQ(dl_extensions_add_format(extensions_, &grown.format, &error_), DL_OK) << error_.message;
  grown.more = 1;
  EXPECT_EQ(dl_extensions_add_format(extensions_, &grown.format, &error_), DL_ERR_UNSUPPORTED);
  grown.format.struct_size = sizeof(dl_format) - 8;
  EXPECT_EQ(dl_extensions_add_format(extensions_, &grown.format, &error_), DL_ERR_INVALID_ARGUMENT);
}

TEST_F(Extensions, DestroyATableOnceWhenNothingNeedsIt) {
  add_format();
  add_operator();
  add_storage();
  use();
  dl_dataset* dataset = open("mine:anywhere");
  dl_extensions_destroy(extensions_);
  extensions_ = nullptr;
  EXPECT_EQ(destroyed_, 0);
  dl_options_destroy(options_);
  options_ = nullptr;
  EXPECT_EQ(destroyed_, 2) << "the operator and the storage; the dataset has its format";
  dl_dataset_destroy(dataset);
  EXPECT_EQ(destroyed_, 3);
}

TEST_F(Extensions, AreThoseOfTheTimeTheyWereSet) {
  use();
  add_format();
  EXPECT_THAT(open_error("mine:anywhere"), HasSubstr("unknown scheme"));
  use();
  dl_dataset_destroy(open("mine:anywhere"));
  EXPECT_EQ(dl_options_set_extensions(options_, nullptr, &error_), DL_OK);
  EXPECT_THAT(open_error("mine:anywhere"), HasSubstr("unknown scheme"));
}

TEST_F(Extensions, AreInTheTables) {
  add_format();
  add_operator();
  add_storage();
  ASSERT_EQ(dl_format_count(extensions_), dl_format_count(nullptr) + 1);
  ASSERT_EQ(dl_transform_count(extensions_), dl_transform_count(nullptr) + 1);
  ASSERT_EQ(dl_storage_count(extensions_), 1);
  EXPECT_EQ(dl_storage_count(nullptr), 0);
  dl_format_info format = {};
  format.struct_size = sizeof format;
  ASSERT_EQ(dl_format_at(extensions_, dl_format_count(nullptr), &format, &error_), DL_OK);
  EXPECT_STREQ(format.name, "mine");
  dl_transform_info transform = {};
  transform.struct_size = sizeof transform;
  ASSERT_EQ(dl_transform_at(extensions_, dl_transform_count(nullptr), &transform, &error_), DL_OK);
  EXPECT_STREQ(transform.name, "keep");
  dl_storage storage = {};
  storage.struct_size = sizeof storage;
  ASSERT_EQ(dl_storage_at(extensions_, 0, &storage, &error_), DL_OK);
  EXPECT_STREQ(storage.scheme, "mem");
  EXPECT_EQ(storage.read, nullptr);
  for (int32_t outside : {-1, 1}) {
    EXPECT_EQ(dl_storage_at(extensions_, outside, &storage, &error_), DL_ERR_INVALID_ARGUMENT);
  }
  EXPECT_EQ(dl_format_at(nullptr, dl_format_count(nullptr), &format, &error_), DL_ERR_INVALID_ARGUMENT);
}

TEST_F(Extensions, EveryFormatOfTheLibraryListsItsKeys) {
  for (int32_t f = 0; f < dl_format_count(nullptr); ++f) {
    dl_format_info format = {};
    format.struct_size = sizeof format;
    ASSERT_EQ(dl_format_at(nullptr, f, &format, nullptr), DL_OK);
    for (int32_t k = 0; k < format.key_count; ++k) {
      dl_format_key key = {};
      key.struct_size = sizeof key;
      ASSERT_EQ(dl_format_key_at(nullptr, f, k, &key, nullptr), DL_OK);
      EXPECT_NE(std::string(key.name), "");
      EXPECT_NE(std::string(key.doc), "");
    }
    dl_format_key none = {};
    none.struct_size = sizeof none;
    EXPECT_EQ(dl_format_key_at(nullptr, f, format.key_count, &none, nullptr), DL_ERR_INVALID_ARGUMENT);
  }
}

TEST_F(Extensions, AFormatThatMakesNothingOrFailsWithoutAWordIsNamed) {
  format_.open = [](void*, const dl_format_request*, dl_dataset**, dl_error*) -> dl_status { return DL_OK; };
  add_format();
  use();
  EXPECT_THAT(open_error("mine:here"), HasSubstr("DL_ERR_READER here: mine: open created no dataset"));
  format_.name = "silent";
  format_.open = [](void*, const dl_format_request*, dl_dataset**, dl_error*) -> dl_status { return 77; };
  add_format();
  use();
  EXPECT_THAT(open_error("silent:here"),
              HasSubstr("DL_ERR_READER here: format 'silent': open returned an unknown code (77)"));
  format_.name = "wordless";
  format_.open = [](void*, const dl_format_request*, dl_dataset**, dl_error*) -> dl_status {
    return DL_ERR_PERMISSION;
  };
  add_format();
  use();
  EXPECT_THAT(
      open_error("wordless:here"),
      HasSubstr("DL_ERR_PERMISSION here: format 'wordless': open failed with code -41 (DL_ERR_PERMISSION)"));
}

TEST_F(Extensions, AStorageThatFailsWithoutAWordIsNamedByItsCode) {
  storage_.open = [](void*, dl_storage_object*, dl_error*) -> dl_status { return DL_ERR_NOT_FOUND; };
  add_storage();
  use();
  EXPECT_THAT(open_error("raw:mem://x?dtype=u8&shape=4"),
              HasSubstr("open failed with code -40 (DL_ERR_NOT_FOUND)"));
}

TEST_F(Extensions, AStorageThatReportsNegativeBytesIsRefused) {
  storage_.open = [](void*, dl_storage_object* object, dl_error*) -> dl_status {
    object->bytes = -1;
    return DL_OK;
  };
  add_storage();
  use();
  EXPECT_THAT(open_error("raw:mem://x?dtype=u8&shape=4"), HasSubstr("DL_ERR_IO mem://x"));
}

TEST_F(Extensions, AStorageIsNotMapped) {
  add_storage();
  ASSERT_EQ(dl_options_set(options_, "io", "mmap", &error_), DL_OK);
  use();
  EXPECT_THAT(open_error("raw:mem://x?dtype=u8&shape=4"), HasSubstr("no file to map"));
}

TEST_F(Extensions, AReadErrorOfAStorageIsABadSampleAndNamesPathAndOffset) {
  storage_.read = [](void*, dl_storage_read* request, dl_error* error) -> dl_status {
    if (request->offset <= 8 && request->offset + request->bytes > 8 && request->bytes <= 12)
      return dl_error_set(error, DL_ERR_CORRUPT, "the block does not match its sum");
    return DL_OK;
  };
  add_storage();
  use();
  dl_dataset* dataset = open("raw:mem://x?dtype=u8&shape=4");
  ASSERT_EQ(dl_options_set(options_, "batch_size", "3", &error_), DL_OK);
  dl_loader* loader = nullptr;
  ASSERT_EQ(dl_loader_create(dataset, options_, &loader, &error_), DL_OK) << error_.message;
  dl_batch* batch = nullptr;
  EXPECT_EQ(dl_loader_next(loader, -1, &batch, &error_), DL_ERR_BAD_SAMPLE);
  EXPECT_THAT(error_.message, HasSubstr("mem://x: offset 8: the block does not match its sum"));
  EXPECT_EQ(error_.sample_index, 2);
  dl_loader_destroy(loader);
  dl_dataset_destroy(dataset);
}

class ReportingFormat : public Extensions {
 protected:
  // Reports 40 files, one after the other, and cancels the token, if it has one, at the 20th.
  static dl_status open_forty(void* context, const dl_format_request* request, dl_dataset** out,
                              dl_error* error) {
    EXPECT_GE(request->struct_size, offsetof(dl_format_request, report) + sizeof request->report);
    EXPECT_EQ(__atomic_load_n(request->cancelled, __ATOMIC_RELAXED), 0);
    auto* const token = static_cast<dl_cancel_token*>(context);
    for (int64_t file = 0; file <= 40; ++file) {
      request->report(request, file, 40);
      if (file == 20 && token != nullptr) dl_cancel_token_cancel(token);
      if (__atomic_load_n(request->cancelled, __ATOMIC_RELAXED) != 0) return DL_CANCELLED;
    }
    return open_numbers(nullptr, request, out, error);
  }
};

TEST_F(ReportingFormat, SaysHowFarItIs) {
  format_.open = open_forty;
  format_.context = nullptr;
  format_.destroy = nullptr;
  add_format();
  use();
  for (const char* uri : {"mine:a", "mine:a,b"}) {
    dl_opening* opening = nullptr;
    dl_dataset* dataset = nullptr;
    ASSERT_EQ(dl_dataset_open_async(uri, options_, &opening, &error_), DL_OK) << error_.message;
    EXPECT_EQ(dl_opening_wait(opening, -1, &dataset, &error_), DL_OK) << error_.message;
    dl_progress progress = {};
    progress.struct_size = sizeof progress;
    EXPECT_EQ(dl_opening_progress(opening, &progress, &error_), DL_OK);
    EXPECT_EQ(progress.total_files, dl_dataset_count(dataset) / 3 * 40);
    EXPECT_EQ(progress.files, progress.total_files);
    dl_dataset_destroy(dataset);
    dl_opening_destroy(opening);
  }
}

TEST_F(ReportingFormat, SeesThatItsOpeningIsCancelled) {
  dl_cancel_token* token = nullptr;
  ASSERT_EQ(dl_cancel_token_create(&token, &error_), DL_OK);
  ASSERT_EQ(dl_options_set_cancel_token(options_, token, &error_), DL_OK);
  format_.open = open_forty;
  format_.context = token;
  format_.destroy = nullptr;
  add_format();
  use();
  EXPECT_THAT(open_error("mine:a"), HasSubstr("DL_CANCELLED"));
  dl_cancel_token_destroy(token);
}

// Plug-ins.
TEST_F(Extensions, LoadOfAPluginThatIsNotThereSaysWhy) {
  EXPECT_EQ(dl_extensions_load(extensions_, "/no/such/libdataline-x.so", &error_), DL_ERR_NOT_FOUND);
  EXPECT_THAT(error_.message, HasSubstr("/no/such/libdataline-x.so"));
  EXPECT_EQ(dl_extensions_load(extensions_, "surely_not_there", &error_), DL_ERR_NOT_FOUND);
  EXPECT_THAT(error_.message, HasSubstr("libdataline-surely_not_there.so"));
}

TEST_F(Extensions, LoadOfALibraryThatIsNoPluginSaysSo) {
  EXPECT_EQ(dl_extensions_load(extensions_, tests::in_build(NO_ENTRY).c_str(), &error_), DL_ERR_UNSUPPORTED);
  EXPECT_THAT(error_.message, HasSubstr("dl_plugin_register"));
}

TEST_F(Extensions, LoadOfAPluginOfAnotherAbiAddsNothing) {
  EXPECT_EQ(dl_extensions_load(extensions_, tests::in_build(BAD_ABI).c_str(), &error_), DL_ERR_UNSUPPORTED);
  EXPECT_THAT(error_.message, HasSubstr("built for ABI 9, the library has ABI 2"));
  EXPECT_EQ(dl_format_count(extensions_), dl_format_count(nullptr));
}

TEST_F(Extensions, LoadOfAPluginTwiceIsRefusedAndLeavesTheFirst) {
  ASSERT_EQ(dl_extensions_load(extensions_, tests::in_build(SAMPLES).c_str(), &error_), DL_OK)
      << error_.message;
  EXPECT_EQ(dl_extensions_load(extensions_, tests::in_build(SAMPLES).c_str(), &error_),
            DL_ERR_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("'dlrec' already exists"));
  EXPECT_EQ(dl_format_count(extensions_), dl_format_count(nullptr) + 1);
}

}  // namespace
}  // namespace dataline::tests::tables_test
