// SPDX-License-Identifier: LGPL-2.1-or-later
// Functions that all JSON uses. Only sources include this file, because nlohmann's header takes seconds to compile.
#pragma once

#include "base/escape.hpp"
#include "base/result.hpp"
#include "model/allocation.hpp"
#include "model/limit_table.hpp"
#include "model/set_limit.hpp"
#include "model/usage.hpp"

#include <nlohmann/json.hpp>

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pinfold {

using Json = nlohmann::ordered_json;

/// Adds a member that the object does not have. (operator[] would compare its name with those of all others.)
inline void put(Json& object, const char* name, Json value) {
    if (object.is_null())
        object = Json::object();
    object.get_ref<Json::object_t&>().emplace_back(name, std::move(value));
}

template <class T> Json optionalToJson(const std::optional<T>& value) {
    if (!value)
        return nullptr;
    return *value;
}

template <class T> void optionalFromJson(const Json& json, const char* name, std::optional<T>& value) {
    const auto it = json.find(name);
    if (it == json.end() || it->is_null())
        return;
    value = it->template get<T>();
}

template <class T> Json limitToJson(const std::optional<T>& limit) {
    if constexpr (kIsNumber<std::optional<T>>)
        return optionalToJson(limit);
    else
        return limit ? Json(limitText(*limit)) : Json(nullptr);
}

template <class T> void limitFromJson(const Json& json, const char* name, std::optional<T>& limit) {
    if constexpr (kIsNumber<std::optional<T>>) {
        optionalFromJson(json, name, limit);
    } else {
        std::optional<std::string> text;
        optionalFromJson(json, name, text);
        if (!text)
            return;
        if (auto set = setLimitText(*text, limit); !set)
            throw std::invalid_argument(set.error().message);
    }
}

inline void putLimits(Json& json, const ResourceLimits& limits) {
    forEachLimit(limits, [&json](const LimitRow& row, const auto& limit) { put(json, row.name, limitToJson(limit)); });
}

inline void takeLimits(const Json& json, ResourceLimits& limits) {
    forEachLimit(limits, [&json](const LimitRow& row, auto& limit) { limitFromJson(json, row.name, limit); });
}

inline Json numbersToJson(const CpuList& numbers) { return numbers.empty() ? Json(nullptr) : Json(numbers.toString()); }

inline void putAllocation(Json& json, const Allocation& allocation) {
    put(json, "allocated_cpus", numbersToJson(allocation.cpus));
    put(json, "allocated_gpus", numbersToJson(allocation.gpus));
    put(json, "exclusive", allocation.exclusive);
}

// A text that is not UTF-8 must not make dump() throw.
inline std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Puts those figures for which `wanted(name)` is true, and the devices.
template <class F> void putUsage(Json& json, const Usage& usage, F&& wanted) {
    forEachUsage(usage, [&](const char* name, const auto& value) {
        if (wanted(name))
            put(json, name, optionalToJson(value));
    });
    auto devices = Json::array();
    for (const auto& io : usage.ioDevices)
        devices.push_back({{"device", io.device},
                           {"io_read", io.read},
                           {"io_written", io.written},
                           {"io_reads", io.reads},
                           {"io_writes", io.writes}});
    put(json, "io_devices", std::move(devices));
}

inline void takeUsage(const Json& json, Usage& usage) {
    forEachUsage(usage, [&json](const char* name, auto& value) { optionalFromJson(json, name, value); });
    const auto devices = json.find("io_devices"); // an earlier pinfold wrote none
    if (devices == json.end())
        return;
    for (const auto& io : *devices)
        usage.ioDevices.push_back({io.at("device").get<std::string>(), io.at("io_read").get<std::uint64_t>(),
                                   io.at("io_written").get<std::uint64_t>(), io.at("io_reads").get<std::uint64_t>(),
                                   io.at("io_writes").get<std::uint64_t>()});
}

/// Throws if a number is a fraction or does not fit into 64 bits. No document of ours has such a number, and the behaviour of
/// get<T>() with one is undefined. (This does not recurse, because a document may be nested as deep as it is long.)
inline void requireWholeNumbers(const Json& document) {
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

/// The one place that catches nlohmann's exceptions. `what`: what the text is, for the error. Error: InvalidArgument.
template <class T, class F> Result<T> decode(std::string_view text, const char* what, F&& fromJson) {
    try {
        const auto document = Json::parse(text);
        requireWholeNumbers(document);
        return fromJson(document);
    } catch (const std::exception& error) {
        return Error{ErrorCode::InvalidArgument, std::string(what) + " cannot be read: " + printable(error.what(), 300)};
    }
}

} // namespace pinfold
