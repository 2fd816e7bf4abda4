// dataline.hpp - the C++17 interface of Dataline, over dataline.h; header-only.
//
//   dataline::Dataset dataset("mnist:data");
//   dataline::Loader loader(dataset, {{"batch_size", 128}, {"shuffle", "full"}, {"transform", "normalize(mnist)"}});
//   for (int epoch = 0; epoch < 5; ++epoch)
//     for (dataline::Batch batch : loader)
//       train_step(batch["image"].as<float>(), batch["label"].as<int64_t>());
//
// Conventions. They hold for every class unless its comment says otherwise.
//
// Ownership  Dataset, Loader, Writer, Options, Extensions, File and CancelToken are move-only owners; a Batch is a counted reference: copying it
//            is cheap and gives a second owner of the same bytes. Views, spans and strings borrow: their documentation
//            says from what. A moved-from or default-constructed handle is empty: it may be destroyed, assigned to and
//            tested (operator bool); calls that can fail return DL_ERR_INVALID_ARGUMENT, all others return 0, "" or an
//            empty span.
// Errors     f() throws dataline::Error; try_f() never throws it, but returns a Result, which holds the value or the
//            Error. Without exceptions f() ends the process through the failure hook (error.hpp), so such hosts use
//            try_f(). Codes are the DL_ERR_* of dataline.h; constructors have static try_ variants.
// Options    Keys, defaults and limits are the library's own (option_table() lists them); this header adds none.
// Devices    With device=cuda:N a view's data() is device memory: Batch::wait(stream), then kernels in that stream.
//            Host access (as, rows, writable) is an error. Releasing a batch never waits for kernels.
// Threading  As in dataline.h: datasets, writers and tokens from any thread; next, cancel and interrupt of a Loader, and loops
//            over one Epoch and its next and interrupt, from several threads concurrently; options and iterators from one
//            at a time. Copies of one Batch: any thread; one Batch object: one at a time.
// Memory     std::bad_alloc of the containers used here is passed through.
//
// Translation units with and without exceptions, of C++17 and of C++20, can be linked together: this header's entities
// have different linker names in each (config.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dataline/config.hpp>

#if defined(DATALINE_CPP_ABI)  // else the language is too old: the one error that says so is enough
#include <dataline/array.hpp>
#include <dataline/batch.hpp>
#include <dataline/cancel_token.hpp>
#include <dataline/dataset.hpp>
#include <dataline/device.hpp>
#include <dataline/dtype.hpp>
#include <dataline/duration.hpp>
#include <dataline/epoch.hpp>
#include <dataline/error.hpp>
#include <dataline/extensions.hpp>
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
