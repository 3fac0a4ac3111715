// What the calls of a program do to gradients: add to them, clear them, clip them, take a scaler's factor out of them,
// step by them; and which objects are optimizers.
//
// An object is an optimizer because of its value: its class, or what a framework wrapped. Where the value is unknown,
// because a parameter has no callers or a library is not described, what the program does with it says the same:
// gradients are cleared through it, its parameter groups are read, or a scaler steps it. Two expressions are then one
// object if they are the same chain of names in one function, or the same chain of fields of `self` in one class.
//
// Not sound: an object with a method `zero_grad` that is a module, and one with `step` that is a simulator, are taken
// apart by their values only.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/objects/program_index.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

enum class GradientAction : uint8_t { Add, Clear, Clip, Unscale, Step };

struct GradientCall {
  GradientAction action{};
  Site site;
  ir::ExprId object;        // Step, Clear, Unscale: the optimizer; Clip: the parameters; Add: the loss. None: not written
  bool by_engine = false;   // of an object that counts micro-steps by itself
  bool of_optimizer = true; // Clear: of an optimizer; else of a model, so of all its optimizers
};

// Whether two expressions of a module are the same chain of names, fields and items: `self.optimizer`, `optimizers[p]`.
bool IsSameChain(const ir::Module& module, ir::ExprId a, ir::ExprId b);

class GradientCalls {
 public:
  GradientCalls(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                const ProgramIndex& index);

  // In order of functions and places.
  const std::vector<GradientCall>& all() const { return calls_; }
  // Whether a value is an optimizer, also one that a framework wrapped.
  bool IsOptimizer(ValueId value) const;
  // Whether an object counts micro-steps by itself: a DeepSpeed engine, or one that has both `backward` and `step`.
  bool IsEngine(const Site& object) const;
  // Whether two places speak of one object, as far as can be seen.
  bool IsSameObject(const Site& a, const Site& b) const;

 private:
  // What the program does with an object, as bits.
  enum Use : uint8_t { kSteps = 1, kClears = 2, kGivesLoss = 4, kReadsGroups = 8 };
  // `object.name(...)`, whatever is known of it.
  struct MethodCall {
    Site site;
    ir::ExprId object;
    std::string_view name;
  };
  struct ObjectUse {
    Site object;
    uint8_t uses = 0;
  };
  void FindMethodCalls();
  void NoteUse(const Site& object, uint8_t use);
  void AddKnown(const KnownCall& call);
  void AddByBehaviour(const MethodCall& call);
  void AddStep(const MethodCall& call);
  bool BehavesAsOptimizer(const Site& object) const;
  // What is done with the object, here or where its value is the same.
  uint8_t UsesOf(const Site& object) const;
  bool IsSameField(const Site& a, const Site& b) const;
  std::vector<ValueId> Identities(const Site& object) const;
  bool IsKnownAs(const MethodCall& call, knowledge::Role role) const;
  ValueId ValueAt(const Site& site) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  Values values_;
  std::vector<MethodCall> methods_;                        // of names that speak of gradients
  std::vector<std::vector<ObjectUse>> uses_;               // by module
  std::unordered_map<uint32_t, uint8_t> uses_of_values_;   // by ValueId
  std::vector<GradientCall> calls_;
};

}  // namespace allranks::objects
