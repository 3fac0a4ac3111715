// What each evaluation of a function read of others and did for them, so that in the next round, and after an edit, only those
// functions are evaluated again that would read something else than before.
//
// An evaluation follows from the function's own IR, the heads of others (ir/outline.h) and what it reads. So one that
// reads the same in the same order has the same outcome, and repeating what it did for others stands for it. Where something differs
// it is evaluated, and reads up to there what the repetition did: functions that it calls have stored things since then.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/variation/effects.h"
#include "analyzer/variation/facts.h"

namespace allranks::variation {

struct Tables;

enum class TableId : uint8_t {
  Fields,       // (project class, attribute)
  LooseFields,  // (module, attribute): assigned to objects of unknown class; a module reads those of its program
  Globals,      // (module, name)
  Captured,     // (function, name): variables that nested functions read
  Params,       // (function, parameter): arguments of all calls, but for
  AloneParams,  // those that only a process makes which is alone (`else: main(0, 1)` of `if device_count() > 1:`)
  Made,         // (project class, attribute): what objects are made with there, of it or a class below
  Replaced,     // (project class or module, attribute): whether an object that is made already gets another one
  Handlers,     // (function, 0): whether a signal had it called by now
  Usual,        // (project class, attribute): what the class says a field is unless somebody sets it
};
constexpr size_t kTableCount = 10;

enum class EventKind : uint8_t {
  // What was read, with the value that it had.
  Read,       // a row of a table
  IsJoined,   // whether that row joins several values; value: True or False
  Assumed,    // (function, parameter): Tables::AssumedParam
  Declared,   // (function, parameter)
  Default,    // (function, parameter)
  Decorated,  // (function)
  Evaluated,  // (function, its outcome): what a callee yields, once it was evaluated if need be
  // What was done.
  Record,        // into a row of a table
  SetDeclared,   // (function, parameter)
  SetDefault,    // (function, parameter)
  SetDecorated,  // (function, DecoratorsId)
};

struct Event {
  EventKind kind{};
  TableId table{};
  uint32_t owner = 0;
  uint32_t key = 0;
  ValueId value;
  bool operator==(const Event&) const = default;
};

// Tables::calls_to_file of a function that reads no file.
constexpr uint8_t kNoFile = 0xff;

// All that callers get to know of a function's evaluation.
struct Outcome {
  // FunctionFacts of the same names.
  ValueId returns;
  ValueId yields;
  std::vector<ValueId> stored;
  std::vector<std::pair<base::NameId, ValueId>> made;
  std::vector<bool> param_made_uniform;
  uint8_t calls_to_file = kNoFile;
  Effects effects;  // of Tables
  bool operator==(const Outcome&) const = default;
};

// Of one evaluation.
class Log {
 public:
  void Note(const Event& event);
  // True if the table has this already: what was repeated until something differed is not done twice.
  bool NoteRecord(const Event& event);
  // What was read there when it was repeated: what others did since then is nothing to an evaluation that began before. None: it was not.
  std::optional<ValueId> Repeated(const Event& read) const;

  std::vector<Event> events;
  std::span<const Event> repeated;   // while it is made: what was repeated of the log before, with which this one begins
  Outcome outcome;
  uint32_t number = 0;  // of the outcome
  std::vector<std::pair<ValueId, ValueId>> closed;  // of ValueStore::NoteClosed
};

class Recording {
 public:
  // Of a program of which nothing is known yet. `is_kept`: it will be evaluated again after edits.
  Recording(size_t function_count, bool is_kept) : is_kept_(is_kept), was_evaluated_(function_count), numbers_(function_count) {}

  // Before the rounds of another evaluation of the program; `facts` stay as the last one left them.
  void Begin(Facts& facts);
  // The function's own text is another: all that was noted of it is void.
  void Forget(FuncId function) { was_evaluated_[function.index] = true; }
  // Once for each function and round.
  void Evaluate(Tables& tables, FuncId function);

  // Whether it was evaluated, not just repeated, since `Begin`.
  bool WasEvaluated(FuncId function) const { return was_evaluated_[function.index]; }
  // A number for what callers get to know of a function's evaluation: another one if that may be another. 0 before the first.
  uint32_t NumberOf(FuncId function) const { return numbers_[function.index]; }

 private:
  using LogRef = std::shared_ptr<const Log>;
  LogRef EvaluateAnew(Tables& tables, FuncId function, const LogRef& before, std::span<const Event> repeated);
  size_t Repeat(Tables& tables, const Log& log) const;
  bool RepeatOne(Tables& tables, const Event& event) const;

  bool is_kept_;
  std::vector<std::vector<LogRef>> logs_;  // by round, FuncId; none: it was given up
  std::vector<bool> was_evaluated_;
  std::vector<uint32_t> numbers_;
  uint32_t last_number_ = 0;
};

}  // namespace allranks::variation
