// SPDX-FileCopyrightText: The Hawser authors
// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/mesh.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace hawser::transport::shm {
namespace {

using Clock = std::chrono::steady_clock;
constexpr long kPidfdOpen = 434;  // SYS_pidfd_open; older C libraries lack the number
constexpr auto kPollInterval = std::chrono::milliseconds(50);
constexpr std::size_t kNameBytes = 16;
constexpr std::size_t kMaxCallers = 64;  ///< connections that have not yet said who they are

Status system_error(const char* what) {
  return {Code::kSystemError, fmt::format("{} of a control socket failed: {}", what, std::strerror(errno))};
}

Result<sockaddr_un> abstract_address(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof(address.sun_path)) {
    return Status(Code::kRemoteError, "a peer named a control socket that is too long");
  }
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // a leading zero byte: abstract, leaves no file behind
  return address;
}

socklen_t length_of(const std::string& name) {
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

/// What a proof signs: who speaks to whom, over which socket.
std::array<std::byte, 32> proof_of(const MeshArgs& args, Packet::Kind kind, int from, int to,
                                   const std::string& address) {
  std::vector<std::byte> text;
  for (const int word : {static_cast<int>(kind), from, to}) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&word);
    text.insert(text.end(), bytes, bytes + sizeof(word));
  }
  const auto* name = reinterpret_cast<const std::byte*>(address.data());
  text.insert(text.end(), name, name + address.size());
  return args.prove(text);
}

bool is_equal(const std::byte* a, const std::array<std::byte, 32>& b) {
  unsigned difference = 0;  // constant time
  for (std::size_t i = 0; i < b.size(); ++i) difference |= std::to_integer<unsigned>(a[i] ^ b.at(i));
  return difference == 0;
}

Status check_running(const MeshArgs& args) {
  if (args.cancel != nullptr && args.cancel->load(std::memory_order_acquire) != 0) {
    return {Code::kInvalidUsage, fmt::format("rank {}: initialisation was aborted", args.rank)};
  }
  return {};
}

/// Waits until one of the sockets is readable. kTimeout without a sentence of its own: the caller knows whom it awaits.
Status await_readable(std::vector<pollfd> sockets, const MeshArgs& args) {
  while (true) {
    HAWSER_TRY(check_running(args));
    if (Clock::now() >= args.deadline) return {Code::kTimeout, "no answer"};
    const int ready = ::poll(sockets.data(), sockets.size(), static_cast<int>(kPollInterval.count()));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return system_error("poll");
  }
}

void identify(Peer& peer) {
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (::getsockopt(peer.socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return;
  peer.pid = credentials.pid;
  if (peer.pid > 0 && peer.pid != ::getpid()) peer.pidfd = Fd(static_cast<int>(::syscall(kPidfdOpen, peer.pid, 0)));
}

Packet greeting(const MeshArgs& args, Packet::Kind kind, int to, const std::string& address) {
  Packet packet;
  packet.kind = kind;
  packet.rank = static_cast<std::uint32_t>(args.rank);
  const auto proof = proof_of(args, kind, args.rank, to, address);
  std::copy(proof.begin(), proof.end(), packet.proof);
  return packet;
}

/// Takes a connection from the queue of a lower rank's listener. A full queue answers EAGAIN: try again.
Result<Fd> dial(const std::string& name, const MeshArgs& args, int to) {
  const sockaddr_un address = HAWSER_TRY_VALUE(abstract_address(name));
  while (true) {
    HAWSER_TRY(check_running(args));
    Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket.is_open()) return system_error("socket");
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length_of(name)) == 0) return socket;
    if (errno != EAGAIN && errno != EINTR) {
      return Status(
          Code::kRemoteError,
          fmt::format("rank {} cannot reach rank {} on the same host: {}; do both see the same network namespace? "
                      "(NCCL_HOSTID tells hosts apart)",
                      args.rank, to, std::strerror(errno)));
    }
    if (Clock::now() >= args.deadline) {
      return Status(Code::kTimeout,
                    fmt::format("rank {}: rank {} did not answer on its control socket", args.rank, to));
    }
    ::poll(nullptr, 0, 1);
  }
}

Result<Peer> call_lower(int to, const std::string& address, const MeshArgs& args) {
  Peer peer;
  peer.rank = to;
  peer.socket = HAWSER_TRY_VALUE(dial(address, args, to));
  HAWSER_TRY(send_packet(peer, greeting(args, Packet::Kind::kHello, to, address), -1));
  if (const Status status = await_readable({{peer.socket.get(), POLLIN, 0}}, args); !status.is_ok()) {
    return Status(status.code(), fmt::format("rank {}: rank {} on the same host did not welcome it: {}", args.rank, to,
                                             status.message()));
  }
  const std::optional<Received> answer = receive_packet(peer);
  if (peer.state == PeerState::kDead) {
    return Status(
        Code::kRemoteError,
        fmt::format("rank {}: rank {} on the same host closed its control connection during initialisation: it "
                    "has ended, or it belongs to another communicator",
                    args.rank, to));
  }
  const auto expected = proof_of(args, Packet::Kind::kWelcome, to, args.rank, address);
  if (!answer || answer->packet.kind != Packet::Kind::kWelcome || !is_equal(answer->packet.proof, expected)) {
    return Status(
        Code::kRemoteError,
        fmt::format("rank {}: whoever answers as rank {} does not know this communicator's secret", args.rank, to));
  }
  identify(peer);
  return peer;
}

/// Takes callers from the listener's queue. Whoever has been silent longest goes when there are too many: peers speak at
/// once.
void accept_callers(const MeshListener& listener, std::vector<Peer>& callers) {
  for (std::size_t i = 0; i < kMaxCallers; ++i) {
    Peer caller;
    caller.socket = Fd(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!caller.socket.is_open()) return;
    if (callers.size() >= kMaxCallers) callers.erase(callers.begin());
    callers.push_back(std::move(caller));
  }
}

/// Whether the caller's hello proves that it is the rank that it says; welcomes it then.
bool is_welcome(Peer& caller, const Packet& hello, const MeshListener& listener, const MeshArgs& args) {
  if (hello.kind != Packet::Kind::kHello) return false;
  caller.rank = static_cast<int>(hello.rank);
  const auto expected = proof_of(args, Packet::Kind::kHello, caller.rank, args.rank, listener.address);
  if (!is_equal(hello.proof, expected)) return false;
  return send_packet(caller, greeting(args, Packet::Kind::kWelcome, caller.rank, listener.address), -1).is_ok();
}

/// Listens to the callers that have spoken: peers take their places, strangers are dropped. Silent ones stay.
void hear_callers(std::vector<Peer>& callers, const MeshListener& listener, const MeshArgs& args,
                  std::vector<Peer>& peers) {
  std::erase_if(callers, [&](Peer& caller) {
    const std::optional<Received> hello = receive_packet(caller);
    if (!hello) return caller.state == PeerState::kDead;
    if (!is_welcome(caller, hello->packet, listener, args)) return true;
    const auto place = std::ranges::find_if(peers, [&](const Peer& peer) { return peer.rank == caller.rank; });
    if (place == peers.end() || caller.rank <= args.rank || place->socket.is_open()) return true;
    identify(caller);
    *place = std::move(caller);
    return true;
  });
}

/// Strangers may call, too, and say nothing or nonsense: nobody waits for them.
Status answer_higher(const MeshListener& listener, const MeshArgs& args, std::vector<Peer>& peers) {
  const auto is_missing = [&](const Peer& peer) { return peer.rank > args.rank && !peer.socket.is_open(); };
  std::vector<Peer> callers;
  while (std::ranges::any_of(peers, is_missing)) {
    std::vector<pollfd> sockets{{listener.socket.get(), POLLIN, 0}};
    for (const Peer& caller : callers) sockets.push_back({caller.socket.get(), POLLIN, 0});
    if (const Status status = await_readable(std::move(sockets), args); !status.is_ok()) {
      const auto missing = std::ranges::find_if(peers, is_missing);
      return {status.code(), fmt::format("rank {}: rank {} on the same host did not connect: {}", args.rank,
                                         missing->rank, status.message())};
    }
    accept_callers(listener, callers);
    hear_callers(callers, listener, args, peers);
  }
  return {};
}

}  // namespace

Result<MeshListener> MeshListener::open() {
  std::array<unsigned char, kNameBytes> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    return system_error("naming");
  MeshListener listener;
  listener.address = fmt::format("hawser-{:02x}", fmt::join(random, ""));
  listener.socket = Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.socket.is_open()) return system_error("socket");
  const sockaddr_un address = HAWSER_TRY_VALUE(abstract_address(listener.address));
  if (::bind(listener.socket.get(), reinterpret_cast<const sockaddr*>(&address), length_of(listener.address)) != 0) {
    return system_error("bind");
  }
  if (::listen(listener.socket.get(), SOMAXCONN) != 0) return system_error("listen");
  return listener;
}

Result<std::vector<Peer>> connect_mesh(const MeshListener& listener, const MeshArgs& args) {
  std::vector<Peer> peers(args.local_ranks.size());
  for (std::size_t i = 0; i < peers.size(); ++i) {
    peers[i].rank = args.local_ranks[i];
    if (peers[i].rank < args.rank) peers[i] = HAWSER_TRY_VALUE(call_lower(peers[i].rank, args.addresses[i], args));
  }
  HAWSER_TRY(answer_higher(listener, args, peers));
  return peers;
}

Status send_packet(const Peer& peer, const Packet& packet, int descriptor) {
  iovec content{const_cast<Packet*>(&packet), sizeof(packet)};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  while (true) {
    if (::sendmsg(peer.socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return {};
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return {Code::kInProgress, fmt::format("the control queue of rank {} is full", peer.rank)};
    return {Code::kRemoteError,
            fmt::format("rank {} closed its control connection: {}", peer.rank, std::strerror(errno))};
  }
}

std::optional<Received> receive_packet(Peer& peer) {
  if (!peer.socket.is_open()) return std::nullopt;
  Received received;
  iovec content{&received.packet, sizeof(received.packet)};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  ssize_t bytes = 0;
  do {
    message = {};
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = CMSG_LEN(sizeof(int));  // not the padding: it would take a second descriptor
    bytes = ::recvmsg(peer.socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    // A peer that closes while packets for it are unread resets the connection; what it sent before lies behind the error.
  } while (bytes < 0 && (errno == ECONNRESET || errno == EINTR));
  if (bytes < 0 && errno == EAGAIN) return std::nullopt;
  if (bytes <= 0) {
    if (peer.state == PeerState::kPresent) peer.state = PeerState::kDead;
    return std::nullopt;
  }
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
    received.descriptor = Fd(descriptor);
  }
  const bool is_whole =
      bytes == static_cast<ssize_t>(sizeof(Packet)) && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  if (!is_whole) return std::nullopt;
  return received;
}

Result<Received> await_packet(Peer& peer, const MeshArgs& args) {
  while (true) {
    HAWSER_TRY(check_running(args));
    const bool has_ended = has_exited(peer);  // asked first: what it sent before it ended counts
    if (std::optional<Received> received = receive_packet(peer)) return std::move(*received);
    if (has_ended || peer.state != PeerState::kPresent) {
      return Status(Code::kRemoteError, fmt::format("rank {}: rank {} (pid {}) ended during initialisation", args.rank,
                                                    peer.rank, peer.pid));
    }
    if (Clock::now() >= args.deadline) {
      return Status(Code::kTimeout,
                    fmt::format("rank {}: rank {} on the same host stopped answering during initialisation", args.rank,
                                peer.rank));
    }
    pollfd entry{peer.socket.get(), POLLIN, 0};
    ::poll(&entry, 1, static_cast<int>(kPollInterval.count()));
  }
}

bool has_exited(const Peer& peer) {
  if (!peer.pidfd.is_open()) return false;
  pollfd entry{peer.pidfd.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

}  // namespace hawser::transport::shm
