// Stand-ins for two functions that glibc has since 2.35 and 2.36 and that libgcc and libstdc++, as Debian 12 builds them, ask
// for. With them in the program the C library is not asked, and the program runs on glibc 2.34: Ubuntu 22.04, RHEL 9.
//
// They do what libgcc and libstdc++ do themselves where glibc is older: walk the loaded objects (dl_iterate_phdr) and read
// the kernel's random numbers. Linked into programs only; see cmake/build_settings.cmake.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

// What libstdc++'s std::random_device calls. getentropy cannot fail for so few bytes once the kernel has started.
uint32_t arc4random(void) {
  uint32_t number = 0;
  if (getentropy(&number, sizeof number) != 0) abort();
  return number;
}

struct search {
  uintptr_t address;
  struct dl_find_object* result;
};

// Fills the result if the address lies in one of this object's segments. Returns 1 to end the walk.
static int find_in(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct search* search = data;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  int is_inside = 0;
  const ElfW(Phdr)* unwind = NULL;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    const uintptr_t from = info->dlpi_addr + header->p_vaddr, to = from + header->p_memsz;
    if (header->p_type == PT_GNU_EH_FRAME) unwind = header;
    if (header->p_type != PT_LOAD) continue;
    if (from < begin) begin = from;
    if (to > end) end = to;
    if (search->address >= from && search->address < to) is_inside = 1;
  }
  if (!is_inside) return 0;
  if (unwind == NULL) return 1;
  search->result->dlfo_flags = 0;
  search->result->dlfo_map_start = (void*)begin;
  search->result->dlfo_map_end = (void*)end;
  search->result->dlfo_link_map = NULL;
  search->result->dlfo_eh_frame = (void*)(info->dlpi_addr + unwind->p_vaddr);
  search->address = 0;
  return 1;
}

// Where the unwinding information of the code at `address` stands, for libgcc's unwinder. 0 if it was found, else -1.
int _dl_find_object(void* address, struct dl_find_object* result) {
  struct search search = {(uintptr_t)address, result};
  dl_iterate_phdr(find_in, &search);
  return search.address == 0 ? 0 : -1;
}
