// The file of hosts that a job is given: `worker-1 slots=8`, a line a host. DeepSpeed, Open MPI and Horovod read it so.
//
// Open MPI also knows `max-slots=`, and takes a host without slots for one with a slot a core, which is not said here. A line of another form
// (`host:8`, as MPICH has it) is a host of which nothing else is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/source/span.h"

namespace allranks::launch {

struct Host {
  std::string name;
  std::optional<int64_t> slots;
  std::optional<int64_t> most_slots;
  source::Span span;  // of its line
};

struct HostFile {
  std::string path;  // relative to the root of the project
  std::vector<Host> hosts;  // in the order of their lines, the same one more than once where it stands there so

  // Of all hosts together; nothing: one of them says none, or is there more than once.
  std::optional<int64_t> Slots() const { return SumOf(&Host::slots); }
  std::optional<int64_t> MostSlots() const { return SumOf(&Host::most_slots); }
  // Of each host; nothing: they differ, or one of them says none.
  std::optional<int64_t> SlotsOfEach() const;
  const Host* Find(std::string_view name) const;
  // The first one whose name stands further up as well; nullptr: none.
  const Host* FindRepeated() const;

 private:
  std::optional<int64_t> SumOf(std::optional<int64_t> Host::*count) const;
};

// Larger files are no lists of hosts.
inline constexpr size_t kLargestHostFile = 256u << 10;

// Nothing, where it is a template (`<HOST> slots=8`) or no text.
std::optional<HostFile> ReadHosts(std::string path, std::string_view text, source::FileId file);

}  // namespace allranks::launch
