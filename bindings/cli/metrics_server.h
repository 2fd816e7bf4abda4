// `bench --metrics PORT`: the loader's metrics for Prometheus, on a thread of its own. In metrics_server.cpp by POSIX sockets;
// windows/metrics_server.cpp refuses.
// Threads: the constructor's starts and ends it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "bindings/cli/handles.h"
#include "bindings/cli/http_exchange.h"

namespace dataline::cli {

class MetricsServer {
 public:
  // GET /metrics at 127.0.0.1, answered with HTTP/1.0, 32 clients at a time, each within 2 s or not at all. Port 0: a free one.
  // Throws Failure.
  MetricsServer(const dl_loader* loader, int64_t port);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  int64_t port() const { return port_; }

 private:
  void serve();
  void accept_into(std::vector<HttpExchange>& clients);

  Metrics metrics_;
  int64_t port_ = 0;
  int listener_ = -1;
  int wake_[2] = {-1, -1};                       // a pipe: closing its end for writing ends the thread
  HttpExchange::Clock::time_point accept_at_{};  // the thread's own, as is the next
  HttpExchange::Clock::duration pause_{};        // before it; 0: none
  std::thread thread_;
};

}  // namespace dataline::cli
