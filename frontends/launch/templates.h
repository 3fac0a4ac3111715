// Places of a text that somebody fills in before it is used.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/launch/word.h"

namespace allranks::launch_files {

// `{{ x }}`, `{% if %}`, `${{ x }}`, `<YOUR_HOST>` and `=[number of nodes]` become unknown parts.
launch::Word WithoutTemplates(const launch::Word& text);

// Where such places stand: each from a byte to the one behind it.
std::vector<std::pair<size_t, size_t>> TemplatesIn(std::string_view text);

// The same in JSON, with bare words in capitals, which a script replaces: `"train_batch_size": BATCH_SIZE`.
std::vector<std::pair<size_t, size_t>> TemplatesInJson(std::string_view text);

// `NUM_GPUS`, `{n_gpu}`, `[N_GPUS]` and `...` for a number on a page: whoever reads it writes one there. `\${N}` is for another shell.
bool IsForReaders(std::string_view text);

}  // namespace allranks::launch_files
