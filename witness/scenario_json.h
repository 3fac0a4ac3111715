#pragma once

#include "witness/json.h"
#include "witness/json_reader.h"

namespace allranks::witness {

// "device-ordinal", ...: the names of the alternatives of Scenario, in its order; empty for none.
std::string_view ScenarioName(const Scenario& scenario);

void ReadScenario(JsonReader& reader, const Json& value, const Bounds& bounds, Scenario& out);
Json ScenarioJson(const Scenario& scenario);

// What makes the scenario meaningless in a world of so many ranks; empty if it is fine.
std::string CheckScenario(const Scenario& scenario, uint32_t world);

}  // namespace allranks::witness
