#include "frontends/cpp/compile_commands.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "frontends/cpp/includes.h"

namespace allranks::cpp {
namespace {

using nlohmann::json;

// Flags whose value stands in the same word or in the next one; on the right what Clang calls them.
struct ValueFlag {
  std::string_view spelling;
  std::string_view clang;
};
constexpr ValueFlag kValueFlags[] = {
    {"-D", "-D"},
    {"-U", "-U"},
    {"-I", "-I"},
    {"-isystem", "-isystem"},
    {"-iquote", "-iquote"},
    {"-idirafter", "-idirafter"},
    {"-include", "-include"},
    {"-imacros", "-imacros"},
    {"-isysroot", "-isysroot"},
    {"--sysroot", "--sysroot"},
    // nvcc's long names
    {"--define-macro", "-D"},
    {"--undefine-macro", "-U"},
    {"--include-path", "-I"},
    {"--system-include", "-isystem"},
    {"--pre-include", "-include"},
};
// Flags that are kept as they are.
constexpr std::string_view kPlainFlags[] = {"-nostdinc", "-nostdinc++", "-pthread", "-fopenmp", "-fexceptions",
                                            "-fno-exceptions", "-fcoroutines", "-fms-extensions", "-m32", "-m64",
                                            "-ansi", "-fchar8_t", "-fno-char8_t", "-funsigned-char"};
constexpr std::string_view kPlainStarts[] = {"-std=", "--std=", "-stdlib="};
// Flags whose next word is their value: both are dropped.
constexpr std::string_view kDroppedWithValue[] = {
    "-o", "-MF", "-MT", "-MQ", "-Xclang", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-wrapper", "-plugin", "-load",
    "-B", "-L", "-l", "-T", "-u", "-z", "-target", "-arch", "-G", "--param", "-gencode", "--generate-code", "-ccbin",
    "--compiler-bindir", "--gpu-architecture", "-code", "--gpu-code", "-Xptxas", "--ptxas-options", "-Xnvlink",
    "-Xarchive", "-maxrregcount", "--maxrregcount", "-diag-suppress", "--diag-suppress", "-t", "--threads",
    "--options-file", "-optf", "-Xcudafe", "-dumpbase", "-dumpdir", "-odir", "--output-directory", "--config"};

std::optional<std::string> TakeValue(const std::vector<std::string>& args, size_t* at, std::string_view spelling) {
  const std::string_view word = args[*at];
  if (!word.starts_with(spelling)) return std::nullopt;
  std::string_view value = word.substr(spelling.size());
  // `-include-pch x.pch` is another flag than `-include`, `-isystem-after` another than `-isystem`.
  const bool is_word = spelling.size() > 2;
  if (is_word && value.starts_with('=')) return std::string(value.substr(1));
  if (is_word && value.starts_with('-')) return std::nullopt;
  if (!value.empty()) return std::string(value);
  if (*at + 1 >= args.size()) return std::nullopt;
  return args[++*at];
}

bool Contains(std::span<const std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// `-Xcompiler -DX,-fPIC`: what nvcc hands to the host's compiler.
void KeepForHost(std::string_view list, std::vector<std::string>* kept) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    words.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  for (std::string& flag : KeptFlags(words)) kept->push_back(std::move(flag));
}

void KeepOne(const std::vector<std::string>& args, size_t* at, std::vector<std::string>* kept) {
  const std::string& word = args[*at];
  if (const auto host = TakeValue(args, at, "-Xcompiler")) return KeepForHost(*host, kept);
  if (const auto host = TakeValue(args, at, "--compiler-options")) return KeepForHost(*host, kept);
  for (const ValueFlag& flag : kValueFlags) {
    if (const auto value = TakeValue(args, at, flag.spelling)) {
      kept->emplace_back(flag.clang);
      kept->push_back(*value);
      return;
    }
  }
  if (const auto language = TakeValue(args, at, "-x")) {
    const bool is_cuda = *language == "cu" || *language == "cuda";
    if (is_cuda || *language == "c" || *language == "c++") {
      kept->emplace_back("-x");
      kept->push_back(is_cuda ? "cuda" : *language);
    }
    return;
  }
  if ((word == "-std" || word == "--std") && *at + 1 < args.size()) {
    kept->push_back("-std=" + args[++*at]);
    return;
  }
  if (Contains(kDroppedWithValue, word)) {
    ++*at;
    return;
  }
  const bool starts = std::any_of(std::begin(kPlainStarts), std::end(kPlainStarts),
                                  [&](std::string_view start) { return word.starts_with(start); });
  if (starts) kept->push_back(word.substr(word.starts_with("--") ? 1 : 0));
  else if (Contains(kPlainFlags, word)) kept->push_back(word);
}

// `@flags.rsp`: the words of that file in its place.
bool ExpandFlagFiles(const std::string& directory, const source::FileSystem& files, std::vector<std::string>* args,
                     std::string* missing) {
  constexpr int kMostFiles = 16;
  for (int round = 0; round < kMostFiles; ++round) {
    const auto found = std::find_if(args->begin(), args->end(),
                                    [](const std::string& arg) { return arg.size() > 1 && arg.starts_with('@'); });
    if (found == args->end()) return true;
    const base::Result<std::string> text = files.Read(AbsolutePath(directory, found->substr(1)));
    if (!text) {
      *missing = found->substr(1);
      args->erase(found);
      return false;
    }
    const std::vector<std::string> words = ShellWords(*text);
    const auto at = args->erase(found);
    args->insert(at, words.begin(), words.end());
  }
  return true;
}

std::vector<std::string> ArgsOf(const json& entry) {
  if (const auto list = entry.find("arguments"); list != entry.end() && list->is_array()) {
    std::vector<std::string> args;
    for (const json& word : *list) {
      if (word.is_string()) args.push_back(word.get<std::string>());
    }
    return args;
  }
  const auto command = entry.find("command");
  return command != entry.end() && command->is_string() ? ShellWords(command->get<std::string>())
                                                        : std::vector<std::string>();
}

std::string TextOf(const json& entry, const char* key) {
  const auto found = entry.find(key);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool EndsWithAny(std::string_view path, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return path.ends_with(ending); });
}

// What flags of another file may be lent to: 'c', 'u' for CUDA, '+' for C++ and headers.
char LanguageOf(std::string_view path) {
  if (path.ends_with(".c")) return 'c';
  return EndsWithAny(path, {".cu", ".cuh"}) ? 'u' : '+';
}

}  // namespace

std::string AbsolutePath(const std::string& directory, std::string_view path) {
  const std::string whole = path.starts_with('/') ? std::string(path) : directory + "/" + std::string(path);
  std::vector<std::string_view> parts;
  for (size_t at = 0; at < whole.size();) {
    const size_t end = std::min(whole.find('/', at), whole.size());
    const std::string_view part = std::string_view(whole).substr(at, end - at);
    if (part == ".." && !parts.empty()) parts.pop_back();
    else if (!part.empty() && part != "." && part != "..") parts.push_back(part);
    at = end + 1;
  }
  std::string absolute;
  for (const std::string_view part : parts) absolute.append("/").append(part);
  return absolute.empty() ? "/" : absolute;
}

std::vector<std::string> ShellWords(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    const bool is_blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (quote == 0 && is_blank) {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
      continue;
    }
    in_word = true;
    if (quote != 0 && c == quote) quote = 0;
    else if (quote == 0 && (c == '"' || c == '\'')) quote = c;
    else if (c == '\\' && quote != '\'' && i + 1 < command.size()) word += command[++i];
    else word += c;
  }
  if (in_word) words.push_back(word);
  return words;
}

std::vector<std::string> KeptFlags(const std::vector<std::string>& args) {
  std::vector<std::string> kept;
  for (size_t i = 0; i < args.size(); ++i) KeepOne(args, &i, &kept);
  return kept;
}

base::Result<CompileCommands> CompileCommands::Parse(std::string_view text, const std::string& folder,
                                                     const source::FileSystem& files) {
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_array()) {
    return base::Fail(document.is_discarded() ? "not valid JSON" : "not a list of compile commands");
  }
  CompileCommands commands;
  for (const json& entry : document) {
    const std::string file = entry.is_object() ? TextOf(entry, "file") : std::string();
    std::vector<std::string> args = entry.is_object() ? ArgsOf(entry) : std::vector<std::string>();
    if (file.empty() || args.empty()) {
      ++commands.skipped_;
      continue;
    }
    const std::string directory = AbsolutePath(folder, TextOf(entry, "directory"));
    args.erase(args.begin());
    std::string missing;
    if (!ExpandFlagFiles(directory, files, &args, &missing)) {
      commands.problems_.push_back("the flag file " + missing + ", with which " + file + " is compiled, cannot be read");
    }
    // The first one counts, as for clang-tidy.
    commands.by_path_.emplace(AbsolutePath(directory, file), CompileCommand{directory, KeptFlags(args)});
  }
  return commands;
}

const CompileCommand* CompileCommands::Find(const std::string& path) const {
  const auto found = by_path_.find(path);
  return found == by_path_.end() ? nullptr : &found->second;
}

const CompileCommand* CompileCommands::Nearest(const std::string& path) const {
  const CompileCommand* nearest = nullptr;
  std::pair<size_t, size_t> most;
  for (const auto& [listed, command] : by_path_) {
    if (LanguageOf(listed) != LanguageOf(path)) continue;
    const size_t same = static_cast<size_t>(std::ranges::mismatch(listed, path).in1 - listed.begin());
    const size_t folders = static_cast<size_t>(std::count(listed.begin(), listed.begin() + static_cast<std::ptrdiff_t>(same), '/'));
    const std::pair<size_t, size_t> likeness = {folders, same};
    if (nearest != nullptr && likeness <= most) continue;
    nearest = &command;
    most = likeness;
  }
  return nearest;
}

CompileCommand DefaultCommand(const std::string& path, const std::string& root) {
  CompileCommand command{.directory = path.substr(0, path.rfind('/')), .args = {}};
  if (command.directory.empty()) command.directory = "/";
  for (std::string folder = command.directory; folder.size() >= root.size() && !folder.empty();
       folder = folder.substr(0, folder.rfind('/'))) {
    // A project's headers go before those of an installed version of it; but deeper down there may be a `string.h`.
    const char* const order = folder == root ? "-I" : "-idirafter";
    for (const char* below : {"", "/include", "/src"}) command.args.insert(command.args.end(), {order, folder + below});
    if (folder == root) break;
  }
  // Where nobody says how it is built, directives of OpenMP mean what they say.
  command.args.emplace_back("-fopenmp");
  return command;
}

std::vector<std::string> LanguageFlags(std::string_view path, const std::vector<std::string>& args,
                                       const std::string& cuda_headers) {
  // The C++ bindings of MPI are gone since MPI-3, and cost time.
  std::vector<std::string> flags = {"-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"};
  const auto language = std::find(args.begin(), args.end(), "-x");
  const std::string_view given = language != args.end() && language + 1 != args.end() ? std::string_view(*(language + 1)) : "";
  const bool is_cuda = given == "cuda" || (given.empty() && EndsWithAny(path, {".cu", ".cuh"}));
  if (given.empty() && EndsWithAny(path, {".c"})) {
    // MPI programs of old call what they do not declare.
    flags.insert(flags.end(), {"-Wno-implicit-function-declaration", "-Wno-int-conversion", "-Wno-implicit-int",
                               "-Wno-incompatible-function-pointer-types"});
  }
  if (is_cuda) {
    if (given.empty()) flags.insert(flags.end(), {"-x", "cuda"});
    // Clang would look for an installation with its tools and libraries; headers are all that is needed.
    flags.insert(flags.end(), {"--cuda-host-only", "-nocudalib", "-nocudainc"});
  }
  if (is_cuda && cuda_headers.empty()) {
    flags.insert(flags.end(), {"-include", "cuda_runtime.h"});
  } else if (is_cuda) {
    flags.insert(flags.end(), {"-isystem", cuda_headers, "-isystem", cuda_headers + "/cccl", "-include",
                               "__clang_cuda_runtime_wrapper.h", "-include", "allranks_cuda_toolkit.h"});
  } else if (!cuda_headers.empty()) {
    flags.insert(flags.end(), {"-idirafter", cuda_headers});
  }
  if (!is_cuda && given.empty() && IsHeaderName(path)) flags.insert(flags.end(), {"-x", "c++"});
  return flags;
}

}  // namespace allranks::cpp
