// Headers within the binary (cmake/embed_headers.cmake): Clang's own, and declarations of libraries that stand in where
// the machine lacks them.
#pragma once

#include <cstddef>
#include <span>

namespace allranks::cpp {

struct EmbeddedHeader {
  const char* path;  // "clang/stddef.h", "standin/nccl.h"
  const char* text;  // with a zero behind its end, as the lexer wants it
  size_t size;
};

std::span<const EmbeddedHeader> EmbeddedHeaders();

}  // namespace allranks::cpp
