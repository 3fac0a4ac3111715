#include "frontends/launch/yaml.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

#include "analyzer/base/decimal.h"
#include "analyzer/base/lowered.h"

namespace allranks::launch_files {
namespace {

using launch::ConfigId;
using launch::ConfigKind;
using launch::ConfigNode;

// A file with more values is data.
constexpr size_t kMostNodesOfYaml = 200000;

struct TooManyNodes {};

ConfigKind KindOfScalar(const std::string& value, bool is_quoted) {
  if (is_quoted) return ConfigKind::Text;
  if (value.empty() || value == "~" || value == "null" || value == "Null" || value == "NULL") return ConfigKind::Null;
  const std::string lower = base::Lowered(value);
  if (lower == "true" || lower == "false" || lower == "yes" || lower == "no" || lower == "on" || lower == "off") return ConfigKind::Bool;
  const std::string_view number = std::string_view(value).substr(value[0] == '+' ? 1 : 0);
  return base::DecimalOf(number) ? ConfigKind::Number : ConfigKind::Text;
}

class YamlBuilder : public YAML::EventHandler {
 public:
  YamlBuilder(const std::string& text, source::FileId file, ConfigText& out) : text_(text), file_(file), out_(out) {}

  void OnDocumentStart(const YAML::Mark&) override { open_.clear(); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { Scalar(mark, "", false); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { Scalar(mark, "", false, true); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    Scalar(mark, value, tag == "!");
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    OpenNode(ConfigKind::List, mark);
  }
  void OnSequenceEnd() override { CloseNode(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    OpenNode(ConfigKind::Map, mark);
  }
  void OnMapEnd() override { CloseNode(); }

 private:
  struct Level {
    ConfigId node;        // none: below a key that is no scalar
    bool is_map = false;
    bool has_key = false;
    std::string key;
    source::Span key_span;
  };

  uint32_t Offset(const YAML::Mark& mark) const {
    return mark.pos < 0 ? 0 : static_cast<uint32_t>(std::min<size_t>(static_cast<size_t>(mark.pos), text_.size()));
  }

  // Where a scalar stands that begins at a mark; tags and anchors before it are passed over.
  source::Span SpanOf(const YAML::Mark& mark, const std::string& value, bool is_quoted) const {
    size_t begin = Offset(mark);
    while (begin < text_.size() && (text_[begin] == '&' || text_[begin] == '!')) {
      while (begin < text_.size() && text_[begin] != ' ' && text_[begin] != '\n') ++begin;
      while (begin < text_.size() && text_[begin] == ' ') ++begin;
    }
    size_t end = begin;
    if (is_quoted && begin < text_.size() && (text_[begin] == '"' || text_[begin] == '\'')) {
      end = text_.find(text_[begin], begin + 1);
      while (end != std::string::npos && text_[begin] == '"' && text_[end - 1] == '\\') end = text_.find('"', end + 1);
      end = end == std::string::npos ? text_.size() : end + 1;
    } else if (text_.compare(begin, value.size(), value) == 0) {
      end = begin + value.size();
    } else {
      end = std::min(text_.find('\n', begin), text_.size());
    }
    return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }

  // The text of a block scalar, `|` or `>`, as it stands in the file: shell does not mind the indentation.
  source::Span BlockSpan(uint32_t begin) const {
    const size_t first_line = std::min(text_.find('\n', begin), text_.size());
    size_t line_begin = text_.rfind('\n', begin);
    line_begin = line_begin == std::string::npos ? 0 : line_begin + 1;
    size_t indent = line_begin;
    while (indent < text_.size() && (text_[indent] == ' ' || text_[indent] == '-')) ++indent;
    const size_t least = indent - line_begin;
    size_t at = std::min(first_line + 1, text_.size());
    size_t end = at;
    while (at < text_.size()) {
      const size_t line_end = std::min(text_.find('\n', at), text_.size());
      size_t spaces = at;
      while (spaces < line_end && text_[spaces] == ' ') ++spaces;
      const bool is_blank = spaces == line_end;
      if (!is_blank && spaces - at < std::max<size_t>(least, 1)) break;
      if (!is_blank && spaces - at <= least && text_[line_begin + (least > 0 ? least - 1 : 0)] != '-') break;
      at = std::min(line_end + 1, text_.size());
      end = at;
    }
    return {file_, static_cast<uint32_t>(std::min(first_line + 1, text_.size())), static_cast<uint32_t>(end)};
  }

  void Scalar(const YAML::Mark& mark, const std::string& value, bool is_quoted, bool is_alias = false) {
    const uint32_t begin = Offset(mark);
    const bool is_block = begin < text_.size() && (text_[begin] == '|' || text_[begin] == '>');
    source::Span span = is_block ? BlockSpan(begin) : SpanOf(mark, value, is_quoted);
    if (!open_.empty() && open_.back().is_map && !open_.back().has_key) {
      open_.back().has_key = true;
      open_.back().key = value;
      open_.back().key_span = span;
      return;
    }
    ConfigNode node{.kind = is_block ? ConfigKind::Text : KindOfScalar(value, is_quoted), .text = value, .is_quoted = is_quoted || is_block, .is_alias = is_alias, .span = span};
    if (node.kind == ConfigKind::Bool) {
      const char c = static_cast<char>(std::tolower(static_cast<unsigned char>(value[0])));
      const bool is_on = c == 'o' && value.size() == 2;
      node.text = c == 't' || c == 'y' || is_on ? "true" : "false";
    }
    Add(std::move(node));
  }

  ConfigId Add(ConfigNode node) {
    if (out_.tree.size() >= kMostNodesOfYaml) throw TooManyNodes();
    if (!open_.empty()) {
      Level& level = open_.back();
      node.parent = level.node;
      if (level.is_map) {
        node.key = level.key;
        node.key_span = level.key_span;
        level.has_key = false;
      }
    }
    return out_.tree.Add(std::move(node));
  }

  void OpenNode(ConfigKind kind, const YAML::Mark& mark) {
    // A key that is a map or a list is no key that anybody asks for.
    if (!open_.empty() && open_.back().is_map && !open_.back().has_key) {
      open_.back().has_key = true;
      open_.back().key = "";
    }
    const uint32_t begin = Offset(mark);
    const ConfigId id = Add({.kind = kind, .key = "", .text = "", .span = {file_, begin, begin}});
    open_.push_back({.node = id, .is_map = kind == ConfigKind::Map});
  }
  void CloseNode() {
    const ConfigId id = open_.back().node;
    ConfigNode& node = out_.tree[id];
    for (const ConfigId child : node.children) node.span.end = std::max(node.span.end, out_.tree[child].span.end);
    open_.pop_back();
  }

  const std::string& text_;
  source::FileId file_;
  ConfigText& out_;
  std::vector<Level> open_;
};

// `#` at the beginning of a line or behind white space, outside of quotes: good enough for ignore comments.
void AddComments(const source::SourceFile& file, std::vector<findings::Extent>& comments) {
  const std::string& text = file.text;
  char quote = '\0';
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') quote = '\0';
    else if (quote != '\0') quote = c == quote ? '\0' : quote;
    else if ((c == '"' || c == '\'') && (at == 0 || text[at - 1] == ' ' || text[at - 1] == '[' || text[at - 1] == ',')) quote = c;
    else if (c == '#' && (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n' || text[at - 1] == '\t')) {
      const size_t end = std::min(text.find_first_of("\r\n", at), text.size());
      comments.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(end), static_cast<uint32_t>(end)});
      at = end - 1;
    }
  }
}

}  // namespace

ConfigText ReadYaml(const source::SourceFile& file, source::FileId id) {
  ConfigText out;
  std::istringstream stream(file.text);
  YamlBuilder builder(file.text, id, out);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    const auto at = static_cast<uint32_t>(std::clamp<int64_t>(error.mark.pos, 0, static_cast<int64_t>(file.text.size())));
    const bool is_too_deep = dynamic_cast<const YAML::DeepRecursion*>(&error) != nullptr;
    out.problems.push_back({is_too_deep ? "it nests deeper than is read" : error.msg, {id, at, at}});
  } catch (const TooManyNodes&) {
    out.problems.push_back({"it holds more values than are read", {id, 0, 0}});
  }
  AddComments(file, out.comments);
  return out;
}

std::vector<findings::Extent> StatementsOf(const launch::ConfigTree& tree) {
  std::vector<findings::Extent> statements;
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const ConfigNode& node = tree[ConfigId{i}];
    if (node.key.empty()) continue;
    const bool is_scalar = node.kind != ConfigKind::Map && node.kind != ConfigKind::List;
    statements.push_back({node.key_span.begin, std::max(node.key_span.end, node.span.end), is_scalar ? std::max(node.key_span.end, node.span.end) : node.key_span.end});
  }
  return statements;
}

}  // namespace allranks::launch_files
