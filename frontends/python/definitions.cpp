// Functions, lambdas, classes, their decorators and parameters.
#include <utility>

#include "frontends/python/lowering.h"

namespace allranks::python {

StmtId Lowering::Decorated() {
  const Range range = this->range();
  std::vector<ExprId> decorators;
  StmtId result;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::Decorator) decorators.push_back(OnlyChild());
    if (child == Kind::FunctionDefinition) result = FunctionDefinition(range, std::move(decorators));
    if (child == Kind::ClassDefinition) result = ClassDefinition(range, std::move(decorators));
  });
  return result ? result : builder_.OpaqueStmt(range, decorators);
}

StmtId Lowering::FunctionDefinition(Range range, std::vector<ExprId> decorators) {
  ir::Function head = {.parent = scope_.function, .owner = scope_.owner, .decorators = std::move(decorators)};
  head.begin = range.begin;
  head.end = range.end;
  ir::FunctionId id;
  const Scope outer = scope_;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::AsyncToken) head.flags |= ir::kAsync;
    if (child == Kind::Identifier && !head.name) {
      head.name = NameHere();
      head.name_begin = cursor_->begin();
      head.name_end = cursor_->end();
    }
    if (child == Kind::Parameters) head.params = Parameters();
    if (child == Kind::Type) head.returns_annotation = Expression();
    if (child == Kind::Block && !id) {
      if (!head.name) head.name = interner_.Intern("");
      id = builder_.StartFunction(std::move(head));
      scope_ = {.function = id};
      const BlockId body = Block();
      builder_.EditFunction(id).body = body;
      builder_.EditFunction(id).is_generator = scope_.has_yield;
    }
  });
  scope_ = outer;
  if (!id) {
    if (!head.name) head.name = interner_.Intern("");
    head.body = builder_.Block({});
    id = builder_.StartFunction(std::move(head));
  }
  return builder_.FunctionDef(range, id);
}

StmtId Lowering::ClassDefinition(Range range, std::vector<ExprId> decorators) {
  ir::Class head = {.parent = scope_.function, .owner = scope_.owner, .decorators = std::move(decorators)};
  head.begin = range.begin;
  head.end = range.end;
  ir::ClassId id;
  const ir::ClassId outer = scope_.owner;
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::Identifier && !head.name) {
      head.name = NameHere();
      head.name_begin = cursor_->begin();
      head.name_end = cursor_->end();
    }
    if (child == Kind::ArgumentList) {
      Scratch<ir::Arg> args(&arg_store_);
      ArgumentList(&args);
      head.bases.assign(args.items().begin(), args.items().end());
    }
    if (child == Kind::Block && !id) {
      if (!head.name) head.name = interner_.Intern("");
      id = builder_.StartClass(std::move(head));
      scope_.owner = id;
      const BlockId body = Block();
      builder_.EditClass(id).body = body;
    }
  });
  scope_.owner = outer;
  if (!id) {
    if (!head.name) head.name = interner_.Intern("");
    head.body = builder_.Block({});
    id = builder_.StartClass(std::move(head));
  }
  return builder_.ClassDef(range, id);
}

std::vector<ir::Param> Lowering::Parameters() {
  std::vector<ir::Param> params;
  ir::ParamKind kind_now = ir::ParamKind::Normal;
  cursor_->ForEachChild([&](Kind) { Parameter(&kind_now, &params); });
  return params;
}

// Adds the parameter, or learns from a separator what kind the others have.
void Lowering::Parameter(ir::ParamKind* kind_now, std::vector<ir::Param>* params) {
  switch (kind()) {
    case Kind::PositionalSeparator:
      for (ir::Param& param : *params) param.kind = ir::ParamKind::PositionalOnly;
      return;
    case Kind::KeywordSeparator:
      *kind_now = ir::ParamKind::KeywordOnly;
      return;
    case Kind::Identifier:
    case Kind::TypedParameter:
    case Kind::DefaultParameter:
    case Kind::TypedDefaultParameter:
    case Kind::ListSplatPattern:
    case Kind::DictionarySplatPattern:
    case Kind::TuplePattern:
      break;
    default:
      return;
  }
  ir::Param param = OneParameter();
  if (param.kind == ir::ParamKind::Star) {
    *kind_now = ir::ParamKind::KeywordOnly;
  } else if (param.kind == ir::ParamKind::Normal) {
    param.kind = *kind_now;
  }
  params->push_back(param);
}

ir::Param Lowering::OneParameter() {
  ir::Param param = {.begin = cursor_->begin(), .end = cursor_->end()};
  const auto read_name = [&](Kind here) {
    if (here == Kind::ListSplatPattern) param.kind = ir::ParamKind::Star;
    if (here == Kind::DictionarySplatPattern) param.kind = ir::ParamKind::DoubleStar;
    if (here == Kind::Identifier && !param.name) param.name = NameHere();
  };
  if (kind() == Kind::Identifier) {
    read_name(kind());
    return param;
  }
  if (kind() == Kind::ListSplatPattern || kind() == Kind::DictionarySplatPattern) {
    read_name(kind());
    cursor_->ForEachChild(read_name);
  } else {
    bool after_equals = false;
    cursor_->ForEachChild([&](Kind child) {
      if (child == Kind::EqualsToken) after_equals = true;
      if (child == Kind::Type) {
        param.annotation = Expression();
      } else if (after_equals && IsExpression(child) && !param.default_value) {
        param.default_value = Expression();
      } else if (child == Kind::ListSplatPattern || child == Kind::DictionarySplatPattern) {
        read_name(child);
        cursor_->ForEachChild(read_name);
      } else {
        read_name(child);
      }
    });
  }
  // `def f((a, b))` of Python 2.
  if (!param.name) param.name = interner_.Intern("");
  return param;
}

ExprId Lowering::Lambda() {
  const Range range = this->range();
  ir::Function head = {.parent = scope_.function, .owner = {}, .params = {}};
  head.begin = range.begin;
  head.end = range.end;
  ir::FunctionId id;
  const Scope outer = scope_;
  // The return statement inside is one more level.
  const Deeper deeper(this);
  cursor_->ForEachChild([&](Kind child) {
    if (child == Kind::LambdaParameters) head.params = Parameters();
    if (!IsExpression(child) || id) return;
    id = builder_.StartFunction(std::move(head));
    scope_ = {.function = id};
    const Range body_range = this->range();
    const ExprId value = Expression();
    const StmtId body[] = {builder_.Return(body_range, value)};
    builder_.EditFunction(id).body = builder_.Block(body);
    builder_.EditFunction(id).is_generator = scope_.has_yield;
  });
  scope_ = outer;
  if (!id) {
    head.body = builder_.Block({});
    id = builder_.StartFunction(std::move(head));
  }
  return builder_.Lambda(range, id);
}

}  // namespace allranks::python
