#include "frontends/cpp/syntax/reading.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <unordered_set>
#include <utility>

namespace allranks::cpp::syntax {
namespace {

bool IsOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void Blank(std::string* text, size_t begin, size_t end) {
  for (size_t i = begin; i < std::min(end, text->size()); ++i) {
    if ((*text)[i] != '\n') (*text)[i] = ' ';
  }
}

// The lines of `#if` and its like; what they keep has been decided.
void BlankConditionals(std::string* text) {
  for (size_t at = 0; at < text->size();) {
    size_t end = text->find('\n', at);
    while (end != std::string::npos && end > at && (*text)[end - 1] == '\\') end = text->find('\n', end + 1);
    if (end == std::string::npos) end = text->size();
    size_t word = text->find_first_not_of(" \t", at);
    if (word < end && (*text)[word] == '#') {
      word = text->find_first_not_of(" \t", word + 1);
      const std::string_view rest = std::string_view(*text).substr(std::min(word, end), end - std::min(word, end));
      if (rest.starts_with("if") || rest.starts_with("el") || rest.starts_with("endif")) Blank(text, at, end);
    }
    at = end + 1;
  }
}

// What only CUDA has: words before functions and variables, and how a kernel is launched. The grammar is that of C++.
void BlankCuda(std::string* text) {
  constexpr std::string_view kWords[] = {"__global__", "__device__", "__host__", "__forceinline__", "__shared__", "__constant__", "__restrict__", "__noinline__"};
  for (size_t at = text->find("__"); at != std::string::npos; at = text->find("__", at + 2)) {
    for (const std::string_view word : kWords) {
      const bool is_it = text->compare(at, word.size(), word) == 0 && (at == 0 || !IsOfName((*text)[at - 1]));
      if (is_it) Blank(text, at, at + word.size());
    }
  }
  constexpr size_t kLongestLaunch = 1000;
  for (size_t at = text->find("<<<"); at != std::string::npos; at = text->find("<<<", at + 3)) {
    const size_t end = text->find(">>>", at);
    if (end == std::string::npos) return;
    const std::string_view launch = std::string_view(*text).substr(at, end - at);
    if (launch.size() < kLongestLaunch && launch.find(';') == std::string_view::npos) Blank(text, at, end + 3);
  }
}

std::string Prepared(std::string text, std::span<const ir::Range> skipped, bool is_preprocessed) {
  for (const ir::Range& range : skipped) Blank(&text, range.begin, range.end);
  if (is_preprocessed) BlankConditionals(&text);
  BlankCuda(&text);
  std::ranges::replace(text, '\0', ' ');
  return text;
}

// What a call calls, without scopes and objects.
std::string_view LastNameOf(Node call, std::string_view text) {
  Node callee = call["function"];
  if (callee && callee.kind() == Kind::FieldExpression) callee = callee["field"];
  for (int i = 0; callee && (callee.kind() == Kind::Qualified || callee.kind() == Kind::TemplateFunction || callee.kind() == Kind::TemplateMethod) && i < 100; ++i) {
    callee = callee["name"];
  }
  return callee ? callee.TextIn(text) : std::string_view();
}

struct Place {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool operator<(const Place& other) const { return begin < other.begin; }
};

// What Clang's modules of a file have: where calls begin, and which tests it did not understand.
struct Understood {
  std::unordered_set<uint32_t> calls;
  std::unordered_set<uint32_t> vague_tests;  // statements whose test holds something opaque, by where they begin
  std::unordered_set<uint32_t> heads;        // functions, by where their names begin

  void Add(const ir::Module& module) {
    std::vector<Place> opaque;
    for (const ir::Expr& expr : module.exprs.all()) {
      const bool is_call = expr.kind == ir::ExprKind::Call && module[ir::CalleeOf(expr)].kind != ir::ExprKind::Opaque;
      if (is_call) calls.insert(expr.begin);
      if (expr.kind == ir::ExprKind::Opaque) opaque.push_back({expr.begin, expr.end});
    }
    std::ranges::sort(opaque, {}, &Place::begin);
    for (const ir::Stmt& stmt : module.stmts.all()) {
      if (stmt.kind != ir::StmtKind::If && stmt.kind != ir::StmtKind::While) continue;
      const ir::Expr& test = module[ir::ExprId{stmt.a}];
      const auto inside = std::ranges::lower_bound(opaque, test.begin, {}, &Place::begin);
      if (inside != opaque.end() && inside->end <= test.end) vague_tests.insert(stmt.begin);
    }
    for (const ir::Function& function : module.functions.all()) {
      if (function.symbol && function.body) heads.insert(function.name_begin);
    }
  }
};

// As Clang writes it (clang/naming.h), as far as the text tells: a function that another file declares goes by the same.
std::string SymbolOf(const TextFunction& function, std::string_view text) {
  std::string symbol;
  for (const char c : function.name) symbol += c == '.' ? std::string("::") : std::string(1, c);
  symbol += '(';
  const Node list = function.declarator["parameters"];
  for (const Node param : list ? list.Children() : std::vector<Node>()) {
    if (!param["type"] || (!param["declarator"] && param["type"].TextIn(text) == "void")) continue;
    symbol += std::string(param["type"].TextIn(text)) + ',';
  }
  symbol += ')';
  for (const Node child : function.declarator.Children()) {
    if (child.kind() == Kind::TypeQualifier && child.TextIn(text) == "const") symbol += "const";
  }
  return symbol;
}

size_t ParamCount(const TextFunction& function) {
  const Node list = function.declarator["parameters"];
  return (list ? list.Children().size() : 0) + (function.has_object ? 1 : 0);
}

// A module that is given what Clang lost.
struct Filling {
  ir::Builder builder;
  base::Interner& names;
  const std::string& text;
  const Outline& outline;
  const Definitions& definitions;
  std::vector<ir::StmtId> added = {};

  // The body of a function that Clang has a head of: its parameters stay Clang's, with their types. A type that it does not know is the one
  // that is written there.
  void Fill(const TextFunction& function) {
    const auto& functions = builder.module().functions;
    const auto is_it = [&](const ir::Function& head) {
      return head.symbol && head.body && head.name_begin == function.name_begin && (head.flags & ir::kWithoutTypes) == 0;
    };
    const auto found = std::ranges::find_if(functions.all(), is_it);
    if (found == functions.all().end()) return;
    const ir::FunctionId id{static_cast<uint32_t>(found - functions.all().begin())};
    ClearInside(id);
    BodyLowering lowering(builder, names, text, outline, definitions, function);
    const std::vector<ir::Param> written = lowering.Params(function.declarator);
    const ir::BlockId body = lowering.Body(id);
    ir::Function& filled = builder.EditFunction(id);
    filled.body = body;
    const size_t before = function.has_object ? 1 : 0;
    for (size_t i = 0; i < written.size() && filled.params.size() == written.size() + before; ++i) {
      ir::Param& param = filled.params[i + before];
      if (!param.annotation) param.annotation = written[i].annotation;
    }
    filled.flags |= ir::kWithoutTypes;
  }

  void Add(const TextFunction& function) {
    const ir::Range range = function.definition.range();
    ir::Function head{.name = names.Intern(function.short_name()),
                      .symbol = names.Intern(SymbolOf(function, text)),
                      .qualified = names.Intern(function.name),
                      .parent = ir::kTopLevel,
                      .flags = ir::kWithoutTypes,
                      .begin = range.begin,
                      .end = range.end,
                      .name_begin = function.name_begin,
                      .name_end = function.name_end};
    if (!function.owner.empty()) head.owner = ClassOf(function);
    if (function.is_virtual) head.flags |= ir::kVirtual;
    const ir::FunctionId id = builder.StartFunction(std::move(head));
    BodyLowering lowering(builder, names, text, outline, definitions, function);
    std::vector<ir::Param> params;
    if (function.has_object) params.push_back({.name = names.Intern("this"), .begin = function.name_begin, .end = function.name_end});
    for (ir::Param& param : lowering.Params(function.declarator)) params.push_back(param);
    const ir::BlockId body = lowering.Body(id);
    builder.EditFunction(id).params = std::move(params);
    builder.EditFunction(id).body = body;
    added.push_back(builder.FunctionDef(range, id));
  }

  ir::Module Finish() {
    const std::span<const ir::StmtId> before = builder.module().statements(builder.module().functions[ir::kTopLevel].body);
    std::vector<ir::StmtId> stmts(before.begin(), before.end());
    stmts.insert(stmts.end(), added.begin(), added.end());
    const ir::BlockId body = builder.Block(stmts);
    builder.EditFunction(ir::kTopLevel).body = body;
    builder.SortByPlace();
    return builder.Finish();
  }

 private:
  // Lambdas of the body that is left behind.
  void ClearInside(ir::FunctionId outer) {
    for (uint32_t i = outer.index + 1; i < builder.module().functions.size(); ++i) {
      ir::FunctionId around{i};
      while (around && around != ir::kTopLevel && around != outer) around = builder.module().functions[around].parent;
      if (around == outer) builder.EditFunction(ir::FunctionId{i}).body = ir::BlockId::None();
    }
  }

  ir::ClassId ClassOf(const TextFunction& function) {
    std::string symbol;
    for (const char c : function.owner) symbol += c == '.' ? std::string("::") : std::string(1, c);
    const ir::NameId wanted = names.Intern(symbol);
    const auto& classes = builder.module().classes;
    for (uint32_t i = 0; i < classes.size(); ++i) {
      if (classes[ir::ClassId{i}].symbol == wanted) return ir::ClassId{i};
    }
    const ir::Range range{function.name_begin, function.name_end};
    const std::string_view own = std::string_view(function.owner).substr(function.owner.rfind('.') + 1);
    const ir::ClassId id = builder.StartClass({.name = names.Intern(own), .symbol = wanted, .parent = ir::kTopLevel,
                                               .begin = range.begin, .end = range.end, .name_begin = range.begin, .name_end = range.end});
    const ir::StmtId pass[] = {builder.Pass(range)};
    builder.EditClass(id).body = builder.Block(pass);
    added.push_back(builder.ClassDef(range, id));
    return id;
  }
};

}  // namespace

Reading::Reading(std::string text, std::span<const ir::Range> skipped, bool is_preprocessed)
    : text_(Prepared(std::move(text), skipped, is_preprocessed)), tree_(text_) {
  if (tree_) outline_ = OutlineOf(tree_, text_);
}

void Reading::FindLost(std::span<const ir::Module* const> modules, bool has_errors, const LibraryNames& libraries) {
  Understood understood;
  for (const ir::Module* module : modules) understood.Add(*module);
  for (size_t i = 0; i < outline_.functions.size(); ++i) {
    const TextFunction& function = outline_.functions[i];
    const bool has_head = understood.heads.contains(function.name_begin);
    const bool may_be_lost = has_errors || (function.is_template && !has_head);
    bool is_lost = modules.empty();
    bool communicates = false;
    std::vector<Place> tests;
    if (may_be_lost && !is_lost) {
      ForEachBelow(function.definition, [&](Node node) {
        const Kind kind = node.kind();
        const bool is_test = kind == Kind::If || kind == Kind::While;
        if (is_test && understood.vague_tests.contains(node.begin())) tests.push_back({node.begin(), node.end()});
        if (kind != Kind::Call || !libraries.communicates(LastNameOf(node, text_))) return;
        communicates = true;
        is_lost = is_lost || !understood.calls.contains(node.begin());
        // Outer ones come first.
        is_lost = is_lost || std::ranges::any_of(tests, [&](const Place& test) { return node.begin() < test.end; });
      });
    }
    if (is_lost) lost_.push_back({.function = i, .is_new = !has_head});
  }
}

void Reading::Declare(base::Interner& names, Definitions* definitions) const {
  for (const Lost& lost : lost_) {
    if (!lost.is_new) continue;
    const TextFunction& function = outline_.functions[lost.function];
    const ir::NameId symbol = names.Intern(SymbolOf(function, text_));
    std::vector<Definitions::Function>& known = definitions->functions[function.name];
    const bool is_known = std::ranges::any_of(known, [&](const Definitions::Function& each) { return each.symbol == symbol; });
    if (!is_known) known.push_back({.symbol = symbol, .params = ParamCount(function)});
  }
}

ir::Module Reading::Begin(source::FileId file, base::Interner& names) const {
  ir::Builder builder(file, ir::Language::Cpp, text_.size());
  const ir::FunctionId top = builder.StartFunction({.name = names.Intern("<module>")});
  builder.EditFunction(top).end = static_cast<uint32_t>(text_.size());
  builder.EditFunction(top).body = builder.Block({});
  if (tree_) {
    ForEachBelow(tree_.root(), [&](Node node) {
      if (node.kind() == Kind::Comment) builder.AddComment(node.range());
    });
  }
  return builder.Finish();
}

void Reading::Lower(ir::Module* module, bool may_add, const Definitions& definitions, base::Interner& names) const {
  Filling filling{ir::Builder(std::move(*module)), names, text_, outline_, definitions};
  for (const Lost& lost : lost_) {
    const TextFunction& function = outline_.functions[lost.function];
    if (!lost.is_new) filling.Fill(function);
    else if (may_add) filling.Add(function);
  }
  *module = filling.Finish();
}

void AddDefinitions(const ir::Module& module, const base::Interner& names, Definitions* definitions) {
  for (const ir::Function& function : module.functions.all()) {
    if (!function.symbol || !function.qualified) continue;
    std::vector<Definitions::Function>& known = definitions->functions[Qualified(names.View(function.qualified))];
    const bool is_known = std::ranges::any_of(known, [&](const Definitions::Function& each) { return each.symbol == function.symbol; });
    if (!is_known) known.push_back({.symbol = function.symbol, .params = function.params.size()});
  }
  for (const ir::Class& each : module.classes.all()) {
    if (!each.symbol) continue;
    Qualified name(names.View(each.symbol));
    name = name.substr(0, name.find('<'));
    for (size_t at = name.find("::"); at != Qualified::npos; at = name.find("::")) name.replace(at, 2, ".");
    definitions->classes.emplace(std::move(name), each.symbol);
  }
}

}  // namespace allranks::cpp::syntax
