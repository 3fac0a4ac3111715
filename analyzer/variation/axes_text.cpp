#include "analyzer/variation/axes_text.h"

#include <fmt/format.h>

namespace allranks::variation {
namespace {

using knowledge::Axis;

std::string TextOf(Axis axis) {
  switch (axis) {
    case Axis::Global:
      return "differs between ranks";
    case Axis::Local:
      return "differs between the ranks of a node";
    case Axis::Node:
      return "differs between nodes";
    case Axis::Data:
      return "depends on each rank's own data";
    case Axis::Environment:
      return "depends on each rank's own machine or process";
    case Axis::Files:
      return "depends on the files that each rank finds";
    case Axis::Clock:
      return "depends on each rank's own clock";
    case Axis::Chance:
      return "depends on each rank's own random numbers";
    case Axis::HashOrder:
      return "depends on the hash order of each process";
    case Axis::Signals:
      return "depends on the signals that each process gets";
    case Axis::OtherMesh:
      return "differs along a mesh dimension";
    default:
      return fmt::format("differs between {} ranks", knowledge::AxisName(axis));
  }
}

}  // namespace

std::string VariesText(knowledge::Axes axes) {
  std::string text;
  for (int i = 0; i < knowledge::kAxisCount; ++i) {
    const auto axis = static_cast<Axis>(i);
    if (axes.has(axis)) text += (text.empty() ? "" : " and ") + TextOf(axis);
  }
  return text.empty() ? "is the same on every rank" : text;
}

}  // namespace allranks::variation
