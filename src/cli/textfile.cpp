// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/textfile.hpp"

#include "config/config.hpp"
#include "model/exposition.hpp"
#include "os/replace_file.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace pinfold {

std::string findingMetrics(const std::vector<doctor::Finding>& findings) {
    // node_exporter refuses a file that contains the same series twice.
    std::map<std::pair<std::string, std::string_view>, std::uint64_t> counts;
    for (const auto& finding : findings)
        ++counts[{finding.id, toString(finding.state)}];
    Exposition out;
    out.metric("pinfold_doctor_findings", "gauge", "Findings of pinfold doctor, by check and state.");
    for (const auto& [finding, count] : counts)
        out.sample({{"check", finding.first}, {"state", std::string(finding.second)}}, count);
    return out.text();
}

std::string strayMetrics(const std::vector<StrayRow>& strays) {
    std::map<std::string_view, std::uint64_t> counts;
    for (const auto& stray : strays)
        ++counts[toString(stray.kind)];
    Exposition out;
    out.metric("pinfold_strays", "gauge", "Processes that belong to a user but to no job, by kind.");
    for (const auto& kind : strayKindNames())
        out.sample({{"kind", kind}}, counts[kind]);
    return out.text();
}

Result<void> writeTextfile(std::string_view name, const std::string& text) {
    const auto loaded = loadConfig(ConfigPaths{});
    if (!loaded)
        return loaded.error();
    const auto& textfile = loaded->config.metrics.textfile;
    return textfile ? replaceFile(textfile->parent_path() / name, text, 0644) : Result<void>();
}

} // namespace pinfold
