#include "runtime-verify/coordinator/ras.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace allranks::verify {
namespace {

constexpr size_t kLongestReport = 64 << 10;

int Connect(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos) return -1;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::atoi(address.c_str() + colon + 1)));
  if (inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr) != 1) return -1;
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) return descriptor;
  close(descriptor);
  return -1;
}

}  // namespace

std::string AskRas(const std::string& address, std::chrono::milliseconds limit) {
  const int descriptor = Connect(address);
  if (descriptor < 0) return "";
  // What does not know the format answers with an error and goes on in text.
  constexpr std::string_view kQuestion = "TIMEOUT 5\nSET FORMAT json\nVERBOSE STATUS\n";
  std::string report;
  const auto end = std::chrono::steady_clock::now() + limit;
  if (send(descriptor, kQuestion.data(), kQuestion.size(), MSG_NOSIGNAL) > 0) {
    while (report.size() < kLongestReport) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
      if (left.count() <= 0 || poll(&waiting, 1, static_cast<int>(left.count())) <= 0) break;
      char bytes[4096];
      const ssize_t n = read(descriptor, bytes, sizeof(bytes));
      if (n <= 0) break;
      report.append(bytes, static_cast<size_t>(n));
    }
  }
  close(descriptor);
  return report;
}

}  // namespace allranks::verify
