// toml++ compiled once, instead of in every file that includes it.
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
