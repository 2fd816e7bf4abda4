// One request over HTTP/1.0 and its response, on a socket that never blocks. Both together have one deadline, so a client that
// sends or takes a byte at a time ends like one that is silent.
// Threads: one at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace dataline::cli {

class HttpExchange {
 public:
  using Clock = std::chrono::steady_clock;

  // Owns the socket, which must be non-blocking.
  HttpExchange(int socket, Clock::time_point deadline) : socket_(socket), deadline_(deadline) {}
  HttpExchange(HttpExchange&& other) noexcept;
  HttpExchange& operator=(HttpExchange&& other) noexcept;
  ~HttpExchange();  // closes the socket

  int socket() const { return socket_; }
  Clock::time_point deadline() const { return deadline_; }
  short events() const;  // of poll, that the next step waits for

  // Reads or sends what it can now. `answer(line)` makes the response from the first line of the request. Returns false once the
  // exchange is over: the response is sent, or the client is gone or sends too much.
  template <class Answer>
  bool step(const Answer& answer) {
    if (response_.empty()) {
      if (!read()) return false;
      if (!head_is_there()) return true;
      response_ = answer(first_line());
    }
    return send();
  }

 private:
  bool read();
  bool send();
  bool head_is_there() const;
  std::string_view first_line() const;

  int socket_;
  Clock::time_point deadline_;
  std::string head_;
  std::string response_;
  size_t sent_ = 0;
};

// `status`: "200 OK".
std::string http_response(std::string_view status, std::string_view type, std::string_view body);

}  // namespace dataline::cli
