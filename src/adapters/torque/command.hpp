// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "adapters/torque/translate.hpp"

#include <string>

namespace pinfold::torque {

struct Finished {
    int status = 0;      ///< exit status; for a signal 128 plus its number; 127 if the program could not be started
    std::string printed; ///< at most 64 KiB
};

enum class Printed { Output, Errors };

/// Runs a program by its full path, without our environment, and waits for it. `keep`: the stream whose text is kept.
Finished runAlone(const std::string& program, const Words& arguments, Printed keep);

/// Runs pinfold(1), which waits by itself for a pinfoldd that is being restarted. Keeps the messages that it prints.
Finished runPinfold(const Words& arguments);

/// argv or environ, as values. For a repeated variable the first one counts, as for getenv(3).
Words wordsOf(char** argv);
Environment environmentOf(char** environment);

} // namespace pinfold::torque
