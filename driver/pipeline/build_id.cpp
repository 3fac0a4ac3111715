#include "driver/pipeline/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstring>

namespace allranks::pipeline {
namespace {

constexpr char kOwner[] = "GNU";

// A note is its header, the owner's name and the text, each padded to four bytes.
size_t Padded(size_t size) { return (size + 3) & ~size_t{3}; }

std::string BuildIdIn(const char* notes, size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes, sizeof(header));
    const size_t whole = sizeof(header) + Padded(header.n_namesz) + Padded(header.n_descsz);
    if (whole > size) return "";
    const char* owner = notes + sizeof(header);
    const bool is_build_id = header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof(kOwner) &&
                             std::memcmp(owner, kOwner, sizeof(kOwner)) == 0;
    if (is_build_id) return std::string(owner + Padded(header.n_namesz), header.n_descsz);
    notes += whole;
    size -= whole;
  }
  return "";
}

// Called for the program itself first.
int Visit(dl_phdr_info* info, size_t, void* found) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    std::string id = BuildIdIn(reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr), part.p_memsz);
    if (id.empty()) continue;
    *static_cast<std::string*>(found) = std::move(id);
    break;
  }
  return 1;
}

}  // namespace

std::string BuildId() {
  std::string found;
  dl_iterate_phdr(Visit, &found);
  return found;
}

}  // namespace allranks::pipeline
