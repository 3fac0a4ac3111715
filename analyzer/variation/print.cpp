#include <fmt/format.h>

#include "analyzer/variation/value.h"

namespace allranks::variation {
namespace {

constexpr const char* kUnaryText[] = {"not ", "-", "+", "~"};
constexpr const char* kBinaryText[] = {"+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"};
constexpr const char* kCompareText[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};

class Printer {
 public:
  Printer(const ValueStore& store, const binding::Program& program, const knowledge::Knowledge& knowledge)
      : store_(store), program_(program), knowledge_(knowledge) {}

  std::string Print(ValueId id, int depth) {
    constexpr int kDeepest = 6;
    if (!id || depth > kDeepest) return "...";
    const Value& value = store_[id];
    switch (value.kind) {
      case ValueKind::Unknown:
        return store_.IsOfCommand(id) ? "__name__" : AxesText(value.axes);
      case ValueKind::None:
        return "None";
      case ValueKind::Bool:
        return *value.integer() != 0 ? "True" : "False";
      case ValueKind::Int:
        return fmt::format("{}", *value.integer());
      case ValueKind::Float:
        return std::string(program_.text(value.name()));
      case ValueKind::Str:
        return fmt::format("\"{}\"", program_.text(value.name()));
      case ValueKind::Coordinate:
        return CoordinateText(id, depth);
      case ValueKind::Param: {
        const ir::Function& function = program_.function(value.function());
        return std::string(program_.text(function.params[value.param_index()].name));
      }
      case ValueKind::Unary:
        return kUnaryText[static_cast<size_t>(value.unary_op())] + Inner(Kid(id, 0), depth);
      case ValueKind::Binary:
        return fmt::format("{} {} {}", Inner(Kid(id, 0), depth), kBinaryText[static_cast<size_t>(value.binary_op())], Inner(Kid(id, 1), depth));
      case ValueKind::Compare:
        return fmt::format("{} {} {}", Inner(Kid(id, 0), depth), kCompareText[static_cast<size_t>(value.compare_op())], Inner(Kid(id, 1), depth));
      case ValueKind::And:
        return Joined(id, " and ", depth);
      case ValueKind::Or:
        return Joined(id, " or ", depth);
      case ValueKind::Select:
        return fmt::format("{} if {} else {}", Inner(Kid(id, 1), depth), Inner(Kid(id, 0), depth),
                           Inner(Kid(id, 2), depth));
      case ValueKind::Tuple:
        return "[" + Joined(id, ", ", depth) + "]";
      case ValueKind::Dict:
        return "{...}";
      case ValueKind::Module:
        return program_.infos[value.module()].dotted;
      case ValueKind::External:
      case ValueKind::Object:
        return std::string(program_.text(value.name()));
      case ValueKind::Function:
        return program_.FunctionName(value.function());
      case ValueKind::Class:
      case ValueKind::Instance:
        return std::string(program_.text(program_.ir_class(value.class_id()).name));
      case ValueKind::BoundExternal:
        return std::string(program_.text(knowledge_[value.entry()].name));
      case ValueKind::Partial:
        return "partial(" + Print(Kid(id, 0), depth + 1) + ")";
      case ValueKind::Group:
        return NameOfGroup(value.group_kind(), value.is_group(GroupKind::AxisGroup) ? value.axis() : Axis{});
      case ValueKind::Derived:
        if (value.is_derived(DerivedKind::Field)) return Inner(Kid(id, 1), depth);
        return store_.Kids(id).size() == 1 && value.axes.empty() ? "f(" + Print(Kid(id, 0), depth + 1) + ")"
                                                                : AxesText(value.axes);
    }
    return "...";
  }

 private:
  ValueId Kid(ValueId id, size_t index) const { return store_.Kids(id)[index]; }

  std::string Inner(ValueId id, int depth) {
    const ValueKind kind = store_[id].kind;
    const bool compound = kind == ValueKind::And || kind == ValueKind::Or || kind == ValueKind::Select ||
                          kind == ValueKind::Binary || kind == ValueKind::Compare;
    const std::string text = Print(id, depth + 1);
    return compound ? "(" + text + ")" : text;
  }

  std::string Joined(ValueId id, const char* separator, int depth) {
    std::string text;
    for (const ValueId kid : store_.Kids(id)) {
      if (!text.empty()) text += separator;
      text += Inner(kid, depth);
    }
    return text;
  }

  static std::string AxesText(Axes axes) {
    if (axes.empty()) return "uniform";
    std::string text;
    for (int i = 0; i < knowledge::kAxisCount; ++i) {
      const auto axis = static_cast<Axis>(i);
      if (!axes.has(axis)) continue;
      text += text.empty() ? "varies by " : ", ";
      text += knowledge::AxisName(axis);
    }
    return text;
  }

  std::string CoordinateText(ValueId id, int depth) {
    const Value& value = store_[id];
    const auto axis = value.axis();
    switch (value.coordinate()) {
      case knowledge::Coordinate::Rank:
        return "rank";
      case knowledge::Coordinate::LocalRank:
        return "local_rank";
      case knowledge::Coordinate::NodeRank:
        return "node_rank";
      case knowledge::Coordinate::WorldSize:
        return "world_size";
      case knowledge::Coordinate::LocalWorldSize:
        return "local_world_size";
      case knowledge::Coordinate::NodeCount:
        return "node_count";
      case knowledge::Coordinate::Distributed:
        return "distributed";
      case knowledge::Coordinate::AxisRank:
        return fmt::format("{} rank", knowledge::AxisName(axis));
      case knowledge::Coordinate::AxisSize:
        return fmt::format("{} size", knowledge::AxisName(axis));
      case knowledge::Coordinate::GroupRank:
        return "rank in " + Print(Kid(id, 0), depth + 1);
      case knowledge::Coordinate::GroupSize:
        return "size of " + Print(Kid(id, 0), depth + 1);
    }
    return "coordinate";
  }

  const ValueStore& store_;
  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
};

}  // namespace

std::string NameOfGroup(GroupKind kind, Axis axis) {
  switch (kind) {
    case GroupKind::World:
      return "the default group";
    case GroupKind::AxisGroup:
      return fmt::format("the {} group", knowledge::AxisName(axis));
    case GroupKind::Created:
      return "a created group";
    case GroupKind::Split:
      return "a communicator made by a split";
    case GroupKind::Self:
      return "a communicator of one process";
    case GroupKind::Unknown:
      break;
  }
  return "a group";
}

std::string ValueStore::Print(ValueId id, const binding::Program& program,
                              const knowledge::Knowledge& knowledge) const {
  return Printer(*this, program, knowledge).Print(id, 0);
}

}  // namespace allranks::variation
