#include "frontends/cpp/syntax/outline.h"

#include <algorithm>

namespace allranks::cpp::syntax {
namespace {

// Scopes and conditionals of a text lie less deep within one another.
constexpr int kDeepestScope = 100;

Qualified Joined(const Qualified& scope, std::string_view name) {
  if (scope.empty()) return Qualified(name);
  return name.empty() ? scope : scope + "." + Qualified(name);
}

bool IsDeclarator(Kind kind) {
  switch (kind) {
    case Kind::PointerDeclarator:
    case Kind::ReferenceDeclarator:
    case Kind::ParenthesizedDeclarator:
    case Kind::ArrayDeclarator:
    case Kind::InitDeclarator:
    case Kind::FunctionDeclarator:
      return true;
    default:
      return false;
  }
}

// A declarator that one stands around.
Node Inner(Node declarator) {
  if (const Node inner = declarator["declarator"]) return inner;
  const std::vector<Node> children = declarator.Children();
  return children.empty() ? Node() : children.back();
}

// The last part of a name that is written with scopes.
Node LastPart(Node name) {
  while (name && name.kind() == Kind::Qualified) name = name["name"];
  return name;
}

class Walk {
 public:
  Walk(std::string_view text, Outline* out) : text_(text), out_(*out) {}

  struct Around {
    Qualified scope;
    bool is_class = false;
    bool is_template = false;
  };

  void Children(Node node, const Around& around) {
    for (const Node child : node.Children()) Declaration(child, around);
  }

 private:
  void Declaration(Node node, const Around& around) {
    if (depth_ >= kDeepestScope) return;
    ++depth_;
    Dispatch(node, around);
    --depth_;
  }

  void Dispatch(Node node, const Around& around) {
    switch (node.kind()) {
      case Kind::Namespace: {
        const Node name = node["name"];
        Qualified scope = name ? Qualified(name.TextIn(text_)) : Qualified();
        std::erase_if(scope, [](char c) { return c == ' ' || c == '\n'; });
        for (size_t at = scope.find("::"); at != Qualified::npos; at = scope.find("::")) scope.replace(at, 2, ".");
        if (const Node body = node["body"]) Children(body, {.scope = Joined(around.scope, scope)});
        return;
      }
      case Kind::Class:
      case Kind::Struct:
        return Record(node, around);
      case Kind::TemplateDeclaration: {
        Around inner = around;
        inner.is_template = true;
        return Children(node, inner);
      }
      case Kind::Linkage:
        if (const Node body = node["body"]) {
          if (body.kind() == Kind::DeclarationList) Children(body, around);
          else Declaration(body, around);
        }
        return;
      case Kind::PreprocIf:
      case Kind::PreprocIfdef:
      case Kind::PreprocElif:
      case Kind::PreprocElifdef:
      case Kind::PreprocElse:
      case Kind::Error:
      case Kind::FieldList:
        return Children(node, around);
      case Kind::FunctionDefinition:
        return Function(node, around);
      case Kind::Declaration:
      case Kind::FieldDeclaration:
        return Names(node, around);
      case Kind::Enum:
        return Enumerators(node);
      case Kind::NamespaceAlias:
      case Kind::AliasDeclaration:
      case Kind::TypeDefinition:
      case Kind::UsingDeclaration:
        return Alias(node);
      default:
        return;
    }
  }

  void Record(Node node, const Around& around) {
    const Node name = node["name"];
    const Node body = node["body"];
    if (!name || !body) return;
    const Qualified scope = Joined(around.scope, WrittenName(name, text_));
    out_.fields.try_emplace(scope);
    Children(body, {.scope = scope, .is_class = true, .is_template = around.is_template});
  }

  // Of variables and fields; of the type that stands before them, if it is defined there.
  void Names(Node node, const Around& around) {
    for (const Node child : node.Children()) {
      if (child.field() == "type") {
        Declaration(child, around);
        continue;
      }
      if (child.field() != "declarator") continue;
      const Node name = LastPart(DeclaredName(child));
      if (!name) continue;
      const std::string text(name.TextIn(text_));
      if (!around.is_class) out_.file_names.insert(text);
      else if (!FunctionDeclaratorIn(child)) out_.fields[around.scope].insert(text);
    }
  }

  void Enumerators(Node node) {
    const Node body = node["body"];
    if (!body) return;
    for (const Node child : body.Children()) {
      if (const Node name = child["name"]) out_.file_names.insert(std::string(name.TextIn(text_)));
    }
  }

  // `namespace mpi = boost::mpi;`, `using T = a::B;`, `typedef a::B T;`, `using a::B;`, `using namespace a;`.
  void Alias(Node node) {
    const std::vector<Node> children = node.Children();
    if (children.empty()) return;
    if (node.kind() == Kind::UsingDeclaration) {
      const Qualified name = WrittenName(children[0], text_);
      if (name.empty()) return;
      if (node.HasWord("namespace", text_)) out_.used_namespaces.push_back(name);
      else out_.aliases.emplace(name.substr(name.rfind('.') + 1), name);
      return;
    }
    const bool is_typedef = node.kind() == Kind::TypeDefinition;
    const Node alias = is_typedef ? node["declarator"] : node["name"];
    const Node meant = node.kind() == Kind::NamespaceAlias ? children.back() : node["type"];
    if (!alias || !meant) return;
    const Qualified name = WrittenName(meant, text_);
    const Qualified own(alias.TextIn(text_));
    if (!name.empty() && name != own) out_.aliases.emplace(own, name);
  }

  void Function(Node node, const Around& around) {
    const Node declarator = node["declarator"] ? FunctionDeclaratorIn(node["declarator"]) : Node();
    const Node body = node["body"];
    if (!declarator || !body) return;
    const Node name = DeclaredName(declarator);
    if (!name) return;
    const Node last = LastPart(name);
    TextFunction function{.definition = node, .declarator = declarator, .is_template = around.is_template};
    const Qualified written = WrittenName(name, text_);
    if (written.empty() || !last) return;
    function.name = Joined(around.scope, written);
    const size_t dot = function.name.rfind('.');
    function.scope = dot == Qualified::npos ? Qualified() : function.name.substr(0, dot);
    // `S::run` out of the class: a namespace is seldom written so.
    if (around.is_class || name.kind() == Kind::Qualified) function.owner = function.scope;
    const bool is_static = std::ranges::any_of(node.Children(), [&](Node child) { return child.kind() == Kind::Storage && child.TextIn(text_) == "static"; });
    function.has_object = !function.owner.empty() && !is_static;
    function.is_virtual = node.HasWord("virtual", text_) || std::ranges::any_of(declarator.Children(), [](Node child) { return child.kind() == Kind::VirtualSpecifier; });
    function.name_begin = last.begin();
    function.name_end = last.end();
    if (!around.is_class) out_.file_names.insert(std::string(function.short_name()));
    for (const Node stmt : body.Children()) {
      if (stmt.kind() == Kind::UsingDeclaration || stmt.kind() == Kind::AliasDeclaration || stmt.kind() == Kind::NamespaceAlias) Alias(stmt);
    }
    out_.functions.push_back(std::move(function));
  }

  std::string_view text_;
  Outline& out_;
  int depth_ = 0;
};

}  // namespace

Node DeclaredName(Node declarator) {
  while (declarator && IsDeclarator(declarator.kind())) declarator = Inner(declarator);
  return declarator;
}

Node FunctionDeclaratorIn(Node declarator) {
  while (declarator && declarator.kind() != Kind::FunctionDeclarator) {
    if (!IsDeclarator(declarator.kind())) return {};
    declarator = Inner(declarator);
  }
  return declarator;
}

Qualified WrittenName(Node node, std::string_view text) {
  switch (node.kind()) {
    case Kind::Identifier:
    case Kind::FieldIdentifier:
    case Kind::TypeIdentifier:
    case Kind::NamespaceIdentifier:
    case Kind::DestructorName:
    case Kind::OperatorName:
      return Qualified(node.TextIn(text));
    case Kind::TemplateType:
    case Kind::TemplateFunction:
    case Kind::TemplateMethod:
      return node["name"] ? WrittenName(node["name"], text) : Qualified();
    case Kind::DependentName: {
      const std::vector<Node> children = node.Children();
      return children.empty() ? Qualified() : WrittenName(children.back(), text);
    }
    case Kind::NestedNamespace: {
      Qualified name;
      for (const Node part : node.Children()) name = Joined(name, WrittenName(part, text));
      return name;
    }
    case Kind::Qualified: {
      Qualified name;
      // One part after the other: scopes nest to the right.
      for (int parts = 0; node && node.kind() == Kind::Qualified && parts < kDeepestScope; ++parts) {
        if (const Node scope = node["scope"]) name = Joined(name, WrittenName(scope, text));
        node = node["name"];
      }
      return node && node.kind() != Kind::Qualified ? Joined(name, WrittenName(node, text)) : name;
    }
    default: {
      // `type_descriptor`, `dependent_type`: the type in it.
      if (const Node type = node["type"]) return WrittenName(type, text);
      return {};
    }
  }
}

Outline OutlineOf(const Tree& tree, std::string_view text) {
  Outline out;
  Walk(text, &out).Children(tree.root(), {});
  return out;
}

}  // namespace allranks::cpp::syntax
