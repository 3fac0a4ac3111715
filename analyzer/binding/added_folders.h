// Imports from folders that a file adds to Python's own path: `sys.path.append("lib")`, then `from nets import Net` for `lib/nets.py`.
//
// The folder is looked up by the texts in the call, each of them alone and all of them joined (`os.path.join(root, "src", "lib")`), next to the
// file and in the folders around it. Unsound if the folder comes after those of installed packages, and one of these has the name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/binding/program.h"

namespace allranks::binding {

// What one call adds: the texts in it, in order.
using AddedFolder = std::vector<std::string>;

std::vector<AddedFolder> FoldersAddedBy(const ir::Module& module, const base::Interner& names);

// The file that an import reaches in a folder that its file adds; "" if there is none.
std::string FileInAddedFolder(const ModuleGraph& graph, std::string_view from_path, std::span<const AddedFolder> added, std::string_view dotted);

}  // namespace allranks::binding
