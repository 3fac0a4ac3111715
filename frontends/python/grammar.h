#pragma once

#include <tree_sitter/api.h>

#include <array>
#include <cstdint>
#include <optional>

#include "analyzer/ir/program.h"

namespace allranks::python {

// The kinds of syntax nodes, by name: the grammar has several numbers for some of them.
enum class Kind : uint8_t {
  // Tokens that no one asks for.
  Other,
  // What the parser could not fit.
  Error,
#define NODE(kind, name) kind,
#define TOKEN(kind, text) kind,
#include "frontends/python/kinds.def"
};

const TSLanguage* Language();

// Kinds by symbol number; built once, then only read.
class KindTable {
 public:
  static const KindTable& Get();

  Kind Of(TSSymbol symbol) const { return symbol < kinds_.size() ? kinds_[symbol] : Kind::Error; }

 private:
  // The grammar has 274 symbols; more would be another grammar.
  static constexpr size_t kMostSymbols = 512;
  KindTable();

  std::array<Kind, kMostSymbols> kinds_ = {};
};

constexpr bool IsExpression(Kind kind) { return kind >= Kind::Identifier && kind <= Kind::AsPatternTarget; }
constexpr bool IsStatement(Kind kind) {
  return kind >= Kind::ExpressionStatement && kind <= Kind::MatchStatement;
}

std::optional<ir::BinaryOp> BinaryOpOf(Kind token);
std::optional<ir::BinaryOp> AugmentedOpOf(Kind token);
std::optional<ir::CompareOp> CompareOpOf(Kind token);

}  // namespace allranks::python
