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

std::string document(Json body) { return withSchema(std::move(body)).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

} // namespace pinfold
