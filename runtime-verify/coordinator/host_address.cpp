#include "runtime-verify/coordinator/host_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cstring>

namespace allranks::verify {

std::optional<HostAddress> HostAddress::Resolve(std::string name) {
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') name = name.substr(1, name.size() - 2);
  for (const int family : {AF_INET, AF_INET6}) {
    addrinfo hints{};
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0 || found == nullptr) continue;
    HostAddress address;
    std::memcpy(&address.storage_, found->ai_addr, found->ai_addrlen);
    address.size_ = found->ai_addrlen;
    freeaddrinfo(found);
    return address;
  }
  return std::nullopt;
}

HostAddress HostAddress::PeerOf(int connection) {
  HostAddress address;
  getpeername(connection, address.generic(), &address.size_);
  return address;
}

HostAddress HostAddress::OwnOf(int connection) {
  HostAddress address;
  getsockname(connection, address.generic(), &address.size_);
  return address;
}

HostAddress HostAddress::Loopback() const { return *Resolve(storage_.ss_family == AF_INET6 ? "::1" : "127.0.0.1"); }

int HostAddress::Socket() const { return socket(storage_.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0); }

bool HostAddress::Bind(int descriptor, uint16_t port) const {
  const HostAddress address = WithPort(port);
  return bind(descriptor, address.generic(), address.size_) == 0;
}

bool HostAddress::Connect(int descriptor, uint16_t port) const {
  const HostAddress address = WithPort(port);
  return connect(descriptor, address.generic(), address.size_) == 0;
}

HostAddress HostAddress::WithPort(uint16_t port) const {
  HostAddress address = *this;
  if (storage_.ss_family == AF_INET6) reinterpret_cast<sockaddr_in6*>(&address.storage_)->sin6_port = htons(port);
  else reinterpret_cast<sockaddr_in*>(&address.storage_)->sin_port = htons(port);
  return address;
}

std::string HostAddress::Text() const {
  char text[NI_MAXHOST] = "";
  getnameinfo(generic(), size_, text, sizeof(text), nullptr, 0, NI_NUMERICHOST);
  return text;
}

bool operator==(const HostAddress& a, const HostAddress& b) {
  return a.size_ == b.size_ && std::memcmp(&a.storage_, &b.storage_, a.size_) == 0;
}

}  // namespace allranks::verify
