// dataline.hpp - the C++17 interface of Dataline, over dataline.h; header-only.
//
//   dataline::Dataset dataset("mnist:data");
//   dataline::Loader loader(dataset, {{"batch_size", 128}, {"shuffle", "full"}, {"transform", "normalize(mnist)"}});
//   for (int epoch = 0; epoch < 5; ++epoch)
//     for (dataline::Batch batch : loader)
//       train_step(batch["image"].as<float>(), batch["label"].as<int64_t>());
//
// Conventions. They hold for every class unless its comment states an exception.
//
// Ownership  Dataset, Loader, Writer, Options, Extensions, File and CancelToken are move-only owners. A Batch is a
//            counted reference: copying it is cheap and adds an owner of the same bytes. Views, spans and strings
//            borrow; their documentation names the owner. A moved-from or default-constructed handle is empty: it may
//            be destroyed, assigned to and tested (operator bool). Its calls that can fail return
//            DL_ERR_INVALID_ARGUMENT; all others return 0, "" or an empty span.
// Errors     f() throws dataline::Error. try_f() does not throw it: it returns a Result, which holds the value or the
//            Error. Without exceptions f() ends the process through the failure hook (error.hpp), so such hosts call
//            try_f(). Codes are the DL_ERR_* of dataline.h. Constructors have static try_ variants.
// Options    The library defines all keys, defaults and limits (option_table() lists them). This header adds none.
// Devices    With device=cuda:N, a view's data() is device memory. Call Batch::wait(stream), then launch kernels in that
//            stream. Host access (as, rows, writable) is an error. Releasing a batch never waits for kernels.
// Threading  As in dataline.h. Datasets, writers and tokens: any thread. Loader: next, cancel and interrupt may run
//            concurrently. Epoch: threads may loop over one Epoch, and call its next and interrupt, concurrently.
//            Options and iterators: one thread at a time. Copies of one Batch: any thread. One Batch object: one
//            thread at a time.
// Memory     std::bad_alloc thrown by containers of this header propagates to the caller.
//
// Object files built with and without exceptions, as C++17 and as C++20, can be linked together: each variant has
// its own linker names (config.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/config.hpp>

#if defined(DATALINE_CPP_ABI)  // else the language is too old, and one error has already reported it
#include <dataline/array.hpp>
#include <dataline/batch.hpp>
#include <dataline/calls.hpp>
#include <dataline/cancel_token.hpp>
#include <dataline/dataset.hpp>
#include <dataline/device.hpp>
#include <dataline/dtype.hpp>
#include <dataline/duration.hpp>
#include <dataline/epoch.hpp>
#include <dataline/error.hpp>
#include <dataline/extensions.hpp>
#include <dataline/filled.hpp>
#include <dataline/format.hpp>
#include <dataline/launcher.hpp>
#include <dataline/loader.hpp>
#include <dataline/loan.hpp>
#include <dataline/metrics.hpp>
#include <dataline/opening.hpp>
#include <dataline/operator.hpp>
#include <dataline/options.hpp>
#include <dataline/plan.hpp>
#include <dataline/reader.hpp>
#include <dataline/setting.hpp>
#include <dataline/span.hpp>
#include <dataline/storage.hpp>
#include <dataline/tables.hpp>
#include <dataline/threads.hpp>
#include <dataline/view.hpp>
#include <dataline/views.hpp>
#include <dataline/writer.hpp>
#endif
