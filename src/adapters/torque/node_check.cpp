// SPDX-License-Identifier: LGPL-2.1-or-later
// pbs_mom runs torque-node-check as its $node_check_script, as root. If the node takes no jobs, torque-node-check prints the
// reason. pbs_mom reports the node as down, together with the reason, until torque-node-check prints nothing.
#include "base/escape.hpp"
#include "bus_client/manager_client.hpp"
#include "socket_client/failure_policy.hpp"

#include <cstdio>
#include <exception>
#include <optional>
#include <string>

namespace {

std::string reasonOf(const pinfold::Drain& drain) { return drain.reason.empty() ? "the node is drained" : drain.reason; }

/// Returns why the node takes no jobs, or nullopt if the node takes jobs.
std::optional<std::string> refusal() {
    const auto client = pinfold::ManagerClient::connect();
    const auto drain = client ? client->draining() : client.error();
    if (drain)
        return *drain ? std::optional("this node takes no jobs for now: " + reasonOf(**drain)) : std::nullopt;
    if (pinfold::siteRunsUnconfined(drain.error()))
        return std::nullopt;
    return drain.error().message;
}

} // namespace

int main() {
    try {
        if (const auto why = refusal())
            std::printf("ERROR pinfold: %s\n", pinfold::printable(*why, 500).c_str());
    } catch (const std::exception& error) {
        std::printf("ERROR pinfold: torque-node-check failed: %s\n", error.what());
    }
    return 0;
}
