// A generator of its own that a program seeds alike on all ranks, and from which each rank draws for its share of the data.
//
//   generator = torch.Generator(device).manual_seed(args.seed)
//   for batch in accelerator.prepare(loader):
//       images = pipeline(batch, generator=generator)
//
// In one process the numbers go on from one batch to the next; on several ranks the n-th batch of each is made of the same ones. A generator
// that is seeded anew in each round is meant to give every batch the same numbers, and one that orders data has to agree.
#pragma once

#include "rules/rule.h"

namespace allranks::rules {

// Findings of AR308.
void CheckSameGenerators(const Context& context, std::string_view code, FindingSink& sink);

}  // namespace allranks::rules
