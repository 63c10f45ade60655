// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace pinfold {
namespace {

/// %* in the pattern: the level as syslog(3) counts.
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

} // namespace

void setUpLog() {
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<Priority>('*').set_pattern("<%*>%v");
    auto logger = std::make_shared<spdlog::logger>("pinfoldd", std::make_shared<spdlog::sinks::stderr_sink_st>());
    logger->set_formatter(std::move(formatter));
    spdlog::set_default_logger(std::move(logger));
}

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
