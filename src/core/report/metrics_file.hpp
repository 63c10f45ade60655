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

/// Keeps the file of metrics.textfile up to date, for node_exporter's collector "textfile". If the file cannot be written,
/// MetricsFile warns once, and no job suffers. The site chooses the disk of the file. While that disk hangs, the file grows old,
/// and nothing else happens.
class MetricsFile {
public:
    /// A change is in the file after this many microseconds, and two writes are at least this far apart. Reading the figures of
    /// one live job takes some 70 us, in which pinfoldd does nothing else.
    static constexpr std::uint64_t kSettle = 2'000'000;
    static constexpr std::uint64_t kSettlePerJob = 10'000'000;
    /// Microseconds between two writes of the file if nothing happens. pinfoldd still writes the file, because the file's age
    /// shows that pinfoldd is alive, and because the figures of jobs change without an event.
    static constexpr std::uint64_t kRefresh = 300'000'000;
    static constexpr std::uint64_t kRefreshPerJob = 30'000'000;
    /// The destructor waits at most this many microseconds for a disk that hangs.
    static constexpr std::uint64_t kRemoval = 1'000'000;

    struct Parts {
        EventLoop& loop;
        Background& background;
        const JobManager& jobs;
        MetricsCounter& counter;
        const DescriptorCloser& closer;
        const Config& config;
        std::filesystem::path root; ///< the directory below which the configured path lies
        std::string version;
        std::function<void(const std::string&)> warn;
    };
    explicit MetricsFile(Parts parts);
    /// Removes the file, because the figures of a pinfoldd that does not run are soon wrong.
    ~MetricsFile();
    MetricsFile(const MetricsFile&) = delete;
    MetricsFile& operator=(const MetricsFile&) = delete;

    /// Applies the present configuration at once. Before the first call of configure(), MetricsFile writes nothing.
    void configure();

private:
    void changed();
    void write();
    void written(const Result<void>& done);
    NodeMetrics look() const;

    Parts parts_;
    std::optional<std::filesystem::path> file_; ///< the file to write; unset if there is no file to write
    bool failing_ = false;
    bool writing_ = false; ///< a write is under way, and the next one waits for its end
    EventHandle settleTimer_;
    EventHandle refreshTimer_;
};

} // namespace pinfold
