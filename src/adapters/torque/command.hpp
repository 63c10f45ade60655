// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "adapters/torque/translate.hpp"

#include <string>

namespace pinfold::torque {

struct Finished {
    int status = 0;      ///< the exit status, or 128 plus the number of the signal, or 127 if the program could not be started
    std::string printed; ///< the part of the program's output that runAlone() kept, at most 64 KiB
};

enum class Printed { Output, Errors };

/// Runs the program with the given full path, and waits until the program has ended. runAlone() does not pass the environment of
/// the calling process on to the program. `keep` says which text runAlone() keeps: the program's standard output, or its standard
/// error.
Finished runAlone(const std::string& program, const Words& arguments, Printed keep);

/// Runs pinfold(1), and keeps the messages of pinfold(1). If somebody is restarting pinfoldd, pinfold(1) waits until pinfoldd
/// runs again.
Finished runPinfold(const Words& arguments);

/// Copies the texts of argv or environ. If environ has a variable twice, environmentOf() uses the first value, as getenv(3) does.
Words wordsOf(char** argv);
Environment environmentOf(char** environment);

} // namespace pinfold::torque
