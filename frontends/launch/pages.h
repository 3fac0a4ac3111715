// Where on a page commands stand: fenced blocks of Markdown, and the directives for code of reStructuredText, whose language is that of a
// shell; and what runs a program by its first line: of Markdown blocks of any language, indented ones, code within a line, of reStructuredText
// literal blocks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace allranks::launch_files {

struct PageBlock {
  size_t begin = 0;
  size_t end = 0;
  size_t section = 0;  // where the part of the page begins that it stands in
  bool is_mention = false;  // `python train.py` within a line
};

std::vector<PageBlock> ShellBlocksOf(std::string_view path, std::string_view page);
// What stands in them.
std::string ShellOnPage(std::string_view path, std::string_view page);

}  // namespace allranks::launch_files
