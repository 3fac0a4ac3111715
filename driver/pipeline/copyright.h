// Who holds the copyright, as a licence says it.
//
// `Copyright (c) 2020-present, Jane Doe and contributors` names a holder by a year or a `(c)` beside it; the text of a licence
// and its templates (`[name of copyright owner]`) do not. Holders are compared by the words of their names, without those
// that any firm or group may use. Not sound: two firms that share a word are taken for one, so what is said of different
// holders errs towards the same.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace allranks::pipeline {

// The words of the names, in lower case. Empty: none is named.
std::set<std::string> CopyrightHolders(std::string_view licence);

// `LICENSE`, `LICENCE.md`, `COPYING`
bool IsLicenceName(std::string_view name);

}  // namespace allranks::pipeline
