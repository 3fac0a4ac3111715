#include "driver/pipeline/cpp_selection.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "driver/pipeline/paths.h"
#include "driver/pipeline/selection.h"
#include "frontends/cpp/includes.h"

namespace allranks::pipeline {
namespace {

using cpp::NameHash;

std::string_view Stem(std::string_view path) {
  const std::string_view name = NameOf(path);
  return name.substr(0, name.rfind('.'));
}

// What ends the job or chooses a device is followed so many calls away from who asks for it.
constexpr size_t kMostCalls = 2;

class CppSelector {
 public:
  CppSelector(const ProjectFiles& project, const std::vector<ScannedFile>& files, const CppNames& names)
      : project_(project), files_(files), names_(names), closures_(files.size()) {
    Number();
    IndexNames();
  }

  CppSelection Run() {
    Sort();
    acts_ = Spread(acting_, file_of_.size());
    // Which device is chosen is of interest where ranks are told apart: those who call it for themselves are not.
    for (const Definition id : choosing_) acts_[id] = true;
    deciding_.insert(deciding_.end(), choosing_.begin(), choosing_.end());
    decides_ = Spread(deciding_, kMostCalls);
    chosen_.resize(files_.size());
    Follow();
    BringHeaders();
    return Result();
  }

 private:
  using Definition = uint32_t;  // of any file

  bool IsCpp(uint32_t file) const { return files_[file].outline != nullptr; }
  bool IsHeader(uint32_t file) const { return files_[file].is_header; }
  const cpp::Outline& OutlineOf(uint32_t file) const { return *files_[file].outline; }
  uint32_t FileOf(Definition id) const { return file_of_[id]; }

  std::span<const NameHash> NamesOf(Definition id) const {
    const cpp::Outline& outline = OutlineOf(FileOf(id));
    const cpp::Definition& it = outline.definitions[id - first_[FileOf(id)]];
    return std::span(outline.names).subspan(it.names_begin, it.names_end - it.names_begin);
  }
  std::span<const NameHash> UsesOf(Definition id) const {
    const cpp::Outline& outline = OutlineOf(FileOf(id));
    const cpp::Definition& it = outline.definitions[id - first_[FileOf(id)]];
    return std::span(outline.uses).subspan(it.uses_begin, it.uses_end - it.uses_begin);
  }

  void Number() {
    first_.resize(files_.size());
    for (uint32_t file = 0; file < files_.size(); ++file) {
      first_[file] = static_cast<Definition>(file_of_.size());
      if (IsCpp(file)) file_of_.insert(file_of_.end(), OutlineOf(file).definitions.size(), file);
    }
  }

  void IndexNames() {
    for (Definition id = 0; id < file_of_.size(); ++id) {
      for (const NameHash name : NamesOf(id)) definers_[name].push_back(id);
    }
    for (Definition id = 0; id < file_of_.size(); ++id) {
      for (const NameHash name : UsesOf(id)) {
        if (definers_.contains(name)) users_[name].push_back(id);
      }
    }
  }

  // The headers of the project that a file includes, through any number of them, and the file itself. Sorted.
  const std::vector<uint32_t>& ClosureOf(uint32_t file) {
    std::optional<std::vector<uint32_t>>& known = closures_[file];
    if (known) return *known;
    std::vector<uint32_t> closure = {file};
    std::unordered_set<uint32_t> seen = {file};
    for (size_t i = 0; i < closure.size(); ++i) {
      for (const uint32_t target : files_[closure[i]].imports) {
        if (IsHeader(target) && seen.insert(target).second) closure.push_back(target);
      }
    }
    std::ranges::sort(closure);
    return known.emplace(std::move(closure));
  }

  CppNames::Libraries LibrariesOf(uint32_t file) {
    CppNames::Libraries all = 0;
    for (const uint32_t included : ClosureOf(file)) all |= files_[included].libraries;
    return all;
  }

  // Sorts definitions by what they use themselves.
  void Sort() {
    for (uint32_t file = 0; file < files_.size(); ++file) {
      if (!IsCpp(file)) continue;
      const CppNames::Libraries libraries = LibrariesOf(file);
      for (Definition id = first_[file], end = id + static_cast<Definition>(OutlineOf(file).definitions.size()); id < end; ++id) {
        const std::span<const NameHash> uses = UsesOf(id);
        if (std::ranges::any_of(uses, [&](NameHash name) { return names_.Acts(name, libraries); })) acting_.push_back(id);
        if (std::ranges::any_of(uses, [&](NameHash name) { return names_.ChoosesDevice(name, libraries); })) choosing_.push_back(id);
        if (std::ranges::any_of(uses, [&](NameHash name) { return names_.Exits(name); })) deciding_.push_back(id);
      }
    }
  }

  // Headers through which a name of a definition in this file is known elsewhere.
  const std::vector<uint32_t>& Declarers(NameHash name, uint32_t file) {
    const uint64_t key = (uint64_t{name} << 32) | file;
    const auto [known, is_new] = declarers_.try_emplace(key);
    if (!is_new) return known->second;
    std::vector<uint32_t> declarers;
    for (const uint32_t header : ClosureOf(file)) {
      if (IsHeader(header) && IsCpp(header) && std::ranges::binary_search(OutlineOf(header).introduces, name)) declarers.push_back(header);
    }
    return known->second = std::move(declarers);
  }

  // A source that has a declaration of its own. What a header declares is found through it.
  bool Declares(uint32_t file, NameHash name) const {
    return !IsHeader(file) && std::ranges::binary_search(OutlineOf(file).declares, name);
  }

  // Whether a name in `from` may mean what `file` defines under it.
  bool Sees(uint32_t from, NameHash name, uint32_t file) {
    if (from == file) return true;
    if (Declares(from, name)) return true;
    const std::vector<uint32_t>& included = ClosureOf(from);
    return std::ranges::any_of(Declarers(name, file), [&](uint32_t header) { return std::ranges::binary_search(included, header); });
  }

  // All definitions that use these, through so many others at most.
  std::vector<bool> Spread(std::vector<Definition> seeds, size_t most) {
    std::vector<bool> reached(file_of_.size());
    // In the order of their distance.
    std::vector<Definition> work;
    const auto reach = [&](Definition id) {
      if (reached[id]) return;
      reached[id] = true;
      work.push_back(id);
    };
    std::ranges::for_each(seeds, reach);
    // Name and file that have been seen to.
    std::unordered_set<uint64_t> defined, declared;
    std::unordered_set<NameHash> spread;
    for (size_t i = 0, distance = 0, next = work.size(); i < work.size(); ++i) {
      if (i == next) {
        ++distance;
        next = work.size();
      }
      if (distance == most) break;
      const Definition at = work[i];
      for (const NameHash name : NamesOf(at)) {
        if (!users_.contains(name) || !defined.insert(Pair(name, FileOf(at))).second) continue;
        ForUsersIn(FileOf(at), name, reach);
        if (spread.insert(name).second) ForUsersWhoDeclare(name, reach);
        for (const uint32_t header : Declarers(name, FileOf(at))) {
          if (declared.insert(Pair(name, header)).second) ForUsersWith(header, name, reach);
        }
      }
    }
    return reached;
  }

  static uint64_t Pair(NameHash name, uint32_t file) { return (uint64_t{name} << 32) | file; }

  // Users of a name, those of a file together.
  template <class Wanted, class Visit>
  void ForUsers(NameHash name, Wanted wanted, Visit visit) {
    const std::vector<Definition>& users = users_.find(name)->second;
    for (size_t i = 0, end = 0; i < users.size(); i = end) {
      const uint32_t file = FileOf(users[i]);
      while (end < users.size() && FileOf(users[end]) == file) ++end;
      if (!wanted(file)) continue;
      for (size_t k = i; k < end; ++k) visit(users[k]);
    }
  }
  template <class Visit>
  void ForUsersIn(uint32_t file, NameHash name, Visit visit) {
    ForUsers(name, [&](uint32_t user) { return user == file; }, visit);
  }
  template <class Visit>
  void ForUsersWhoDeclare(NameHash name, Visit visit) {
    ForUsers(name, [&](uint32_t user) { return Declares(user, name); }, visit);
  }
  template <class Visit>
  void ForUsersWith(uint32_t header, NameHash name, Visit visit) {
    ForUsers(name, [&](uint32_t user) { return std::ranges::binary_search(ClosureOf(user), header); }, visit);
  }

  // Whether what a definition calls may decide what is issued: it issues or tells ranks apart itself, or it has branches.
  bool IsDeciding(Definition id) const {
    static const NameHash kBranches[] = {cpp::HashOf("if"), cpp::HashOf("for"), cpp::HashOf("while"), cpp::HashOf("switch")};
    const std::span<const NameHash> uses = UsesOf(id);
    const bool has_branch = std::ranges::any_of(kBranches, [&](NameHash word) { return std::ranges::binary_search(uses, word); });
    return acts_[id] && (has_branch || std::ranges::binary_search(acting_, id) || std::ranges::binary_search(choosing_, id));
  }
  bool Returns(Definition id) const { return !OutlineOf(FileOf(id)).definitions[id - first_[FileOf(id)]].is_void; }

  // From what acts in the requested files to what it calls. What neither acts nor decides is read for the sake of what it
  // returns to such a function, and not beyond.
  void Follow() {
    std::vector<bool> followed(file_of_.size());
    std::vector<Definition> work;
    for (Definition id = 0; id < file_of_.size(); ++id) {
      if (!acts_[id] || !project_.requested[FileOf(id)]) continue;
      followed[id] = true;
      chosen_[FileOf(id)] = true;
      work.push_back(id);
    }
    // Name and file that have been asked.
    std::unordered_set<uint64_t> by_acting, by_others;
    while (!work.empty()) {
      const Definition at = work.back();
      work.pop_back();
      const bool is_deciding = IsDeciding(at);
      for (const NameHash name : UsesOf(at)) {
        if (!definers_.contains(name) || by_acting.contains(Pair(name, FileOf(at)))) continue;
        if (!(is_deciding ? by_acting : by_others).insert(Pair(name, FileOf(at))).second) continue;
        ForDefiners(name, FileOf(at), [&](Definition called) {
          const bool matters = acts_[called] || decides_[called];
          if (!matters && !(is_deciding && Returns(called))) return;
          chosen_[FileOf(called)] = true;
          if (!matters || followed[called]) return;
          followed[called] = true;
          work.push_back(called);
        });
      }
    }
  }

  // Definitions that a name in this file may mean.
  template <class Visit>
  void ForDefiners(NameHash name, uint32_t from, Visit visit) {
    const std::vector<Definition>& definers = definers_.find(name)->second;
    for (size_t i = 0, end = 0; i < definers.size(); i = end) {
      const uint32_t file = FileOf(definers[i]);
      while (end < definers.size() && FileOf(definers[end]) == file) ++end;
      if (!Sees(from, name, file)) continue;
      for (size_t k = i; k < end; ++k) visit(definers[k]);
    }
  }

  // A header is read with a source that includes it: by itself it may lack what comes before it there.
  void BringHeaders() {
    std::vector<bool> brought = Brought();
    for (uint32_t header = 0; header < files_.size(); ++header) {
      if (!chosen_[header] || !IsHeader(header) || brought[header]) continue;
      const std::optional<uint32_t> source = SourceWith(header);
      if (!source) continue;
      chosen_[*source] = true;
      for (const uint32_t included : ClosureOf(*source)) brought[included] = true;
    }
  }

  std::vector<bool> Brought() {
    std::vector<bool> brought(files_.size());
    for (uint32_t file = 0; file < files_.size(); ++file) {
      if (!chosen_[file] || IsHeader(file)) continue;
      for (const uint32_t included : ClosureOf(file)) brought[included] = true;
    }
    return brought;
  }

  std::optional<uint32_t> SourceWith(uint32_t header) {
    std::optional<uint32_t> first;
    for (uint32_t file = 0; file < files_.size(); ++file) {
      if (!IsCpp(file) || IsHeader(file) || !std::ranges::binary_search(ClosureOf(file), header)) continue;
      if (Stem(project_.all[file]) == Stem(project_.all[header])) return file;
      if (!first) first = file;
    }
    return first;
  }

  CppSelection Result() {
    CppSelection result;
    const std::vector<bool> brought = Brought();
    for (uint32_t file = 0; file < files_.size(); ++file) {
      if (chosen_[file]) result.files.push_back(file);
      else if (IsCpp(file) && project_.requested[file] && !brought[file]) result.idle.push_back(file);
    }
    return result;
  }

  const ProjectFiles& project_;
  const std::vector<ScannedFile>& files_;
  const CppNames& names_;
  std::vector<Definition> first_;  // by file
  std::vector<uint32_t> file_of_;  // by definition
  std::unordered_map<NameHash, std::vector<Definition>> definers_;
  std::unordered_map<NameHash, std::vector<Definition>> users_;  // of names that something of the project defines
  std::vector<std::optional<std::vector<uint32_t>>> closures_;   // by file
  std::unordered_map<uint64_t, std::vector<uint32_t>> declarers_;  // by name and file
  std::vector<Definition> acting_, choosing_, deciding_;  // by names of the knowledge that they use themselves
  std::vector<bool> acts_, decides_;  // by definition: itself, or by what it calls
  std::vector<bool> chosen_;          // by file
};

}  // namespace

CppSelection SelectCpp(const ProjectFiles& project, const std::vector<ScannedFile>& files, const CppNames& names) {
  return CppSelector(project, files, names).Run();
}

}  // namespace allranks::pipeline
