// What is put into a file: something of its own, the same few bytes whoever writes them, or nothing.
#pragma once

#include <vector>

#include "rules/rule.h"

namespace allranks::rules {

class WrittenContent {
 public:
  explicit WrittenContent(const Context& context) : context_(context) {}

  // As far as it is said where the file is opened or dumped.
  std::vector<variation::ValueId> Of(const objects::FileUse& use) const;
  // Into an open file, by nothing but `file.write(text)`.
  bool IsText(const objects::FileUse& use) const;
  // `file.write("0")`, `file.write("done " + time.ctime())`, or `open(path, "w").close()`: whoever is last, the same few bytes.
  bool IsOneText(const objects::FileUse& use) const;
  // What `state_dict()` of some object yields.
  bool IsState(variation::ValueId value) const;
  // The same of one call on an open file.
  bool IsOneText(const objects::Site& write) const;

 private:
  bool IsWriteOfText(const objects::Site& write) const;
  bool IsConstantText(variation::ValueId text) const;
  bool IsEmptied(const objects::FileUse& use) const;

  const Context& context_;
};

}  // namespace allranks::rules
