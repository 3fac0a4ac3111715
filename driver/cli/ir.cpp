// `allranks ir FILE[:FUNCTION]`: the intermediate representation of one file.
#include "analyzer/base/interner.h"
#include "analyzer/built_in/built_in.h"
#include "analyzer/ir/printer.h"
#include "analyzer/ir/serialize.h"
#include "analyzer/source/file_system.h"
#include "driver/cli/commands.h"
#include "driver/cli/exit_codes.h"
#include "driver/cli/target.h"
#include "driver/cli/terminal.h"
#include "driver/config/spelling.h"
#include "driver/pipeline/read_cpp.h"
#include "driver/pipeline/untyped_cpp.h"
#include "frontends/cpp/includes.h"
#include "frontends/python/lower.h"

namespace allranks::cli {
namespace {

// "Trainer.save", "main.helper": as messages name functions.
std::string QualifiedName(const ir::Module& module, const base::Interner& names, ir::FunctionId id) {
  if (id == ir::kTopLevel) return "<module>";
  std::string name;
  while (id && id != ir::kTopLevel) {
    const ir::Function& function = module.functions[id];
    std::string part = function.name ? std::string(names.View(function.name)) : "<lambda>";
    if (function.owner) part = std::string(names.View(module.classes[function.owner].name)) + "." + part;
    name = name.empty() ? part : part + "." + name;
    id = function.parent;
  }
  return name;
}

base::Result<ir::FunctionId> FindFunction(const ir::Module& module, const base::Interner& names,
                                          const std::string& wanted) {
  std::vector<std::string> known;
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    known.push_back(QualifiedName(module, names, ir::FunctionId{i}));
    if (known.back() == wanted) return ir::FunctionId{i};
  }
  const std::vector<std::string_view> views(known.begin(), known.end());
  return base::Fail("no function `" + wanted + "`" + config::DidYouMean(wanted, views));
}

// As a run does it, of this file alone.
void FillFromText(const source::SourceFile& file, const cpp::FilePart& part, bool has_errors, base::Interner& names, ir::Module* module) {
  knowledge::Knowledge knowledge(names);
  built_in::FillKnowledge(knowledge);
  pipeline::CppFile read{.file = source::FileId{0}, .text = &file.text, .has_errors = has_errors, .modules = {module}};
  for (const cpp::Stretch& stretch : part.skipped) read.skipped.push_back({stretch.begin, stretch.end});
  static_cast<void>(pipeline::FillFromText({read}, knowledge, names));
}

base::Result<ir::Module> Lowered(const source::SourceFile& file, base::Interner& names) {
  if (!cpp::IsSourceName(file.path) && !cpp::IsHeaderName(file.path)) return python::Lower(file, source::FileId{0}, names);
  const source::RealFileSystem files;
  const pipeline::PathMap paths(".", WorkingDirectory());
  const pipeline::CppReader reader(paths, files, "", {}, {});
  const std::string relative = paths.Relative(file.path);
  const base::Result<cpp::Reply> reply = reader.Read(relative, file.text, {});
  if (!reply) return base::Fail(file.path + ": " + reply.error().message);
  for (const cpp::FilePart& part : reply->parts) {
    if (part.path != paths.Absolute(relative)) continue;
    base::Result<ir::Module> module = ir::Deserialize(part.module, source::FileId{0}, part.bytes, names);
    if (module) FillFromText(file, part, reply->error_count > 0, names, &*module);
    return module;
  }
  return base::Fail(file.path + ": " + (reply->errors.empty() ? "Clang could not read it" : reply->errors[0].text));
}

}  // namespace

int RunIr(const IrArguments& arguments) {
  const Target target = ParseTarget(arguments.target);
  base::Result<std::string> bytes = source::RealFileSystem().Read(target.file);
  if (!bytes) {
    PrintError(bytes.error().message + "; name a file that exists");
    return kExitError;
  }
  const base::Result<source::SourceFile> file = source::MakeSourceFile(target.file, std::move(*bytes));
  if (!file) {
    PrintError(file.error().message);
    return kExitError;
  }
  base::Interner names;
  const base::Result<ir::Module> lowered = Lowered(*file, names);
  if (!lowered) {
    PrintError(lowered.error().message);
    return kExitError;
  }
  const ir::Module& module = *lowered;
  ir::PrintOptions options;
  if (!target.function.empty()) {
    const base::Result<ir::FunctionId> function = FindFunction(module, names, target.function);
    if (!function) {
      PrintError(target.file + ": " + function.error().message);
      return kExitError;
    }
    options.function = *function;
  }
  return WriteNames(ir::Print(module, names, options)) ? kExitClean : kExitError;
}

}  // namespace allranks::cli
