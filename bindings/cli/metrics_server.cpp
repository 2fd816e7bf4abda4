// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/metrics_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <system_error>

#include "bindings/cli/failure.h"

namespace dataline::cli {
namespace {

using Clock = HttpExchange::Clock;

constexpr auto kClientTime = std::chrono::seconds(2);  // for a request and its response together
constexpr size_t kMaxClients = 32;                     // at a time
// Between attempts to take a client while the process has no descriptor left: the socket stays readable.
constexpr auto kMinPause = std::chrono::milliseconds(100);
constexpr auto kMaxPause = std::chrono::milliseconds(1000);
constexpr std::string_view kTextType = "text/plain; version=0.0.4; charset=utf-8";

// "" where there is no memory for it.
std::string table_of(const dl_metrics* metrics) {
  std::string text;
  size_t bytes = 0;
  dl_error error = DL_ERROR_INIT;
  dl_status status = dl_metrics_text(metrics, nullptr, nullptr, &bytes, &error);
  while (status == DL_OK) {
    text.resize(bytes);
    status = dl_metrics_text(metrics, nullptr, text.data(), &bytes, &error);
    if (status == DL_OK) {
      text.resize(bytes - 1);  // without the NUL; numbers may have become shorter
      return text;
    }
    if (bytes <= text.size()) return "";
    status = DL_OK;  // the numbers have grown meanwhile
  }
  return "";
}

bool asks_for_metrics(std::string_view line) {
  constexpr std::string_view kAsked = "GET /metrics";
  return line.substr(0, kAsked.size()) == kAsked &&
         (line.size() == kAsked.size() || line[kAsked.size()] == ' ' || line[kAsked.size()] == '?');
}

std::string answer(std::string_view line, const dl_metrics* metrics) {
  if (line.substr(0, 4) != "GET ")
    return http_response("405 Method Not Allowed", "text/plain", "GET /metrics\n");
  if (!asks_for_metrics(line)) return http_response("404 Not Found", "text/plain", "there is /metrics\n");
  return http_response("200 OK", kTextType, table_of(metrics));
}

// For poll: from now, rounded up; -1 for ever.
int milliseconds_until(Clock::time_point when) {
  if (when == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now()).count();
  return static_cast<int>(std::max<int64_t>(left, 0));
}

}  // namespace

MetricsServer::MetricsServer(const dl_loader* loader, int64_t port) {
  dl_metrics* made = nullptr;
  dl_error error = DL_ERROR_INIT;
  if (dl_loader_metrics(loader, &made, &error) != DL_OK) throw Failure{.message = error.message};
  metrics_.reset(made);
  const std::string what = "--metrics " + std::to_string(port);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  bool ok = listener_ >= 0 && ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
            ::bind(listener_, plain, length) == 0 && ::listen(listener_, 16) == 0 &&
            ::getsockname(listener_, plain, &length) == 0 && ::pipe2(wake_, O_CLOEXEC) == 0;
  int why = ok ? 0 : errno;
  if (ok) {
    port_ = ntohs(address.sin_port);
    try {
      thread_ = std::thread([this] { serve(); });
      return;
    } catch (const std::system_error& failed) {
      why = failed.code().value();
    }
  }
  for (const int open : {listener_, wake_[0], wake_[1]}) {
    if (open >= 0) ::close(open);
  }
  throw ok ? thread_failure(what, why) : system_failure(what, why);
}

MetricsServer::~MetricsServer() {
  ::close(wake_[1]);
  thread_.join();
  ::close(wake_[0]);
  ::close(listener_);
}

void MetricsServer::serve() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals are the main thread's
#if defined(__linux__)
  pthread_setname_np(pthread_self(), "dl-metrics");
#endif
  std::vector<HttpExchange> clients;  // in the order of their deadlines
  std::vector<pollfd> entries;
  const auto respond = [this](std::string_view line) { return answer(line, metrics_.get()); };
  for (;;) {
    Clock::time_point until = clients.empty() ? Clock::time_point::max() : clients[0].deadline();
    const bool accepts = accept_at_ <= Clock::now();
    if (!accepts) until = std::min(until, accept_at_);
    entries.assign({pollfd{wake_[0], POLLIN, 0}, pollfd{accepts ? listener_ : -1, POLLIN, 0}});
    for (const HttpExchange& client : clients) entries.push_back({client.socket(), client.events(), 0});
    if (::poll(entries.data(), entries.size(), milliseconds_until(until)) < 0 && errno != EINTR) return;
    if (entries[0].revents != 0) return;
    const Clock::time_point now = Clock::now();
    size_t open = 0;
    for (size_t i = 0; i < clients.size(); ++i) {
      if (now >= clients[i].deadline()) continue;
      if (entries[i + 2].revents != 0 && !clients[i].step(respond)) continue;
      if (open != i) clients[open] = std::move(clients[i]);
      ++open;
    }
    clients.erase(clients.begin() + static_cast<ptrdiff_t>(open), clients.end());
    if (entries[1].revents != 0) accept_into(clients);
  }
}

// A newcomer is never refused for those who are slow: the oldest goes.
void MetricsServer::accept_into(std::vector<HttpExchange>& clients) {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (client >= 0) {
    if (clients.size() == kMaxClients) clients.erase(clients.begin());
    clients.emplace_back(client, Clock::now() + kClientTime);
    pause_ = {};
  } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
    if (!clients.empty()) {
      clients.erase(clients.begin());
      return;
    }
    pause_ = std::clamp<Clock::duration>(2 * pause_, kMinPause, kMaxPause);
    accept_at_ = Clock::now() + pause_;
  }
}

}  // namespace dataline::cli
