// SPDX-License-Identifier: LGPL-2.1-or-later
// slurmd runs slurm-epilogue as its epilogue (Epilog= in slurm.conf) on each node of a job, as root. slurmd starts the epilogue
// when slurmd no longer knows a running task of the job on the node. If slurm-epilogue succeeds, Slurm gives the node to the next
// job. If slurm-epilogue fails, Slurm drains the node. A hook of pinfold's Slurm plugin could do the same work as slurm-epilogue.
// slurm-epilogue is several times as fast as a hook, because slurmd would have to start a slurmstepd for a hook.
#include "adapters/slurm/step.hpp"
#include "base/parse.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace {

using namespace pinfold;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

int epilogue() {
    // slurmd sets all variables of the epilogue, so no variable comes from the user.
    const auto id = parseUnsigned(variable("SLURM_JOB_ID"));
    if (!id || *id > UINT32_MAX) {
        std::fputs("slurm-epilogue: SLURM_JOB_ID is not the number of a job: only slurmd calls this program, as Epilog\n",
                   stderr);
        return 1;
    }
    const auto key = slurmKey(static_cast<std::uint32_t>(*id));
    const auto ended = endJob(key, slurmJobExit(variable("SLURM_JOB_EXIT_CODE")), slurmdIdentity(variable));
    if (ended)
        return 0;
    std::fprintf(stderr, "slurm-epilogue: %s: %s\n", key.c_str(), ended.error().message.c_str());
    return 1;
}

} // namespace

int main() {
    try {
        return epilogue();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "slurm-epilogue: unexpected error: %s\n", error.what());
        return 1;
    }
}
