// What the tests on the way to a place leave of values that are choices.
//
//   loader = self.train if training else self.valid
//   for batch in loader:
//     if training: step(batch)      # of the one loader
//
// Only tests of settings and of what a function was handed come out the same at both places; a value that is computed anew in between
// is another value.
//
// Unsound where a test asks for what changes without an assignment, such as a field that a call sets.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "analyzer/objects/claims.h"

namespace allranks::objects {

class KnownTests {
 public:
  KnownTests(const binding::Program& program, const variation::Facts& facts, const Guards& guards)
      : program_(program), facts_(facts), guards_(guards) {}

  // The tests that the function of a place makes before it.
  void Add(FuncId function, ir::StmtId stmt);
  void Add(const Claim& claim) { claims_.push_back(claim); }
  // What a condition comes out as; none if these tests do not say.
  std::optional<bool> Truth(ValueId condition) const { return Truth(condition, 0); }
  // Whether a value, or what it was made with, may be what `is_it` asks for.
  bool MayHold(ValueId value, const std::function<bool(ValueId)>& is_it) const;

 private:
  std::optional<bool> Truth(ValueId condition, int depth) const;
  std::optional<bool> Claimed(ValueId condition) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const Guards& guards_;
  std::vector<Claim> claims_;
};

}  // namespace allranks::objects
