// Which small jobs to look at. Rank conditions are decided by evaluating them on every rank of a few concrete worlds, not by
// a theorem prover: a difference found on a small world is a real schedule of a real job, and so its own witness.
//
// Invariant: there is always a rank in the middle, one rank more than every rank that is named, twice as many as ranks are
// divided by, two ranks along each mesh dimension that is mentioned (with all others of that mesh where the code says its shape), and no size on which the program refuses to run.
// Unsound: a defect that shows only with more than kMostRanks ranks, or along more than kMostMeshAxes dimensions, is missed.
#include "analyzer/traces/mentions.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace allranks::traces {
namespace {

// Slowest last, as Megatron and DeepSpeed lay ranks out: neighbours share a tensor parallel group.
constexpr Axis kMeshOrder[] = {Axis::TensorParallel, Axis::ContextParallel, Axis::ExpertParallel, Axis::DataParallel,
                               Axis::PipelineParallel, Axis::OtherMesh};
constexpr size_t kMostMeshAxes = 3;

void CollectCoordinate(const variation::Value& value, Mentions* mentions) {
  using knowledge::Coordinate;
  mentions->is_started_here = mentions->is_started_here || (value.flags & variation::kOneNode) != 0;
  switch (value.coordinate()) {
    case Coordinate::LocalRank:
    case Coordinate::NodeRank:
    case Coordinate::LocalWorldSize:
    case Coordinate::NodeCount:
      mentions->nodes = true;
      break;
    case Coordinate::AxisRank:
    case Coordinate::AxisSize:
      mentions->axes = mentions->axes | knowledge::Axes::Of(value.axis());
      break;
    default:
      break;
  }
}

// The largest rank that a list of ranks names, 0 if none is known.
int64_t LargestListed(const variation::ValueStore& values, ValueId id, int depth) {
  constexpr int kDeepest = 4;
  int64_t largest = 0;
  if (!id || depth > kDeepest) return largest;
  const variation::Value& value = values[id];
  if (const auto count = value.count()) return *count;
  for (const ValueId kid : values.Kids(id)) largest = std::max(largest, LargestListed(values, kid, depth + 1));
  return largest;
}

bool IsOfBits(ir::BinaryOp op) {
  constexpr ir::BinaryOp kOfBits[] = {ir::BinaryOp::BitAnd, ir::BinaryOp::BitOr, ir::BinaryOp::BitXor, ir::BinaryOp::LeftShift, ir::BinaryOp::RightShift};
  return std::ranges::count(kOfBits, op) > 0;
}

bool IsLastRank(const variation::ValueStore& values, ValueId id) {
  const variation::Value& value = values[id];
  const variation::Value& left = values[values.OperandsOf(id).left];
  return value.binary_op() == ir::BinaryOp::Sub && variation::IsCoordinate(left, knowledge::Coordinate::WorldSize);
}

// The number in `rank // 8`, `rank % 8`, `world_size // 8`; 0 of anything else.
int64_t DivisorOfRanks(const variation::ValueStore& values, ValueId id) {
  const auto op = values[id].binary_op();
  const variation::Value& left = values[values.OperandsOf(id).left];
  const variation::Value& right = values[values.OperandsOf(id).right];
  const bool divides = op == ir::BinaryOp::FloorDiv || op == ir::BinaryOp::Mod;
  const bool is_of_ranks = left.kind == variation::ValueKind::Coordinate || !left.axes.empty();
  return divides && is_of_ranks ? right.count().value_or(0) : 0;
}

// Others ask for an order.
bool AsksWhich(ir::CompareOp op) {
  return op == ir::CompareOp::Eq || op == ir::CompareOp::NotEq || op == ir::CompareOp::In || op == ir::CompareOp::NotIn;
}

// `rank == 2`
bool IsAskedForOne(const variation::ValueStore& values, ValueId comparison) {
  const bool has_rank = std::ranges::any_of(values.Kids(comparison), [&](ValueId kid) { return values[kid].kind == variation::ValueKind::Coordinate; });
  return has_rank && values[comparison].compare_op() == ir::CompareOp::Eq;
}

// `rank < 8`, `local_rank >= 8`; not `rank + step < 8` or `len(own) < 8`.
bool IsRankAgainst(const variation::ValueStore& values, ValueId comparison, ValueId number) {
  using knowledge::Coordinate;
  constexpr Coordinate kRanks[] = {Coordinate::Rank, Coordinate::LocalRank, Coordinate::NodeRank, Coordinate::GroupRank};
  return std::ranges::any_of(values.Kids(comparison), [&](ValueId kid) {
    const variation::Value& rank = values[kid];
    return kid != number && rank.kind == variation::ValueKind::Coordinate && std::ranges::count(kRanks, rank.coordinate()) > 0;
  });
}

}  // namespace

void MentionCollector::Visit(ValueId id, int depth) {
  constexpr int kDeepest = 12;
  if (!id || depth > kDeepest) return;
  const auto [seen, is_new] = seen_.try_emplace(id.index, depth);
  if (!is_new && std::exchange(seen->second, std::min(seen->second, depth)) <= depth) return;
  const variation::Value& value = values_[id];
  switch (value.kind) {
    case variation::ValueKind::Coordinate:
      CollectCoordinate(value, mentions_);
      break;
    case variation::ValueKind::Binary:
      mentions_->neighbours = mentions_->neighbours || !value.axes.empty();
      mentions_->last_rank = mentions_->last_rank || IsLastRank(values_, id);
      mentions_->bits = mentions_->bits || (!value.axes.empty() && IsOfBits(value.binary_op()));
      mentions_->divisor = std::max(mentions_->divisor, DivisorOfRanks(values_, id));
      break;
    case variation::ValueKind::Compare:
      // Of numbers of ranks, that is, and not of seconds or of what a rank reads.
      if (!Without(value.axes, knowledge::kSoftAxes).empty()) VisitCompare(id, value);
      else if (value.axes.empty()) VisitSize(value, values_.Kids(id));
      break;
    case variation::ValueKind::Group:
      if (value.group_kind() == variation::GroupKind::AxisGroup) {
        mentions_->axes = mentions_->axes | knowledge::Axes::Of(value.axis());
      }
      if (value.group_kind() == variation::GroupKind::Created) {
        mentions_->created_groups = true;
        // Of a family, the loops say for how many ranks it is made; those over lists of ranks have them written out.
        const bool is_family = value.kid_count > 1;
        const ValueId listing = is_family ? values_.ListsOfGroups(id) : id;
        mentions_->listed = std::max(mentions_->listed, LargestListed(values_, listing, 0));
        for (const ValueId kid : values_.Kids(id).subspan(is_family ? 1 : value.kid_count)) Visit(kid, depth + 1);
      }
      if (value.group_kind() != variation::GroupKind::Split) return;
      // Worlds of two ranks would leave each alone.
      mentions_->created_groups = mentions_->created_groups || !values_.axes(values_.SplitOf(id).color).empty();
      break;
    default:
      break;
  }
  for (const ValueId kid : values_.Kids(id)) Visit(kid, depth + 1);
}

// A comparison that differs between ranks.
void MentionCollector::VisitCompare(ValueId id, const variation::Value& value) {
  const auto op = value.compare_op();
  const int64_t listed = LargestListed(values_, values_.OperandsOf(id).right, 0);
  mentions_->largest = std::max(mentions_->largest, listed);
  if (AsksWhich(op)) mentions_->equal = std::max(mentions_->equal, listed);
  for (const ValueId kid : values_.Kids(id)) {
    const variation::Value& number = values_[kid];
    const std::optional<uint32_t> count = number.count();
    if (!count) continue;
    if (IsAskedForOne(values_, id) && *count < kMostRanks) mentions_->named |= uint64_t{1} << *count;
    // `rank > 1` holds on the third rank only.
    const bool is_beyond = op == ir::CompareOp::Greater || op == ir::CompareOp::LessEq;
    const int64_t first = int64_t{*count} + (is_beyond ? 1 : 0);
    mentions_->largest = std::max(mentions_->largest, first);
    if (IsRankAgainst(values_, id, kid)) mentions_->ordered = std::max(mentions_->ordered, first);
  }
}

void MentionCollector::CollectSizes(ValueId condition) {
  const variation::Value& value = values_[condition];
  switch (value.kind) {
    case variation::ValueKind::Compare:
      VisitSize(value, values_.Kids(condition));
      break;
    case variation::ValueKind::And:
    case variation::ValueKind::Or:
    case variation::ValueKind::Unary:
      for (const ValueId kid : values_.Kids(condition)) CollectSizes(kid);
      break;
    default:
      break;
  }
}

// `world_size == 8`, and the first size beyond an order: four in `world_size > 3`.
void MentionCollector::VisitSize(const variation::Value& comparison, std::span<const ValueId> kids) {
  const auto op = comparison.compare_op();
  const bool is_beyond = op == ir::CompareOp::Greater || op == ir::CompareOp::LessEq;
  const bool is_order = is_beyond || op == ir::CompareOp::GreaterEq || op == ir::CompareOp::Less;
  if (!is_order && op != ir::CompareOp::Eq && op != ir::CompareOp::NotEq) return;
  const variation::Value& size = values_[kids[0]];
  const variation::Value& number = values_[kids[1]];
  const bool is_size = variation::IsCoordinate(size, knowledge::Coordinate::WorldSize);
  const uint32_t count = number.count().value_or(0) + (is_beyond ? 1 : 0);
  const bool is_small = count > 1 && count <= kMostRanks;
  if (is_size && is_small) mentions_->asked_sizes |= uint64_t{1} << (count - 1);
}

uint32_t SizeOf(const Mesh& mesh) {
  uint32_t size = 1;
  for (const Dimension& dimension : mesh) size *= dimension.length;
  return size;
}

uint32_t World::AxisRank(Axis axis, uint32_t rank) const {
  uint32_t stride = 1;
  for (const Dimension& dimension : mesh) {
    if (dimension.axis == axis) return rank / stride % dimension.length;
    stride *= dimension.length;
  }
  return IsWhole(axis) ? rank : 0;
}

uint32_t World::AxisSize(Axis axis) const {
  if (IsWhole(axis)) return size();
  const auto found = std::ranges::find(mesh, axis, &Dimension::axis);
  return found == mesh.end() ? 1 : found->length;
}

RankSet World::AxisPeers(Axis axis, uint32_t rank) const {
  if (IsWhole(axis)) return RankSet::All(size());
  RankSet peers = RankSet::Of(rank);
  uint32_t stride = 1;
  for (const Dimension& dimension : mesh) {
    const uint32_t first = rank - rank / stride % dimension.length * stride;
    for (uint32_t i = 0; dimension.axis == axis && i < dimension.length; ++i) peers = peers | RankSet::Of(first + i * stride);
    stride *= dimension.length;
  }
  return peers;
}

World Reshaped(World world, const variation::JobShape& job) {
  const uint32_t size = world.size();
  if (job.nodes == 1) return {.nodes = 1, .per_node = size, .mesh = std::move(world.mesh)};
  if (job.devices == 1) return {.nodes = size, .per_node = 1, .mesh = std::move(world.mesh)};
  return world;
}

namespace {

// Data parallelism, and no other dimension of a mesh.
bool IsDataAlone(const Mentions& mentions) {
  return std::ranges::all_of(kMeshOrder, [&](Axis axis) { return mentions.axes.has(axis) == (axis == Axis::DataParallel); });
}

// The dimensions of the job; none where its ranks are laid out along none, or along data parallelism alone.
Mesh MeshOf(const Mentions& mentions) {
  Mesh mesh;
  if (IsDataAlone(mentions)) return mesh;
  for (const Axis axis : kMeshOrder) {
    if (mentions.axes.has(axis) && mesh.size() < kMostMeshAxes) mesh.emplace_back(axis);
  }
  // Beside an axis there is another one, else its group would be the whole job.
  if (mesh.size() == 1) mesh.emplace_back(Axis::DataParallel);
  return mesh;
}

World MeshWorld(Mesh mesh) {
  const uint32_t size = 1u << mesh.size();
  return {.nodes = 2, .per_node = size / 2, .mesh = std::move(mesh)};
}

// The smallest job with a rank in the middle, neither first nor last, and with one more than every rank that is named.
uint32_t SizeWithMiddle(const Mentions& mentions) {
  // Larger numbers count in an order of ranks alone: what is computed from a rank may be any size (`len(items[rank::8]) < 1000`).
  constexpr int64_t kLargestNumber = 6;
  // Three bits of a rank: one that is set, one that is not, and one between.
  constexpr uint32_t kAllOfThreeBits = 8;
  uint32_t size = mentions.bits ? kAllOfThreeBits : mentions.last_rank ? 4 : 3;
  if (mentions.largest <= kLargestNumber) size = std::max(size, static_cast<uint32_t>(mentions.largest + 2));
  for (const int64_t rank : {mentions.equal, mentions.ordered}) {
    // Of `rank != 63` the first and the last rank of the largest job are told apart still.
    if (rank < kMostRanks) size = std::max(size, static_cast<uint32_t>(std::min<int64_t>(rank + 2, kMostRanks)));
  }
  return size;
}

// How many ranks a job has of which the code says one by one what each does; 0 where it does not. Two are named by code that
// treats them apart from all others.
uint32_t SizeOfNamed(const Mentions& mentions) {
  constexpr uint32_t kLeast = 3;
  const auto size = static_cast<uint32_t>(std::countr_one(mentions.named));
  // Groups of two are not made of three ranks.
  const bool is_dealt_out = !mentions.created_groups || mentions.divisor <= 1 || size % mentions.divisor == 0;
  return size >= kLeast && is_dealt_out && mentions.named == RankSet::All(size).bits ? size : 0;
}

// The same where ranks are dealt out to groups, `rank % 2`: as many whole groups as give each group a rank that no condition names.
uint32_t SizeOfWholeGroups(uint32_t size, uint32_t group) {
  const uint32_t groups = (size - 1 + group + group - 1) / group;
  return std::min(groups, kMostRanks / group) * group;
}

// Of a mesh whose shape the code says: the smallest job with two ranks or more along each dimension, the smallest one, and one in which a
// dimension is longer and a rank in the middle. None if no shape is known.
std::vector<World> WorldsOfLayout(const Mentions& mentions) {
  std::vector<World> worlds;
  const auto add = [&](const Mesh& mesh) {
    const uint32_t size = SizeOf(mesh);
    const bool fills_two_nodes = size % 4 == 0;
    if (fills_two_nodes) worlds.push_back({.nodes = 2, .per_node = size / 2, .mesh = mesh});
    if (!fills_two_nodes || mentions.nodes) worlds.push_back({.nodes = 1, .per_node = size, .mesh = mesh});
    if (mentions.nodes && size > 2 && size % 4 == 2) worlds.push_back({.nodes = 2, .per_node = size / 2, .mesh = mesh});
  };
  const auto is_wide = [](const Mesh& mesh) { return std::ranges::all_of(mesh, [](const Dimension& each) { return each.length > 1; }); };
  const auto first = std::ranges::find_if(mentions.meshes, is_wide);
  if (first == mentions.meshes.end()) return worlds;
  add(*first);
  if (first != mentions.meshes.begin()) add(mentions.meshes.front());
  const uint32_t least = SizeWithMiddle(mentions);
  const auto larger = std::find_if(first + 1, mentions.meshes.end(), [&](const Mesh& mesh) { return is_wide(mesh) && SizeOf(mesh) >= least; });
  constexpr uint32_t kLargest = 16;
  if (larger != mentions.meshes.end() && SizeOf(*larger) <= std::max(kLargest, least)) add(*larger);
  return worlds;
}

std::vector<World> AnyWorlds(const Mentions& mentions) {
  if (std::vector<World> worlds = WorldsOfLayout(mentions); !worlds.empty()) return worlds;
  if (Mesh mesh = MeshOf(mentions); !mesh.empty()) return {MeshWorld(std::move(mesh))};
  if (const uint32_t size = SizeOfNamed(mentions); size > 0) return {{.nodes = 1, .per_node = size, .mesh = {}}};
  std::vector<World> worlds;
  worlds.push_back({.nodes = 1, .per_node = 2, .mesh = {}});
  // Ranks lists name more than two ranks.
  if (mentions.nodes || mentions.created_groups) worlds.push_back({.nodes = 2, .per_node = 2, .mesh = {}});
  const bool has_room = mentions.divisor > 1 && mentions.divisor <= kMostRanks / 2;
  const auto per_node = static_cast<uint32_t>(has_room ? mentions.divisor : 0);
  const bool are_dealt_out = has_room && mentions.created_groups;
  const uint32_t with_middle = SizeWithMiddle(mentions);
  worlds.push_back({.nodes = 1, .per_node = are_dealt_out ? SizeOfWholeGroups(with_middle, per_node) : with_middle, .mesh = {}});
  // `rank // 4` tells the ranks of two nodes of four apart, and no smaller job does.
  const bool is_covered = std::ranges::any_of(worlds, [&](const World& world) { return world.size() >= 2 * per_node; });
  if (has_room && !is_covered) worlds.push_back({.nodes = 2, .per_node = per_node, .mesh = {}});
  // Groups of four are made in jobs of eight.
  if (are_dealt_out) std::erase_if(worlds, [&](const World& world) { return world.size() % per_node != 0; });
  constexpr int kMostAskedSizes = 2;
  uint64_t asked = mentions.asked_sizes;
  for (const World& world : worlds) asked &= ~(uint64_t{1} << (world.size() - 1));
  for (int i = 0; i < kMostAskedSizes && asked != 0; ++i, asked &= asked - 1) {
    worlds.push_back({.nodes = 1, .per_node = static_cast<uint32_t>(std::countr_zero(asked) + 1), .mesh = {}});
  }
  // Groups of neighbours that lie on two nodes.
  if (mentions.nodes && mentions.created_groups) worlds.push_back({.nodes = 2, .per_node = 3, .mesh = {}});
  // Who speaks of data parallelism alone mostly does nothing else, but a library that does so may be used beside others.
  if (IsDataAlone(mentions)) worlds.push_back(MeshWorld({Axis::TensorParallel, Axis::DataParallel}));
  // A list of ranks speaks of jobs that have all of these.
  const auto named = static_cast<uint32_t>(mentions.listed + 1);
  if (named > kMostRanks) return worlds;
  std::erase_if(worlds, [&](const World& world) { return world.size() < named; });
  if (worlds.empty()) worlds.push_back({.nodes = 1, .per_node = named, .mesh = {}});
  return worlds;
}

bool Allows(const Mentions& mentions, uint32_t size) { return (mentions.sizes >> (size - 1) & 1u) != 0; }

// The size nearest to one that is refused, so that what it would have shown is still seen: rather a larger one, but not twice as large; 0:
// there is none.
uint32_t Nearest(const Mentions& mentions, uint32_t refused) {
  const uint32_t largest = std::min(2 * refused, kMostRanks);
  for (uint32_t size = refused + 1; size <= largest; ++size) {
    if (Allows(mentions, size)) return size;
  }
  for (uint32_t size = refused - 1; size > 1; --size) {
    if (Allows(mentions, size)) return size;
  }
  return 0;
}

// The worlds of a size on which the program goes on, and others for those that it refuses.
void KeepAllowed(const Mentions& mentions, std::vector<World>* worlds) {
  const auto is_refused = [&](const World& world) { return !Allows(mentions, world.size()); };
  if (std::ranges::none_of(*worlds, is_refused)) return;
  std::vector<World> allowed = *worlds;
  std::erase_if(allowed, is_refused);
  for (const World& refused : *worlds) {
    const uint32_t size = is_refused(refused) && refused.mesh.empty() ? Nearest(mentions, refused.size()) : 0;
    const bool is_there = std::ranges::any_of(allowed, [&](const World& world) { return world.size() == size; });
    if (size > 0 && !is_there) allowed.push_back({.nodes = 1, .per_node = size, .mesh = {}});
  }
  // One node, if that is enough; then more of them.
  constexpr uint32_t kNode = 8;
  const auto add = [&](uint32_t size, bool has_room) {
    if (allowed.empty() && Allows(mentions, size) && has_room) allowed.push_back({.nodes = 1, .per_node = size, .mesh = {}});
  };
  for (uint32_t size = kNode; size > 1; --size) add(size, size > mentions.largest || size == kNode);
  for (uint32_t size = kNode + 1; size <= kMostRanks; ++size) add(size, true);
  if (allowed.empty()) return;
  if (!mentions.runs_on_all) {
    *worlds = std::move(allowed);
    return;
  }
  for (World& world : allowed) {
    if (std::ranges::find(*worlds, world) == worlds->end()) worlds->push_back(std::move(world));
  }
}

}  // namespace

bool IsBeyondWorlds(const Mentions& mentions) {
  // Along the dimensions of a mesh there are two ranks, and no more in the job than these make.
  const Mesh mesh = MeshOf(mentions);
  const int64_t size = mesh.empty() ? int64_t{SizeWithMiddle(mentions)} : int64_t{1} << mesh.size();
  return SizeOfNamed(mentions) > 0 || std::max({mentions.largest, mentions.equal, mentions.listed}) >= size;
}

std::vector<World> WorldsFor(const Mentions& mentions) {
  std::vector<World> worlds = AnyWorlds(mentions);
  KeepAllowed(mentions, &worlds);
  for (World& world : worlds) world = Reshaped(std::move(world), mentions.job);
  return worlds;
}

}  // namespace allranks::traces
