// What operators of the host's may promise, and what is said when they do not keep it.
// SPDX-License-Identifier: Apache-2.0
#include "tests/extensions/extensions_support.h"

namespace dataline::tests::operators_test {
namespace {

// What an operator may promise, and what is said when it does not keep it.
class Operators : public Extensions {
 protected:
  std::string deliver(const char* transform) {
    add_format();
    add_operator();
    use();
    dl_dataset* dataset = open("mine:anywhere");
    EXPECT_EQ(dl_options_set(options_, "transform", transform, &error_), DL_OK);
    dl_loader* loader = nullptr;
    dl_status status = dl_loader_create(dataset, options_, &loader, &error_);
    dl_batch* batch = nullptr;
    if (status == DL_OK) status = dl_loader_next(loader, -1, &batch, &error_);
    std::string text;
    if (status == DL_OK) {
      int32_t count = 0;
      const dl_view* view = dl_batch_views(batch, &count);
      text = std::to_string(view->bytes);
    }
    dl_batch_release(batch);
    dl_loader_destroy(loader);
    dl_dataset_destroy(dataset);
    return status == DL_OK ? text : refused(status);
  }
  static dl_status promise_up_to_100_bytes(void*, dl_operator_use* use, dl_error*) {
    use->kind = DL_KIND_RAGGED;
    use->dtype = DL_DTYPE_U8;
    use->rank = 1;
    use->shape[0] = -1;
    use->max_bytes = 100;
    return DL_OK;
  }
};

TEST_F(Operators, MayMakeRowsOfAnyLength) {
  operator_.prepare = promise_up_to_100_bytes;
  operator_.apply = [](void*, dl_operator_row* row, dl_error*) -> dl_status {
    row->bytes = *static_cast<const int64_t*>(row->input);  // 5, 6 and 7
    return DL_OK;
  };
  EXPECT_EQ(deliver("keep"), "18");
}

TEST_F(Operators, ThatWriteTooMuchMakeABadSample) {
  operator_.prepare = promise_up_to_100_bytes;
  operator_.apply = [](void*, dl_operator_row* row, dl_error*) -> dl_status {
    row->bytes = 101;
    return DL_OK;
  };
  EXPECT_THAT(deliver("keep"), HasSubstr("sample needs 101 bytes, at most 100"));
}

TEST_F(Operators, ThatPromiseNonsenseAreRefusedAtCreate) {
  operator_.prepare = [](void*, dl_operator_use* use, dl_error*) -> dl_status {
    use->dtype = 99;
    return DL_OK;
  };
  EXPECT_THAT(deliver("keep"), HasSubstr("dl_operator_use.dtype: got 99"));
}

TEST_F(Operators, ThatPromiseANegativeDimAreRefusedAtCreate) {
  operator_.prepare = [](void*, dl_operator_use* use, dl_error*) -> dl_status {
    use->rank = 1;
    use->shape[0] = -4;
    return DL_OK;
  };
  EXPECT_THAT(deliver("keep"), HasSubstr("DL_ERR_BAD_TRANSFORM transform: column 1: keep: "));
}

TEST_F(Operators, ThatWriteAnotherSizeThanPromisedMakeABadSample) {
  operator_.apply = [](void*, dl_operator_row* row, dl_error*) -> dl_status {
    row->bytes = 4;
    return DL_OK;
  };
  EXPECT_THAT(deliver("keep"), HasSubstr("4 bytes written, expected 8"));
}

TEST_F(Operators, JoinThoseOfTheLibrary) { EXPECT_EQ(deliver("cast(f32), keep, cast(f64)"), "24"); }

TEST_F(Operators, ForgetTheStateOfAUseOnce) {
  static std::atomic<int> forgotten;
  forgotten = 0;
  operator_.prepare = [](void*, dl_operator_use* use, dl_error*) -> dl_status {
    use->state = &forgotten;
    return DL_OK;
  };
  operator_.forget = [](void*, void* state) { static_cast<std::atomic<int>*>(state)->fetch_add(1); };
  EXPECT_EQ(deliver("keep"), "24");
  EXPECT_EQ(forgotten, 1);
}

}  // namespace
}  // namespace dataline::tests::operators_test
