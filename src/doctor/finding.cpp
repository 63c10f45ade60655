// SPDX-License-Identifier: LGPL-2.1-or-later
#include "doctor/finding.hpp"

#include "base/escape.hpp"

namespace pinfold::doctor {

std::string_view toString(FindingState state) {
    switch (state) {
    case FindingState::Ok:
        return "ok";
    case FindingState::Warn:
        return "warn";
    case FindingState::Fail:
        break;
    }
    return "fail";
}

void Findings::add(FindingState state, std::string id, const std::string& found, const std::string& remedy,
                   const std::string& where) {
    list_.push_back({std::move(id), state, printable(found), printable(remedy), printable(where)});
}

} // namespace pinfold::doctor
