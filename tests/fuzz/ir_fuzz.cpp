// The bytes of a cache entry and of an answer of allranks-clang: they are refused, or give modules that are sound. Built for
// libFuzzer with -DALLRANKS_FUZZ=ON and Clang; `ir_fuzz_test.cpp` runs it on damaged modules in every build.
#include <cstdint>
#include <string>

#include "analyzer/ir/serialize.h"
#include "analyzer/ir/verifier.h"
#include "frontends/cpp/exchange.h"
#include "tests/fuzz/fault.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace allranks;
  constexpr size_t kSourceBytes = 4096;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto read = [](std::string_view module_bytes) {
    base::Interner names;
    const base::Result<ir::Module> module = ir::Deserialize(module_bytes, source::FileId{0}, kSourceBytes, names);
    if (!module) return;
    for (const std::string& fault : ir::Verify(*module, kSourceBytes)) tests::Fault(fault.c_str());
  };
  read(bytes);
  if (const base::Result<cpp::Reply> reply = cpp::ReadReply(bytes)) {
    for (const cpp::FilePart& part : reply->parts) read(part.module);
    if (!cpp::ReadReply(cpp::Write(*reply))) tests::Fault("an answer that is not read again");
  }
  if (const base::Result<cpp::Request> request = cpp::ReadRequest(bytes)) {
    if (!cpp::ReadRequest(cpp::Write(*request))) tests::Fault("a request that is not read again");
  }
  return 0;
}
