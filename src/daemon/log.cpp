// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/log.hpp"

#include <spdlog/details/null_mutex.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

namespace pinfold {
namespace {

/// Replaces %* in the pattern of a log line by the number that syslog(3) uses for the level of the line.
class Priority : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
        const char digit = message.level >= spdlog::level::err    ? '3'
                           : message.level == spdlog::level::warn ? '4'
                           : message.level == spdlog::level::info ? '6'
                                                                  : '7';
        out.push_back(digit);
    }
    std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Priority>(); }
};

void writeToStderr(std::string_view line) {
    while (!line.empty()) {
        const auto written = ::write(STDERR_FILENO, line.data(), line.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return;
        line.remove_prefix(static_cast<std::size_t>(written));
    }
}

class QueueSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
public:
    explicit QueueSink(MessageQueue& queue) : queue_(queue) {}

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t text;
        formatter_->format(message, text);
        std::string line(text.data(), text.size());
        const auto bytes = line.size();
        queue_.add(bytes, [line = std::move(line)] { writeToStderr(line); });
    }
    void flush_() override {}

private:
    MessageQueue& queue_;
};

} // namespace

QueuedLog::QueuedLog(MessageQueue& queue) {
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<Priority>('*').set_pattern("<%*>%v");
    auto logger = std::make_shared<spdlog::logger>("pinfoldd", std::make_shared<QueueSink>(queue));
    logger->set_formatter(std::move(formatter));
    spdlog::set_default_logger(std::move(logger));
}

QueuedLog::~QueuedLog() { spdlog::set_default_logger(nullptr); }

void setLogLevel(LogLevel level) {
    spdlog::set_level(level == LogLevel::Debug     ? spdlog::level::debug
                      : level == LogLevel::Info    ? spdlog::level::info
                      : level == LogLevel::Warning ? spdlog::level::warn
                                                   : spdlog::level::err);
}

void logInfo(const std::string& line) { spdlog::info("{}", line); }
void logWarningLine(const std::string& line) { spdlog::warn("{}", line); }
void logErrorLine(const std::string& line) { spdlog::error("{}", line); }

} // namespace pinfold
