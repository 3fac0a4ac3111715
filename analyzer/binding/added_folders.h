// Imports from folders that a file puts into the path of Python itself: `sys.path.append("lib")`, then `from nets import Net` of `lib/nets.py`.
//
// Such a folder is looked for by the texts in the call, one by one and all of them joined (`os.path.join(root, "src", "lib")`), beside the file and in
// the folders around it. Unsound where the folder comes behind those of installed packages, and one of these has the name.
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
