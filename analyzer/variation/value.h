// Values as the analysis knows them: what a value is, along which axes it may differ between ranks, and, where
// known, the formula over coordinates that gives it on each rank.
//
// Values are hash-consed: equal values have equal ids. They are parametric: a function's values mention its
// parameters as `Param`, and a call substitutes the arguments.
#pragma once

#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/base/chunked_vector.h"
#include "analyzer/base/hash_index.h"
#include "analyzer/base/id.h"
#include "analyzer/base/interner.h"
#include "analyzer/binding/program.h"
#include "analyzer/ir/program.h"
#include "analyzer/knowledge/knowledge.h"
#include "analyzer/variation/substitutions.h"

namespace allranks::variation {

using base::NameId;
using binding::FuncId;
using knowledge::Axes;
using knowledge::Axis;
using knowledge::MarkId;

enum class ValueKind : uint8_t {
  Unknown,    // symbol: two unknowns of one symbol are the same value; kids: what it was derived from; derived_kind
  None,
  Bool,       // integer: 0 or 1
  Int,        // integer
  Float,      // name: its text
  Str,        // name: the text
  Coordinate, // coordinate; axis of AxisRank and AxisSize; kid: the group of GroupRank and GroupSize. A text of the environment
              // (kOfText) and Distributed: variable, whose text it is or which has to be set
  Param,      // function, param_index
  Unary,      // unary_op; Operand
  Binary,     // binary_op; Operands
  Compare,    // compare_op; Operands
  And,        // kids
  Or,         // kids
  Select,     // Arms
  Tuple,      // kids; also list and set displays and other sequences whose items are known; is_set: no order is known of them
  Dict,       // kids = key, value, key, value ...; dict_kind
  Module,     // module
  External,   // name: the qualified one of something outside the project, torch.distributed.all_reduce
  Function,   // function; kids[0] = bound receiver or none; kids[1 + i], if there, = what parameter i of the
              // enclosing function is, and behind those what the parameters of the function around that one are: a nested
              // function's values and trace mention them, and a call of this value substitutes them too
  Class,      // class_id
  Instance,   // class_id, origin: some object of a project class; kids = name, value, name, value ... of fields that it was
              // made with. is_same_object: the kid tells which object of the class it is
  Object,     // name: that of a knowledge class; site: where it is made, if that tells it from others; kids = wrapped values (the module inside a DDP wrapper), if known
  BoundExternal, // entry; Operand: the receiver of a known method looked up on an object
  Partial,    // kids[0] = callee, then bound positional arguments, then a Dict of those by name (DictKind::Keywords) if there are any.
              // is_generator: a generator object of function, which is the first kid; the others are its arguments by parameter
  Group,      // group_kind; axis of an AxisGroup; symbol: the site of a Created or Split one; kids[0] = ranks, if
              // known, then variables of loops that these mention, each with what it goes through; communicator: the class whose
              // methods it has
  Derived,    // symbol: an unknown but deterministic function of kids; derived_kind; kids decide axes
};

enum class GroupKind : uint8_t {
  World,
  AxisGroup,
  Created,
  Unknown,
  Split,  // kids = the group it was made of, color: one group for each value of that
  Self,   // of one process alone
};

// "the default group", "the tensor parallel group"; `axis`: of an AxisGroup.
std::string NameOfGroup(GroupKind kind, Axis axis);

// Flags of a value.
constexpr uint8_t kByNameOnly = 1;   // known from a name, not from what was assigned: at most "likely"
constexpr uint8_t kHasParam = 2;     // mentions a Param somewhere: substitution can change it
constexpr uint8_t kOfArguments = 8;  // an unknown that varies by what a known function was called with
constexpr uint8_t kOfSomeObject = 16; // the unknown that tells what one object keeps in a field from what another keeps
constexpr uint8_t kOneNode = 32;     // of a job on one node, started by the program itself
constexpr uint8_t kCounted = 64;     // a number of items or rounds: those of its kids that vary make it differ
constexpr uint8_t kOfText = 128;      // a coordinate that is still the text of a variable, or what is true if such a text is
constexpr uint8_t kReduced = 4;      // made uniform by a collective: a fact for messages, not for equality of ranks

// What a Derived is besides the result of an operation. Of an Unknown: Result, Made, Least or Most.
enum class DerivedKind : uint8_t {
  Result,
  Made,    // whether a thing is made already
  Member,  // a member of its kid
  Number,  // a variable of the environment that is read as a number
  Each,    // made by a comprehension: each of its items is the first kid, whichever round it is of
  Plain,   // a text put together (`f"rank {rank}"`): a number in it is printed as `str` prints it
  Field,   // a field of the first kid, which is an object with fields once it is known; until then the second, what any object of its class has
  Least,   // what ranks agreed on as the least of what each had
  Most,    // the same by another reduction, so that it is no less than that of most ranks
};

enum class DictKind : uint8_t {
  Items,
  Attributes,  // its items are the attributes of an object, made at the site of the symbol
  Places,      // the same, and they are also known by their places
  Keywords,    // its items are the keywords of a call, as `**options` gets them
};

enum class InstanceOrigin : uint8_t {
  Some,
  Super,  // `super()`
  Exact,  // made in sight: its class is no subclass of this one
};

// What a value is, without its kids. Each accessor is of the kinds that name it above. Of any other kind a name or the id of a
// definition is none; operations, coordinates, symbols and the like must not be asked for: whoever reads them has asked for the
// kind before, or asks for both at once (`is_compare(op)`, `is_derived(symbol)`).
class Value {
 public:
  Value() = default;
  static Value None() { return Value(ValueKind::None); }
  static Value Bool(bool value) { return Value(ValueKind::Bool, value ? 1 : 0); }
  static Value Int(int64_t value) {
    const auto bits = static_cast<uint64_t>(value);
    return Value(ValueKind::Int, static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32));
  }
  static Value Float(NameId text) { return Value(ValueKind::Float, text.index); }
  static Value Str(NameId text) { return Value(ValueKind::Str, text.index); }
  static Value Coordinate(knowledge::Coordinate coordinate, Axes axes, Axis axis = {}) {
    return Value(ValueKind::Coordinate, static_cast<uint32_t>(axis), 0, coordinate).With(axes);
  }
  // Whether a launcher set the variable.
  static Value IsLaunched(NameId variable) { return Value(ValueKind::Coordinate, 0, variable.index, knowledge::Coordinate::Distributed); }
  static Value Param(FuncId function, uint32_t index) { return Value(ValueKind::Param, function.index, index); }
  static Value Unary(ir::UnaryOp op) { return Value(ValueKind::Unary, 0, 0, op); }
  static Value Binary(ir::BinaryOp op) { return Value(ValueKind::Binary, 0, 0, op); }
  static Value Compare(ir::CompareOp op) { return Value(ValueKind::Compare, 0, 0, op); }
  // And, Or, Select.
  static Value Logical(ValueKind kind) { return Value(kind); }
  static Value Tuple(bool is_set = false) { return Value(ValueKind::Tuple, 0, 0, is_set); }
  static Value Dict(DictKind kind = DictKind::Items, uint32_t symbol = 0) { return Value(ValueKind::Dict, symbol, 0, kind); }
  static Value Module(ir::ModuleId module) { return Value(ValueKind::Module, module.index); }
  static Value External(NameId name) { return Value(ValueKind::External, name.index); }
  static Value Function(FuncId function) { return Value(ValueKind::Function, function.index); }
  static Value Class(binding::ClassId class_id) { return Value(ValueKind::Class, class_id.index); }
  static Value Instance(binding::ClassId class_id, InstanceOrigin origin = InstanceOrigin::Some) {
    return Value(ValueKind::Instance, class_id.index, static_cast<uint32_t>(origin));
  }
  static Value Object(NameId type, uint32_t site = 0) { return Value(ValueKind::Object, type.index, site); }
  static Value BoundExternal(knowledge::EntryId entry) { return Value(ValueKind::BoundExternal, entry.index); }
  static Value Partial() { return Value(ValueKind::Partial); }
  static Value Generator(FuncId function) { return Value(ValueKind::Partial, function.index, 0, true); }
  static Value Group(GroupKind kind, uint32_t site = 0) { return Value(ValueKind::Group, site, 0, kind); }
  static Value AxisGroup(Axis axis) { return Value(ValueKind::Group, static_cast<uint32_t>(axis), 0, GroupKind::AxisGroup); }
  static Value Unknown(uint32_t symbol, Axes axes = {}, uint8_t flags = 0, DerivedKind kind = DerivedKind::Result) {
    return Value(ValueKind::Unknown, symbol, 0, kind).With(axes, flags);
  }
  static Value Derived(uint32_t symbol, Axes axes = {}, uint8_t flags = 0, DerivedKind kind = DerivedKind::Result) {
    return Value(ValueKind::Derived, symbol, 0, kind).With(axes, flags);
  }

  // Of Bool and Int; none of others.
  std::optional<int64_t> integer() const {
    if (kind != ValueKind::Int && kind != ValueKind::Bool) return std::nullopt;
    return static_cast<int64_t>((uint64_t{b_} << 32) | a_);
  }
  // The same of an Int that counts something: not negative, and of 32 bits.
  std::optional<uint32_t> count() const { return kind == ValueKind::Int && b_ == 0 ? std::optional(a_) : std::nullopt; }
  NameId name() const { return Is({ValueKind::Float, ValueKind::Str, ValueKind::External, ValueKind::Object}) ? NameId{a_} : NameId::None(); }
  knowledge::Coordinate coordinate() const { return Op<knowledge::Coordinate>({ValueKind::Coordinate}); }
  NameId variable() const { return kind == ValueKind::Coordinate ? NameId{b_} : NameId::None(); }
  // Of a Coordinate and an AxisGroup.
  Axis axis() const {
    assert(kind == ValueKind::Coordinate || is_group(GroupKind::AxisGroup));
    return static_cast<Axis>(a_);
  }
  // Of Function, Param and a generator.
  FuncId function() const {
    const bool has_function = Is({ValueKind::Function, ValueKind::Param}) || is_generator();
    return has_function ? FuncId{a_} : FuncId::None();
  }
  uint32_t param_index() const {
    assert(kind == ValueKind::Param);
    return b_;
  }
  ir::UnaryOp unary_op() const { return Op<ir::UnaryOp>({ValueKind::Unary}); }
  ir::BinaryOp binary_op() const { return Op<ir::BinaryOp>({ValueKind::Binary}); }
  ir::CompareOp compare_op() const { return Op<ir::CompareOp>({ValueKind::Compare}); }
  bool is_unary(ir::UnaryOp op) const { return kind == ValueKind::Unary && unary_op() == op; }
  bool is_binary(ir::BinaryOp op) const { return kind == ValueKind::Binary && binary_op() == op; }
  bool is_compare(ir::CompareOp op) const { return kind == ValueKind::Compare && compare_op() == op; }
  bool is_not() const { return is_unary(ir::UnaryOp::Not); }
  // `==` and `!=`; `in` and `not in`.
  bool is_equality() const { return is_compare(ir::CompareOp::Eq) || is_compare(ir::CompareOp::NotEq); }
  bool is_membership() const { return is_compare(ir::CompareOp::In) || is_compare(ir::CompareOp::NotIn); }
  bool is_set() const { return kind == ValueKind::Tuple && op_ != 0; }
  DictKind dict_kind() const { return Op<DictKind>({ValueKind::Dict}); }
  bool is_dict(DictKind of) const { return kind == ValueKind::Dict && dict_kind() == of; }
  ir::ModuleId module() const { return kind == ValueKind::Module ? ir::ModuleId{a_} : ir::ModuleId::None(); }
  // Of Class and Instance.
  binding::ClassId class_id() const { return Is({ValueKind::Class, ValueKind::Instance}) ? binding::ClassId{a_} : binding::ClassId::None(); }
  InstanceOrigin origin() const {
    assert(kind == ValueKind::Instance);
    return static_cast<InstanceOrigin>(b_);
  }
  bool is_same_object() const { return kind == ValueKind::Instance && op_ != 0; }
  knowledge::EntryId entry() const { return kind == ValueKind::BoundExternal ? knowledge::EntryId{a_} : knowledge::EntryId::None(); }
  bool is_generator() const { return kind == ValueKind::Partial && op_ != 0; }
  GroupKind group_kind() const { return Op<GroupKind>({ValueKind::Group}); }
  // Of a Group: the class whose methods it has; none: the process group of torch.distributed.
  NameId communicator() const { return kind == ValueKind::Group && b_ != 0 ? NameId{b_ - 1} : NameId::None(); }
  Value AsCommunicator(NameId type) const {
    assert(kind == ValueKind::Group);
    Value value = *this;
    value.b_ = type.index + 1;
    return value;
  }
  bool is_group(GroupKind of) const { return kind == ValueKind::Group && group_kind() == of; }
  // Of Unknown, Derived, Dict and Group.
  uint32_t symbol() const {
    assert(Is({ValueKind::Unknown, ValueKind::Derived, ValueKind::Dict, ValueKind::Group}));
    return a_;
  }
  // Of Unknown and Derived.
  DerivedKind derived_kind() const { return Op<DerivedKind>({ValueKind::Unknown, ValueKind::Derived}); }
  bool is_derived(uint32_t symbol) const { return kind == ValueKind::Derived && a_ == symbol; }
  bool is_derived(DerivedKind of) const { return kind == ValueKind::Derived && derived_kind() == of; }

  // The same with further axes and flags.
  Value With(Axes further, uint8_t further_flags = 0) const {
    Value value = *this;
    value.axes = value.axes | further;
    value.flags |= further_flags;
    return value;
  }
  // The same of another kind of operation.
  Value Of(DerivedKind other) const {
    assert(Is({ValueKind::Unknown, ValueKind::Derived}));
    Value value = *this;
    value.op_ = static_cast<uint8_t>(other);
    return value;
  }
  // An object that is made at such a site.
  Value MadeAt(uint32_t site) const {
    assert(kind == ValueKind::Object);
    Value value = *this;
    value.b_ = site;
    return value;
  }
  uint32_t site() const {
    assert(kind == ValueKind::Object);
    return b_;
  }
  // Whether all but flags, axes, mark and kids are the same; without regard to where an object or instance comes from, too.
  bool IsAlike(const Value& other) const { return IsOfSameSort(other) && b_ == other.b_; }
  bool IsOfSameSort(const Value& other) const { return kind == other.kind && op_ == other.op_ && a_ == other.a_; }

  ValueKind kind = ValueKind::Unknown;

 private:
  uint8_t op_ = 0;

 public:
  uint8_t flags = 0;
  uint8_t kid_count = 0;
  Axes axes = {};
  MarkId mark = {};

 private:
  friend class ValueStore;
  template <class T = uint8_t>
  explicit Value(ValueKind of, uint32_t a = 0, uint32_t b = 0, T op = {}) : kind(of), op_(static_cast<uint8_t>(op)), a_(a), b_(b) {}
  bool Is(std::initializer_list<ValueKind> kinds) const {
    for (const ValueKind each : kinds) {
      if (each == kind) return true;
    }
    return false;
  }
  template <class T>
  T Op([[maybe_unused]] std::initializer_list<ValueKind> of) const {
    assert(Is(of));
    return static_cast<T>(op_);
  }

  uint32_t a_ = 0;
  uint32_t b_ = 0;
  uint32_t kids_ = 0;  // start in the store's list
};
static_assert(sizeof(Value) == 24);

// The kids by what they are. Of a Binary and a Compare:
struct Operands {
  ValueId left;
  ValueId right;
};
// Of a Select:
struct Arms {
  ValueId condition;
  ValueId then_value;
  ValueId else_value;
};
// Of a Partial that is no generator; `keywords`: a Dict, or none.
struct PartialCall {
  ValueId callee;
  std::span<const ValueId> arguments;
  ValueId keywords;
};
// Of a generator:
struct GeneratorCall {
  ValueId callee;
  std::span<const ValueId> bound;  // by parameter
};
// Of a Derived of DerivedKind::Field:
struct FieldRead {
  ValueId object;
  ValueId usual;
};
// Of a Group of GroupKind::Split:
struct SplitParts {
  ValueId parent;
  ValueId color;
};
// Of a Dict, and the fields of an Instance that is known by them. A key of None: all of another dictionary.
struct Item {
  ValueId key;
  ValueId value;
};
class Items {
 public:
  explicit Items(std::span<const ValueId> kids) : kids_(kids) { assert(kids.size() % 2 == 0); }
  class Iterator {
   public:
    explicit Iterator(const ValueId* at) : at_(at) {}
    Item operator*() const { return {at_[0], at_[1]}; }
    Iterator& operator++() {
      at_ += 2;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const ValueId* at_;
  };
  Iterator begin() const { return Iterator(kids_.data()); }
  Iterator end() const { return Iterator(kids_.data() + kids_.size()); }
  size_t size() const { return kids_.size() / 2; }
  bool empty() const { return kids_.empty(); }
  Item operator[](size_t i) const { return {kids_[2 * i], kids_[2 * i + 1]}; }
  // Where a key is; the number of items if it is nowhere.
  size_t PlaceOf(ValueId key) const {
    size_t place = 0;
    while (place < size() && kids_[2 * place] != key) ++place;
    return place;
  }

 private:
  std::span<const ValueId> kids_;
};

// Objects keep being what they are through a loop; numbers and tensors do not.
constexpr bool IsObjectLike(ValueKind kind) {
  switch (kind) {
    case ValueKind::Module:
    case ValueKind::External:
    case ValueKind::Function:
    case ValueKind::Class:
    case ValueKind::Instance:
    case ValueKind::Object:
    case ValueKind::BoundExternal:
    case ValueKind::Partial:
    case ValueKind::Group:
      return true;
    default:
      return false;
  }
}

// Whether a value is the rank, the number of ranks, the rank within its node ...; of which group or along which axis is not asked.
inline bool IsCoordinate(const Value& value, knowledge::Coordinate coordinate) {
  return value.kind == ValueKind::Coordinate && value.coordinate() == coordinate;
}

// `os.environ["RANK"]`, not `int(...)` of it.
inline bool IsText(const Value& value) { return value.kind == ValueKind::Coordinate && (value.flags & kOfText) != 0; }

// Append-only store, filled by one thread while the program is analysed.
class ValueStore {
 public:
  ValueStore();
  // Values and lists of kids never move.
  const Value& operator[](ValueId id) const { return values_[id.index]; }
  std::span<const ValueId> Kids(ValueId id) const {
    const Value& value = values_[id.index];
    return kids_.Run(value.kids_, value.kid_count);
  }
  size_t size() const { return depths_.size(); }
  // The kids by what they are: each of the kinds of value that have such.
  ValueId OperandOf(ValueId id) const {
    assert((*this)[id].kind == ValueKind::Unary);
    return Kids(id)[0];
  }
  Operands OperandsOf(ValueId id) const {
    assert((*this)[id].kind == ValueKind::Binary || (*this)[id].kind == ValueKind::Compare);
    const auto kids = Kids(id);
    return {kids[0], kids[1]};
  }
  Arms ArmsOf(ValueId id) const {
    assert((*this)[id].kind == ValueKind::Select);
    const auto kids = Kids(id);
    return {kids[0], kids[1], kids[2]};
  }
  Items ItemsOf(ValueId id) const {
    assert((*this)[id].kind == ValueKind::Dict || ((*this)[id].kind == ValueKind::Instance && !(*this)[id].is_same_object()));
    return Items(Kids(id));
  }
  // What a method is bound to; none of a function that is bound to nothing.
  ValueId ReceiverOf(ValueId id) const {
    assert((*this)[id].kind == ValueKind::Function || (*this)[id].kind == ValueKind::BoundExternal);
    return FirstOf(id);
  }
  PartialCall PartialOf(ValueId id) const;
  GeneratorCall GeneratorOf(ValueId id) const {
    assert((*this)[id].is_generator());
    return {Kids(id)[0], Kids(id).subspan(1)};
  }
  FieldRead FieldOf(ValueId id) const {
    assert((*this)[id].is_derived(DerivedKind::Field));
    return {Kids(id)[0], Kids(id)[1]};
  }
  // Which object of its class an Instance is (`is_same_object`).
  ValueId MeantBy(ValueId id) const {
    assert((*this)[id].is_same_object());
    return Kids(id)[0];
  }
  // The ranks that a Created group is made of; none if they are not known.
  ValueId RanksOf(ValueId id) const {
    assert((*this)[id].is_group(GroupKind::Created));
    return FirstOf(id);
  }
  SplitParts SplitOf(ValueId id) const {
    assert((*this)[id].is_group(GroupKind::Split));
    return {Kids(id)[0], Kids(id)[1]};
  }

  // The general constructor; `axes` is joined with those of the kids where the kind says so. More than 255 kids
  // give an Unknown derived from none. The named ones below should be preferred.
  ValueId Make(Value value, std::span<const ValueId> kids);

  ValueId NoneValue() const { return none_; }
  ValueId True() const { return true_; }
  ValueId False() const { return false_; }
  ValueId Bool(bool value) const { return value ? true_ : false_; }
  ValueId Int(int64_t value);
  ValueId Str(NameId text);
  // `group`: of GroupRank and GroupSize. Those of the default group and of an axis have names of their own.
  ValueId Coordinate(knowledge::Coordinate coordinate, Axis axis = {}, ValueId group = {});
  ValueId Param(FuncId function, uint32_t index);
  // A value of its own, nothing known but axes: equal to itself only.
  ValueId Fresh(Axes axes, uint8_t flags = 0);
  // The unknown of a stable name, so that two reads of `args.debug` decide alike.
  ValueId Symbol(uint32_t symbol, Axes axes, uint8_t flags = 0);
  ValueId Derived(uint32_t symbol, std::span<const ValueId> kids, Axes own_axes = {});
  // `object.name` of an object that is not known: of a choice between two, a choice between the members of both;
  // None has none.
  ValueId UnknownMember(uint32_t symbol, ValueId object);
  // An object with such fields (name, value, name, value ...). Those of objects in its fields are kept, and of none further in.
  ValueId WithFields(Value instance, std::span<const ValueId> fields);
  // Such an object, which is whatever `meant` is.
  ValueId SameObject(Value instance, ValueId meant);
  // The same without what tells it from other objects of its class; any other value as it is.
  ValueId SomeObject(ValueId object);
  // A field of `object` (`symbol`: of its name); `usual`: what any object of its class has there.
  ValueId Field(uint32_t symbol, ValueId object, ValueId usual);
  // What an object was made with for a field; none if that is not known.
  ValueId KnownField(ValueId object, NameId name) const;
  ValueId Counted(uint32_t symbol, std::span<const ValueId> decided_by, Axes own_axes = {});
  // These fold constants: Not(Not(x)), comparisons of two numbers, `And` with a false, Select on a constant.
  ValueId Not(ValueId value);
  ValueId Unary(ir::UnaryOp op, ValueId value);
  ValueId Binary(ir::BinaryOp op, ValueId left, ValueId right);
  ValueId Compare(ir::CompareOp op, ValueId left, ValueId right);
  ValueId And(std::span<const ValueId> kids);
  ValueId Or(std::span<const ValueId> kids);
  ValueId Select(ValueId condition, ValueId then_value, ValueId else_value);
  // A choice between what `of_arm` makes of one arm of a Select and of the other; none if it makes nothing of one of them.
  template <class Make>
  ValueId OfArms(ValueId select, Make of_arm) {
    const Arms arms = ArmsOf(select);
    const ValueId then_value = of_arm(arms.then_value);
    const ValueId else_value = then_value ? of_arm(arms.else_value) : ValueId();
    return else_value ? Select(arms.condition, then_value, else_value) : ValueId();
  }
  ValueId Tuple(std::span<const ValueId> kids);
  ValueId World();
  ValueId AxisGroup(Axis axis);

  // Operations whose result is known where their operands are, so that substitution evaluates them anew.
  // The variable of the environment that `key` names.
  ValueId Environment(ValueId key);
  // Whether `part` is `whole` or stands somewhere in it.
  bool Mentions(ValueId whole, ValueId part) const;
  // `int(os.environ["RANK"])`: the number that a text of the environment stands for; any other value as it is.
  ValueId NumberOf(ValueId text);
  // A value as a condition: a text of the environment is true if a launcher set it, "0" too.
  ValueId AsCondition(ValueId value);
  // The item of a sequence that a loop is at; `round`: a uniform unknown of the loop.
  ValueId Element(ValueId sequence, ValueId round);
  // `container[index]`; none if it is not known.
  ValueId KnownItem(ValueId container, ValueId index) const;
  // Whether a dictionary has a key: the keywords of one call are all that `**options` has.
  std::optional<bool> HasKey(ValueId dictionary, ValueId key) const;
  // `container.get(key, usual)`, `container.pop(key, usual)`; none if it is not known.
  ValueId KnownItemOr(ValueId container, ValueId key, ValueId usual) const;
  // `object.name` of one that is known by its attributes; none of anything else.
  ValueId KnownAttribute(ValueId object, NameId name) const;

  // The same value with further axes / with a mark. The one that a collective left: `symbol`, without the axes it lost.
  ValueId WithAxes(ValueId value, Axes axes);
  ValueId WithMark(ValueId value, MarkId mark);
  // `bound`: what it is of what the ranks had before, if that is known.
  ValueId Uniform(ValueId value, Axes lost, uint32_t symbol, DerivedKind bound = DerivedKind::Result);

  uint32_t NewSymbol() { return next_symbol_++; }
  // `symbol` is an operation that takes sequences apart or puts them together: slices, items, `len`.
  void SetStructural(uint32_t symbol) { structural_.insert(symbol); }
  // `mark` speaks of a tensor's shape, which only what is listed keeps.
  void SetShapeMark(MarkId mark) { shape_mark_ = mark; }
  bool HasShapeMark(ValueId value) const { return shape_mark_ && (*this)[value].mark == shape_mark_; }
  void SetKeepsShape(uint32_t symbol) { keeps_shape_.insert(symbol); }
  // `symbol` is an operation whose result is the same on all ranks, whatever it works on: the class of an object.
  void SetUniform(uint32_t symbol) { uniform_.insert(symbol); }
  bool IsUniformOperation(uint32_t symbol) const { return uniform_.contains(symbol); }
  // A new tensor, filled alike on all ranks: kids = a tuple of its sizes, the type of its elements or none.
  ValueId NewTensor(uint32_t symbol, ValueId sizes, ValueId type);
  bool IsNewTensor(ValueId id) const {
    return values_[id.index].kind == ValueKind::Derived && tensors_.contains(values_[id.index].symbol());
  }
  // The same tensors with elements of another type.
  ValueId OfType(ValueId id, ValueId type);
  // The operation that `symbol` stands for, by the name of the function, method or attribute; none of other symbols.
  void SetOperation(uint32_t symbol, NameId name) { operations_.emplace(symbol, name); }
  NameId OperationOf(uint32_t symbol) const {
    const auto known = operations_.find(symbol);
    return known == operations_.end() ? NameId::None() : known->second;
  }
  NameId OperationOf(const Value& value) const {
    return value.kind == ValueKind::Derived || value.kind == ValueKind::Unknown ? OperationOf(value.symbol()) : NameId::None();
  }
  // That of a Derived alone, which is what the operation makes of its kids.
  NameId DerivedBy(const Value& value) const { return value.kind == ValueKind::Derived ? OperationOf(value.symbol()) : NameId::None(); }
  NameId DerivedBy(ValueId id) const { return DerivedBy((*this)[id]); }
  // `symbol` is an unknown that is one value on all ranks, as they run one command: `__name__`.
  ValueId OneOfCommand(uint32_t symbol) {
    of_command_.insert(symbol);
    return Symbol(symbol, {});
  }
  bool IsOfCommand(ValueId id) const {
    return values_[id.index].kind == ValueKind::Unknown && of_command_.contains(values_[id.index].symbol());
  }
  // `symbol` is the operation that asks whether a module is in training mode.
  void SetMode(uint32_t symbol) { modes_.insert(symbol); }
  bool IsMode(ValueId id) const {
    return values_[id.index].kind == ValueKind::Derived && modes_.contains(values_[id.index].symbol());
  }
  // The symbols of the operations above, and of `get` and `pop` of a dictionary; `names`: in which the texts of values stand.
  struct Operations {
    uint32_t environment, element, item, get, pop;
  };
  void SetOperations(const Operations& operations, base::Interner& names);
  // `text`: the operation that prints a value, `parts`: the one that puts a text together of several.
  void SetTexts(uint32_t text, uint32_t parts) {
    text_ = text;
    parts_ = parts;
  }
  // A number on each rank: a coordinate, or what is calculated of such.
  bool IsWholeNumber(ValueId value) const;
  // True or false and nothing else: a comparison, or what is put together of such.
  bool IsTruth(ValueId value) const;
  // `str(number)`, if the number is known.
  ValueId PrintedNumber(ValueId number);
  // `value`: the number that the text of the variable stands for.
  void SetVariable(NameId variable, ValueId value);
  // `length` is the operation that counts the items of a container. `rounds` does for a loop over it: how many items there are
  // in what was computed from a batch is the same on all ranks, unless its shape is known to differ.
  void SetLength(uint32_t length, uint32_t rounds) {
    length_ = length;
    rounds_ = rounds;
  }
  // `key` is the operation that takes a key out of a mapping. Under which names a function files what it computes from a batch is
  // said by its code; the keys of what is `built` item by item are seen.
  void SetKey(uint32_t key, std::initializer_list<uint32_t> built) {
    key_ = key;
    built_ = built;
  }
  // Whether a number was agreed on before: what cuts a sequence that differs is then the least of its lengths, unless it came about as
  // another one.
  bool IsAgreed(ValueId number) const;
  // How long `items + filling` is on all ranks, where the filling makes up for what a rank has less than the most; else none.
  ValueId FilledUpTo(ValueId items, ValueId filling) const;
  bool IsLength(uint32_t symbol) const { return symbol == length_ || symbol == rounds_; }
  bool IsStructural(uint32_t symbol) const { return structural_.contains(symbol); }

  // The value that is likely to be made next, none if unknown: one look at it saves the search. Returns the one
  // expected before.
  ValueId Expect(ValueId value) { return std::exchange(expected_, value); }

  Axes axes(ValueId id) const { return values_[id.index].axes; }
  bool has_param(ValueId id) const { return (values_[id.index].flags & kHasParam) != 0; }
  bool by_name_only(ValueId id) const { return (values_[id.index].flags & kByNameOnly) != 0; }

  // The value with each `Param(function, i)` replaced by arguments[i] (none: left as it is). `memo` belongs to one
  // (function, arguments).
  using Memo = Substitutions::OfCall;
  ValueId Substitute(ValueId value, FuncId function, std::span<const ValueId> arguments, Memo& memo);
  // A condition as its function asks it (`open`) and as it is seen from outside, where each parameter is what all callers pass: on a
  // way through that function both come out the same. What an earlier round saw from outside is forgotten: it did not know all callers.
  void NoteClosed(ValueId closed, ValueId open);
  void ForgetClosed() { open_.clear(); }
  // The one condition that was seen so from outside; none if there are several.
  ValueId OpenOf(ValueId closed) const {
    const auto known = open_.find(closed.index);
    return known == open_.end() ? ValueId::None() : known->second;
  }

  // What the loop goes through that makes groups of lists of ranks, each as it stands: `for ranks in lists: new_group(ranks)`. None of any
  // other group that is made.
  ValueId ListsOfGroups(ValueId group) const;

  // "rank == 0", "args.debug", "len(batch)": for messages and goldens.
  std::string Print(ValueId id, const binding::Program& program, const knowledge::Knowledge& knowledge) const;

 private:
  static uint64_t Hash(const Value& value, std::span<const ValueId> kids);
  ValueId ValueNamed(const Items& items, NameId name) const;
  ValueId FirstOf(ValueId id) const { return Kids(id).empty() ? ValueId::None() : Kids(id)[0]; }
  ValueId MakeMarked(Value value, MarkId mark, std::span<const ValueId> kids);
  // Of an Instance: without what tells which object it is.
  static Value PlainInstance(const Value& value);
  // Least, Most or, where that is not known, Result; none of what was not agreed on.
  std::optional<DerivedKind> AgreedAs(ValueId number, int depth = 0) const;
  // Symbols below this are taken by the store itself.
  static constexpr uint32_t kTooDeepSymbol = 1;
  static constexpr uint32_t kVariesSymbol = 2;

  ValueId Shortened(const Value& value, std::span<const ValueId> kids);
  ValueId LengthOfFilledUp(const Value& value, std::span<const ValueId> kids) const;
  ValueId Intern(const Value& value, std::span<const ValueId> kids, uint8_t depth);
  ValueId OfGroup(knowledge::Coordinate coordinate, ValueId group);
  MarkId MarkOf(uint32_t symbol, std::span<const ValueId> kids) const;
  MarkId MarkOfEither(MarkId a, MarkId b) const;
  Axes LostBy(uint32_t symbol) const;
  bool IsKeyOfUnseen(const Value& value, const Value& mapping) const;
  ValueId AskedForPresence(const Value& value, std::span<const ValueId> kids) const;
  Axes AxesOfPresence(ValueId id, Axes axes) const;
  std::optional<bool> InJob(ValueId condition) const;
  // What `holds` of `condition` says of the truth of `other`, and the arm that a choice has then.
  std::optional<bool> Decides(ValueId condition, bool holds, ValueId other) const;
  ValueId Under(ValueId condition, bool holds, ValueId arm) const;
  ValueId Connective(ValueKind kind, std::span<const ValueId> kids);
  ValueId Rebuild(Value value, std::span<const ValueId> kids);
  ValueId RebuildDerived(Value value, std::span<const ValueId> kids);
  ValueId RebuildInstance(Value value, std::span<const ValueId> kids);
  ValueId CompareChosen(ir::CompareOp op, ValueId left, ValueId right);
  ValueId CompareTexts(ir::CompareOp op, ValueId left, ValueId right);
  ValueId IsAmongTexts(ir::CompareOp op, ValueId number, ValueId container);
  // A text that holds one number, and what stands around it.
  struct NumberText {
    std::string_view before;
    ValueId number;
    std::string_view after;
  };
  std::optional<NumberText> NumberIn(ValueId text) const;
  std::optional<int64_t> NumberPrinted(const NumberText& in, ValueId text) const;
  ValueId ComparePrinted(ir::CompareOp op, ValueId left, ValueId right);
  ValueId CompareMembership(ir::CompareOp op, ValueId group, ValueId nobody);
  ValueId IsInEnvironment(ir::CompareOp op, ValueId key, ValueId container);
  ValueId IsLaunched(NameId variable);
  ValueId ItemOfRank(ValueId dictionary, ValueId key, ValueId usual);
  std::string_view Text(ValueId value) const { return names_->View(values_[value.index].name()); }

  base::ChunkedVector<Value> values_;
  std::vector<uint8_t> depths_;
  std::vector<ParamSet> params_;  // those that a value mentions, of whichever function
  base::ChunkedVector<ValueId> kids_;
  base::HashIndex index_;
  std::unordered_map<uint32_t, NameId> operations_;
  std::unordered_set<uint32_t> structural_;
  std::unordered_set<uint32_t> uniform_;
  std::unordered_set<uint32_t> tensors_;
  std::unordered_set<uint32_t> keeps_shape_;
  std::unordered_set<uint32_t> modes_;
  std::unordered_set<uint32_t> of_command_;
  uint32_t length_ = 0;
  uint32_t rounds_ = 0;
  uint32_t key_ = 0;
  std::vector<uint32_t> built_;
  uint32_t environment_ = 0;
  uint32_t element_ = 0;
  uint32_t which_ = 0;
  uint32_t item_ = 0;
  uint32_t get_ = 0;
  uint32_t pop_ = 0;
  uint32_t text_ = 0;
  uint32_t parts_ = 0;
  base::Interner* names_ = nullptr;
  std::unordered_map<NameId, ValueId> variables_;   // of the environment
  std::unordered_map<uint32_t, ValueId> open_;      // by closed condition; none: there are several
  MarkId shape_mark_;
  ValueId expected_;
  Substitutions substitutions_;
  std::vector<ValueId> substituted_;  // kids of the values around the one that is being substituted
  uint32_t next_symbol_ = 16;
  ValueId none_, true_, false_;
};

bool IsConstant(const Value& value);

}  // namespace allranks::variation
