// Programs of distributed training by the bytes that choose their parts: all are well-formed, so that what they ask of the analysis
// is sharing, depth, recursion and control flow, and not the parser.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace allranks::tests {

class ProgramMaker {
 public:
  explicit ProgramMaker(std::span<const uint8_t> choices) : choices_(choices) {}

  std::string Make() {
    functions_ = 1 + Next(40);
    text_ = "import torch.distributed as dist\nrank = dist.get_rank()\n";
    for (size_t f = 0; f < functions_; ++f) {
      text_ += "def f" + std::to_string(f) + "(x, y=rank):\n";
      Block(1);
    }
    text_ += "x = y = rank\n";
    Block(0);
    return std::move(text_);
  }

 private:
  // Of what is chosen behind the last byte the first is taken.
  size_t Next(size_t count) { return at_ < choices_.size() ? choices_[at_++] % count : 0; }

  template <size_t kCount>
  const char* One(const std::array<const char*, kCount>& of) { return of[Next(kCount)]; }

  std::string Function() { return "f" + std::to_string(Next(functions_)); }

  std::string Value() {
    static constexpr std::array kValues = {"x",       "y",          "x + x",          "x * y",       "[x, y]",         "[x] + [x]", "{'k': x}",
                                           "rank",    "not x",      "x == rank",      "f'{x}{x}'",   "x if y else x",  "x[0]",      "lambda z: x",
                                           "(x, (y, x))", "[z for z in y]", "x and y or x", "dist.get_world_size()", "None", "x - 1"};
    const bool calls = Next(4) == 3;
    return calls ? Function() + "(" + One(kValues) + ", " + Function() + ")" : One(kValues);
  }

  void Line(size_t depth, const std::string& line) { text_ += std::string(depth, ' ') + line + "\n"; }

  void Block(size_t depth) {
    constexpr size_t kDeepest = 6;
    const size_t count = 1 + Next(5);
    for (size_t i = 0; i < count; ++i) Statement(depth, depth < kDeepest);
  }

  void Statement(size_t depth, bool may_nest) {
    static constexpr std::array kOperations = {"dist.barrier()", "dist.all_reduce(x)", "dist.broadcast(x, src=y)", "dist.send(x, dst=y)", "dist.recv(x, src=y)",
                                               "y = dist.new_group(x)", "x = dist.all_gather_object(y, x)"};
    static constexpr std::array kHeads = {"if {}:", "for y in {}:", "while {}:", "with {} as y:"};
    // Lines that double what came before, many times over.
    constexpr size_t kMostRepeats = 41;
    switch (Next(may_nest ? 7 : 4)) {
      case 0:
        return Line(depth, One(kOperations));
      case 1:
        return Line(depth, "x = " + Value());
      case 2: {
        const std::string line = "x = " + Value();
        for (size_t repeats = Next(kMostRepeats); repeats > 0; --repeats) Line(depth, line);
        return Line(depth, "y = x");
      }
      case 3:
        return Line(depth, depth > 0 ? "return " + Value() : "y = " + Value());
      case 4: {
        std::string head = One(kHeads);
        Line(depth, head.replace(head.find("{}"), 2, Value()));
        return Block(depth + 1);
      }
      case 5:
        Line(depth, "try:");
        Block(depth + 1);
        Line(depth, "except ValueError:");
        return Block(depth + 1);
      default:
        Line(depth, "if " + Value() + ":");
        Block(depth + 1);
        Line(depth, "else:");
        return Block(depth + 1);
    }
  }

  std::span<const uint8_t> choices_;
  size_t at_ = 0;
  size_t functions_ = 1;
  std::string text_;
};

}  // namespace allranks::tests
