// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config.hpp"

#include <string>

namespace pinfold {

/// Ordinary lines go to standard error with the priority in front, as systemd's services do (sd-daemon(3)).
void setUpLog();
void setLogLevel(LogLevel level);
void logInfo(const std::string& line);
void logWarningLine(const std::string& line);
void logErrorLine(const std::string& line);

} // namespace pinfold
