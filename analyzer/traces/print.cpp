// Traces as indented text: `allranks trace`.
#include <fmt/format.h>

#include "analyzer/traces/analysis.h"
#include "analyzer/traces/build.h"
#include "analyzer/traces/call_graph.h"

namespace allranks::traces {
namespace {

class Printer {
 public:
  explicit Printer(const State& state) : state_(state), traces_(state.traces) {}

  std::string Print(FuncId func) {
    text_ = state_.program.FunctionName(func) + ":\n";
    const TraceId trace = state_.trace_of[func.index];
    if (!trace || trace == traces_.Empty()) {
      Line(1, "nothing");
    } else {
      Node(trace, 1);
    }
    return std::move(text_);
  }

 private:
  void Line(int depth, const std::string& text) { text_ += std::string(static_cast<size_t>(depth) * 2, ' ') + text + "\n"; }

  std::string At(SiteId id) const {
    const Site& site = traces_.site(id);
    if (!site.span.file) return {};
    return fmt::format("  @{}", source::Locate(state_.files[site.span.file], site.span.begin).line + 1);
  }

  std::string Value(ValueId value) const { return state_.values.Print(value, state_.program, state_.knowledge); }

  // The condition and, if it varies, along what.
  std::string Condition(ValueId value) const {
    if (!value) return "unknown";
    std::string axes;
    for (int i = 0; i < knowledge::kAxisCount; ++i) {
      const auto axis = static_cast<knowledge::Axis>(i);
      if (!state_.values.axes(value).has(axis)) continue;
      axes += axes.empty() ? "" : ", ";
      axes += knowledge::AxisName(axis);
    }
    return axes.empty() ? Value(value) : fmt::format("{} [{}]", Value(value), axes);
  }

  void Node(TraceId id, int depth) {
    constexpr int kDeepest = 60;
    if (depth > kDeepest) return Line(depth, "...");
    const Trace& trace = traces_[id];
    const auto kids = traces_.Kids(id);
    switch (trace.kind) {
      case TraceKind::Empty:
        break;
      case TraceKind::Seq:
        for (const TraceId kid : kids) Node(kid, depth);
        break;
      case TraceKind::Op:
        Op(id, depth);
        break;
      case TraceKind::Choice:
        Choice(trace, kids, depth);
        break;
      case TraceKind::Loop:
        Line(depth, "loop " + Condition(trace.value) + ":" + At(trace.site));
        Node(kids[0], depth + 1);
        break;
      case TraceKind::Exit: {
        constexpr const char* kNames[] = {"return", "break", "continue", "raise", "end of the process"};
        Line(depth, kNames[trace.payload] + At(trace.site));
        break;
      }
      case TraceKind::Scope:
        Line(depth, "call " + state_.program.FunctionName(FuncId{trace.payload}) + ":" + At(trace.site));
        Node(kids[0], depth + 1);
        break;
      case TraceKind::Try:
        Try(id, depth);
        break;
      case TraceKind::Call:
        Line(depth, "call " + Value(trace.value) + At(trace.site));
        break;
      case TraceKind::Rec:
        Line(depth, "recursive call " + state_.program.FunctionName(FuncId{trace.payload}) + At(trace.site));
        break;
      case TraceKind::Yield:
        Line(depth, "yield" + At(trace.site));
        break;
      case TraceKind::Keep: {
        constexpr const char* kFillings[] = {"made from here on", "no longer made", "perhaps made"};
        Line(depth, kFillings[trace.payload] + At(trace.site));
        break;
      }
      case TraceKind::Mode: {
        const auto parts = state_.values.Kids(trace.value);
        Line(depth, fmt::format("mode of {}: {}{}", Value(parts[0]), Value(parts[1]), At(trace.site)));
        break;
      }
      case TraceKind::Opaque:
        Line(depth, "unresolved call" + At(trace.site));
        break;
    }
  }

  void Op(TraceId id, int depth) {
    const Trace& trace = traces_[id];
    const Operation& operation = traces_.operation(id);
    const knowledge::Entry& entry = traces_.entry(id);
    const bool is_default = !operation.group || operation.group == state_.values.NoneValue();
    std::string text = fmt::format("{}({}", state_.program.text(entry.operation.kind),
                                   is_default ? variation::NameOfGroup(variation::GroupKind::World, {}) : Value(operation.group));
    if (operation.root) text += ", root " + Value(operation.root);
    Line(depth, text + ")" + At(trace.site));
  }

  void Choice(const Trace& trace, std::span<const TraceId> kids, int depth) {
    const bool settled = (trace.flags & kSettled) != 0;
    Line(depth, "if " + Condition(trace.value) + (settled ? " (settled):" : ":") + At(trace.site));
    if (kids[0] == traces_.Empty()) Line(depth + 1, "nothing");
    Node(kids[0], depth + 1);
    Clause("else:", kids[1], depth);
  }

  void Try(TraceId id, int depth) {
    const auto kids = traces_.Kids(id);
    Line(depth, "try:" + At(traces_[id].site));
    Node(kids[kTryBody], depth + 1);
    for (size_t i = kTryHandlers; i < kids.size(); ++i) {
      Line(depth, "except:");
      Node(kids[i], depth + 1);
    }
    Clause("else:", kids[kTryElse], depth);
    Clause("finally:", kids[kTryFinally], depth);
  }

  void Clause(const char* head, TraceId trace, int depth) {
    if (trace == traces_.Empty()) return;
    Line(depth, head);
    Node(trace, depth + 1);
  }

  const State& state_;
  const TraceStore& traces_;
  std::string text_;
};

}  // namespace

std::string PrintTrace(const binding::Program& program, const knowledge::Knowledge& knowledge, variation::Facts& facts,
                       const source::SourceFiles& files, ir::ModuleId module, std::string_view function) {
  State state(program, knowledge, facts, files);
  const CallGraph graph = MakeCallGraph(program, knowledge, facts);
  state.is_relevant = graph.relevant;
  state.made_once.Find();
  state.modes = graph.modes;
  for (const FuncId func : graph.order) state.trace_of[func.index] = BuildTrace(state, func);
  std::string text;
  for (uint32_t f = 0; f < program.funcs.size(); ++f) {
    const FuncId func{f};
    if (program.funcs[func].module != module) continue;
    const bool wanted = function.empty() ? static_cast<bool>(state.trace_of[f]) : program.FunctionName(func) == function;
    if (!wanted) continue;
    if (!text.empty()) text += "\n";
    text += Printer(state).Print(func);
  }
  return text;
}

}  // namespace allranks::traces
