// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the command lines of the services that systemd starts: pinfoldd, pinfold-ship and pinfold-archive.
#pragma once

#include "base/early_exit.hpp"
#include "base/result.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace pinfold {

/// Holds the options that all services have.
struct ServiceOptions {
    std::filesystem::path root = "/"; ///< the service puts `root` before all its paths; only tests change `root`
};

/// Describes an option that only one service has.
struct OwnOption {
    const char* name; ///< for example "exit-idle-time"
    std::function<Result<void>(const std::string&)> set;
    bool takesValue = true; ///< if takesValue is false, parseServiceOptions() passes an empty text to `set`
};

struct ServiceProgram {
    std::string name;
    std::string usage; ///< the text for --help
    std::vector<OwnOption> options = {};
};

/// The text of a usage error is a single line.
std::variant<ServiceOptions, EarlyExit> parseServiceOptions(int argc, char** argv, const ServiceProgram& program);

} // namespace pinfold
