// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/job_identity.hpp"

#include "base/escape.hpp"

#include <algorithm>
#include <type_traits>

namespace pinfold {
namespace {

bool isLetterOrDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

std::string shown(std::string_view text) { return "'" + printable(text, 100) + "'"; }

} // namespace

std::optional<std::string> identityText(std::string_view text) {
    if (text.empty())
        return std::nullopt;
    return legible(text, JobIdentity::kMostTextBytes);
}

void setNodes(JobIdentity& identity, const std::vector<std::string>& names) {
    identity.nodes.clear();
    for (std::size_t i = 0; i < std::min(names.size(), JobIdentity::kMostNodes); ++i)
        identity.nodes.push_back(legible(names[i], JobIdentity::kMostTextBytes));
    if (!names.empty())
        identity.nodeCount = std::max<std::uint64_t>(identity.nodeCount.value_or(0), names.size());
}

void complete(JobIdentity& identity, const JobIdentity& more) {
    forEachIdentityMember([&](const char*, auto member) {
        if (!isSet(identity.*member))
            identity.*member = more.*member;
    });
}

void makePrintable(JobIdentity& identity) {
    forEachIdentityField(identity, [](const char*, auto& member) {
        if constexpr (std::is_same_v<decltype(member), std::optional<std::string>&>)
            if (member)
                member = identityText(*member);
    });
    if (identity.nodes.size() > JobIdentity::kMostNodes)
        identity.nodes.resize(JobIdentity::kMostNodes);
    for (auto& node : identity.nodes)
        node = legible(node, JobIdentity::kMostTextBytes);
}

std::vector<std::string> labelPairs(const Labels& labels) {
    std::vector<std::string> pairs;
    for (const auto& [name, value] : labels)
        pairs.push_back(name + "=" + value);
    return pairs;
}

bool isLabelName(std::string_view name) {
    return !name.empty() && name.size() <= JobIdentity::kMostLabelNameBytes && isLetterOrDigit(name.front()) &&
           std::ranges::all_of(name, [](char c) { return isLetterOrDigit(c) || c == '_' || c == '-' || c == '.'; });
}

Result<void> validate(const Labels& labels) {
    const auto refuse = [](std::string why) { return Error{ErrorCode::InvalidArgument, std::move(why)}; };
    if (labels.size() > JobIdentity::kMostLabels)
        return refuse("the job has " + std::to_string(labels.size()) + " labels: use at most 16");
    for (const auto& [name, value] : labels) {
        if (!isLabelName(name))
            return refuse(shown(name) + " is not the name of a label: use 1 to 64 letters, digits, '_', '-' and '.'; the first "
                                        "character must be a letter or a digit");
        if (value.size() > JobIdentity::kMostTextBytes)
            return refuse("the value of the label " + shown(name) + " has " + std::to_string(value.size()) +
                          " bytes: use at most 256");
        if (!isPrintable(value))
            return refuse("the value " + shown(value) + " of the label " + shown(name) +
                          " has control characters, or is not UTF-8: use printable characters");
    }
    return {};
}

Result<void> addLabel(std::string_view text, Labels& labels) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos)
        return Error{ErrorCode::InvalidArgument, shown(text) + " is not a label: use NAME=VALUE"};
    const Labels added{{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))}};
    if (auto valid = validate(added); !valid)
        return valid;
    labels.insert_or_assign(added.begin()->first, added.begin()->second);
    return {};
}

Result<LabelFilter> labelFilter(std::string_view text) {
    const auto equals = text.find('=');
    LabelFilter filter{.name = std::string(text.substr(0, equals))};
    if (!isLabelName(filter.name))
        return Error{ErrorCode::InvalidArgument, shown(text) + " does not name a label: use NAME or NAME=VALUE"};
    if (equals != std::string_view::npos)
        filter.value = text.substr(equals + 1);
    return filter;
}

} // namespace pinfold
