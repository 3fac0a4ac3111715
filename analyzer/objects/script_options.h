// Which options scripts take on their command lines, by argparse, as far as their files show it.
//
// The names of all `add_argument` calls in a script and in the files that it imports are more than any one parser has:
// what is not among them no parser takes. That holds only if no name can come from elsewhere. So a script is closed to
// questions as soon as a parser is made or filled by code outside of these files, has names that are no constants, or
// leaves what it does not know to others (`parse_known_args`, `sys.argv`, `exec`).
//
// Not sound where code is imported by a name that is computed and adds options to a parser which it finds by itself.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/interner.h"
#include "analyzer/ir/program.h"
#include "analyzer/objects/argument_forms.h"
#include "analyzer/objects/required_options.h"

namespace allranks::objects {

// What one file shows.
struct ModuleOptions {
  std::set<std::string> options;     // "--batch-size", "-b"
  std::set<std::string> functions;   // and classes, that it defines
  std::set<std::string> derived;     // of these the classes with a base, of which what they parse is not seen
  std::set<std::string> calls;       // last parts of what it calls
  std::set<std::string> helpers;     // that make or fill a parser, and have to be among the functions of the files
  bool parses = false;               // calls `parse_args`
  bool parses_as_script = false;     // the same where it is started, and not where it is imported
  bool is_open = false;              // takes more than it shows
  bool ignores_others = false;       // calls `parse_known_args` and leaves it at that
  bool reads_local_rank_option = false;  // `args.local_rank`
  bool names_local_rank = false;     // as the environment does: "LOCAL_RANK"
  bool names_rank = false;           // the same of the rank or the number of ranks
  std::set<std::string> variables;   // texts that may name a variable of the environment: "NCCL_TIMEOUT"
  bool spawns = false;               // starts processes by `torch.multiprocessing.spawn`
  bool sets_local_rank = false;      // `args.local_rank = ...`
  bool is_of_other_device = false;   // imports what brings PyTorch to a device that NCCL does not know
  bool shares_batches = false;       // imports what has several ranks work on one batch: pipelines, tensor parallelism
  ArgumentForms forms;               // what its `add_argument` calls take
  RequiredOptions required;          // without which its parser ends
  std::map<std::string, ArgumentForms> fields;  // the same of the fields of its classes
  std::set<std::string> handed;      // classes whose fields `HfArgumentParser` makes arguments of
  std::set<std::string> torch_modules;  // of PyTorch, that it imports whenever it is read
  std::set<std::string> backends;    // of its process groups, "cpu:gloo,cuda:nccl"; "": of one whose backend is not known
};

ModuleOptions OptionsOf(const ir::Module& module, const base::Interner& names);

// What a script shows with the files that it imports.
struct ScriptOptions {
  bool is_known = false;             // all that its parsers take
  std::set<std::string> options;
  ArgumentForms forms;               // of those whose values are known to be of a kind
  std::vector<std::set<std::string>> required;  // each by all its names: without one of each it ends
  bool has_positional = false;       // it takes arguments without a name
  bool works_in_ranks = false;       // it starts ranks or makes a process group
  bool has_local_rank_of_option = false;  // it takes the local rank from its command line, and from nowhere else
  bool ignores_local_rank = false;   // it refuses no option, or has no parser, and names the variable of the local rank or reads no option of it
  bool starts_its_ranks = false;     // and never asks whether a launcher has
  bool communicates_on_gpus = false; // a process group has NCCL as its backend
  bool has_no_nccl = false;          // it has process groups, and none of them has; or it runs on devices of another kind
  bool shares_batches = false;       // several ranks may work on one batch
  std::set<std::string> variables;   // texts that may name a variable of the environment
  std::set<std::string> torch_modules;  // of PyTorch, without which it does not start

  bool Takes(std::string_view option) const;
};

// `modules`: the script first.
ScriptOptions OptionsOf(const std::vector<const ModuleOptions*>& modules);

}  // namespace allranks::objects
