// SPDX-License-Identifier: LGPL-2.1-or-later
// pbs_mom runs torque-epilogue as epilogue and epilogue.parallel, as root. The epilogue ends the processes that the user's own
// prologues and epilogues left behind in pbs_mom's cgroup. The epilogue ends the job on this host, and waits until the job has no
// process left. pbs_mom limits the time of the epilogue ($prologalarm). If pbs_mom kills the epilogue, pinfoldd still continues
// to end the job.
#include "adapters/torque/command.hpp"
#include "adapters/torque/script_leftovers.hpp"
#include "socket_client/say.hpp"

#include <unistd.h>

#include <cstdio>
#include <exception>

namespace {

namespace torque = pinfold::torque;

int epilogue(char** argv) {
    const auto words = torque::wordsOf(argv);
    const auto arguments = torque::endArguments(words, torque::environmentOf(environ));
    if (!arguments) {
        pinfold::say(arguments.error().message);
        return 1;
    }
    if (words.size() > 2)
        torque::endScriptLeftovers((*arguments)[1], words[2]);
    const auto ended = torque::runPinfold(*arguments);
    // If pinfold never opened the job, the epilogue treats the job as over. Two causes are possible: the prologue failed, or the
    // prologue ran before somebody installed pinfold.
    if (ended.status == 0 || ended.status == static_cast<int>(pinfold::ExitStatus::NoSuchJob))
        return 0;
    std::fputs(ended.printed.c_str(), stderr);
    return 1;
}

} // namespace

int main(int, char** argv) {
    pinfold::sayAs("torque-epilogue");
    try {
        return epilogue(argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "torque-epilogue: unexpected error: %s\n", error.what());
        return 1;
    }
}
