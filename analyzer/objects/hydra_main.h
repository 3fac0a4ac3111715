// `@hydra.main(config_path="conf", config_name="train")`: the function gets the settings of these files as its argument.
#pragma once

#include "analyzer/variation/facts.h"

namespace allranks::objects {

// The decorator of a function that is one, as an expression of its module; none: it has none.
ir::ExprId HydraMainOf(const binding::Program& program, const variation::Facts& facts, binding::FuncId function);

// What it is told of the folder and the name of the file; empty texts: nothing. Nothing at all: it is not known.
struct HydraConfig {
  std::string folder;
  std::string name;
};
std::optional<HydraConfig> HydraConfigOf(const binding::Program& program, const variation::Facts& facts, binding::FuncId function);

}  // namespace allranks::objects
