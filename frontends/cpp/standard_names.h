// Names of the standard libraries of C and C++ that the IR has a word for, with dots between the scopes.
#pragma once

#include <string_view>

namespace allranks::cpp {

// `std.stoi` is "builtins.int"; empty: none.
std::string_view WordOfStandard(std::string_view qualified);
// A function that hands its first argument through: `std.move`.
bool HandsThrough(std::string_view qualified);
// What a method of a container is: `push_back` is "append", `size` "builtins.len"; empty: none.
std::string_view WordOfContainer(std::string_view method);
// `make_unique` and its like, the type being an argument of the template.
bool MakesObject(std::string_view qualified);
// A container whose items are counted: `vector`, with or without its namespace.
bool IsCountedContainer(std::string_view name);

}  // namespace allranks::cpp
