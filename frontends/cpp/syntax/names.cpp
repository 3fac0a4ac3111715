// What names mean without types: a local variable, a member, what the program or a library defines under that name in one of the scopes
// around, or nothing that is known.
#include <algorithm>
#include <cctype>

#include "frontends/cpp/syntax/lower_body.h"

namespace allranks::cpp::syntax {
namespace {

// `a.b.C`, `a.b`, `a` and no scope at all, the innermost first.
std::vector<Qualified> ScopesFrom(Qualified scope) {
  std::vector<Qualified> scopes;
  while (!scope.empty()) {
    scopes.push_back(scope);
    const size_t dot = scope.rfind('.');
    scope = dot == Qualified::npos ? Qualified() : scope.substr(0, dot);
  }
  scopes.emplace_back();
  return scopes;
}

Qualified Under(const Qualified& scope, const Qualified& name) { return scope.empty() ? name : scope + "." + name; }

// Macros and constants are written so by all.
bool IsInCapitals(std::string_view name) {
  return std::ranges::none_of(name, [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; });
}

}  // namespace

Qualified BodyLowering::WithoutAlias(const Qualified& written) const {
  const size_t dot = written.find('.');
  const auto alias = outline_.aliases.find(std::string_view(written).substr(0, dot));
  if (alias == outline_.aliases.end()) return written;
  return dot == Qualified::npos ? alias->second : alias->second + written.substr(dot);
}

BodyLowering::Meaning BodyLowering::Find(const Qualified& written, size_t arguments) const {
  const Qualified name = WithoutAlias(written);
  std::vector<Qualified> scopes = ScopesFrom(function_.scope);
  scopes.insert(scopes.end(), outline_.used_namespaces.begin(), outline_.used_namespaces.end());
  for (const Qualified& scope : scopes) {
    const Qualified qualified = Under(scope, name);
    if (const auto known = definitions_.classes.find(qualified); known != definitions_.classes.end()) {
      return {.name = qualified, .symbol = known->second, .is_class = true, .is_found = true};
    }
    if (const auto known = definitions_.functions.find(qualified); known != definitions_.functions.end()) {
      Meaning meaning{.name = qualified, .is_found = true};
      size_t fitting = 0;
      for (const Definitions::Function& each : known->second) {
        if (each.params != arguments && known->second.size() > 1) continue;
        meaning.symbol = each.symbol;
        ++fitting;
      }
      if (fitting != 1) meaning.symbol = {};
      return meaning;
    }
    if (definitions_.is_of_library(qualified)) return {.name = qualified, .is_found = true};
  }
  return {.name = name};
}

BodyLowering::Meaning BodyLowering::FindType(const Qualified& written) const {
  Meaning meaning = Find(written, 0);
  if (!meaning.is_class) meaning.symbol = {};
  return meaning;
}

const BodyLowering::Local* BodyLowering::FindLocal(std::string_view name) const {
  const std::string key(name);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->find(key); found != scope->end()) return &found->second;
  }
  return nullptr;
}

// Variables of inner blocks that bear an outer one's name get a number: the IR knows one scope a function.
BodyLowering::Local& BodyLowering::AddLocal(std::string_view name) {
  std::string key(name);
  const int number = ++used_names_[key];
  const ir::NameId own = NameOf(number > 1 ? key + "#" + std::to_string(number) : key);
  return scopes_.back()[std::move(key)] = {.name = own};
}

// A name in a method that is none of the function, the file, a library or a macro is one of the object.
bool BodyLowering::IsField(std::string_view name) const {
  if (!function_.has_object) return false;
  const auto fields = outline_.fields.find(function_.owner);
  if (fields != outline_.fields.end() && fields->second.contains(name)) return true;
  return !IsInCapitals(name) && !outline_.file_names.contains(name) && !Find(Qualified(name), 0).is_found;
}

bool BodyLowering::IsNumberType(Node type) const {
  if (type.kind() == Kind::PrimitiveType || type.kind() == Kind::SizedType) return In(type) != "void";
  return false;
}

}  // namespace allranks::cpp::syntax
