// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/doctor/report.h"

#include <algorithm>

#include "bindings/cli/json.h"
#include "bindings/cli/text.h"

namespace dataline::cli {
namespace {

struct MemoryRow {
  const char* what;
  int64_t bytes;
  const char* option;  // which gives some back
};

std::vector<MemoryRow> memory_of(const Run& run) {
  std::vector<MemoryRow> rows = {
      {"slots of batches", run.arena_bytes, "prefetch_depth, max_leases, batch_size"},
      {"orders, decoders and scratch of the workers", std::max<int64_t>(0, run.held_bytes - run.arena_bytes),
       "num_workers, max_decoded_bytes"}};
  if (run.pinned_bytes > 0) rows.push_back({"of that, page-locked", run.pinned_bytes, "pin_memory"});
  if (run.device_bytes > 0) rows.push_back({"memory of the device", run.device_bytes, "prefetch_depth"});
  return rows;
}

std::vector<const Run*> evidence_of(const Findings& findings) {
  std::vector<const Run*> runs;
  if (!findings.over_budget.empty()) return runs;
  runs.push_back(&findings.asked);
  for (const auto* run : {&findings.no_consumer, &findings.in_memory, &findings.no_transform})
    if (*run) runs.push_back(&**run);
  for (const Prefix& prefix : findings.prefixes) runs.push_back(&prefix.run);
  for (const Trial& trial : findings.trials) runs.push_back(&trial.run);
  return runs;
}

}  // namespace

std::string doctor_json(const Findings& findings, const Verdict& verdict,
                        std::optional<double> measured_gain) {
  Json json;
  json.begin_object();
  json.key("verdict").value(verdict.text).key("cause").value(verdict.cause).key("change");
  if (verdict.change) {
    json.begin_object().key("option").value(verdict.change->option);
    json.key("value").value(verdict.change->value).end_object();
  } else {
    json.null();
  }
  json.key("predicted_gain").value(verdict.predicted_gain).key("measured_gain");
  measured_gain ? json.value(*measured_gain) : json.null();
  json.key("evidence").begin_array();
  for (const Run* run : evidence_of(findings)) {
    json.begin_object().key("run").value(run->name).key("samples_per_s").value(run->samples_per_s);
    json.key("wait_share").value(run->wait_share).key("step_ms").value(run->step_ms);
    json.key("num_workers").value(run->num_workers).key("workers_busy").value(run->workers_busy);
    json.key("cpus_busy").value(run->cpus_busy);
    json.key("read_bytes_per_s").value(run->read_bytes_per_s);
    json.key("read_share").value(run->read_share).key("storage_share").value(run->storage_share);
    json.key("no_cpu_share").value(run->no_cpu_share).key("uneven").value(run->uneven).end_object();
  }
  json.end_array().key("memory").begin_array();
  if (findings.over_budget.empty()) {
    for (const MemoryRow& row : memory_of(findings.asked)) {
      json.begin_object().key("what").value(row.what).key("bytes").value(row.bytes);
      json.key("option").value(row.option).end_object();
    }
  }
  json.end_array().key("memcpy_gb_per_s").value(findings.machine.memcpy_bytes_per_s * 1e-9);
  json.key("cpus").value(findings.machine.cpus).key("storage");
  if (findings.storage) {
    json.begin_object().key("random_bytes_per_s").value(findings.storage->random_bytes_per_s);
    json.key("sequential_bytes_per_s").value(findings.storage->sequential_bytes_per_s);
    json.key("piece_bytes").value(findings.storage->piece_bytes);
    json.key("threads").value(findings.storage->threads).end_object();
  } else {
    json.null();
  }
  return json.end_object().text() + "\n";
}

std::string doctor_text(const Findings& findings, const Verdict& verdict,
                        std::optional<double> measured_gain) {
  std::string out = table_text({{verdict.text}}, output_width(), 0);
  if (verdict.change && measured_gain)
    out += "checked: " + flag_text(verdict.change->option) + " " + verdict.change->value + " reached " +
           fixed(*measured_gain, 2) + "x\n";
  std::vector<std::vector<std::string>> rows = {{"run", "samples/s", "waits", "workers", "CPUs busy"}};
  for (const Run* run : evidence_of(findings))
    rows.push_back({run->name, scaled(run->samples_per_s), fixed(100 * run->wait_share, 1) + " %",
                    std::to_string(run->num_workers), fixed(run->cpus_busy, 2)});
  if (rows.size() == 1) return out;
  out += "\n" + table_text(rows, output_width(), 0);
  std::vector<std::vector<std::string>> memory = {{"memory", "bytes", "reduce with"}};
  for (const MemoryRow& row : memory_of(findings.asked))
    memory.push_back({row.what, bytes_text(static_cast<double>(row.bytes)), row.option});
  if (findings.storage)
    out += "\nstorage alone: " + bytes_text(findings.storage->random_bytes_per_s) + "/s at random, " +
           bytes_text(findings.storage->sequential_bytes_per_s) + "/s in file order, to " +
           std::to_string(findings.storage->threads) + " threads\n";
  return out + "\n" + table_text(memory, output_width(), 0) +
         "\nmemcpy: " + fixed(findings.machine.memcpy_bytes_per_s * 1e-9, 1) + " GB/s on one thread\n";
}

}  // namespace dataline::cli
