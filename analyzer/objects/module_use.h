// Which parts of a model take part in its `forward`: always, under a condition, or never. What runs where gradients are
// switched off is no use: its parameters get none.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyzer/objects/part_runs.h"
#include "analyzer/objects/program_index.h"
#include "analyzer/objects/guards.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

enum class Use : uint8_t {
  Always,
  Sometimes,  // every place that uses it stands under a condition
  Never,
};

// A field of a module class that holds parameters, or all those whose names are put together at run time
// (`self.add_module(f"head{i}", ...)`).
struct PartUse {
  base::NameId field;                   // none: computed names
  source::Span made;                    // where it is assigned
  Use use = Use::Never;
  std::optional<Guard> condition;       // of one use, where it is used sometimes
  std::optional<Guard> choice;          // of a list that is gone over each time: which of its items are left out
  bool is_of_project = false;           // a module whose class is seen
  bool is_tensor = false;               // a parameter by itself
  PartRun run = PartRun::Partly;        // how much of it runs each time
};

struct ModuleUse {
  bool is_known = false;  // `forward` is seen, and nothing else may use the parts
  bool has_frozen = false;  // speaks of `requires_grad`: some parts may not be trained
  bool has_given = false;   // calls a part that its constructor was given: what that uses of itself is not known
  bool has_partly = false;  // computes only a part of what a module of a library computes
  bool has_unknown = false; // its constructor may make modules of which nothing is known
  std::vector<PartUse> parts;
};

class ModuleUses {
 public:
  ModuleUses(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
             const ProgramIndex& index, const Guards& guards)
      : program_(program), knowledge_(knowledge), facts_(facts), index_(index), guards_(guards),
        values_(program, knowledge, facts), runs_(program, facts, index, guards, values_) {}

  ModuleUse Of(binding::ClassId class_id) const;
  // The classes of the parts that are modules of the project: what its constructors make, wherever they put it.
  std::vector<binding::ClassId> PartClasses(binding::ClassId class_id) const;
  bool IsModule(ValueId value) const;

 private:
  struct Visit;
  struct Made;
  // What a constructor keeps in the object.
  struct Field {
    base::NameId name;  // none: put together at run time
    source::Span made;
    ValueId value;
  };
  std::vector<Field> FieldsOf(binding::ClassId class_id) const;
  void AddFields(FuncId constructor, std::vector<Field>& fields) const;
  void AddNamedField(FuncId constructor, ir::ExprId call, std::vector<Field>& fields) const;
  bool HoldsParameters(ValueId value) const;
  bool IsTensor(ValueId value) const;
  std::span<const ValueId> ItemsOf(ValueId list) const;
  bool AddsParameters(binding::ClassId class_id, base::NameId list) const;
  bool IsOfLibrary(ValueId value) const;
  bool HoldsParameters(ValueId value, int depth, std::vector<binding::ClassId>& seen) const;
  Made MadeBy(binding::ClassId class_id) const;
  void AddMade(FuncId function, binding::ClassId owner, Made& made) const;
  void AddMadeByCall(const Site& call, const variation::CallFact& fact, binding::ClassId owner, Made& made) const;
  static void AddClass(binding::ClassId part, binding::ClassId owner, Made& made);
  void AddClassOf(ValueId value, binding::ClassId owner, Made& made) const;
  bool IsOfUnknownModule(ValueId callee) const;
  bool IsDropped(const Site& call) const;
  bool RunsText(binding::ClassId class_id) const;
  bool SpeaksOfRequiresGrad(binding::ClassId class_id) const;
  void FollowForward(FuncId method, const std::vector<Guard>& on_way, Visit& visit) const;
  bool NoteNamedRead(const Site& self, const std::vector<Guard>& on_way, Visit& visit) const;
  bool FailsOtherwise(const Guard& guard) const;
  void NoteRead(const Site& read, base::NameId field, const std::vector<Guard>& on_way, Visit& visit) const;
  base::NameId NameIn(ir::ModuleId module, ir::ExprId text) const;
  bool IsSelf(FuncId method, ir::ExprId expr) const;

  const binding::Program& program_;
  const knowledge::Knowledge& knowledge_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  const Guards& guards_;
  Values values_;
  PartRuns runs_;
};

}  // namespace allranks::objects
