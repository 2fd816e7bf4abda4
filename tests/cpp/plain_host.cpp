// dataline.hpp in a host without exceptions and run-time types: Results, an Epoch loop, the failure hook.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dataline.hpp>
#include <string>
#include <vector>

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this program shows a host without both"
#endif

namespace {

int failures = 0;

void check(bool fine, const char* what) {
  if (fine) return;
  ++failures;
  std::printf("failed: %s\n", what);
}

// How a child that runs `body` ends, and what it wrote to stderr.
template <typename Body>
int child(Body&& body, std::string* said) {
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], 2);
    body();
    _exit(0);
  }
  close(ends[1]);
  char buffer[1024];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    said->append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

void loads_by_results() {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  dataline::Result<dataline::Dataset> dataset = dataline::Dataset::try_copy_arrays({{"x", values, {3, 2}}});
  check(dataset.has_value(), "a dataset");
  dataline::Result<dataline::Options> options =
      dataline::Options::try_create({{"batch_size", 2}, {"epochs", 1}});
  dataline::Result<dataline::Loader> loader = dataline::Loader::try_create(*dataset, *options);
  check(loader.has_value(), "a loader");
  float sum = 0;
  dataline::Epoch epoch = loader->epoch();
  for (dataline::Batch batch : epoch) {
    for (const float value : batch["x"].as<float>()) sum += value;
  }
  check(epoch.complete() && sum == 21.0f, "an epoch");
  check(loader->try_next().status() == DL_END, "the end");
}

void reads_records() {
  const dataline::Dataset dataset = dataline::Dataset::from_reader({dataline::Field::dense<int32_t>("x")}, 3,
                                                                   [](int64_t i, dataline::Record& record) {
                                                                     if (i == 1)
                                                                       return record.fail("no such record");
                                                                     record.put(0, static_cast<int32_t>(i));
                                                                   });
  dataline::Loader loader(dataset);
  const dataline::Result<dataline::Batch> bad = loader.try_next();
  check(bad.status() == DL_ERR_BAD_SAMPLE && std::strstr(bad.error().message(), "no such record") != nullptr,
        "a bad record");
  check(loader.try_next()->samples() == 2, "the good ones");
}

void fails_by_the_hook() {
  std::string said;
  check(child([] { dataline::Dataset("idx:/no/such/file"); }, &said) == -SIGABRT, "it terminates");
  check(said.find("DL_ERR_NOT_FOUND") != std::string::npos && said.find("/no/such/file") != std::string::npos,
        "and says why");
  said.clear();
  const int status = child(
      [] {
        dataline::set_failure_hook(
            [](const dataline::Error& error) { _exit(error.code() == DL_ERR_BAD_URI ? 42 : 1); });
        dataline::Dataset("idx:train?trailing");
      },
      &said);
  check(status == 42 && said.empty(), "the hook is asked");
}

}  // namespace

int main() {
  loads_by_results();
  reads_records();
  fails_by_the_hook();
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
