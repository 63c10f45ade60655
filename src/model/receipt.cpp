// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/receipt.hpp"

#include <array>
#include <utility>

namespace pinfold {
namespace {

constexpr std::array kNames{
    std::pair{JobResult::Exited, std::string_view("exited")},
    std::pair{JobResult::Signaled, std::string_view("signaled")},
    std::pair{JobResult::Stopped, std::string_view("stopped")},
    std::pair{JobResult::Timeout, std::string_view("timeout")},
    std::pair{JobResult::OutOfMemory, std::string_view("out-of-memory")},
    std::pair{JobResult::SupervisorLost, std::string_view("supervisor-lost")},
    std::pair{JobResult::NodeShutdown, std::string_view("node-shutdown")},
    std::pair{JobResult::NodeLost, std::string_view("node-lost")},
    std::pair{JobResult::Lost, std::string_view("lost")},
};

} // namespace

std::string_view toString(JobResult result) {
    for (const auto& [known, name] : kNames)
        if (known == result)
            return name;
    return "?";
}

std::optional<JobResult> jobResultFromString(std::string_view text) {
    for (const auto& [result, name] : kNames)
        if (name == text)
            return result;
    return std::nullopt;
}

std::vector<std::string> jobResultNames() {
    std::vector<std::string> names;
    for (const auto& [result, name] : kNames)
        names.emplace_back(name);
    return names;
}

} // namespace pinfold
