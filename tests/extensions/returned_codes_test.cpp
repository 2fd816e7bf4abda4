// Codes that a callback must not return: soft results end no call silently, they become an error that names function and code.
// SPDX-License-Identifier: Apache-2.0
#include "tests/extensions/extensions_support.h"

namespace dataline::tests::returned_codes_test {
namespace {

struct Returned {
  dl_status code;
  const char* text;
};
const Returned kReturned[] = {
    {DL_END_OF_EPOCH, "DL_END_OF_EPOCH (1)"}, {DL_END, "DL_END (2)"},
    {DL_TIMEOUT, "DL_TIMEOUT (3)"},           {DL_CANCELLED, "DL_CANCELLED (4), but nothing was cancelled"},
    {DL_INTERRUPTED, "DL_INTERRUPTED (5)"},   {77, "an unknown code (77)"}};
dl_status returned = DL_OK;

class ReturnedCodes : public Extensions {
 protected:
  // The first batch of the dataset, with that transform: the message, after the code's name.
  std::string first_batch(const char* uri, const char* transform) {
    dl_dataset* dataset = nullptr;
    dl_loader* loader = nullptr;
    dl_batch* batch = nullptr;
    dl_status status = dl_dataset_open(uri, options_, &dataset, &error_);
    if (status == DL_OK) status = dl_options_set(options_, "transform", transform, &error_);
    if (status == DL_OK) status = dl_loader_create(dataset, options_, &loader, &error_);
    if (status == DL_OK) status = dl_loader_next(loader, -1, &batch, &error_);
    dl_batch_release(batch);
    dl_loader_destroy(loader);
    dl_dataset_destroy(dataset);
    return std::string(dl_status_name(status)) + " " + error_.message;
  }
};

TEST_F(ReturnedCodes, OfAFormatThatOpensAreNamed) {
  format_.open = [](void*, const dl_format_request*, dl_dataset**, dl_error*) -> dl_status {
    return returned;
  };
  add_format();
  use();
  for (const Returned& one : kReturned) {
    returned = one.code;
    EXPECT_THAT(open_error("mine:here"),
                HasSubstr(std::string("DL_ERR_READER here: format 'mine': open returned ") + one.text));
  }
}

TEST_F(ReturnedCodes, KeepTheHostsMessage) {
  format_.open = [](void*, const dl_format_request*, dl_dataset**, dl_error* error) -> dl_status {
    return dl_error_set(error, returned, "nobody asked");
  };
  add_format();
  use();
  returned = DL_CANCELLED;
  EXPECT_THAT(open_error("mine:here"), HasSubstr("but nothing was cancelled: nobody asked"));
  returned = -12345;
  EXPECT_THAT(open_error("mine:here"),
              HasSubstr("format 'mine': open failed with code -12345: nobody asked"));
}

TEST_F(ReturnedCodes, OfAStorageAreNamed) {
  storage_.open = [](void*, dl_storage_object* object, dl_error*) -> dl_status {
    object->bytes = 64;
    return returned;
  };
  add_storage();
  use();
  for (const Returned& one : kReturned) {
    returned = one.code;
    EXPECT_THAT(open_error("raw:mem://x?dtype=u8&shape=4"),
                HasSubstr(std::string("storage 'mem': open returned ") + one.text));
  }
}

TEST_F(ReturnedCodes, OfAReadOfAStorageAreNamed) {
  storage_.read = [](void*, dl_storage_read*, dl_error*) -> dl_status { return returned; };
  add_storage();
  use();
  for (const Returned& one : kReturned) {
    returned = one.code;
    const std::string got = first_batch("raw:mem://x?dtype=u8&shape=4", "");
    EXPECT_THAT(got, HasSubstr("DL_ERR_"));
    EXPECT_THAT(got, HasSubstr(std::string("storage 'mem': read returned ") + one.text));
  }
}

TEST_F(ReturnedCodes, OfAnOperatorAreNamed) {
  operator_.apply = [](void*, dl_operator_row*, dl_error*) -> dl_status { return returned; };
  add_format();
  add_operator();
  use();
  for (const Returned& one : kReturned) {
    returned = one.code;
    const std::string got = first_batch("mine:x", "keep");
    EXPECT_THAT(got, HasSubstr("DL_ERR_"));
    EXPECT_THAT(got, HasSubstr(std::string("operator 'keep': apply returned ") + one.text));
  }
}

TEST_F(ReturnedCodes, OfAnOperatorThatIsPreparedAreNamed) {
  operator_.prepare = [](void*, dl_operator_use*, dl_error*) -> dl_status { return returned; };
  add_format();
  add_operator();
  use();
  for (const Returned& one : kReturned) {
    returned = one.code;
    const std::string got = first_batch("mine:x", "keep");
    EXPECT_THAT(got, HasSubstr("DL_ERR_BAD_TRANSFORM"));
    EXPECT_THAT(got, HasSubstr(std::string("operator 'keep': prepare returned ") + one.text));
  }
}

}  // namespace
}  // namespace dataline::tests::returned_codes_test
