// toml++ compiled once, instead of in every file that includes it.
//
// Its parser asserts what a malformed file can break (`x = [}`, `[#`): that ends the program, or is undefined where
// assertions are off. The files come from whoever wrote the project, so here an assertion that fails is a parse
// error, without a place.
#undef NDEBUG

namespace allranks {
[[noreturn]] void RefuseToml();
}  // namespace allranks

#define TOML_ASSERT(expr) ((expr) ? void() : ::allranks::RefuseToml())
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>

namespace allranks {

void RefuseToml() { throw toml::parse_error("a character that does not belong there", toml::source_region{}); }

}  // namespace allranks
