// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/drain.hpp"

#include "model/json.hpp"

namespace pinfold {
namespace {

constexpr int kVersion = 1;

} // namespace

std::string encode(const Drain& drain) {
    const Json json{{"version", kVersion},
                    {"reason", drain.reason},
                    {"since", optionalToJson(drain.since)},
                    {"by", optionalToJson(drain.by)}};
    return dump(json) + "\n";
}

Result<Drain> decodeDrain(std::string_view text) {
    auto drain = decode<Drain>(text, "drain", [](const Json& json) {
        Drain read{.reason = json.at("reason").get<std::string>(), .since = {}, .by = {}};
        optionalFromJson(json, "since", read.since);
        optionalFromJson(json, "by", read.by);
        return read;
    });
    // decodeDrain() encodes the result and compares the encoded text with `text`. Without the comparison with `text`,
    // decodeDrain() would accept wrong numbers. get<T>() of the JSON library changes a number that does not fit into T, and
    // reports no error.
    if (drain && encode(*drain) != text)
        return Error{ErrorCode::InvalidArgument, "the drain cannot be read: pinfoldd did not write it in this form"};
    return drain;
}

} // namespace pinfold
