// SPDX-License-Identifier: Apache-2.0
#include "bindings/cli/metrics_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>
#include <system_error>

#include "bindings/cli/failure.h"

namespace dataline::cli {
namespace {

constexpr int kClientMs = 2000;  // that a client may take to ask, and to hear
constexpr size_t kMostRequestBytes = 8192;
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

std::string response(std::string_view status, std::string_view type, const std::string& body) {
  return "HTTP/1.0 " + std::string(status) + "\r\nContent-Type: " + std::string(type) +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

bool is_ready(int descriptor, short events) {
  pollfd entry = {descriptor, events, 0};
  return ::poll(&entry, 1, kClientMs) == 1;
}

// The first line of a request, once its head is there; "" from a client that is slow, gone, or says too much.
std::string request_line(int client) {
  std::string head;
  std::array<char, 1024> piece;
  while (head.find("\r\n\r\n") == std::string::npos && head.find("\n\n") == std::string::npos) {
    if (head.size() > kMostRequestBytes || !is_ready(client, POLLIN)) return "";
    const ssize_t got = ::recv(client, piece.data(), piece.size(), 0);
    if (got <= 0) return "";
    head.append(piece.data(), static_cast<size_t>(got));
  }
  return head.substr(0, head.find_first_of("\r\n"));
}

void send_all(int client, std::string_view text) {
  while (!text.empty() && is_ready(client, POLLOUT)) {
    const ssize_t sent = ::send(client, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<size_t>(sent));
  }
}

bool asks_for_metrics(std::string_view line) {
  constexpr std::string_view kAsked = "GET /metrics";
  return line.substr(0, kAsked.size()) == kAsked &&
         (line.size() == kAsked.size() || line[kAsked.size()] == ' ' || line[kAsked.size()] == '?');
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
  for (;;) {
    std::array<pollfd, 2> entries = {pollfd{wake_[0], POLLIN, 0}, pollfd{listener_, POLLIN, 0}};
    if (::poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR) return;
    if (entries[0].revents != 0) return;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    answer(client);
    ::close(client);
  }
}

void MetricsServer::answer(int client) const {
  const std::string line = request_line(client);
  if (line.empty()) return;
  if (line.compare(0, 4, "GET ") != 0) {
    send_all(client, response("405 Method Not Allowed", "text/plain", "GET /metrics\n"));
  } else if (!asks_for_metrics(line)) {
    send_all(client, response("404 Not Found", "text/plain", "there is /metrics\n"));
  } else {
    send_all(client, response("200 OK", kTextType, table_of(metrics_.get())));
  }
}

}  // namespace dataline::cli
