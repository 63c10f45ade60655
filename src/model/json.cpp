// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/json.hpp"

#include <vector>

namespace pinfold {

std::string dump(const Json& json, Layout layout) {
    return json.dump(layout == Layout::Indented ? 2 : -1, ' ', false, Json::error_handler_t::replace);
}

std::string dumpAscii(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

Json parseJson(std::string_view text) { return Json::parse(text); }

void requireWholeNumbers(const Json& document) {
    // Even a short document can have very many levels, so a recursive function could overflow the stack.
    for (std::vector<const Json*> left{&document}; !left.empty();) {
        const Json& json = *left.back();
        left.pop_back();
        if (json.is_number_float())
            throw std::invalid_argument("it has a number that is not a whole number of at most 64 bits");
        if (json.is_structured())
            for (const auto& member : json)
                left.push_back(&member);
    }
}

} // namespace pinfold
