// What the program does to files: which call writes, reads, moves or removes which path, through helpers, closures and
// lists of paths.
//
// A call of the knowledge base with a role for files is one use for each way on which a caller says what its path is:
// `save(state, path)` that calls `torch.save(state, path)` is as many writes as it has calls with different paths. A
// file that is opened and then dumped into is one write, that of the dump. Ways are followed up to a bound of callers
// and of uses a call; what lies behind it keeps its parameter as a hole.
#pragma once

#include <deque>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/file_path.h"

namespace allranks::objects {

enum class FileAct : uint8_t { Write, WriteLog, Read, List, Remove, MoveFrom, MoveTo, MakeFolder };

struct FileUse {
  FileAct act{};
  bool is_once = false;  // done on one process of the job, whoever calls
  const KnownCall* call = nullptr;
  base::NameId param;       // of the call: which argument is the path
  std::vector<Site> way;    // from the outermost caller that has a say in the path to the call itself
  FilePath path;
  ValueId value;            // the path in the function of the call
  const CallFrame* frame = nullptr;

  Site site() const { return way.back(); }
};

class FileUses {
 public:
  FileUses(const binding::Program& program, const variation::Facts& facts, const ProgramIndex& index);

  std::span<const FileUse> uses() const { return uses_; }
  // The patterns or folders among whose files a path was picked: `sorted(glob("*.pt"))[-1]`.
  std::vector<FilePath> ListingsOf(const FileUse& use) const;
  // The same of one piece of the path.
  std::vector<FilePath> ListingsOf(const FileUse& use, const PathPiece& piece) const;
  // Of a file that is opened by name: the calls in the same function that are made on it or are given it, as far as they are seen. Of one that
  // is kept in a field: those in the methods of its class.
  std::vector<Site> WritesInto(const FileUse& use) const;
  const PathReader& paths() const { return reader_; }

 private:
  // `args.resume = newest`
  struct Stored {
    ir::ModuleId module;
    ir::StmtId stmt;
    ValueId value;
  };
  static base::NameId NameOfOpened(const ir::Module& module, ir::StmtId id, ir::ExprId opened);
  void NoteOptions();
  std::vector<FilePath> PathsOf(const FileUse& use);
  const std::vector<bool>& ProgramOf(ir::ModuleId module);
  bool IsInOtherArm(const Stored& stored, const Site& read) const;
  bool IsOfOneRun(const Stored& stored, const FileUse& read) const;
  void Add(const KnownCall& call, const knowledge::RoleOf& role);
  void NoteHandle(const KnownCall& call, const knowledge::RoleOf& role);
  void Follow(FileUse use, std::vector<Site> way, const CallFrame* frame, size_t& added);
  FileAct ActOf(const KnownCall& call, knowledge::Role role) const;
  ValueId PathOf(const KnownCall& call, const knowledge::RoleOf& role) const;
  const variation::CallFact* FactOf(const Site& site, FuncId callee) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  PathReader reader_;
  std::vector<FileUse> uses_;
  std::deque<CallFrame> frames_;
  std::unordered_map<base::NameId, std::vector<Stored>> options_;  // by the name of an attribute: what is stored in it anywhere
  binding::Neighbourhood neighbourhood_;
  std::unordered_map<uint32_t, std::vector<bool>> programs_;  // by ModuleId: by ModuleId, the files of its program
  std::unordered_set<uint32_t> handles_;                       // values of open files that something is dumped into
  std::unordered_set<uint32_t> appended_;                      // values of files that are open for appending
  std::unordered_map<uint32_t, std::vector<size_t>> listings_; // by the symbol of what a listing yields: uses
};

}  // namespace allranks::objects
