// Any text as a saved state, and, so that more than the checksum is met, the same text under a right one: refused with
// everything as it was, or the position it says is where the job goes on, and saving gives the same text.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include "capi/dataline.h"
#include "core/base/digest.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/fuzz/target.h"

namespace dataline::fuzz {
namespace {

struct Job {
  dl_dataset* dataset = nullptr;
  dl_loader* loader = nullptr;

  Job() {
    static const uint64_t values[40] = {};
    const int64_t shape[] = {40};
    dl_array array = {};
    array.struct_size = sizeof array;
    array.name = "data";
    array.dtype = DL_DTYPE_U64;
    array.rank = 1;
    array.shape = shape;
    array.data = values;
    dl_options* options = nullptr;
    bool good = dl_dataset_from_arrays(&array, 1, nullptr, nullptr, nullptr, &dataset, nullptr) == DL_OK &&
                dl_options_create(&options, nullptr) == DL_OK;
    for (auto [key, value] :
         {std::pair("batch_size", "7"), std::pair("epochs", "3"), std::pair("num_workers", "0"),
          std::pair("shuffle", "full"), std::pair("seed", "3")})
      good = good && dl_options_set(options, key, value, nullptr) == DL_OK;
    good = good && dl_loader_create(dataset, options, &loader, nullptr) == DL_OK;
    check(good, "the job is made");
    dl_options_destroy(options);
  }
  ~Job() {
    dl_loader_destroy(loader);
    dl_dataset_destroy(dataset);
  }

  std::string save() const {
    char text[4096];
    size_t bytes = sizeof text;
    check(dl_loader_state_save(loader, text, &bytes, nullptr) == DL_OK, "a state is saved");
    return text;
  }
};

void load(const Job& job, const std::string& text) {
  const std::string before = job.save();
  dl_error error;
  dl_error_init(&error, sizeof error);
  const dl_status status = dl_loader_state_load(job.loader, text.c_str(), &error);
  if (status != DL_OK) {
    check(status == DL_ERR_BAD_STATE || status == DL_ERR_STATE_REFUSED, "no state, or another job's",
          error.message);
    check(std::string_view(error.message).starts_with("state"), "the message says that it is about the state",
          error.message);
    return check(job.save() == before, "a refused state changes nothing", text);
  }
  int64_t epoch = -1, step = -1;
  check(dl_loader_position(job.loader, &epoch, &step, nullptr) == DL_OK, "there is a position");
  check(epoch >= 0 && epoch <= 3 && step >= 0 && step <= 6, "the position is one of the job");
  const std::string saved = job.save();
  check(saved.find("\nepoch: " + std::to_string(epoch) + "\nstep: " + std::to_string(step) + "\n") !=
            std::string::npos,
        "what is saved is the position", saved);
  // Lines may come in another order and numbers with zeros before them; the job's own text is the one that stays.
  check(dl_loader_state_load(job.loader, saved.c_str(), nullptr) == DL_OK && job.save() == saved,
        "saved and loaded again it is the same", saved);
  dl_batch* batch = nullptr;
  const dl_status next = dl_loader_next(job.loader, -1, &batch, nullptr);
  check(next == (epoch == 3 ? DL_END : step == 6 ? DL_END_OF_EPOCH : DL_OK), "the job goes on there");
  if (batch == nullptr) return;
  dl_batch_info info = {};
  info.struct_size = sizeof info;
  check(dl_batch_get_info(batch, &info, nullptr) == DL_OK && info.epoch == epoch && info.step == step,
        "the next batch is that of the position");
  dl_batch_release(batch);
}

void run(std::string_view input) {
  static const Job job;
  std::string text(input.substr(0, input.find('\0')));
  load(job, text);
  const size_t sum = text.rfind("checksum: ");
  if (sum == std::string::npos) return;
  text.resize(sum);
  // The identity of this job's data, which seeds cannot know.
  const std::string own = job.save();
  for (const std::string key : {"data", "file_names", "file_sizes", "contents"}) {
    const size_t value = own.find("\n" + key + ": ") + key.size() + 3;
    for (size_t at; (at = text.find("{" + key + "}")) != std::string::npos;)
      text.replace(at, key.size() + 2, own.substr(value, own.find('\n', value) - value));
  }
  Digest digest;
  digest.add(text);
  load(job, text + "checksum: " + digest.hex() + "\n");
}

const Target kTarget("state", run);

}  // namespace
}  // namespace dataline::fuzz
