// SPDX-License-Identifier: LGPL-2.1-or-later
// pbs_mom's epilogue and epilogue.parallel, as root: ends the job on this host, and waits until nothing of it is left. How long,
// is pbs_mom's affair ($prologalarm): when it kills us, pinfoldd goes on.
#include "run/say.hpp"
#include "torque/command.hpp"

#include <unistd.h>

#include <cstdio>
#include <exception>

namespace {

namespace torque = pinfold::torque;

int epilogue(char** argv) {
    const auto arguments = torque::endArguments(torque::wordsOf(argv), torque::environmentOf(environ));
    if (!arguments) {
        pinfold::say(arguments.error().message);
        return 1;
    }
    const auto ended = torque::runPinfold(*arguments);
    // A job that was never opened is over too: its prologue failed, or ran before pinfold was installed.
    if (ended.status == 0 || ended.status == static_cast<int>(pinfold::ExitStatus::NoSuchJob))
        return 0;
    std::fputs(ended.printed.c_str(), stderr);
    return 1;
}

} // namespace

int main(int, char** argv) {
    try {
        return epilogue(argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "torque-epilogue: unexpected error: %s\n", error.what());
        return 1;
    }
}
