// What the first parameter of a method is: the object, its class, or an ordinary argument.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/binding/program.h"

namespace allranks::binding {

enum class ReceiverKind : uint8_t { None, Instance, Class };

ReceiverKind ReceiverOf(const Program& program, FuncId function);
// Whether a call of a method hands it its first parameter by itself.
inline bool HasReceiver(const Program& program, FuncId function) { return ReceiverOf(program, function) != ReceiverKind::None; }

// "staticmethod" of `@staticmethod`, "abstractmethod" of `@abc.abstractmethod`; empty: it is more than a name.
std::string_view DecoratorName(const Program& program, ir::ModuleId module, ir::ExprId decorator);

}  // namespace allranks::binding
