// `dataline version`: the library and the machine.
// SPDX-License-Identifier: Apache-2.0
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <cstdlib>

#include "bindings/cli/commands.h"
#include "bindings/cli/json.h"
#include "bindings/cli/output.h"
#include "bindings/cli/system.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

struct Machine {
  std::string model;
  int64_t cores = 0;         // in the machine
  int64_t usable_cores = 0;  // by this process
  std::vector<std::string> simd;
};

std::vector<std::string> simd_names() {
  std::vector<std::string> names;
#if defined(__x86_64__)
  const auto add = [&](bool present, const char* name) {
    if (present) names.push_back(name);
  };
  add(__builtin_cpu_supports("sse4.2"), "sse4.2");
  add(__builtin_cpu_supports("avx"), "avx");
  add(__builtin_cpu_supports("avx2"), "avx2");
  add(__builtin_cpu_supports("fma"), "fma");
  add(__builtin_cpu_supports("avx512f"), "avx512f");
  add(__builtin_cpu_supports("avx512bw"), "avx512bw");
  add(__builtin_cpu_supports("avx512vbmi"), "avx512vbmi");
#elif defined(__aarch64__)
  names.push_back("neon");
  constexpr unsigned long kSve = 1ul << 22;  // HWCAP_SVE
  if ((getauxval(AT_HWCAP) & kSve) != 0) names.push_back("sve");
#endif
  return names;
}

Machine this_machine() {
  Machine machine;
  machine.model = cpu_model();
  machine.cores = machine_cores();
  machine.usable_cores = usable_cores();
  machine.simd = simd_names();
  return machine;
}

// dl_build_info(): "highway mimalloc; gcc 12.2.0; kernels: CUDA 12.0, sm_75; missing: libwebp (WebP cannot be decoded)".
struct Build {
  std::vector<std::string> features;
  std::string compiler;
  std::string kernels;               // "CUDA 12.0, sm_75 sm_80"; "": none
  std::vector<std::string> missing;  // each with its cost
};

// Splits at separators outside parentheses.
std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += (c == '(') - (c == ')');
    if (c == separator && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  std::vector<std::string> out;
  for (const std::string& part : parts)
    if (!trimmed(part).empty()) out.push_back(trimmed(part));
  return out;
}

Build this_build() {
  constexpr char kMissing[] = "missing:", kKernels[] = "kernels:";
  const std::string info = dl_build_info();
  const size_t semicolon = std::min(info.find(';'), info.size());
  Build build;
  build.features = parts_of(info.substr(0, semicolon), ' ');
  for (const std::string& part : parts_of(info.substr(semicolon), ';')) {
    if (part.rfind(kMissing, 0) == 0)
      build.missing = parts_of(part.substr(sizeof(kMissing) - 1), ',');
    else if (part.rfind(kKernels, 0) == 0)
      build.kernels = trimmed(part.substr(sizeof(kKernels) - 1));
    else
      build.compiler = part;
  }
  return build;
}

std::string cuda_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// Why the kernels do not run with this driver, as far as that can be told without starting it; "" if nothing is known against
// them. A loader, which starts it, says more (info --plan).
std::string why_no_kernels(const Build& build, int driver) {
  if (build.kernels.empty()) return "this build has none";
  if (driver == 0) return "there is no CUDA driver";
  const int least =
      std::atoi(build.kernels.c_str() + sizeof("CUDA")) * 1000;  // of the compiler's whole number
  if (driver >= least) return "";
  return "they need a CUDA " + cuda_text(least) + " driver, this one is " + cuda_text(driver);
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out.empty() ? "-" : out;
}

std::string version_json() {
  const Machine machine = this_machine();
  const Build build = this_build();
  const int driver = cuda_driver_version();
  Json json;
  json.begin_object();
  json.key("version").value(dl_version_string());
  json.key("abi").value(dl_abi_version());
  json.key("features").begin_array();
  for (const std::string& word : build.features) json.value(word);
  json.end_array().key("cpu").begin_object();
  json.key("model").text_or_null(machine.model);
  json.key("cores").value(machine.cores);
  json.key("usable_cores").value(machine.usable_cores);
  json.key("simd").begin_array();
  for (const std::string& name : machine.simd) json.value(name);
  json.end_array().end_object().key("gpus").begin_array();
  for (const Gpu& gpu : gpus()) {
    json.begin_object();
    json.key("name").text_or_null(gpu.name);
    json.key("address").value(gpu.address);
    json.end_object();
  }
  json.end_array();
  json.key("cuda_driver").text_or_null(driver == 0 ? "" : cuda_text(driver));
  json.key("kernels").text_or_null(build.kernels);
  json.key("why_no_kernels").text_or_null(why_no_kernels(build, driver));
  return json.end_object().text() + "\n";
}

std::string version_text() {
  const Build build = this_build();
  const Machine machine = this_machine();
  std::vector<std::vector<std::string>> rows = {
      {"dataline", dl_version_string()},
      {"abi", std::to_string(dl_abi_version())},
      {"features", joined(build.features)},
      {"compiler", build.compiler.empty() ? "-" : build.compiler},
      {"cpu", machine.model.empty() ? "-" : machine.model},
      {"cores", std::to_string(machine.usable_cores) + " of " + std::to_string(machine.cores) + " usable"},
      {"simd", joined(machine.simd)}};
  for (const std::string& part : build.missing) rows.push_back({"missing", part});
  for (const Gpu& gpu : gpus()) rows.push_back({"gpu", gpu.name + " (" + gpu.address + ")"});
  if (gpus().empty()) rows.push_back({"gpu", "none"});
  const int driver = cuda_driver_version();
  const std::string why = why_no_kernels(build, driver);
  rows.push_back({"cuda driver", driver == 0 ? "none" : cuda_text(driver)});
  rows.push_back({"kernels", build.kernels.empty() ? "none: " + why
                             : why.empty()         ? build.kernels
                                                   : build.kernels + ": not used: " + why});
  return table_text(rows, output_width(), 0);
}

}  // namespace

int run_version(const Request& request, const Interrupts& interrupts) {
  print(request.has("json") ? version_json() : version_text(), interrupts);
  return 0;
}

}  // namespace dataline::cli
