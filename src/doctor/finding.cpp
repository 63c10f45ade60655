// SPDX-License-Identifier: LGPL-2.1-or-later
#include "doctor/finding.hpp"

#include "base/enum_names.hpp"
#include "base/escape.hpp"

namespace pinfold::doctor {

namespace {

constexpr auto kNames = enumNames<FindingState>({
    {FindingState::Ok, "ok"},
    {FindingState::Warn, "warn"},
    {FindingState::Fail, "fail"},
});

} // namespace

std::string_view toString(FindingState state) { return kNames[state]; }

void Findings::add(FindingState state, std::string id, const std::string& found, const std::string& remedy,
                   const std::string& where) {
    list_.push_back({std::move(id), state, printable(found), printable(remedy), printable(where)});
}

} // namespace pinfold::doctor
