#include "frontends/cpp/standard_names.h"

#include <algorithm>
#include <span>

namespace allranks::cpp {
namespace {

struct Spelling {
  std::string_view cpp;
  std::string_view ir;
};

constexpr Spelling kStandard[] = {
    {"atoi", "builtins.int"},          {"atol", "builtins.int"},           {"atoll", "builtins.int"},
    {"strtol", "builtins.int"},        {"strtoul", "builtins.int"},        {"strtoll", "builtins.int"},
    {"std.atoi", "builtins.int"},      {"std.atol", "builtins.int"},       {"std.strtol", "builtins.int"},
    {"std.stoi", "builtins.int"},      {"std.stol", "builtins.int"},       {"std.stoull", "builtins.int"},
    {"getenv", "os.getenv"},           {"std.getenv", "os.getenv"},        {"secure_getenv", "os.getenv"},
    {"std.min", "builtins.min"},       {"std.max", "builtins.max"},        {"abs", "builtins.abs"},
    {"printf", "builtins.print"},      {"fprintf", "builtins.print"},      {"puts", "builtins.print"},
};

constexpr std::string_view kTransparent[] = {"std.move", "std.forward", "std.ref", "std.cref", "std.addressof",
                                             "std.launder", "std.as_const", "__builtin_expect", "std.string"};

constexpr Spelling kContainer[] = {
    {"push_back", "append"}, {"emplace_back", "append"}, {"insert", "add"},     {"emplace", "add"},
    {"push", "append"},      {"size", "builtins.len"},   {"length", "builtins.len"},
};

constexpr std::string_view kCountedContainers[] = {"vector", "deque", "list", "forward_list", "set", "multiset",
                                                   "unordered_set", "unordered_multiset", "map", "multimap",
                                                   "unordered_map", "unordered_multimap"};

std::string_view Find(std::span<const Spelling> list, std::string_view name) {
  const auto found = std::ranges::find(list, name, &Spelling::cpp);
  return found == list.end() ? std::string_view() : found->ir;
}

}  // namespace

std::string_view WordOfStandard(std::string_view qualified) { return Find(kStandard, qualified); }

bool HandsThrough(std::string_view qualified) { return std::ranges::find(kTransparent, qualified) != std::end(kTransparent); }

std::string_view WordOfContainer(std::string_view method) { return Find(kContainer, method); }

bool MakesObject(std::string_view qualified) {
  return qualified.starts_with("std.make_shared") || qualified.starts_with("std.make_unique") || qualified.starts_with("c10.make_intrusive");
}

bool IsCountedContainer(std::string_view name) {
  if (name.starts_with("std.")) name.remove_prefix(4);
  return std::ranges::find(kCountedContainers, name) != std::end(kCountedContainers);
}

}  // namespace allranks::cpp
