// nlohmann's parser calls back for each value but does not say where it stands. It reads its input through an iterator
// that counts here: at the call for a text the parser stands right behind its closing quote, and for anything else at
// most one character further.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyzer/base/json_problem.h"
#include "frontends/launch/templates.h"
#include "frontends/launch/yaml.h"

namespace allranks::launch_files {
namespace {

using launch::ConfigId;
using launch::ConfigKind;
using launch::ConfigNode;
using Json = nlohmann::json;

constexpr size_t kMostNodesOfJson = 200000;
// The parser itself nests without bound; no configuration does.
constexpr size_t kDeepestJson = 200;

using Places = std::vector<std::pair<size_t, size_t>>;

struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at = nullptr;
  const char** furthest = nullptr;

  reference operator*() const { return *at; }
  CountingIterator& operator++() {
    ++at;
    if (furthest != nullptr && at > *furthest) *furthest = at;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at == other.at; }
  bool operator!=(const CountingIterator& other) const { return at != other.at; }
};

class Builder : public Json::json_sax_t {
 public:
  Builder(const std::string& text, source::FileId file, const Places& templates, ConfigText& out)
      : text_(text), file_(file), templates_(templates), out_(out), furthest_(text.data()) {}

  const char** furthest() { return &furthest_; }

  bool null() override { return Plain(ConfigKind::Null, "null"); }
  bool boolean(bool value) override { return Plain(ConfigKind::Bool, value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return Plain(ConfigKind::Number, std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Plain(ConfigKind::Number, std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return Plain(ConfigKind::Number, text); }
  bool string(string_t& value) override { return Add({.kind = ConfigKind::Text, .key = "", .text = value, .is_quoted = true, .span = QuotedSpan()}); }
  bool binary(binary_t&) override { return true; }
  bool key(string_t& value) override {
    open_.back().key = value;
    open_.back().key_span = QuotedSpan();
    return true;
  }
  bool start_object(std::size_t) override { return OpenNode(ConfigKind::Map); }
  bool end_object() override { return CloseNode(); }
  bool start_array(std::size_t) override { return OpenNode(ConfigKind::List); }
  bool end_array() override { return CloseNode(); }
  bool parse_error(std::size_t position, const std::string&, const Json::exception& error) override {
    const auto at = static_cast<uint32_t>(std::min(position == 0 ? 0 : position - 1, text_.size()));
    const std::string problem = base::JsonProblem(error.what());
    std::string_view text = problem;
    // "parse error at line 3, column 5: ..."
    const size_t colon = text.find(": ");
    if (colon != std::string_view::npos) text.remove_prefix(colon + 2);
    out_.problems.push_back({std::string(text), {file_, at, at}});
    return false;
  }

 private:
  struct Level {
    ConfigId node;
    std::string key;
    source::Span key_span;
  };

  uint32_t Here() const { return static_cast<uint32_t>(furthest_ - text_.data()); }

  // From the quote that opens to the one that closes right before here: a quote inside has a backslash.
  source::Span QuotedSpan() const {
    const uint32_t end = Here();
    uint32_t begin = end > 1 ? end - 2 : 0;
    while (begin > 0 && !(text_[begin] == '"' && IsBare(begin))) --begin;
    return {file_, begin, end};
  }
  bool IsBare(uint32_t quote) const {
    uint32_t backslashes = 0;
    while (backslashes < quote && text_[quote - 1 - backslashes] == '\\') ++backslashes;
    return backslashes % 2 == 0;
  }

  bool Plain(ConfigKind kind, std::string text) {
    const auto is_part = [&](uint32_t i) { return std::isalnum(static_cast<unsigned char>(text_[i])) != 0 || text_[i] == '.' || text_[i] == '-' || text_[i] == '+'; };
    uint32_t end = Here();
    while (end > 0 && !is_part(end - 1)) --end;
    uint32_t begin = end;
    while (begin > 0 && is_part(begin - 1)) --begin;
    return Add({.kind = kind, .key = "", .text = std::move(text), .span = {file_, begin, end}});
  }

  // Of what a template stands for, nothing is known.
  void Forget(ConfigNode& node) const {
    const auto place = std::ranges::lower_bound(templates_, node.span.begin, {}, [](const auto& each) { return each.first; });
    if (place == templates_.end() || place->first >= std::max(node.span.end, node.span.begin + 1)) return;
    if (node.kind == ConfigKind::Map || node.kind == ConfigKind::List) return;
    node.kind = ConfigKind::Null;
    node.text.clear();
  }

  bool Add(ConfigNode node) {
    Forget(node);
    if (out_.tree.size() >= kMostNodesOfJson) {
      out_.problems.push_back({"it holds more values than are read", {file_, 0, 0}});
      return false;
    }
    if (!open_.empty()) {
      node.parent = open_.back().node;
      node.key = std::exchange(open_.back().key, {});
      node.key_span = open_.back().key_span;
    }
    last_ = out_.tree.Add(std::move(node));
    return true;
  }
  bool OpenNode(ConfigKind kind) {
    if (open_.size() >= kDeepestJson) {
      out_.problems.push_back({"it nests deeper than is read", {file_, Here(), Here()}});
      return false;
    }
    const uint32_t begin = Here() > 0 ? Here() - 1 : 0;
    if (!Add({.kind = kind, .key = "", .text = "", .span = {file_, begin, begin}})) return false;
    open_.push_back({.node = last_, .key = "", .key_span = {}});
    return true;
  }
  bool CloseNode() {
    out_.tree[open_.back().node].span.end = Here();
    open_.pop_back();
    return true;
  }

  const std::string& text_;
  source::FileId file_;
  const Places& templates_;
  ConfigText& out_;
  const char* furthest_;
  std::vector<Level> open_;
  ConfigId last_;
};

// With something in place of each template that JSON takes, of the same length: a text for a value, blanks for a statement.
std::string Filled(std::string text, const Places& templates) {
  bool is_quoted = false;
  size_t at = 0;
  for (const auto& [begin, end] : templates) {
    for (; at < begin; ++at) is_quoted = text[at] == '"' && (at == 0 || text[at - 1] != '\\') ? !is_quoted : is_quoted;
    at = end;
    const bool is_value = !is_quoted && text[begin + 1] != '%' && text[begin + 1] != '#';
    std::fill(text.begin() + static_cast<ptrdiff_t>(begin), text.begin() + static_cast<ptrdiff_t>(end), is_quoted || is_value ? '_' : ' ');
    if (is_value) text[begin] = text[end - 1] = '"';
  }
  return text;
}

}  // namespace

ConfigText ReadJson(const source::SourceFile& file, source::FileId id) {
  ConfigText out;
  const Places templates = TemplatesInJson(file.text);
  const std::string text = templates.empty() ? file.text : Filled(file.text, templates);
  Builder builder(text, id, templates, out);
  const char* begin = text.data();
  const char* end = begin + text.size();
  // What is wrong has been told to the builder.
  static_cast<void>(Json::sax_parse(CountingIterator{begin, builder.furthest()}, CountingIterator{end, nullptr}, &builder));
  return out;
}

bool IsListOfTexts(const std::string& json) {
  const nlohmann::json list = nlohmann::json::parse(json, nullptr, false);
  return list.is_array() && std::ranges::all_of(list, [](const nlohmann::json& one) { return one.is_string(); });
}

}  // namespace allranks::launch_files
