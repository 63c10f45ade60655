// SPDX-License-Identifier: LGPL-2.1-or-later
// Contains the basic functions for reading and writing JSON. The JSON library of nlohmann takes seconds to compile, so only .cpp
// files are allowed to include this header. The library's parser and writer take longest to compile, so only json.cpp calls
// them.
#pragma once

#include "base/clock.hpp"
#include "base/escape.hpp"
#include "base/result.hpp"

#include <nlohmann/json.hpp>

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

/// Writes durations and times as numbers of microseconds.
template <class T>
requires pinfold::kIsTime<T>
struct nlohmann::adl_serializer<T> {
    template <class Json> static void to_json(Json& json, T time) { json = pinfold::toUsec(time); }
    template <class Json> static void from_json(const Json& json, T& time) {
        time = pinfold::fromUsec<T>(json.template get<std::uint64_t>());
    }
};

namespace pinfold {

using Json = nlohmann::ordered_json;

/// Adds a member to the object. Call put() only if the object does not have a member with the name `name`. The function put()
/// does not use operator[], because operator[] first compares `name` with the names of all members.
inline void put(Json& object, const char* name, Json value) {
    if (object.is_null())
        object = Json::object();
    object.get_ref<Json::object_t&>().emplace_back(name, std::move(value));
}

/// Says whether put() writes null for a member without a value, or omits the member.
enum class Unset { AsNull, LeftOut };

/// Adds a member. With Unset::LeftOut, put() adds no member if `value` is null.
inline void put(Json& object, const char* name, Json value, Unset unset) {
    if (unset == Unset::AsNull || !value.is_null())
        put(object, name, std::move(value));
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

template <class T> void putMember(Json& json, const char* name, const T& value, Unset) { put(json, name, Json(value)); }
template <class T> void putMember(Json& json, const char* name, const std::optional<T>& value, Unset unset) {
    put(json, name, optionalToJson(value), unset);
}

/// Reads a member of the object. If the member does not exist, takeMember() does not change `value`.
template <class T> void takeMember(const Json& json, const char* name, T& value) {
    if (const auto it = json.find(name); it != json.end())
        value = it->template get<T>();
}
template <class T> void takeMember(const Json& json, const char* name, std::optional<T>& value) {
    optionalFromJson(json, name, value);
}

/// Says whether dump() writes the document on one line, or writes each member on its own line.
enum class Layout { OneLine, Indented };

/// Returns the document as text. The JSON document can contain strings that are not valid UTF-8. dump() writes U+FFFD in place of
/// invalid bytes, and does not throw an exception.
std::string dump(const Json& json, Layout layout = Layout::OneLine);

/// Returns the document as text on one line that has only ASCII characters. dumpAscii() treats invalid bytes like dump().
std::string dumpAscii(const Json& json);

/// Reads a document. If the text is not JSON, parseJson() throws an exception of nlohmann's JSON library.
Json parseJson(std::string_view text);

/// Returns the content of `value`. Throws std::invalid_argument if `value` is unset. The exception's message names the value by
/// the text in the parameter `what`.
template <class T> T required(std::optional<T> value, const char* what) {
    if (!value)
        throw std::invalid_argument(std::string("unknown ") + what);
    return *value;
}

/// Throws an exception if a number in the document is not an integer or does not fit into 64 bits. If a number is a fraction or
/// has more than 64 bits, the behaviour of get<T>() is undefined. All numbers in documents of pinfold are integers of at most 64
/// bits.
void requireWholeNumbers(const Json& document);

/// Decodes a text. Only the function decode() catches exceptions of nlohmann's JSON library. The error message names the decoded
/// text by the words in the parameter `what`. Error: InvalidArgument.
template <class T, class F> Result<T> decode(std::string_view text, const char* what, F&& fromJson) {
    try {
        const auto document = parseJson(text);
        requireWholeNumbers(document);
        return fromJson(document);
    } catch (const std::exception& error) {
        return Error{ErrorCode::InvalidArgument, std::string(what) + " cannot be read: " + printable(error.what(), 300)};
    }
}

} // namespace pinfold
