#include <algorithm>
#include <array>

#include "frontends/cpp/standard_names.h"
#include "frontends/cpp/syntax/lower_body.h"

namespace allranks::cpp::syntax {
namespace {

constexpr std::string_view kCasts[] = {"static_cast", "dynamic_cast", "reinterpret_cast", "const_cast", "narrow_cast"};

}  // namespace

// Of arguments, or of names that the grammar takes for parameters: `ParMesh mesh(comm, serial)`.
std::vector<ir::Arg> BodyLowering::Args(Node list) {
  std::vector<ir::Arg> args;
  for (const Node each : list.Children()) {
    if (each.kind() != Kind::Parameter) {
      args.push_back({.value = Expr(each)});
      continue;
    }
    const Node type = each["type"];
    const Local* local = FindLocal(In(type));
    const ir::ExprId value = local ? builder_.Name(type.range(), local->name) : Resolved(Find(Qualified(In(type)), 0), type.range());
    args.push_back({.value = value});
  }
  return args;
}

// An object that is made; `arguments` may be none.
ir::ExprId BodyLowering::Construct(ir::Range range, Node type, Node arguments) {
  std::vector<ir::Arg> args = arguments ? Args(arguments) : std::vector<ir::Arg>();
  if (const ir::ExprId name = TypeName(type)) return builder_.Call(range, name, args);
  std::vector<ir::ExprId> parts;
  for (const ir::Arg& arg : args) parts.push_back(arg.value);
  return parts.size() == 1 ? parts[0] : builder_.Opaque(range, parts);
}

ir::ExprId BodyLowering::Call(Node call) {
  const Node callee = call["function"];
  const Node list = call["arguments"];
  if (!callee || !list) return Parts(call);
  const ir::Range range = call.range();
  if (callee.kind() == Kind::FieldExpression) return MethodCall(call, callee);
  // `int(x)`.
  if (callee.kind() == Kind::PrimitiveType) return list.Children().size() == 1 ? Expr(list.Children()[0]) : Parts(list);
  const Qualified written = WrittenName(callee, text_);
  const bool is_local = callee.kind() == Kind::Identifier && FindLocal(In(callee)) != nullptr;
  if (written.empty() || is_local) {
    const ir::ExprId function = Expr(callee);
    return builder_.Call(range, function, Args(list));
  }
  if (const std::optional<ir::ExprId> standard = StandardCall(call, written)) return *standard;
  const size_t count = list.Children().size();
  const Meaning meaning = Find(written, count);
  const bool is_plain = callee.kind() == Kind::Identifier || callee.kind() == Kind::TemplateFunction;
  const bool is_method = is_plain && function_.has_object && meaning.name == function_.owner + "." + written;
  if (is_method || (is_plain && !meaning.is_found && IsField(written))) {
    const ir::ExprId object = builder_.Name(range, NameOf("this"));
    const ir::ExprId method = builder_.Attribute(callee.range(), object, NameOf(written));
    return builder_.Call(range, method, Args(list));
  }
  const ir::ExprId name = Resolved(meaning, callee.range());
  return builder_.Call(range, name, Args(list));
}

std::optional<ir::ExprId> BodyLowering::StandardCall(Node call, std::string_view name) {
  const ir::Range range = call.range();
  const Node callee = call["function"];
  const std::vector<Node> args = call["arguments"].Children();
  const bool is_cast = std::ranges::find(kCasts, name) != std::end(kCasts);
  if ((is_cast || HandsThrough(name)) && !args.empty()) return Expr(args[0]);
  if (MakesObject(name)) {
    const Node function = callee.kind() == Kind::Qualified ? callee["name"] : callee;
    const std::vector<Node> types = function["arguments"] ? function["arguments"].Children() : std::vector<Node>();
    if (!types.empty()) return Construct(range, types[0], call["arguments"]);
  }
  const std::string_view word = WordOfStandard(name);
  if (word.empty()) return std::nullopt;
  // `strtol(text, nullptr, 10)`: the first argument says it all.
  std::vector<ir::Arg> lowered = Args(call["arguments"]);
  if (word == "builtins.int" && lowered.size() > 1) lowered.resize(1);
  return builder_.Call(range, External(word, callee.range()), lowered);
}

ir::ExprId BodyLowering::MethodCall(Node call, Node callee) {
  const ir::Range range = call.range();
  const Node object = callee["argument"];
  if (!object || !callee["field"]) return Parts(call);
  const Local* local = object.kind() == Kind::Identifier ? FindLocal(In(object)) : nullptr;
  const std::string method = WrittenName(callee["field"], text_);
  const Node list = call["arguments"];
  if (local != nullptr && local->is_container) {
    const std::string_view word = WordOfContainer(method);
    if (word == "builtins.len") return builder_.Call(range, External(word, callee.range()), std::array{ir::Arg{.value = Expr(object)}});
    if (!word.empty()) return builder_.Call(range, builder_.Attribute(callee.range(), Expr(object), NameOf(word)), Args(list));
  }
  const ir::ExprId function = builder_.Attribute(callee.range(), Expr(object), NameOf(method));
  return builder_.Call(range, function, Args(list));
}

}  // namespace allranks::cpp::syntax
