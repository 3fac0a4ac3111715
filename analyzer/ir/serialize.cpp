#include "analyzer/ir/serialize.h"

#include <unordered_map>

#include "analyzer/base/byte_stream.h"
#include "analyzer/ir/name_slots.h"
#include "analyzer/ir/verifier.h"

namespace allranks::ir {
namespace {

using base::ByteReader;
using base::ByteWriter;

constexpr std::string_view kMagic = "allranks-ir";

// Each record is a run of words; `Fields` says which, for writing and for reading alike.
template <class IdType>
uint32_t& Word(IdType& id) {
  return id.index;
}

template <class Visit>
void Fields(Arg& arg, Visit visit) {
  visit(arg.kind, Word(arg.keyword), Word(arg.value));
}
template <class Visit>
void Fields(Param& param, Visit visit) {
  visit(param.kind, Word(param.name), Word(param.default_value), Word(param.annotation), param.is_out, param.begin,
        param.end);
}
template <class Visit>
void Fields(Clause& clause, Visit visit) {
  visit(clause.is_async, Word(clause.target), Word(clause.iter), clause.conditions.start, clause.conditions.count);
}
template <class Visit>
void Fields(Handler& handler, Visit visit) {
  visit(Word(handler.type), Word(handler.name), Word(handler.body), handler.begin, handler.end);
}
template <class Visit>
void Fields(WithItem& item, Visit visit) {
  visit(Word(item.context), Word(item.target));
}
template <class Visit>
void Fields(MatchCase& item, Visit visit) {
  visit(item.irrefutable, Word(item.pattern), Word(item.guard), Word(item.body));
}
template <class Visit>
void Fields(Comment& comment, Visit visit) {
  visit(comment.begin, comment.end);
}
template <class Visit>
void Fields(Import& import, Visit visit) {
  visit(import.star, Word(import.module), Word(import.name), Word(import.as_name), import.level, import.begin,
        import.end);
}
template <class Visit>
void Fields(Function& function, Visit visit) {
  visit(function.is_generator, function.flags, Word(function.name), Word(function.symbol), Word(function.qualified),
        Word(function.parent), Word(function.owner), Word(function.returns_annotation), Word(function.body),
        function.begin, function.end, function.name_begin, function.name_end);
}
template <class Visit>
void Fields(Class& defined, Visit visit) {
  visit(Word(defined.name), Word(defined.symbol), Word(defined.parent), Word(defined.owner), Word(defined.body),
        defined.begin, defined.end, defined.name_begin, defined.name_end);
}

class Writer {
 public:
  template <class T>
  void Record(T record) {
    Fields(record, [this](auto&... fields) { (out.U32(static_cast<uint32_t>(fields)), ...); });
  }
  template <class Range>
  void Records(const Range& range) {
    out.U32(static_cast<uint32_t>(range.size()));
    for (const auto& record : range) Record(record);
  }
  void Ids(const std::vector<ExprId>& ids) {
    out.U32(static_cast<uint32_t>(ids.size()));
    for (const ExprId id : ids) out.U32(id.index);
  }

  ByteWriter out;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : in(bytes) {}

  template <class T>
  T Record() {
    T record;
    Fields(record, [this](auto&... fields) { (Field(fields), ...); });
    return record;
  }
  template <class T>
  std::vector<T> Records() {
    std::vector<T> records(in.Count(sizeof(uint32_t)));
    for (T& record : records) record = Record<T>();
    return records;
  }
  std::vector<ExprId> Ids() {
    std::vector<ExprId> ids;
    for (const uint32_t index : in.Array<uint32_t>()) ids.push_back(ExprId{index});
    return ids;
  }

  ByteReader in;
  bool ok = true;

 private:
  void Field(uint32_t& field) { field = in.U32(); }
  void Field(uint16_t& field) { field = static_cast<uint16_t>(in.U32()); }
  void Field(bool& field) { field = in.U32() != 0; }
  void Field(ArgKind& field) { field = Enum(ArgKind::DoubleStar); }
  void Field(ParamKind& field) { field = Enum(ParamKind::DoubleStar); }
  template <class E>
  E Enum(E last) {
    const uint32_t value = in.U32();
    ok = ok && value <= static_cast<uint32_t>(last);
    return value <= static_cast<uint32_t>(last) ? static_cast<E>(value) : E{};
  }
};

// Names numbered from zero, in the order in which they are met.
std::vector<std::string_view> NumberNames(Module& module, const base::Interner& interner) {
  std::vector<std::string_view> texts;
  std::unordered_map<uint32_t, uint32_t> number_of;
  ForEachName(module, [&](uint32_t& index) {
    if (index == NameId::kNoneIndex) return;
    const auto [known, is_new] = number_of.try_emplace(index, static_cast<uint32_t>(texts.size()));
    if (is_new) texts.push_back(interner.View(NameId{index}));
    index = known->second;
  });
  return texts;
}

void WriteFunctions(Writer& writer, const Module& module) {
  writer.out.U32(static_cast<uint32_t>(module.functions.size()));
  for (const Function& function : module.functions) {
    writer.Record(function);
    writer.Records(function.params);
    writer.Ids(function.decorators);
  }
}

void WriteClasses(Writer& writer, const Module& module) {
  writer.out.U32(static_cast<uint32_t>(module.classes.size()));
  for (const Class& defined : module.classes) {
    writer.Record(defined);
    writer.Records(defined.bases);
    writer.Ids(defined.decorators);
  }
}

void ReadDefinitions(Reader& reader, Module* module) {
  for (uint32_t left = reader.in.Count(sizeof(uint32_t)); left > 0 && reader.in.ok(); --left) {
    Function& function = module->functions[module->functions.Add(reader.Record<Function>())];
    function.params = reader.Records<Param>();
    function.decorators = reader.Ids();
  }
  for (uint32_t left = reader.in.Count(sizeof(uint32_t)); left > 0 && reader.in.ok(); --left) {
    Class& defined = module->classes[module->classes.Add(reader.Record<Class>())];
    defined.bases = reader.Records<Arg>();
    defined.decorators = reader.Ids();
  }
}

void ReadProblems(Reader& reader, Module* module) {
  for (uint32_t left = reader.in.Count(sizeof(uint32_t)); left > 0 && reader.in.ok(); --left) {
    const ProblemKind kind = reader.in.U32() == 0 ? ProblemKind::Syntax : ProblemKind::Limit;
    const uint32_t begin = reader.in.U32();
    const uint32_t end = reader.in.U32();
    module->problems.push_back({.kind = kind, .text = std::string(reader.in.Text()), .begin = begin, .end = end});
  }
}

template <class IdType, class T>
void Fill(base::IdVector<IdType, T>& store, const std::vector<T>& items) {
  store.reserve(items.size());
  for (const T& item : items) store.Add(item);
}

bool HasKnownKinds(const Module& module) {
  for (const Expr& expr : module.exprs) {
    if (expr.kind > ExprKind::Opaque) return false;
  }
  for (const Stmt& stmt : module.stmts) {
    if (stmt.kind > StmtKind::Opaque) return false;
  }
  return true;
}

bool RenameAll(Module* module, const std::vector<NameId>& names) {
  bool ok = true;
  ForEachName(*module, [&](uint32_t& index) {
    if (index == NameId::kNoneIndex) return;
    ok = ok && index < names.size();
    index = ok ? names[index].index : 0;
  });
  return ok;
}

}  // namespace

std::string Serialize(Module module, const base::Interner& interner) {
  Writer writer;
  ByteWriter& out = writer.out;
  const std::vector<std::string_view> names = NumberNames(module, interner);
  out.Text(kMagic);
  out.U32(kSerializedVersion);
  out.U32(static_cast<uint32_t>(names.size()));
  for (const std::string_view name : names) out.Text(name);
  out.U32(static_cast<uint32_t>(module.language));
  out.Array(module.exprs.all());
  out.Array(module.stmts.all());
  out.Array(module.blocks.all());
  out.Array(std::span<const uint32_t>(module.words));
  out.Array(std::span<const StmtId>(module.block_stmts));
  WriteFunctions(writer, module);
  WriteClasses(writer, module);
  writer.Records(module.imports);
  writer.Records(module.clauses);
  writer.Records(module.handlers);
  writer.Records(module.with_items);
  writer.Records(module.cases);
  writer.Records(module.comments);
  out.U32(static_cast<uint32_t>(module.problems.size()));
  for (const Problem& problem : module.problems) {
    out.U32(static_cast<uint32_t>(problem.kind));
    out.U32(problem.begin);
    out.U32(problem.end);
    out.Text(problem.text);
  }
  return out.Finish();
}

base::Result<Module> Deserialize(std::string_view bytes, source::FileId file, size_t source_bytes,
                                 base::Interner& interner) {
  Reader reader(bytes);
  ByteReader& in = reader.in;
  if (in.Text() != kMagic || in.U32() != kSerializedVersion) {
    return base::Fail("these bytes are no program of this version of allranks");
  }
  std::vector<NameId> names;
  for (uint32_t left = in.Count(sizeof(uint32_t)); left > 0 && in.ok(); --left) names.push_back(interner.Intern(in.Text()));
  Module module;
  module.file = file;
  const uint32_t language = in.U32();
  module.language = static_cast<Language>(language);
  Fill(module.exprs, in.Array<Expr>());
  Fill(module.stmts, in.Array<Stmt>());
  Fill(module.blocks, in.Array<Block>());
  module.words = in.Array<uint32_t>();
  module.block_stmts = in.Array<StmtId>();
  ReadDefinitions(reader, &module);
  Fill(module.imports, reader.Records<Import>());
  module.clauses = reader.Records<Clause>();
  module.handlers = reader.Records<Handler>();
  module.with_items = reader.Records<WithItem>();
  module.cases = reader.Records<MatchCase>();
  module.comments = reader.Records<Comment>();
  ReadProblems(reader, &module);
  const bool whole = reader.ok && in.ok() && in.AtEnd() && language <= static_cast<uint32_t>(Language::Cpp);
  if (!whole || !HasKnownKinds(module)) return base::Fail("the bytes of the program are cut off or damaged");
  if (const std::vector<std::string> faults = Verify(module, source_bytes); !faults.empty()) {
    return base::Fail("the bytes of the program are damaged: " + faults[0]);
  }
  // Lists that overlap pass once; with other names in them they no longer do.
  if (!RenameAll(&module, names) || !Verify(module, source_bytes).empty()) {
    return base::Fail("the bytes of the program name what is not there");
  }
  return module;
}

}  // namespace allranks::ir
