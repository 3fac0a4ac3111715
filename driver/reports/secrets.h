// Values that a report must not repeat: `WANDB_API_KEY=...`, `--hf_token ...`, `password: ...`, `wandb.login(key="...")`.
//
// A secret is told by the name in front of it, or by its own form: keys of services begin in their own ways, a URL has its password
// in a place of its own. What is taken for one that is none is shown as stars, no more.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace allranks::reports {

// In code a value is a text in quotes; elsewhere words stand for themselves.
enum class TextOf : uint8_t { Settings, Code };

// The text with a star for each byte of such a value, so that places in it stay what they are. A value that another
// variable holds (`$TOKEN`) is shown, and so is one that only says yes or no.
std::string WithoutSecrets(std::string_view text, TextOf kind = TextOf::Settings);

// The secrets of several texts. A message may name a value without its name.
class Secrets {
 public:
  void AddFrom(std::string_view text, TextOf kind);
  // Stars where one of them stands as a word of its own, and for what the text itself shows to be one.
  std::string Hidden(std::string_view text, TextOf kind) const;

 private:
  std::set<std::string, std::less<>> values_;
};

}  // namespace allranks::reports
