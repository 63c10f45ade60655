// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config.hpp"
#include "core/job_manager.hpp"
#include "core/report/metrics_counter.hpp"
#include "os/background.hpp"
#include "os/descriptor_closer.hpp"
#include "os/event_loop.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace pinfold {

/// Keeps the file of metrics.textfile up to date, for node_exporter's collector "textfile". If the file cannot be written, a
/// warning says so once, and no job suffers. The site chooses the disk of the file: while that disk hangs the file grows old, and
/// nothing else happens.
class MetricsFile {
public:
    /// Microseconds from a change until it is in the file, which is also the least time between two writes. Each live job's
    /// figures take some 70 us to read, in which pinfoldd does nothing else.
    static constexpr std::uint64_t kSettle = 2'000'000;
    static constexpr std::uint64_t kSettlePerJob = 10'000'000;
    /// Microseconds between two writes when nothing changes. The file's age shows that pinfoldd is alive, and jobs' own figures
    /// change without an event.
    static constexpr std::uint64_t kRefresh = 300'000'000;
    static constexpr std::uint64_t kRefreshPerJob = 30'000'000;
    /// Microseconds for which the destructor waits for a disk that hangs.
    static constexpr std::uint64_t kRemoval = 1'000'000;

    struct Parts {
        EventLoop& loop;
        Background& background;
        const JobManager& jobs;
        MetricsCounter& counter;
        const DescriptorCloser& closer;
        const Config& config;
        std::filesystem::path root; ///< the prefix of the configured path
        std::string version;
        std::function<void(const std::string&)> warn;
    };
    explicit MetricsFile(Parts parts);
    /// Removes the file, because the figures of a pinfoldd that does not run are soon wrong.
    ~MetricsFile();
    MetricsFile(const MetricsFile&) = delete;
    MetricsFile& operator=(const MetricsFile&) = delete;

    /// Applies the configuration as it is now, at once. Nothing is written before the first call.
    void configure();

private:
    void changed();
    void write();
    void written(const Result<void>& done);
    NodeMetrics look() const;

    Parts parts_;
    std::optional<std::filesystem::path> file_; ///< unset: none is written
    bool failing_ = false;
    bool writing_ = false; ///< a write is under way, and the next one waits until it is done
    EventHandle settleTimer_;
    EventHandle refreshTimer_;
};

} // namespace pinfold
