// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
// The asking end of perf/common/run_protocol.h.
#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "perf/common/launch.h"
#include "perf/common/run_protocol.h"

namespace hawser::perf {
namespace {

using run_protocol::Answer;
using run_protocol::Header;
using run_protocol::Verb;

Status failed(std::string text) { return {Code::kSystemError, "exchange with hawser-run: " + std::move(text)}; }

class SocketExchange final : public Exchange {
 public:
  SocketExchange(int fd, const Place& place) : fd_(fd), processes_(static_cast<std::size_t>(place.processes)) {}

  Status put(std::string_view key, std::string_view value) override {
    HAWSER_TRY(check(key, value));
    const auto key_bytes = static_cast<std::uint32_t>(key.size());
    std::string body(reinterpret_cast<const char*>(&key_bytes), sizeof(key_bytes));
    body.append(key).append(value);
    return ask(Verb::kPut, body).status();
  }

  Result<std::string> get(std::string_view key) override {
    HAWSER_TRY(check(key, {}));
    return ask(Verb::kGet, key);
  }

  Result<std::vector<std::string>> gather(std::string_view value) override {
    HAWSER_TRY(check("gather", value));
    const std::string answer = HAWSER_TRY_VALUE(ask(Verb::kGather, value));
    std::vector<std::string> values;
    std::string_view rest = answer;
    while (!rest.empty()) {
      std::uint32_t bytes = 0;
      if (rest.size() < sizeof(bytes)) return failed("a gather's answer is cut");
      std::memcpy(&bytes, rest.data(), sizeof(bytes));
      rest.remove_prefix(sizeof(bytes));
      if (rest.size() < bytes) return failed("a gather's answer is cut");
      values.emplace_back(rest.substr(0, bytes));
      rest.remove_prefix(bytes);
    }
    if (values.size() != processes_)
      return failed(fmt::format("a gather gave {} values for {} processes", values.size(), processes_));
    return values;
  }

 private:
  static Status check(std::string_view key, std::string_view value) {
    if (key.empty() || key.size() > run_protocol::kMaxKeyBytes)
      return failed(fmt::format("a key has 1 to {} bytes, this one {}", run_protocol::kMaxKeyBytes, key.size()));
    if (value.size() > run_protocol::kMaxValueBytes)
      return failed(fmt::format("a value has up to {} bytes, this one {}", run_protocol::kMaxValueBytes, value.size()));
    return {};
  }

  Result<std::string> ask(Verb verb, std::string_view body) {
    const Header question{static_cast<std::uint32_t>(body.size()), static_cast<std::uint8_t>(verb), {}};
    std::string frame(reinterpret_cast<const char*>(&question), sizeof(question));
    frame.append(body);
    HAWSER_TRY(send_all(frame));
    Header header;
    HAWSER_TRY(receive_all(&header, sizeof(header)));
    const std::size_t most = processes_ * (sizeof(std::uint32_t) + run_protocol::kMaxValueBytes);
    if (header.body_bytes > most) return failed(fmt::format("an answer of {} bytes", header.body_bytes));
    std::string answer(header.body_bytes, '\0');
    HAWSER_TRY(receive_all(answer.data(), answer.size()));
    if (header.kind != static_cast<std::uint8_t>(Answer::kOk)) return failed(answer);
    return answer;
  }

  Status send_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return failed(std::strerror(errno));
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
  }

  Status receive_all(void* to, std::size_t bytes) const {
    auto* at = static_cast<char*>(to);
    while (bytes > 0) {
      const ssize_t got = ::recv(fd_, at, bytes, 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return failed(std::strerror(errno));
      if (got == 0) return failed("hawser-run has closed the connection");
      at += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return {};
  }

  int fd_;
  std::size_t processes_;
};

}  // namespace

std::unique_ptr<Exchange> make_socket_exchange(int fd, const Place& place) {
  return std::make_unique<SocketExchange>(fd, place);
}

}  // namespace hawser::perf
