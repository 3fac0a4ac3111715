// NCCL's monitor (RAS) at NCCL_RAS_ADDR: how many operations of each kind every rank has launched, as JSON. It tells of the
// communicators whose unique id this process has made; the address is taken by whoever comes first.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace allranks::tests {

class Monitor {
 public:
  struct Rank {
    int pid = 0;
    std::map<std::string, unsigned> counts;
  };

  // The one of this process.
  static Monitor& Get() {
    static auto* monitor = new Monitor;
    return *monitor;
  }

  size_t AddCommunicator() {
    const std::lock_guard<std::mutex> lock(mutex_);
    communicators_.emplace_back();
    return communicators_.size() - 1;
  }
  void AddRank(size_t communicator, int rank, int pid) {
    const std::lock_guard<std::mutex> lock(mutex_);
    communicators_[communicator][rank].pid = pid;
  }
  void Count(size_t communicator, int rank, const std::string& kind) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++communicators_[communicator][rank].counts[kind];
  }

 private:
  Monitor() {
    const char* told = std::getenv("NCCL_RAS_ADDR");
    const std::string address = told == nullptr ? "" : told;
    const size_t colon = address.rfind(':');
    if (colon == std::string::npos) return;
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<uint16_t>(std::atoi(address.c_str() + colon + 1)));
    if (inet_pton(AF_INET, address.substr(0, colon).c_str(), &at.sin_addr) != 1) return;
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, reinterpret_cast<sockaddr*>(&at), sizeof(at)) != 0 || listen(listener, 8) != 0) return;
    std::thread([this, listener] {
      for (;;) Answer(accept(listener, nullptr, nullptr));
    }).detach();
  }

  void Answer(int socket) {
    std::string asked;
    char bytes[256];
    while (asked.find("STATUS\n") == std::string::npos) {
      const ssize_t n = recv(socket, bytes, sizeof(bytes), 0);
      if (n <= 0) break;
      asked.append(bytes, static_cast<size_t>(n));
    }
    const std::string report = "OK\nOK\n" + Report();
    send(socket, report.data(), report.size(), MSG_NOSIGNAL);
    close(socket);
  }

  std::string Report() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::string out = "{\"nccl_version\": \"2.28.9\", \"communicators\": [";
    for (size_t c = 0; c < communicators_.size(); ++c) {
      out += (c == 0 ? "" : ", ") + std::string("{\"hash\": \"") + std::to_string(c) + "\", \"ranks\": [";
      bool first = true;
      for (const auto& [rank, one] : communicators_[c]) {
        out += (first ? "" : ", ") + std::string("{\"rank\": ") + std::to_string(rank) + ", \"host\": \"double\", \"pid\": " + std::to_string(one.pid) + ", \"collective_counts\": {";
        first = false;
        bool first_kind = true;
        for (const auto& [kind, count] : one.counts) {
          out += (first_kind ? "\"" : ", \"") + kind + "\": " + std::to_string(count);
          first_kind = false;
        }
        out += "}}";
      }
      out += "]}";
    }
    return out + "]}\n";
  }

  std::mutex mutex_;
  std::vector<std::map<int, Rank>> communicators_;
};

}  // namespace allranks::tests
