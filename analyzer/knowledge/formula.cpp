#include "analyzer/knowledge/formula.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/base/operators.h"
#include "analyzer/knowledge/spelling.h"

namespace allranks::knowledge {
namespace {

using base::BinaryOp;
using base::CompareOp;

// A symbol that begins another one stands after it.
struct Operator {
  std::string_view text;
  uint8_t op;
  constexpr Operator(std::string_view the_text, CompareOp compare)
      : text(the_text), op(static_cast<uint8_t>(compare)) {}
  constexpr Operator(std::string_view the_text, BinaryOp binary)
      : text(the_text), op(static_cast<uint8_t>(binary)) {}
};
constexpr Operator kComparisons[] = {{"==", CompareOp::Eq},     {"!=", CompareOp::NotEq},
                                     {"<=", CompareOp::LessEq}, {">=", CompareOp::GreaterEq},
                                     {"<", CompareOp::Less},    {">", CompareOp::Greater}};
constexpr Operator kSums[] = {{"+", BinaryOp::Add}, {"-", BinaryOp::Sub}};
constexpr Operator kProducts[] = {{"//", BinaryOp::FloorDiv}, {"*", BinaryOp::Mul}, {"%", BinaryOp::Mod}};

constexpr NamedAxis kGroupAxes[] = {
    {"data", Axis::DataParallel},         {"tensor", Axis::TensorParallel},
    {"pipeline", Axis::PipelineParallel}, {"context", Axis::ContextParallel},
    {"expert", Axis::ExpertParallel},     {"mesh", Axis::OtherMesh},
};
constexpr NamedAxis kVariationAxes[] = {
    {"global", Axis::Global},
    {"local", Axis::Local},
    {"node", Axis::Node},
    {"data", Axis::Data},
    {"environment", Axis::Environment},
    {"files", Axis::Files},
    {"clock", Axis::Clock},
    {"chance", Axis::Chance},
    {"hash_order", Axis::HashOrder},
    {"signals", Axis::Signals},
    {"data_parallel", Axis::DataParallel},
    {"tensor_parallel", Axis::TensorParallel},
    {"pipeline_parallel", Axis::PipelineParallel},
    {"context_parallel", Axis::ContextParallel},
    {"expert_parallel", Axis::ExpertParallel},
    {"mesh", Axis::OtherMesh},
};

struct NamedCoordinate {
  std::string_view name;
  Coordinate coordinate;
};
constexpr NamedCoordinate kCoordinates[] = {
    {"rank", Coordinate::Rank},
    {"local_rank", Coordinate::LocalRank},
    {"node_rank", Coordinate::NodeRank},
    {"world_size", Coordinate::WorldSize},
    {"local_world_size", Coordinate::LocalWorldSize},
    {"node_count", Coordinate::NodeCount},
    {"distributed", Coordinate::Distributed},
};

// Far beyond any formula of use; keeps a hostile file from exhausting the stack.
constexpr int kDeepest = 50;

class FormulaParser {
 public:
  FormulaParser(std::string_view text, std::span<const NameId> params, base::Interner& names,
                base::IdVector<FormulaId, Formula>& formulas)
      : text_(text), params_(params), names_(names), formulas_(formulas) {}

  base::Result<FormulaId> Parse() {
    const FormulaId root = ParseOr();
    SkipSpace();
    if (error_.empty() && at_ < text_.size()) {
      FailAt(at_,
             "`" + std::string(text_.substr(at_)) + "` is left over; join conditions with `and` or `or`");
    }
    if (!error_.empty()) return base::Fail(error_);
    return root;
  }

 private:
  FormulaId ParseOr() {
    FormulaId left = ParseAnd();
    while (TakeWord("or")) left = Join(FormulaKind::Or, left, ParseAnd());
    return left;
  }

  FormulaId ParseAnd() {
    FormulaId left = ParseNot();
    while (TakeWord("and")) left = Join(FormulaKind::And, left, ParseNot());
    return left;
  }

  FormulaId ParseNot() {
    if (!TakeWord("not")) return ParseComparison();
    const Nested nested(*this);
    return error_.empty() ? Add({.kind = FormulaKind::Not, .left = ParseNot()}) : FormulaId::None();
  }

  // `a < b < c` is `a < b and b < c`.
  FormulaId ParseComparison() {
    FormulaId left = ParseSum();
    FormulaId all;
    while (const std::optional<uint8_t> op = TakeOperator(kComparisons)) {
      const FormulaId right = ParseSum();
      const FormulaId part = Join(FormulaKind::Compare, left, right, *op);
      all = all ? Join(FormulaKind::And, all, part) : part;
      left = right;
    }
    return all ? all : left;
  }

  FormulaId ParseSum() {
    FormulaId left = ParseProduct();
    while (const std::optional<uint8_t> op = TakeOperator(kSums)) {
      left = Join(FormulaKind::Binary, left, ParseProduct(), *op);
    }
    return left;
  }

  FormulaId ParseProduct() {
    FormulaId left = ParseUnary();
    while (const std::optional<uint8_t> op = TakeOperator(kProducts)) {
      left = Join(FormulaKind::Binary, left, ParseUnary(), *op);
    }
    return left;
  }

  FormulaId ParseUnary() {
    if (!Take("-")) return ParsePrimary();
    const Nested nested(*this);
    return error_.empty() ? Add({.kind = FormulaKind::Negate, .left = ParseUnary()}) : FormulaId::None();
  }

  FormulaId ParsePrimary() {
    const Nested nested(*this);
    SkipSpace();
    if (!error_.empty()) return {};
    if (Take("(")) {
      const FormulaId inner = ParseOr();
      Expect(")");
      return inner;
    }
    if (at_ < text_.size() && IsDigit(text_[at_])) return ParseInt();
    const size_t start = at_;
    const std::string_view word = TakeName();
    if (!word.empty()) return ParseNamed(word, start);
    const std::string found = at_ < text_.size() ? "not `" + std::string(1, text_[at_]) + "`" : "not the end";
    FailAt(at_, "a number, a coordinate such as `rank` or a parenthesis belongs here, " + found);
    return {};
  }

  FormulaId ParseInt() {
    const size_t start = at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    int64_t number = 0;
    const auto parsed = std::from_chars(text_.data() + start, text_.data() + at_, number);
    if (parsed.ec != std::errc()) FailAt(start, "the number does not fit 64 bits; write a smaller one");
    return Add({.kind = FormulaKind::Int, .number = number});
  }

  FormulaId ParseNamed(std::string_view word, size_t start) {
    if (word == "true" || word == "false")
      return Add({.kind = FormulaKind::Bool, .number = word == "true" ? 1 : 0});
    for (const NamedCoordinate& named : kCoordinates) {
      if (named.name == word) return Add({.kind = FormulaKind::Coordinate, .coordinate = named.coordinate});
    }
    if (word == "arg") return Add({.kind = FormulaKind::Param, .param = ParseParam()});
    if (word == "group_rank" || word == "group_size") {
      const Coordinate coordinate = word == "group_rank" ? Coordinate::GroupRank : Coordinate::GroupSize;
      return Add({.kind = FormulaKind::Coordinate, .coordinate = coordinate, .param = ParseParam()});
    }
    if (const std::optional<FormulaId> axis = ParseAxisCoordinate(word)) return *axis;
    FailAt(start, "unknown word `" + std::string(word) + "`" + CureForWord(word));
    return {};
  }

  // `tensor_rank`, `pipeline_size`.
  std::optional<FormulaId> ParseAxisCoordinate(std::string_view word) {
    for (const NamedAxis& named : kGroupAxes) {
      if (!word.starts_with(named.name)) continue;
      const std::string_view rest = word.substr(named.name.size());
      if (rest != "_rank" && rest != "_size") continue;
      const Coordinate coordinate = rest == "_rank" ? Coordinate::AxisRank : Coordinate::AxisSize;
      return Add({.kind = FormulaKind::Coordinate, .coordinate = coordinate, .axis = named.axis});
    }
    return std::nullopt;
  }

  std::string CureForWord(std::string_view word) const {
    std::vector<std::string> axes;
    for (const NamedAxis& named : kGroupAxes) {
      axes.push_back(std::string(named.name) + "_rank");
      axes.push_back(std::string(named.name) + "_size");
    }
    std::vector<std::string_view> words = {"arg", "group_rank", "group_size", "and",
                                           "or",  "not",        "true",       "false"};
    for (const NamedCoordinate& named : kCoordinates) words.push_back(named.name);
    words.insert(words.end(), axes.begin(), axes.end());
    const bool is_param =
        std::ranges::any_of(params_, [&](NameId param) { return names_.View(param) == word; });
    if (is_param) return "; an argument is written `arg(" + std::string(word) + ")`";
    const std::string near = DidYouMean(word, words);
    return near.empty() ? "; write a coordinate such as `rank`, `local_rank` or `tensor_rank`" : near;
  }

  NameId ParseParam() {
    Expect("(");
    SkipSpace();
    const size_t start = at_;
    const std::string_view word = TakeName();
    if (word.empty()) FailAt(start, "the name of a parameter belongs here");
    Expect(")");
    if (!error_.empty() || word == "self") return names_.Intern(word);
    const NameId name = names_.Intern(word);
    if (std::ranges::find(params_, name) != params_.end()) return name;
    std::vector<std::string_view> known = {"self"};
    for (const NameId param : params_) known.push_back(names_.View(param));
    const std::string near = DidYouMean(word, known);
    FailAt(start,
           "`" + std::string(word) + "` is not in `params`" + (near.empty() ? "; add it there" : near));
    return name;
  }

  FormulaId Join(FormulaKind kind, FormulaId left, FormulaId right, uint8_t op = 0) {
    return Add({.kind = kind, .op = op, .left = left, .right = right});
  }

  FormulaId Add(Formula formula) { return formulas_.Add(formula); }

  void SkipSpace() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  static bool IsNameChar(char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }

  std::string_view TakeName() {
    const size_t start = at_;
    if (at_ < text_.size() && IsDigit(text_[at_])) return {};
    while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  bool TakeWord(std::string_view word) {
    SkipSpace();
    const size_t after = at_ + word.size();
    if (!text_.substr(at_).starts_with(word) || (after < text_.size() && IsNameChar(text_[after])))
      return false;
    at_ = after;
    return true;
  }

  bool Take(std::string_view symbol) {
    SkipSpace();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }

  template <size_t kCount>
  std::optional<uint8_t> TakeOperator(const Operator (&operators)[kCount]) {
    if (!error_.empty()) return std::nullopt;
    for (const Operator& candidate : operators) {
      if (Take(candidate.text)) return candidate.op;
    }
    return std::nullopt;
  }

  void Expect(std::string_view symbol) {
    if (!error_.empty() || Take(symbol)) return;
    FailAt(at_, "`" + std::string(symbol) + "` is missing here");
  }

  void FailAt(size_t offset, const std::string& what) {
    if (error_.empty()) error_ = "column " + std::to_string(offset + 1) + " of the formula: " + what;
  }

  struct Nested {
    explicit Nested(FormulaParser& the_parser) : parser(the_parser) {
      if (++parser.depth_ > kDeepest) parser.FailAt(parser.at_, "nested too deeply; write it flatter");
    }
    ~Nested() { --parser.depth_; }
    FormulaParser& parser;
  };

  std::string_view text_;
  std::span<const NameId> params_;
  base::Interner& names_;
  base::IdVector<FormulaId, Formula>& formulas_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string error_;
};

}  // namespace

base::Result<FormulaId> ParseFormula(std::string_view text, std::span<const NameId> params,
                                     base::Interner& names, base::IdVector<FormulaId, Formula>& formulas) {
  const size_t before = formulas.size();
  base::Result<FormulaId> root = FormulaParser(text, params, names, formulas).Parse();
  if (!root) formulas.resize(before);
  return root;
}

std::span<const NamedAxis> GroupAxes() { return kGroupAxes; }

std::span<const NamedAxis> VariationAxes() { return kVariationAxes; }

std::optional<Axis> AxisOfDimension(const Knowledge& knowledge, NameId name) {
  const NameId rank = knowledge.names().Find(std::string(knowledge.names().View(name)) + "_rank");
  const Hint* hint = rank ? knowledge.FindHint(rank) : nullptr;
  if (hint == nullptr || !hint->value) return std::nullopt;
  const Formula& formula = knowledge[hint->value];
  const bool is_along = formula.kind == FormulaKind::Coordinate && formula.coordinate == Coordinate::AxisRank;
  return is_along ? std::optional(formula.axis) : std::nullopt;
}

}  // namespace allranks::knowledge
