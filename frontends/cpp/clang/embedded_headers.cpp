#include "frontends/cpp/clang/embedded_headers.h"

extern "C" {
extern const allranks::cpp::EmbeddedHeader allranks_embedded_headers[];
extern const size_t allranks_embedded_header_count;
}

namespace allranks::cpp {

std::span<const EmbeddedHeader> EmbeddedHeaders() { return {allranks_embedded_headers, allranks_embedded_header_count}; }

}  // namespace allranks::cpp
