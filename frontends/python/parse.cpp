#include "frontends/python/parse.h"

#include <unistd.h>

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "frontends/python/grammar.h"
#include "frontends/python/lower.h"

namespace allranks::python {
namespace {

// What the parser allocates grows with its work. Real programs make it take some 60 bytes a byte; where it
// lost its way, each further line costs as much as all before it, and only this shows it: time differs from
// run to run.
constexpr uint64_t kAllocatedPerByte = 1000;
constexpr uint64_t kFreeAllocation = 4u << 20;

thread_local uint64_t allocated_bytes = 0;

// The parser is C: it uses whatever it is given, and nothing can be thrown through it. So this is the end, with the words and the
// exit code of any other allocation that fails (driver/cli/cli.cpp).
void* Given(void* block, size_t size) {
  if (block != nullptr || size == 0) return block;
  constexpr std::string_view kWords = "allranks: error: out of memory; check fewer files at once, or use fewer --jobs\n";
  static_cast<void>(!write(STDERR_FILENO, kWords.data(), kWords.size()));
  constexpr int kExitError = 2;
  _exit(kExitError);
}

void* CountedMalloc(size_t size) {
  allocated_bytes += size;
  return Given(malloc(size), size);
}

void* CountedCalloc(size_t count, size_t size) {
  allocated_bytes += count * size;
  return Given(calloc(count, size), count * size);
}

void* CountedRealloc(void* block, size_t size) {
  allocated_bytes += size;
  return Given(realloc(block, size), size);
}

// The parser's allocator is one for the process; counts are kept a thread.
void CountAllocations() {
  static const bool done = [] {
    ts_set_allocator(CountedMalloc, CountedCalloc, CountedRealloc, free);
    return true;
  }();
  static_cast<void>(done);
}

// The parser keeps up to 510 levels, two bytes each; Python itself allows 100.
constexpr size_t kMostIndents = 400;

const char* ReadText(void* payload, uint32_t offset, TSPoint /*point*/, uint32_t* length) {
  const std::string_view text = *static_cast<const std::string_view*>(payload);
  if (offset >= text.size()) {
    *length = 0;
    return "";
  }
  *length = static_cast<uint32_t>(text.size()) - offset;
  return text.data() + offset;
}

// How long a parse may go on.
struct Budget {
  uint64_t most_bytes = 0;
  const IsOver& is_over;
  bool is_given_up = false;
};

// Answers the parser's question whether to stop.
bool IsOverBudget(TSParseState* state) {
  Budget& budget = *static_cast<Budget*>(state->payload);
  budget.is_given_up = budget.is_over && budget.is_over();
  return budget.is_given_up || allocated_bytes > budget.most_bytes;
}

// The width of a line's indentation as the parser counts it; moves `at` behind it.
size_t IndentWidth(std::string_view text, size_t* at) {
  constexpr size_t kTabWidth = 8;
  size_t width = 0;
  for (; *at < text.size(); ++*at) {
    const char c = text[*at];
    if (c == ' ') {
      ++width;
    } else if (c == '\t') {
      width += kTabWidth;
    } else if (c == '\f' || c == '\r') {
      width = 0;
    } else {
      break;
    }
  }
  return width;
}

size_t NextLine(std::string_view text, size_t at) {
  const size_t end = text.find('\n', at);
  return end == std::string_view::npos ? text.size() : end + 1;
}

// Each open level has a width of its own, so that there are at most as many levels as widths. The parser
// counts widths in 16 bits.
size_t CountIndentWidths(std::string_view text) {
  constexpr size_t kWidths = 1u << 16;
  const auto seen = std::make_unique<std::bitset<kWidths>>();
  for (size_t at = 0; at < text.size();) {
    seen->set(IndentWidth(text, &at) % kWidths);
    at = NextLine(text, at);
  }
  return seen->count();
}

TSPoint PointAt(std::string_view text, size_t at) {
  const std::string_view before = text.substr(0, at);
  const size_t line = before.rfind('\n');
  const auto rows = static_cast<uint32_t>(std::ranges::count(before, '\n'));
  return {.row = rows, .column = static_cast<uint32_t>(line == std::string_view::npos ? at : at - line - 1)};
}

}  // namespace

Parser::Parser(const IsOver& is_over) : is_over_(is_over) {
  CountAllocations();
  parser_ = ts_parser_new();
  ts_parser_set_language(parser_, Language());
}

Tree Parser::Parse(std::string_view text, uint32_t begin, uint32_t end) {
  constexpr uint32_t kFar = std::numeric_limits<uint32_t>::max();
  const TSRange range = {
      .start_point = {0, 0}, .end_point = {kFar, kFar}, .start_byte = begin, .end_byte = end};
  const bool is_whole = begin == 0 && end == text.size();
  ts_parser_set_included_ranges(parser_, is_whole ? nullptr : &range, is_whole ? 0 : 1);
  return Run(text, end - begin, nullptr);
}

Tree Parser::ParseEdited(std::string_view text, std::string_view old_text, TSTree* old_tree) {
  const auto [old_at, at] = std::ranges::mismatch(old_text, text);
  const auto same_before = static_cast<size_t>(at - text.begin());
  const auto rest = std::min(text.size(), old_text.size()) - same_before;
  size_t same_after = 0;
  while (same_after < rest && text[text.size() - 1 - same_after] == old_text[old_text.size() - 1 - same_after]) ++same_after;
  const size_t end = text.size() - same_after;
  const size_t old_end = old_text.size() - same_after;
  const TSInputEdit edit = {.start_byte = static_cast<uint32_t>(same_before),
                            .old_end_byte = static_cast<uint32_t>(old_end),
                            .new_end_byte = static_cast<uint32_t>(end),
                            .start_point = PointAt(text, same_before),
                            .old_end_point = PointAt(old_text, old_end),
                            .new_end_point = PointAt(text, end)};
  ts_tree_edit(old_tree, &edit);
  ts_parser_set_included_ranges(parser_, nullptr, 0);
  return Run(text, text.size(), old_tree);
}

Tree Parser::Run(std::string_view text, size_t size, const TSTree* old_tree) {
  Budget budget{allocated_bytes + kFreeAllocation + kAllocatedPerByte * size, is_over_};
  const TSInput input = {
      .payload = &text, .read = ReadText, .encoding = TSInputEncodingUTF8, .decode = nullptr};
  const TSParseOptions options = {.payload = &budget, .progress_callback = IsOverBudget};
  Tree tree(ts_parser_parse_with_options(parser_, old_tree, input, options));
  // A parse that was stopped would go on with the next text.
  if (tree == nullptr) ts_parser_reset(parser_);
  if (budget.is_given_up) throw GivenUp();
  return tree;
}

bool IndentsTooDeep(std::string_view text) {
  // Only a file with a line this far in can have so many levels.
  for (size_t at = 0; at < text.size();) {
    if (IndentWidth(text, &at) > kMostIndents) return CountIndentWidths(text) > kMostIndents;
    at = NextLine(text, at);
  }
  return false;
}

}  // namespace allranks::python
