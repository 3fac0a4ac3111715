#include "driver/pipeline/read_cpp.h"

#include <algorithm>

#include "frontends/cpp/cuda_headers.h"

namespace allranks::pipeline {
namespace {

base::Result<std::unique_ptr<cpp::Helpers>> HelpersOf(const cpp::Limits& limits) {
  base::Result<std::string> program = cpp::FindHelper();
  if (!program) return base::Fail(program.error().message);
  return std::make_unique<cpp::Helpers>(std::move(*program), limits);
}

}  // namespace

CppReader::CppReader(const PathMap& paths, const source::FileSystem& files, const std::string& database,
                     const std::vector<std::string>& extra_args, const cpp::Limits& limits, UnitCache* cache)
    : paths_(paths), files_(files), root_(paths.Absolute("")), helpers_(HelpersOf(limits)), extra_args_(cpp::KeptFlags(extra_args)),
      cuda_headers_(cpp::InstalledCudaHeaders(files)), cache_(cache) {
  if (!database.empty()) {
    const std::string folder = paths.Absolute(paths.Relative(database));
    if (!Load(folder)) problems_.push_back(database + ": there is no compile_commands.json; let your build write one");
    return;
  }
  if (Load(Join(root_, "build"))) return;
  for (std::string folder = root_; !folder.empty(); folder = folder.substr(0, folder.rfind('/'))) {
    if (Load(folder)) return;
  }
}

// Whether there is one, sound or not.
bool CppReader::Load(const std::string& folder) {
  const std::string path = Join(folder, "compile_commands.json");
  const base::Result<std::string> text = files_.Read(path);
  if (!text) return false;
  base::Result<cpp::CompileCommands> commands = cpp::CompileCommands::Parse(*text, folder, files_);
  const std::string shown = paths_.Shown(paths_.Relative(path));
  if (!commands) {
    problems_.push_back(shown + ": " + commands.error().message + "; files are read with default flags");
    return true;
  }
  commands_ = std::move(*commands);
  if (commands_->skipped() > 0) {
    const size_t count = commands_->skipped();
    const std::string entries = count == 1 ? "1 entry has no file or command and was" : std::to_string(count) + " entries have no file or command and were";
    problems_.push_back(shown + ": " + entries + " ignored");
  }
  for (const std::string& problem : commands_->problems()) problems_.push_back(shown + ": " + problem);
  return true;
}

bool CppReader::IsListed(const std::string& relative) const {
  return commands_ && commands_->Find(paths_.Absolute(relative)) != nullptr;
}

// What a neighbour is compiled with is the best guess.
cpp::CompileCommand CppReader::Unlisted(const std::string& path, const std::vector<std::string>& folders) const {
  const cpp::CompileCommand* neighbour = commands_ ? commands_->Nearest(path) : nullptr;
  cpp::CompileCommand command = cpp::DefaultCommand(path, root_);
  if (neighbour != nullptr) {
    command.args.insert(command.args.begin(), neighbour->args.begin(), neighbour->args.end());
    command.directory = neighbour->directory;
  }
  for (const std::string& folder : folders) {
    const std::string absolute = paths_.Absolute(folder);
    // Named a second time a folder would lose its place before the system's.
    if (std::ranges::count(command.args, absolute) == 0) command.args.insert(command.args.end(), {"-idirafter", absolute});
  }
  return command;
}

// Clang takes a folder that is named for both at its place behind the system's: where the user names it, it is the user's.
void CppReader::LeaveToUser(std::vector<std::string>& args, const std::string& directory) const {
  for (size_t i = 0; i + 1 < extra_args_.size(); ++i) {
    if (extra_args_[i] != "-I") continue;
    const std::string& named = extra_args_[i + 1];
    const std::string folder = named.starts_with('/') ? named : Join(directory, named);
    for (size_t at = 0; at + 1 < args.size();) {
      const bool is_it = args[at] == "-idirafter" && Normalized(args[at + 1]) == Normalized(folder);
      if (is_it) args.erase(args.begin() + static_cast<ptrdiff_t>(at), args.begin() + static_cast<ptrdiff_t>(at) + 2);
      else ++at;
    }
  }
}

base::Result<cpp::Reply> CppReader::Read(const std::string& relative, const std::string& text, const std::vector<std::string>& folders,
                                         bool is_open, const std::function<bool()>& is_stopped, cpp::Reached* reached) const {
  // Until it is known otherwise.
  if (!helpers_ || cache_ == nullptr) is_repeatable_ = false;
  if (!helpers_) return base::Fail(helpers_.error().message);
  const std::string path = paths_.Absolute(relative);
  const cpp::CompileCommand* listed = commands_ ? commands_->Find(path) : nullptr;
  cpp::CompileCommand command = listed ? *listed : Unlisted(path, folders);
  if (!listed) LeaveToUser(command.args, command.directory);
  command.args.insert(command.args.end(), extra_args_.begin(), extra_args_.end());
  cpp::Request request{.path = path, .text = text, .directory = command.directory, .args = command.args, .roots = {root_}};
  const std::string cuda = cpp::CudaHeadersOf(command.directory, command.args, cuda_headers_, files_);
  const std::vector<std::string> language = cpp::LanguageFlags(path, command.args, cuda);
  request.args.insert(request.args.end(), language.begin(), language.end());
  if (cache_ == nullptr) return (*helpers_)->Read(request, is_stopped, reached);
  if (std::optional<cpp::Reply> known = cache_->Find(relative, request)) return std::move(*known);
  base::Result<cpp::Reply> reply = (*helpers_)->Read(request, is_stopped, reached);
  if (!reply || !cache_->Keep(relative, request, *reply, !is_open)) is_repeatable_ = false;
  return reply;
}

}  // namespace allranks::pipeline
