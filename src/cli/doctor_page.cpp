// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/doctor_page.hpp"

#include "wording/wrap.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace pinfold {
namespace {

using doctor::Finding;
using doctor::FindingState;

constexpr std::size_t kStateWidth = 6;

Tone toneOf(FindingState state) {
    return state == FindingState::Ok ? Tone::Good : state == FindingState::Warn ? Tone::Warning : Tone::Bad;
}

std::string padded(std::string text, std::size_t width) {
    text.append(width - std::min(width, text.size()), ' ');
    return text;
}

/// Returns the label, followed by the text. If the text needs several lines, the later lines begin in the column of the text's
/// first word.
std::string labelled(const std::string& label, const std::string& text, std::size_t width, std::size_t indent) {
    return std::string(indent, ' ') + label + wrapped(text, width, indent + label.size()) + "\n";
}

std::string linesOf(const Finding& finding, std::size_t idWidth, const Terminal& terminal, std::size_t width) {
    const auto state = std::string(toString(finding.state));
    const auto indent = kStateWidth + idWidth + 2;
    auto text = terminal.colored(toneOf(finding.state), state) + std::string(kStateWidth - state.size(), ' ') +
                padded(finding.id, idWidth) + "  " + wrapped(finding.found, width, indent) + "\n";
    if (finding.state == FindingState::Ok)
        return text;
    if (!finding.where.empty())
        text += labelled("where:  ", finding.where, width, indent);
    if (!finding.remedy.empty())
        text += labelled("remedy: ", finding.remedy, width, indent);
    return text;
}

std::size_t count(const std::vector<Finding>& findings, FindingState state) {
    return static_cast<std::size_t>(
        std::count_if(findings.begin(), findings.end(), [state](const auto& finding) { return finding.state == state; }));
}

} // namespace

std::vector<Finding> problemsOf(std::vector<Finding> findings) {
    std::erase_if(findings, [](const auto& finding) { return finding.state == FindingState::Ok; });
    return findings;
}

std::string doctorPage(const std::vector<Finding>& findings, const Terminal& terminal, std::size_t width) {
    std::size_t idWidth = 0;
    for (const auto& finding : findings)
        idWidth = std::max(idWidth, finding.id.size());
    std::string text;
    for (const auto& finding : findings)
        text += linesOf(finding, idWidth, terminal, width);
    return text;
}

std::string countsLine(const std::vector<Finding>& findings) {
    return fmt::format("{} ok, {} warn, {} fail\n", count(findings, FindingState::Ok), count(findings, FindingState::Warn),
                       count(findings, FindingState::Fail));
}

} // namespace pinfold
