// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/json_document.hpp"

namespace pinfold {
namespace {

constexpr int kSchema = 1;

} // namespace

Json withSchema(Json body) {
    Json document;
    document["schema"] = kSchema;
    for (auto& [name, value] : body.items())
        document[name] = std::move(value);
    return document;
}

std::string document(Json body) { return dump(withSchema(std::move(body)), Layout::Indented) + "\n"; }

} // namespace pinfold
