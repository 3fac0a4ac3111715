// The name of a file as far as the program says it: pieces of text, and holes where something is put in.
//
// A path is read off a value: `os.path.join(out, "last.pt")`, `out / f"{tag}.pt"`, `"%s.pt" % name`, `dir + "/x"`,
// `"{}.pt".format(name)`, through the variables, parameters and results that carry it. A parameter stands for what the
// calls on the way pass, so a path is always that of one way through the program.
//
// Two paths are taken for one file if their last component is spelled alike; folders are compared only where both are
// known. That is unsound where two folders hold files of one name, and is what makes `args.resume` and `args.output_dir`
// comparable at all.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/objects/program_index.h"

namespace allranks::objects {

// The arguments of a call on the way, for the parameters of the function that it calls.
struct CallFrame {
  FuncId function;
  std::span<const ValueId> args;
  const CallFrame* caller = nullptr;
};

struct PathPiece {
  std::string text;      // of a hole: how it is spelled, the same for the same value
  ValueId hole;          // none: just text
  bool changes = false;  // a hole that may hold something else when this place is reached again: a number, an item
};

class FilePath {
 public:
  std::vector<PathPiece> pieces;

  // The last component. Empty: the path ends in a hole of which nothing is known but that it is a path.
  FilePath Name() const;
  bool HasText() const;
  bool IsText() const;
  // Whether it is another path each time, as far as can be told.
  bool Changes() const;
  // The folders on the way and the name, each by itself.
  std::vector<FilePath> Components() const;
  // `out/last.pt`, holes in angle brackets.
  std::string Spelled() const;
};

bool IsOneName(const FilePath& a, const FilePath& b);
// Whether a pattern of `glob`, or the whole of a folder, takes in a file of this name.
bool Matches(const FilePath& pattern, const FilePath& path);
// Whether two names are alike but for what fills their holes: `7.ckpt` and `<step>.ckpt`.
bool IsOneShape(const FilePath& a, const FilePath& b);

class PathReader {
 public:
  // `counters`: attributes that count, whatever object they are of.
  PathReader(const binding::Program& program, const variation::Facts& facts, std::unordered_set<base::NameId> counters = {})
      : program_(program), facts_(facts), counters_(std::move(counters)) {}

  // What a value may be as a path; nothing if it is none, like a buffer in memory.
  std::vector<FilePath> PathsOf(ValueId value, const CallFrame* frame) const;
  // The value behind the parameters of this way, where that is one value.
  ValueId Resolved(ValueId value, const CallFrame* frame) const;
  // Whether a parameter of some function on the way is part of it for which no call says what it is.
  bool IsOpen(ValueId value, const CallFrame* frame) const;
  // Whether such a parameter chooses between two paths: `"final" if is_last else f"step-{step}"`.
  bool IsChoiceOpen(ValueId path, const CallFrame* frame, int depth = 0) const;
  // Whether one is part of the last component: the folder is mostly one setting of the whole program.
  bool IsNameOpen(ValueId path, const CallFrame* frame) const;

 private:
  using Paths = std::vector<FilePath>;
  Paths Read(ValueId value, const CallFrame* frame, int depth) const;
  std::optional<bool> TruthOnWay(ValueId condition, const CallFrame* frame) const;
  Paths EitherOf(ValueId first, ValueId second, const CallFrame* frame, int depth) const;
  Paths ReadDerived(ValueId value, const CallFrame* frame, int depth) const;
  Paths ReadParam(ValueId value, const CallFrame* frame, int depth) const;
  Paths Joined(std::span<const ValueId> parts, std::string_view between, const CallFrame* frame, int depth) const;
  Paths Filled(ValueId id, bool is_percent, const CallFrame* frame, int depth) const;
  Paths FilledOne(const FilePath& format, std::span<const ValueId> items, bool is_percent, const CallFrame* frame, int depth) const;
  std::vector<ValueId> ItemsToFill(std::span<const ValueId> parts, bool is_percent) const;
  bool IsFilledNameOpen(ValueId format, std::span<const ValueId> parts, bool is_percent, const CallFrame* frame) const;
  Paths Item(ValueId container, ValueId index, const CallFrame* frame, int depth) const;
  Paths Hole(ValueId value, const CallFrame* frame) const;
  bool MayChange(ValueId value, const CallFrame* frame) const;
  std::string Spell(ValueId value, const CallFrame* frame, int depth) const;
  std::string_view OperationOf(ValueId value) const;
  bool IsCounter(const variation::Value& value) const;
  bool IsChosen(ValueId passed, int depth) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  std::unordered_set<base::NameId> counters_;
};

}  // namespace allranks::objects
