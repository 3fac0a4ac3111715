// Import statements.
#include <string>

#include "frontends/python/lowering.h"

namespace allranks::python {

StmtId Lowering::Import() {
  const Range range = this->range();
  Scratch<ir::Import> imports(&import_store_);
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::DottedName || child == Kind::AliasedImport) imports.Add(ImportedName({}, false));
  });
  return builder_.Import(range, imports.items());
}

StmtId Lowering::ImportFrom() {
  const Range range = this->range();
  // `from __future__ import` has a node of its own, without one for the module.
  const bool is_future = kind() == Kind::FutureImportStatement;
  ir::Import common = {.module = is_future ? interner_.Intern("__future__") : NameId::None()};
  Scratch<ir::Import> imports(&import_store_);
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::RelativeImport) {
      RelativeModule(&common);
    } else if (child == Kind::WildcardImport) {
      ir::Import import = common;
      import.star = true;
      import.begin = cursor_->begin();
      import.end = cursor_->end();
      imports.Add(import);
    } else if (child == Kind::DottedName && !common.module) {
      common.module = DottedName();
    } else if (child == Kind::DottedName || child == Kind::AliasedImport) {
      imports.Add(ImportedName(common, true));
    }
  });
  return builder_.Import(range, imports.items());
}

// `..a.b`: the dots may stand apart.
void Lowering::RelativeModule(ir::Import* common) {
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::ImportPrefix) {
      for (const char c : TextHere()) common->level += c == '.' ? 1 : 0;
    } else if (child == Kind::DottedName) {
      common->module = DottedName();
    }
  });
  if (!common->module) common->module = interner_.Intern("");
}

// `a.b` or `a as b`, behind what all names of the statement have in common.
ir::Import Lowering::ImportedName(const ir::Import& common, bool from) {
  ir::Import import = common;
  import.begin = cursor_->begin();
  import.end = cursor_->end();
  NameId name;
  if (kind() == Kind::DottedName) {
    name = DottedName();
  } else {
    cursor_->ForEachChild([&](Kind child) {
      if (child == Kind::DottedName) name = DottedName();
      if (child == Kind::Identifier) import.as_name = NameHere();
    });
  }
  if (!name) name = interner_.Intern("");
  (from ? import.name : import.module) = name;
  return import;
}

NameId Lowering::DottedName() {
  const std::string_view text = TextHere();
  if (text.find_first_of(" \t\r\n\f\\#") == std::string_view::npos) return NameHere();
  // `a . b` is the same name as `a.b`.
  std::string joined;
  cursor_->ForEachChild([&](Kind child) {
    if (child != Kind::Identifier) return;
    if (!joined.empty()) joined += '.';
    joined += TextHere();
  });
  return interner_.Intern(joined);
}

}  // namespace allranks::python
