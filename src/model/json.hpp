// SPDX-License-Identifier: LGPL-2.1-or-later
// Contains the functions that all code for JSON uses. Only .cpp files include this file, because nlohmann's header takes seconds
// to compile.
#pragma once

#include "base/escape.hpp"
#include "base/result.hpp"

#include <nlohmann/json.hpp>

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinfold {

using Json = nlohmann::ordered_json;

/// Adds a member that the object does not have. (operator[] would be slower, because it compares the name with those of all other
/// members.)
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

/// Adds a member, which is null if `value` is unset.
template <class T> void putMember(Json& json, const char* name, const T& value) { put(json, name, Json(value)); }
template <class T> void putMember(Json& json, const char* name, const std::optional<T>& value) {
    put(json, name, optionalToJson(value));
}

/// Reads a member. Leaves `value` as it is if the member does not exist.
template <class T> void takeMember(const Json& json, const char* name, T& value) {
    if (const auto it = json.find(name); it != json.end())
        value = it->template get<T>();
}
template <class T> void takeMember(const Json& json, const char* name, std::optional<T>& value) {
    optionalFromJson(json, name, value);
}

// Returns the document as text. If a string in it is not UTF-8, dump() must not throw.
inline std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Returns the value, or throws std::invalid_argument if there is no value. `what` names the value in the message.
template <class T> T required(std::optional<T> value, const char* what) {
    if (!value)
        throw std::invalid_argument(std::string("unknown ") + what);
    return *value;
}

/// Throws if a number is a fraction or does not fit into 64 bits. pinfold writes no such number, and the behaviour of get<T>()
/// with such a number is undefined. (The function is not recursive, because a document may be nested as deep as it is long.)
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

/// Decodes a text. This is the only place that catches nlohmann's exceptions. `what` says in the message what the text is. Error:
/// InvalidArgument.
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
