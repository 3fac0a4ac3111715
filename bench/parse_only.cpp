// The least that any analyzer built on tree-sitter must do: parse every Python file below some folders, one after
// the other, on one thread, each tree freed before the next file is read. bench/run divides by its time.
#include <tree_sitter/api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

extern "C" const TSLanguage* tree_sitter_python();

namespace {

namespace fs = std::filesystem;

struct Totals {
  size_t files = 0;
  size_t bytes = 0;
  size_t nodes = 0;
  size_t files_with_errors = 0;
};

// Hidden folders hold no sources: .git above all.
std::vector<fs::path> PythonFiles(const fs::path& root) {
  std::vector<fs::path> paths;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    const fs::path& path = entry->path();
    if (entry->is_directory() && path.filename().native().starts_with(".")) entry.disable_recursion_pending();
    if (path.extension() == ".py" && entry->is_regular_file()) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string Read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void Parse(TSParser* parser, const std::string& text, Totals* totals) {
  TSTree* tree = ts_parser_parse_string(parser, nullptr, text.data(), static_cast<uint32_t>(text.size()));
  const TSNode root = ts_tree_root_node(tree);
  ++totals->files;
  totals->bytes += text.size();
  totals->nodes += ts_node_descendant_count(root);
  totals->files_with_errors += ts_node_has_error(root) ? 1 : 0;
  ts_tree_delete(tree);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: parse_only FOLDER...\n", stderr);
    return EXIT_FAILURE;
  }
  const std::unique_ptr<TSParser, decltype(&ts_parser_delete)> parser(ts_parser_new(), ts_parser_delete);
  if (!ts_parser_set_language(parser.get(), tree_sitter_python())) return EXIT_FAILURE;
  Totals totals;
  for (int i = 1; i < argc; ++i) {
    for (const fs::path& path : PythonFiles(argv[i])) Parse(parser.get(), Read(path), &totals);
  }
  std::printf("files: %zu\nbytes: %zu\nnodes: %zu\nfiles with errors: %zu\n", totals.files, totals.bytes, totals.nodes,
              totals.files_with_errors);
  return EXIT_SUCCESS;
}
