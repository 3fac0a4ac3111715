#include "frontends/python/grammar.h"

#include <string_view>
#include <unordered_map>

extern "C" const TSLanguage* tree_sitter_python(void);

namespace allranks::python {

const TSLanguage* Language() { return tree_sitter_python(); }

const KindTable& KindTable::Get() {
  static const KindTable table;
  return table;
}

KindTable::KindTable() {
  std::unordered_map<std::string_view, Kind> nodes;
  std::unordered_map<std::string_view, Kind> tokens;
#define NODE(kind, name) nodes.emplace(name, Kind::kind);
#define TOKEN(kind, text) tokens.emplace(text, Kind::kind);
#include "frontends/python/kinds.def"
  const TSLanguage* language = Language();
  const uint32_t count = ts_language_symbol_count(language);
  for (uint32_t i = 0; i < count && i < kMostSymbols; ++i) {
    const TSSymbol symbol = static_cast<TSSymbol>(i);
    const auto& kinds = ts_language_symbol_type(language, symbol) == TSSymbolTypeRegular ? nodes : tokens;
    const auto found = kinds.find(ts_language_symbol_name(language, symbol));
    if (found != kinds.end()) kinds_[symbol] = found->second;
  }
}

std::optional<ir::BinaryOp> BinaryOpOf(Kind token) {
  switch (token) {
    case Kind::PlusToken:
      return ir::BinaryOp::Add;
    case Kind::MinusToken:
      return ir::BinaryOp::Sub;
    case Kind::StarToken:
      return ir::BinaryOp::Mul;
    case Kind::SlashToken:
      return ir::BinaryOp::Div;
    case Kind::DoubleSlashToken:
      return ir::BinaryOp::FloorDiv;
    case Kind::PercentToken:
      return ir::BinaryOp::Mod;
    case Kind::DoubleStarToken:
      return ir::BinaryOp::Pow;
    case Kind::AtToken:
      return ir::BinaryOp::MatMul;
    case Kind::LeftShiftToken:
      return ir::BinaryOp::LeftShift;
    case Kind::RightShiftToken:
      return ir::BinaryOp::RightShift;
    case Kind::AmpersandToken:
      return ir::BinaryOp::BitAnd;
    case Kind::PipeToken:
      return ir::BinaryOp::BitOr;
    case Kind::CaretToken:
      return ir::BinaryOp::BitXor;
    default:
      return std::nullopt;
  }
}

std::optional<ir::BinaryOp> AugmentedOpOf(Kind token) {
  switch (token) {
    case Kind::PlusEqualsToken:
      return ir::BinaryOp::Add;
    case Kind::MinusEqualsToken:
      return ir::BinaryOp::Sub;
    case Kind::StarEqualsToken:
      return ir::BinaryOp::Mul;
    case Kind::SlashEqualsToken:
      return ir::BinaryOp::Div;
    case Kind::DoubleSlashEqualsToken:
      return ir::BinaryOp::FloorDiv;
    case Kind::PercentEqualsToken:
      return ir::BinaryOp::Mod;
    case Kind::DoubleStarEqualsToken:
      return ir::BinaryOp::Pow;
    case Kind::AtEqualsToken:
      return ir::BinaryOp::MatMul;
    case Kind::LeftShiftEqualsToken:
      return ir::BinaryOp::LeftShift;
    case Kind::RightShiftEqualsToken:
      return ir::BinaryOp::RightShift;
    case Kind::AmpersandEqualsToken:
      return ir::BinaryOp::BitAnd;
    case Kind::PipeEqualsToken:
      return ir::BinaryOp::BitOr;
    case Kind::CaretEqualsToken:
      return ir::BinaryOp::BitXor;
    default:
      return std::nullopt;
  }
}

std::optional<ir::CompareOp> CompareOpOf(Kind token) {
  switch (token) {
    case Kind::EqualToken:
      return ir::CompareOp::Eq;
    case Kind::NotEqualToken:
    case Kind::OldNotEqualToken:
      return ir::CompareOp::NotEq;
    case Kind::LessToken:
      return ir::CompareOp::Less;
    case Kind::LessEqualToken:
      return ir::CompareOp::LessEq;
    case Kind::GreaterToken:
      return ir::CompareOp::Greater;
    case Kind::GreaterEqualToken:
      return ir::CompareOp::GreaterEq;
    case Kind::IsToken:
      return ir::CompareOp::Is;
    case Kind::IsNotToken:
      return ir::CompareOp::IsNot;
    case Kind::InToken:
      return ir::CompareOp::In;
    case Kind::NotInToken:
      return ir::CompareOp::NotIn;
    default:
      return std::nullopt;
  }
}

}  // namespace allranks::python
