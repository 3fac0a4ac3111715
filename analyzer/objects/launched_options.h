// What options of command lines are in the jobs that a project describes: their default, unless a line gives another value.
//
// An option is an attribute of that name (`args.accum_iter`) where `add_argument("--accum_iter", default=1)` or a field of a
// class (`accum_iter: int = 1`, as parsers of data classes read it) declares it. All declarations of a name in one program have
// to agree. So is the first argument that a parser takes by its place (`add_argument("mode")`), or the name of its parser (`add_subparsers(dest="mode")`),
// what the line says first.
//
// Not sound where a line passes options in a variable that is not known, or where a file of settings changes them (written_settings.h knows those).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/binding/neighbourhood.h"
#include "analyzer/objects/launch_lines.h"
#include "analyzer/objects/program_index.h"
#include "analyzer/objects/values.h"

namespace allranks::objects {

class LaunchedOptions {
 public:
  LaunchedOptions(const binding::Program& program, const knowledge::Knowledge& knowledge, const variation::Facts& facts,
                  const ProgramIndex& index, std::span<const LaunchLine> lines);

  // Whether a value, used in `module`, is `number`, or an option whose default is that and to which no line that starts a program with this
  // module gives another value; of a parameter, whatever callers pass.
  bool IsAlways(ir::ModuleId module, ValueId value, int64_t number) const { return IsAlways(module, value, number, {}); }
  // The same where `also` says of what else the value may be made that it is that number.
  bool IsAlways(ir::ModuleId module, ValueId value, int64_t number, const std::function<bool(ValueId)>& also) const {
    return IsAlways(module, value, number, also, 0);
  }

  // Whether it is an option that is None or off where it is not given, of a program that lines start, and none of them gives it.
  bool IsNeverGiven(ir::ModuleId module, ValueId value) const;
  // Whether a value, used in `module`, is true in what a line starts, or equal to a text: an option that the line gives or leaves at its
  // default. None: it is no option, or that is not known.
  std::optional<bool> TruthIn(const LaunchLine& line, ir::ModuleId module, ValueId value) const;
  std::optional<std::string> TextIn(const LaunchLine& line, ir::ModuleId module, ValueId value) const;

  // Whether a value, used in `module`, is an option of the programs that the module is part of, and whether such an option can
  // be `wanted`: not if all declarations list what it may be (`choices`) and neither list nor default has that.
  bool IsOption(ir::ModuleId module, ValueId value) const;
  bool MayBe(ir::ModuleId module, ValueId value, ValueId wanted) const;

  // The texts that an option has: its default, unless all lines give others, and what lines give. None: that is not known.
  std::vector<std::string> TextsOf(ir::ModuleId module, ValueId value) const;
  // Whether such a line has Hydra compose other files (`--config-name=ddp`, `experiment=ddp`): what it gives without a dot is another
  // file of a group, unless it is a setting.
  bool ComposesElse(ir::ModuleId module, const std::function<bool(std::string_view)>& is_setting) const;
  // Whether a line that starts a program with this module gives the setting at `keys` (`trainer.devices=4`), or what is above it,
  // something else than `text`.
  bool GivesElse(ir::ModuleId module, std::span<const std::string> keys, std::string_view text) const;

 private:
  bool IsAlways(ir::ModuleId module, ValueId value, int64_t number, const std::function<bool(ValueId)>& also, int depth) const;
  // The wanted lines that start a program with a module, or may.
  template <class IsWanted>
  std::vector<const LaunchLine*> LinesOf(ir::ModuleId module, const IsWanted& is_wanted) const;
  std::vector<ValueId> Passed(FuncId function, uint32_t param) const;
  void AddCall(ir::ModuleId module, ir::ExprId call);
  void AddFields(ir::ModuleId module);
  bool HasDefault(ir::ModuleId module, ValueId value, int64_t number) const;
  bool IsGivenElse(ir::ModuleId module, std::string_view name, int64_t number) const;

  struct Declaration {
    ir::ModuleId module;
    ValueId usual;    // none: it has no default
    ValueId choices;  // none: it takes any text
    bool is_required = false;    // has to be given, or may have to
    bool is_switch_off = false;  // `action="store_false"`: true where it is not given
    bool is_first_word = false;  // it has no name on the line
  };
  std::vector<Declaration> DeclarationsOf(ir::ModuleId module, ValueId value) const;
  bool Allows(const Declaration& declaration, ValueId wanted) const;
  Declaration DeclarationOf(ir::ModuleId module, ir::ExprId call, std::string& name) const;
  std::string_view FirstText(const ir::Module& module, ir::ExprId call) const;
  bool IsFirstWord(ir::ModuleId module, ir::ExprId call) const;
  const GivenOption* GivenIn(const LaunchLine& line, ValueId value, std::span<const Declaration> declarations) const;
  std::optional<bool> TruthOf(const Declaration& declaration) const;

  const binding::Program& program_;
  const variation::Facts& facts_;
  const ProgramIndex& index_;
  Values values_;
  binding::Neighbourhood neighbourhood_;
  std::unordered_map<base::NameId, std::vector<Declaration>> declared_;
  std::span<const LaunchLine> lines_;
};

}  // namespace allranks::objects
