// The driver of loops.json on dataline.hpp (README.md).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <dataline.hpp>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "calls.hpp"

namespace {

using dataline::Batch;
using dataline::Epoch;

std::string text_of(dl_status status) {
  if (status == DL_OK) return "ok";
  std::string name = std::string(dl_status_name(status)).substr(3);
  if (name.rfind("ERR_", 0) == 0) name.erase(0, 4);
  for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return name;
}

std::string text_of(const Batch& batch) {
  std::string text = std::to_string(batch.epoch());
  char between = ':';
  for (const int64_t index : batch.sample_indices()) {
    text += between + std::to_string(index);
    between = ',';
  }
  return text;
}

std::string text_of(const dataline::Result<Batch>& got) {
  return got ? text_of(*got) : text_of(got.status());
}

dataline::Loader loader_of(std::istream& words) {
  std::vector<int64_t> rows;
  std::string word;
  words >> word;
  rows.resize(std::stoul(word));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  dataline::Options options;
  while (words >> word) {
    const size_t equals = word.find('=');
    options.set(word.substr(0, equals), word.substr(equals + 1));
  }
  return dataline::Loader(dataline::Dataset::copy_arrays({dataline::Array("x", rows)}), options);
}

std::string loop_statement(dataline::Loader& loader, const std::string& count) {
  const size_t limit = count == "all" ? SIZE_MAX : std::stoul(count);
  std::vector<std::string> batches;
  try {
    for (const Batch& batch : loader) {
      batches.push_back(text_of(batch));
      if (batches.size() == limit) break;
    }
  } catch (const dataline::Error& error) {
    return text_of(error.code());
  }
  if (batches.empty()) return "nothing";
  std::string text = batches.front();
  for (size_t i = 1; i < batches.size(); ++i) text += ' ' + batches[i];
  return text;
}

struct Taken {
  std::vector<int64_t> samples;
  dl_status status;
};

Taken take_all(Epoch& epoch) {
  Taken taken;
  for (;;) {
    const dataline::Result<Batch> batch = epoch.try_next();
    taken.status = batch.status();
    if (!batch) return taken;
    const dataline::Span<const int64_t> samples = batch->sample_indices();
    taken.samples.insert(taken.samples.end(), samples.begin(), samples.end());
  }
}

std::string share(Epoch& epoch, int threads) {
  std::vector<std::future<Taken>> takers;
  for (int i = 0; i < threads; ++i)
    takers.push_back(std::async(std::launch::async, [&epoch] { return take_all(epoch); }));
  size_t samples = 0;
  int ends = 0;
  std::set<int64_t> different;
  dl_status wrong = DL_OK;
  for (std::future<Taken>& taker : takers) {
    const Taken taken = taker.get();
    samples += taken.samples.size();
    different.insert(taken.samples.begin(), taken.samples.end());
    if (taken.status == DL_END_OF_EPOCH) {
      ++ends;
    } else {
      wrong = taken.status;
    }
  }
  if (wrong != DL_OK) return text_of(wrong);
  return std::to_string(samples) + " samples, " + std::to_string(different.size()) + " different, " +
         std::to_string(ends) + " ends";
}

// What `open` opened, and what was made of it since. Spawned threads use the loader and a loop; `begin` of another loop does not
// touch theirs.
class Job {
 public:
  explicit Job(std::istream& words) : loader_(loader_of(words)) {}

  std::string run(const std::string& command) {
    std::istringstream words(command);
    std::string verb, name, more;
    words >> verb >> name >> more;
    if (verb == "call") return call(name, command);
    if (verb == "get") return simple_get(loader_, name);
    if (verb == "take") return text_of(loader_.try_next());
    if (verb == "for") return loop_statement(loader_, name);
    if (verb == "seek") return text_of(loader_.try_seek({std::stoll(name), std::stoll(more)}).status());
    if (verb == "load") return text_of(loader_.try_load_state(state_).status());
    if (verb == "join") return threads_.at(name).get();
    if (verb == "next") return text_of(loop(name)->try_next());
    if (verb == "share") return share(*loop(name), std::stoi(more));
    if (verb == "hold") {
      const dataline::Result<Batch> got = loop(name)->try_next();
      if (got) held_.push_back(*got);
      return text_of(got);
    }
    if (verb == "begin") {
      loop(name) = std::make_unique<Epoch>(loader_.epoch());
      return text_of(loop(name)->status());
    }
    if (verb == "position") {
      const dataline::Position at = loader_.position();
      return std::to_string(at.epoch) + ' ' + std::to_string(at.step);
    }
    if (verb == "drop") {
      loop(name).reset();
    } else if (verb == "release") {
      held_.clear();
    } else if (verb == "save") {
      state_ = loader_.save_state();
    } else if (verb == "interrupt" && name.empty()) {
      loader_.interrupt();
    } else if (verb == "interrupt") {
      loop(name)->interrupt();
    } else if (verb == "cancel") {
      loader_.cancel();
    } else if (verb == "spawn") {
      const std::string what = command.substr(command.find(more, verb.size() + name.size() + 2));
      threads_[name] = std::async(std::launch::async, [this, what] { return run(what); });
    } else {
      std::cerr << "loops: no such command: " << command << '\n';
      std::exit(1);
    }
    return "ok";
  }

 private:
  std::string call(const std::string& name, const std::string& command) {
    std::istringstream words(command);
    std::string word;
    Numbers numbers;
    words >> word >> word;
    for (int64_t number = 0; words >> number;) numbers.push_back(number);
    return text_of(simple_call(loader_, name, numbers).status());
  }
  std::unique_ptr<Epoch>& loop(const std::string& name) {
    return loops_.at(static_cast<size_t>(name[0] - 'a'));
  }

  std::array<std::unique_ptr<Epoch>, 26> loops_;  // by their letter
  std::vector<Batch> held_;
  dataline::Loader loader_;  // destroyed before its loops and batches, which may outlive it
  std::string state_;
  std::map<std::string, std::future<std::string>> threads_;
};

}  // namespace

int main() {
  std::cout << std::unitbuf;
  std::unique_ptr<Job> job;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.rfind("open ", 0) == 0) {
      std::istringstream words(line.substr(5));
      job.reset();
      job = std::make_unique<Job>(words);
      std::cout << "ok" << '\n';
    } else {
      std::cout << job->run(line) << '\n';
    }
  }
}
