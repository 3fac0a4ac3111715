// Where on a page commands stand: fenced blocks of Markdown, and the directives for code of reStructuredText, whose language is that of a
// shell or is not said; and blocks of Markdown whose first line runs a program, whatever their language is said to be.
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
};

std::vector<PageBlock> ShellBlocksOf(std::string_view path, std::string_view page);
// What stands in them.
std::string ShellOnPage(std::string_view path, std::string_view page);

}  // namespace allranks::launch_files
