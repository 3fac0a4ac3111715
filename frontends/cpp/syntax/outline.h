// What a text of C++ defines, by its words: functions with the scopes that they stand in, and what its names stand for.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/cpp/syntax/tree.h"

namespace allranks::cpp::syntax {

// With dots between the scopes: "mfem.Mpi.WorldRank".
using Qualified = std::string;

struct TextFunction {
  Node definition;
  Node declarator;               // with the parameters
  Qualified scope;               // the namespaces and classes that its names are looked up in
  Qualified name;                // with that scope
  Qualified owner;               // the class whose method it is; empty: none
  bool has_object = false;
  bool is_template = false;      // it, or a class around it
  bool is_virtual = false;
  uint32_t name_begin = 0;
  uint32_t name_end = 0;

  std::string_view short_name() const { return std::string_view(name).substr(name.rfind('.') + 1); }
};

struct Outline {
  std::vector<TextFunction> functions;
  std::vector<Qualified> used_namespaces;          // `using namespace mfem;`
  std::map<std::string, Qualified, std::less<>> aliases;  // of namespaces, of types, and names that `using` brings
  std::set<std::string, std::less<>> file_names;   // of variables, functions and enumerators outside of functions and classes
  std::map<Qualified, std::set<std::string, std::less<>>> fields;  // of the classes that stand in the text
};

Outline OutlineOf(const Tree& tree, std::string_view text);

// A name or a type as it is written, template arguments left out: `a::S<T>::run` is "a.S.run". Empty: it is no name.
Qualified WrittenName(Node node, std::string_view text);
// What a declarator declares, through pointers, references, arrays and initialisers; false: nothing with a name.
Node DeclaredName(Node declarator);
// The one with parameters in a declarator; false: it declares no function.
Node FunctionDeclaratorIn(Node declarator);

}  // namespace allranks::cpp::syntax
