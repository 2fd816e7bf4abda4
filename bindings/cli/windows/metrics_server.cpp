// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/metrics_server.h"

#include "bindings/cli/failure.h"

namespace dataline::cli {

MetricsServer::MetricsServer(const dl_loader* /*loader*/, int64_t /*port*/) {
  throw usage_failure("--metrics is not supported on Windows; use --trace FILE", "bench");
}
MetricsServer::~MetricsServer() = default;

}  // namespace dataline::cli
