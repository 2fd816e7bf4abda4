// A part of a stream: goes on from a saved position, delivers some batches, saves where it is.
// SPDX-License-Identifier: Apache-2.0
//
//   example_chain_cpp URI STATE_IN STATE_OUT BATCHES FIELD [key=value...]
//
// STATE_IN and STATE_OUT are files, or - for none. BATCHES may end epochs, which do not count; -1: to the end. The bytes of
// FIELD go to standard output. The same program exists in each language: a job can be handed from one to the next.
#include <cstdio>
#include <cstdlib>
#include <dataline.hpp>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

namespace {

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.exceptions(std::ios::failbit | std::ios::badbit);
  return {std::istreambuf_iterator<char>(file), {}};
}

void deliver(dataline::Loader& loader, long wanted, const char* field) {
  for (long delivered = 0; delivered != wanted;) {
    dataline::Result<dataline::Batch> got = loader.next();
    if (got.status() == DL_END_OF_EPOCH) continue;
    if (got.status() == DL_END) return;
    const dataline::Span<const std::byte> bytes = got.value()[field].as<std::byte>();
    if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) std::exit(1);
    ++delivered;
  }
}

void run(int argc, char** argv) {
  const std::string uri = argv[1], state_in = argv[2], state_out = argv[3];
  dataline::Options options;
  for (int i = 6; i < argc; ++i) {
    const std::string setting = argv[i];
    const size_t equals = setting.find('=');
    options.set(setting.substr(0, equals), equals == std::string::npos ? "" : setting.substr(equals + 1));
  }
  dataline::Loader loader(dataline::Dataset(uri, options), options);
  if (state_in != "-") loader.load_state(read_whole(state_in));
  deliver(loader, std::atol(argv[4]), argv[5]);
  if (state_out != "-") {
    std::ofstream file(state_out, std::ios::binary);
    file.exceptions(std::ios::failbit | std::ios::badbit);
    file << loader.save_state() << std::flush;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: example_chain_cpp URI STATE_IN STATE_OUT BATCHES FIELD [key=value...]\n");
    return 2;
  }
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "example_chain_cpp: %s\n", error.what());
    return 1;
  }
  return 0;
}
