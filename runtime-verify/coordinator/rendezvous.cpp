#include "runtime-verify/coordinator/rendezvous.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "runtime-verify/coordinator/host_address.h"

namespace allranks::verify {
namespace {

// What both sides say first. Whoever says something else is none of ours.
constexpr std::string_view kMagic = "ARS1";
constexpr std::string_view kHere = "ARS1 here";
constexpr size_t kLongestHello = 256;
constexpr milliseconds kMeetLimit{60000};
constexpr milliseconds kHelloLimit{2000};
// How long rank 0 may be busy otherwise; and whoever else listens on one of the ports may be silent.
constexpr milliseconds kReplyLimit{10000};
constexpr milliseconds kDismissLimit{5000};
constexpr milliseconds kTickOfMeeting{100};
// Without a token of the user's, for the loopback only.
constexpr std::string_view kLocalToken = "loopback";

std::string TokenOf(const LaunchEnvironment& job) {
  return job.token.empty() ? std::string(kLocalToken) : job.token;
}

// No byte tells how much of it was right.
bool SameText(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

milliseconds Left(Clock::time_point end) {
  return std::max(std::chrono::duration_cast<milliseconds>(end - Clock::now()), milliseconds(0));
}

// One line, byte by byte so that nothing behind it is taken; empty on failure.
std::string ReadHello(int connection, milliseconds limit) {
  std::string line;
  const Clock::time_point end = Clock::now() + limit;
  while (line.size() < kLongestHello) {
    pollfd waiting{.fd = connection, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, static_cast<int>(Left(end).count())) <= 0) return "";
    char byte = 0;
    if (read(connection, &byte, 1) != 1) return "";
    if (byte == '\n') return line;
    line += byte;
  }
  return "";
}

bool SayTo(int connection, const std::string& line) {
  const std::string text = line + "\n";
  return send(connection, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// Where rank 0 is; without permission only this machine will do.
std::optional<HostAddress> HostOfJob(const LaunchEnvironment& job, bool is_remote, std::string* error) {
  const std::optional<HostAddress> host = HostAddress::Resolve(job.address);
  if (!host) *error = "the address of rank 0, " + job.address + ", is not known";
  return !host || is_remote ? host : host->Loopback();
}

}  // namespace

std::unique_ptr<Rendezvous> Rendezvous::Listen(const LaunchEnvironment& job, bool is_remote,
                                               InterruptGuard& interrupt, std::string* error) {
  const std::optional<HostAddress> host = HostOfJob(job, is_remote, error);
  if (!host) return nullptr;
  std::unique_ptr<Rendezvous> meeting(new Rendezvous(job, interrupt));
  meeting->own_address_ = host->Text();
  for (const uint16_t port : job.ports) {
    meeting->listener_ = host->Socket();
    const int on = 1;
    setsockopt(meeting->listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (host->Bind(meeting->listener_, port) && listen(meeting->listener_, SOMAXCONN) == 0) return meeting;
    *error = "no port of " + meeting->own_address_ + " to listen on (tried " +
             std::to_string(job.ports.front()) + " to " + std::to_string(job.ports.back()) +
             "): " + std::strerror(errno) + "; name one in ALLRANKS_STORE_PORT";
    close(meeting->listener_);
    meeting->listener_ = -1;
  }
  return nullptr;
}

Rendezvous::~Rendezvous() {
  if (listener_ >= 0) close(listener_);
}

std::vector<Rendezvous::Guest> Rendezvous::Welcome(const std::string& reply, milliseconds limit,
                                                   std::string* error) {
  std::vector<Guest> guests(job_.size - 1);
  const Clock::time_point end = Clock::now() + limit;
  for (size_t missing = guests.size(); missing > 0;) {
    if (Left(end).count() == 0 || interrupt_.HasCome()) {
      *error = interrupt_.HasCome()
                   ? "interrupted"
                   : std::to_string(missing) + " of " + std::to_string(job_.size) + " ranks did not come";
      for (const Guest& guest : guests) {
        if (guest.connection >= 0) close(guest.connection);
      }
      return {};
    }
    pollfd waiting{.fd = listener_, .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, static_cast<int>(kTickOfMeeting.count())) <= 0) continue;
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    std::istringstream hello(ReadHello(connection, kHelloLimit));
    std::string magic, token;
    uint32_t rank = 0, local_rank = 0;
    hello >> magic >> token >> rank >> local_rank;
    const bool is_ours =
        hello && magic == kMagic && SameText(token, TokenOf(job_)) && rank > 0 && rank < job_.size;
    // A relay that has given up and come again answers on its last connection only.
    const bool is_here = is_ours && guests[rank - 1].connection < 0 && SayTo(connection, reply) &&
                         ReadHello(connection, kHelloLimit) == kHere;
    if (!is_here) {
      close(connection);
      continue;
    }
    const int on = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    fcntl(connection, F_SETFL, O_NONBLOCK);
    guests[rank - 1] = {connection, HostAddress::PeerOf(connection).Text(), local_rank};
    --missing;
  }
  return guests;
}

std::vector<Rendezvous::Guest> Rendezvous::Gather(uint32_t variant, std::string* error) {
  return Welcome(std::string(kMagic) + " run " + std::to_string(variant), kMeetLimit, error);
}

void Rendezvous::Dismiss(int exit_code) {
  std::string error;
  for (const Guest& guest :
       Welcome(std::string(kMagic) + " bye " + std::to_string(exit_code), kDismissLimit, &error)) {
    close(guest.connection);
  }
}

std::vector<RankLink> LaunchedLauncher::Start(uint32_t world, std::string* error) {
  if (world != rendezvous_.job().size) {
    *error = "the job has " + std::to_string(rendezvous_.job().size) + " ranks, and " +
             std::to_string(world) + " are needed";
    return {};
  }
  std::vector<RankLink> links = own_->Start(1, error);
  if (links.empty()) return links;
  guests_ = rendezvous_.Gather(variant_, error);
  if (guests_.empty()) return {};
  for (const Rendezvous::Guest& guest : guests_)
    links.push_back({.child = std::nullopt, .connection = guest.connection});
  return links;
}

RankSetup LaunchedLauncher::SetupOf(uint32_t rank) const {
  RankSetup setup = own_->SetupOf(rank);
  setup.address = rank == 0 ? rendezvous_.own_address() : guests_[rank - 1].address;
  setup.device =
      static_cast<int32_t>(rank == 0 ? rendezvous_.job().local_rank : guests_[rank - 1].local_rank);
  setup.first_on_device = true;
  return setup;
}

namespace {

// A connection to a port nobody listens on can, by chance, end up at its own port.
bool IsOwnEnd(int connection) { return HostAddress::OwnOf(connection) == HostAddress::PeerOf(connection); }

// Rank 0 on one of the ports; -1 if it is not there (yet). Its answer goes to `reply`.
int ConnectToJob(const LaunchEnvironment& job, const HostAddress& host, std::string* reply) {
  for (const uint16_t port : job.ports) {
    const int connection = host.Socket();
    if (host.Connect(connection, port) && !IsOwnEnd(connection) &&
        SayTo(connection, std::string(kMagic) + " " + TokenOf(job) + " " + std::to_string(job.rank) + " " +
                            std::to_string(job.local_rank))) {
      *reply = ReadHello(connection, kReplyLimit);
      if (reply->starts_with(kMagic) && SayTo(connection, std::string(kHere))) return connection;
    }
    close(connection);
  }
  return -1;
}

bool WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
      pollfd waiting{.fd = descriptor, .events = POLLOUT, .revents = 0};
      poll(&waiting, 1, static_cast<int>(kTickOfMeeting.count()));
      continue;
    }
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// What arrives on one is written to the other; false at its end.
bool Forward(int from, int to) {
  char bytes[16384];
  const ssize_t n = read(from, bytes, sizeof(bytes));
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  return n > 0 && WriteAll(to, {bytes, static_cast<size_t>(n)});
}

void Serve(int connection, Child& child, InterruptGuard& interrupt) {
  for (bool is_open = true; is_open && !interrupt.HasCome();) {
    pollfd waiting[] = {{.fd = connection, .events = POLLIN, .revents = 0},
                        {.fd = child.events(), .events = POLLIN, .revents = 0},
                        {.fd = child.words(), .events = POLLIN, .revents = 0},
                        {.fd = interrupt.descriptor(), .events = POLLIN, .revents = 0}};
    if (poll(waiting, std::size(waiting), -1) < 0) continue;
    if (waiting[2].revents != 0) is_open = Forward(child.words(), STDERR_FILENO);
    if (waiting[1].revents != 0) is_open = Forward(child.events(), connection);
    if (waiting[0].revents != 0) is_open = Forward(connection, child.commands()) && is_open;
  }
  // A library may end the process of its rank: that is evidence. One that somebody else ended is none, and then the
  // connection just closes.
  constexpr milliseconds kEnding{500};
  if (!child.Reap(kEnding) || child.WasKilledFromOutside()) return;
  Event event;
  event.kind = Event::Kind::Failed;
  event.text = child.End();
  WriteAll(connection, Encode(event));
}

}  // namespace

int RunRelay(const LaunchEnvironment& job, const std::vector<Launcher*>& variants, bool is_remote,
             InterruptGuard& interrupt, std::string* error) {
  const std::optional<HostAddress> host = HostOfJob(job, is_remote, error);
  Clock::time_point end = Clock::now() + kMeetLimit;
  while (host && !interrupt.HasCome()) {
    std::string reply, magic, word;
    const int connection = ConnectToJob(job, *host, &reply);
    if (connection < 0) {
      if (Left(end).count() == 0) {
        *error = "rank 0 does not answer at " + job.address;
        break;
      }
      poll(nullptr, 0, static_cast<int>(kTickOfMeeting.count()));
      continue;
    }
    size_t number = 0;
    std::istringstream(reply) >> magic >> word >> number;
    if (word == "bye" || number >= variants.size()) {
      close(connection);
      return word == "bye" ? static_cast<int>(number) : 2;
    }
    std::vector<RankLink> links = variants[number]->Start(1, error);
    if (!links.empty()) Serve(connection, *links[0].child, interrupt);
    close(connection);
    if (links.empty()) break;
    end = Clock::now() + kMeetLimit;
  }
  if (interrupt.HasCome()) *error = "interrupted";
  return 2;
}

}  // namespace allranks::verify
