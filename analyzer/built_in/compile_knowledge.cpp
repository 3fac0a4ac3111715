// compile_knowledge OUTPUT FILE...: reads knowledge/*.toml and knowledge/launch/*.toml while the tool is built, and writes the
// source file with what they say. What is wrong with one of them ends the build.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "analyzer/knowledge/image.h"
#include "analyzer/launch/tables_image.h"

namespace allranks::built_in {
namespace {

// Knowledge of launchers has a folder of its own.
bool IsOfLaunchers(std::string_view path) { return path.find("/launch/") != std::string_view::npos; }

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Octal digits never run into what follows them. Lines are short enough for every compiler.
std::string Literal(std::string_view bytes) {
  constexpr size_t kBytesInLine = 64;
  std::string text;
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (at % kBytesInLine == 0) text += at == 0 ? "    \"" : "\"\n    \"";
    const auto byte = static_cast<unsigned char>(bytes[at]);
    for (const int shift : {6, 3, 0}) text += shift == 6 ? "\\" + std::string(1, static_cast<char>('0' + (byte >> 6))) : std::string(1, static_cast<char>('0' + ((byte >> shift) & 7)));
  }
  return text + "\"";
}

std::string Definition(std::string_view name, std::string_view bytes) {
  return "constexpr char kBytesOf" + std::string(name) + "[] =\n" + Literal(bytes) + ";\nconst std::string_view k" + std::string(name) +
         "(kBytesOf" + std::string(name) + ", " + std::to_string(bytes.size()) + ");\n\n";
}

struct Sources {
  base::Interner names;
  knowledge::Knowledge knowledge{names};
  launch::LauncherTables tables;

  base::Result<bool> Load(const std::string& path) {
    return IsOfLaunchers(path) ? tables.Load(NameOf(path), TextOf(path)) : knowledge.Load(NameOf(path), TextOf(path));
  }
};

int Fail(const std::string& message) {
  std::cerr << "knowledge: " << message << '\n';
  return 1;
}

int Compile(const std::string& output, int count, char** paths) {
  Sources sources;
  for (int i = 0; i < count; ++i) {
    if (const base::Result<bool> loaded = sources.Load(paths[i]); !loaded) return Fail(loaded.error().message);
  }
  const base::Result<std::string> image = knowledge::Image::Of(sources.knowledge);
  if (!image) return Fail(image.error().message);
  std::ofstream file(output, std::ios::binary);
  file << "#include \"analyzer/built_in/images.h\"\n\nnamespace allranks::built_in {\n\n"
       << Definition("KnowledgeImage", *image) << Definition("LaunchImage", launch::TablesImage::Of(sources.tables))
       << "}  // namespace allranks::built_in\n";
  file.close();
  return file ? 0 : Fail("cannot write " + output);
}

}  // namespace
}  // namespace allranks::built_in

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return allranks::built_in::Compile(argv[1], argc - 2, argv + 2);
}
