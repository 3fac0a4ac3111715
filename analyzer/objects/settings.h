// Settings of the run: what the command line or a file says, the same on every rank that was started alike.
//
// A value is made of settings alone if all that it is made of are constants, parsed arguments and what the knowledge base
// gives the role `settings`, however they were taken apart, put together or written as text. What a function outside the
// project computes is none, and neither is what cannot be traced. What Hydra hands to the function that it wraps are settings, as is the
// configuration of a model of Transformers (`model.config`).
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_set>

#include "analyzer/objects/file_path.h"

namespace allranks::objects {

class Settings {
 public:
  Settings(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts, const PathReader& reader)
      : program_(program), knowledge_(knowledge), facts_(facts), reader_(reader) {
    for (const knowledge::Entry& entry : knowledge.entries()) {
      if (entry.Has(knowledge::Role::Settings) && entry.yield.type) read_classes_.insert(entry.yield.type);
    }
  }

  // `frame`: the calls on the way to where the value is.
  bool AreAll(ValueId value, const CallFrame* frame) const;
  // The same, or nothing but constants.
  bool AreAllOrConstant(ValueId value, const CallFrame* frame) const { return PartsOf(value, frame).has_value(); }

 private:
  // Whether there are settings among them; none: there is something else.
  std::optional<bool> PartsOf(ValueId value, const CallFrame* frame) const;
  enum class Part : uint8_t { Settings, Constant, MadeOfKids, Other };
  Part PartOf(ValueId value) const;
  Part PartOf(const variation::Value& derived) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const PathReader& reader_;
  std::unordered_set<base::NameId> read_classes_;  // of what a call with the role yields: `Config.fromfile(path)`
};

}  // namespace allranks::objects
