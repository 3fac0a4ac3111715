// An address of a machine, of either version of IP.
#pragma once

#include <sys/socket.h>

#include <optional>
#include <string>

namespace allranks::verify {

class HostAddress {
 public:
  // Of a name, an IPv4 or an IPv6 address (with brackets or without). A name that has both stands for its IPv4 address, on
  // all nodes alike.
  static std::optional<HostAddress> Resolve(std::string name);
  // Of the other, or the own, end of a connection.
  static HostAddress PeerOf(int connection);
  static HostAddress OwnOf(int connection);

  // This machine itself, in the same version.
  HostAddress Loopback() const;
  // A new socket that fits; -1 on failure.
  int Socket() const;
  bool Bind(int descriptor, uint16_t port) const;
  bool Connect(int descriptor, uint16_t port) const;
  // "127.0.0.1", "fd00::2", "fe80::1%eth0"
  std::string Text() const;
  friend bool operator==(const HostAddress& a, const HostAddress& b);

 private:
  HostAddress WithPort(uint16_t port) const;
  const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  sockaddr* generic() { return reinterpret_cast<sockaddr*>(&storage_); }

  sockaddr_storage storage_{};
  socklen_t size_ = sizeof(storage_);
};

}  // namespace allranks::verify
