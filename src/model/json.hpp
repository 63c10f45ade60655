// SPDX-License-Identifier: LGPL-2.1-or-later
// What all JSON has in common. Included by sources only: nlohmann's header is seconds of compiling.
#pragma once

#include "base/escape.hpp"
#include "base/result.hpp"
#include "model/resource_limits.hpp"

#include <nlohmann/json.hpp>

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace pinfold {

using Json = nlohmann::ordered_json;

template <class T> Json optionalToJson(const std::optional<T>& value) {
    if (!value)
        return nullptr;
    if constexpr (std::is_same_v<T, CpuList>)
        return value->toString();
    else
        return *value;
}

template <class T> void optionalFromJson(const Json& json, const char* name, std::optional<T>& value) {
    const auto it = json.find(name);
    if (it == json.end() || it->is_null())
        return;
    if constexpr (std::is_same_v<T, CpuList>) {
        auto list = CpuList::parse(it->template get<std::string>());
        if (!list)
            throw std::invalid_argument(list.error().message);
        value = std::move(*list);
    } else {
        value = it->template get<T>();
    }
}

inline void putLimits(Json& json, const ResourceLimits& limits) {
    forEachLimit(limits, [&json](const char* name, const auto& limit) { json[name] = optionalToJson(limit); });
}

inline void takeLimits(const Json& json, ResourceLimits& limits) {
    forEachLimit(limits, [&json](const char* name, auto& limit) { optionalFromJson(json, name, limit); });
}

// A text that is no UTF-8 must not make dump() throw.
inline std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// The one place that nlohmann's exceptions come to. Error: InvalidArgument.
template <class T, class F> Result<T> decode(std::string_view text, const char* what, F&& fromJson) {
    try {
        return fromJson(Json::parse(text));
    } catch (const std::exception& error) {
        return Error{ErrorCode::InvalidArgument, std::string(what) + " can't be read: " + printable(error.what(), 300)};
    }
}

} // namespace pinfold
