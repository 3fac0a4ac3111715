#include "analyzer/ir/program.h"

namespace allranks::ir {
namespace {

template <class T>
size_t Bytes(const std::vector<T>& array) {
  return array.capacity() * sizeof(T);
}

}  // namespace

size_t Module::byte_size() const {
  size_t bytes = exprs.byte_size() + stmts.byte_size() + blocks.byte_size() + functions.byte_size() +
                 classes.byte_size() + imports.byte_size() + Bytes(words) + Bytes(block_stmts) +
                 Bytes(clauses) + Bytes(handlers) + Bytes(with_items) + Bytes(cases) + Bytes(problems) +
                 Bytes(comments);
  for (const Function& function : functions) bytes += Bytes(function.params) + Bytes(function.decorators);
  for (const Class& defined : classes) bytes += Bytes(defined.bases) + Bytes(defined.decorators);
  return bytes;
}

}  // namespace allranks::ir
