// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config.hpp"
#include "os/message_queue.hpp"

#include <string>

namespace pinfold {

/// As long as a QueuedLog lives, ordinary log lines go to standard error with the priority in front, as in all services of
/// systemd (sd-daemon(3)). The queue's thread writes them, because standard error is a stream to journald, which may block.
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
