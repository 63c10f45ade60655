// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config.hpp"
#include "os/message_queue.hpp"

#include <string>

namespace pinfold {

/// While a QueuedLog exists, log lines go to standard error. Each line begins with its priority, as sd-daemon(3) describes. A
/// separate thread writes the lines, because writing to standard error can block while journald is slow.
class QueuedLog {
public:
    explicit QueuedLog(MessageQueue& queue);
    ~QueuedLog();
    QueuedLog(const QueuedLog&) = delete;
    QueuedLog& operator=(const QueuedLog&) = delete;
};

void setLogLevel(LogLevel level);
void logInfo(const std::string& line);
void logWarningLine(const std::string& line);
void logErrorLine(const std::string& line);

} // namespace pinfold
