// Groups of ranks that calls of libraries mean and make.
//
// The idea: what group an operation is issued on is said by an argument, by its object, or by the entry itself; else it is that of
// all ranks. A group that a call makes is made of what lists or colours its ranks, as a value: which ranks that are is evaluated
// later, where a world is given (traces/evaluate.cpp). Dimensions of a mesh are axes by the names that are usual for them.
//
// Invariant: a group of unknown ranks is a group of its own (GroupKind::Unknown, or Created without ranks), and never all ranks.
//
// Unsound: two meshes that name a dimension alike are taken to have one group along it.
#pragma once

#include <span>

#include "analyzer/variation/library_call.h"

namespace allranks::variation {

constexpr Axes kAllAxes = {(1u << knowledge::kAxisCount) - 1};

// The group that a call is about.
ValueId GroupOf(Tables& tables, const LibraryCall& call);

// The axes along which a group's members differ, and so along which its collectives make values equal.
Axes SpannedBy(const ValueStore& store, ValueId group);

// The axis of the dimension that a call on a mesh names: `tp` is the one along which `tp_rank` counts.
Axis MeshAxis(Tables& tables, std::span<const ValueId> by_param, ValueId mesh);

// The group that a call makes, as its entry says; none if that says nothing of groups.
ValueId GroupMade(Tables& tables, const LibraryCall& call, const knowledge::Yield& yield);

// A tensor that is spread over a mesh, with the group that shares it as the last thing it is made of: the dimension of the
// mesh, if it has one of a known name. What it takes to bring it together, its ranks do together.
ValueId SpreadOverMesh(Tables& tables, const LibraryCall& call, ValueId object);

}  // namespace allranks::variation
