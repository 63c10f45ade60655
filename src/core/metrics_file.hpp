// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/config.hpp"
#include "core/job_manager.hpp"
#include "core/metrics_counter.hpp"
#include "os/background.hpp"
#include "os/descriptor_closer.hpp"
#include "os/event_loop.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace pinfold {

/// Keeps the file of metrics.textfile as new as the node: for node_exporter's collector "textfile". What can't be written is
/// said once; no job suffers from it. Its disk is the site's: while that hangs the file grows old, and nothing else.
class MetricsFile {
public:
    /// From a change to its being in the file, and at the same time the least time between two writes; microseconds. Each live
    /// job's figures take some 70 us to read, in which pinfoldd does nothing else.
    static constexpr std::uint64_t kSettle = 2'000'000;
    static constexpr std::uint64_t kSettlePerJob = 10'000'000;
    /// Between two writes when nothing changes: the file's age tells that pinfoldd is alive, and jobs' own figures change
    /// without an event.
    static constexpr std::uint64_t kRefresh = 300'000'000;
    static constexpr std::uint64_t kRefreshPerJob = 30'000'000;
    /// The destructor's patience with a disk that hangs; microseconds.
    static constexpr std::uint64_t kRemoval = 1'000'000;

    struct Parts {
        EventLoop& loop;
        Background& background;
        const JobManager& jobs;
        MetricsCounter& counter;
        const DescriptorCloser& closer;
        const Config& config;
        std::filesystem::path root; ///< prefixed to the configured path
        std::string version;
        std::function<void(const std::string&)> warn;
    };
    explicit MetricsFile(Parts parts);
    /// Removes the file: figures of a pinfoldd that does not run are wrong soon.
    ~MetricsFile();
    MetricsFile(const MetricsFile&) = delete;
    MetricsFile& operator=(const MetricsFile&) = delete;

    /// Does what the configuration says now, at once. Nothing is written before the first call.
    void configure();

private:
    void changed();
    void write();
    void written(const Result<void>& done);
    NodeMetrics look() const;

    Parts parts_;
    std::optional<std::filesystem::path> file_; ///< unset: none is written
    bool failing_ = false;
    bool writing_ = false; ///< the next one waits until it is done
    EventHandle settleTimer_;
    EventHandle refreshTimer_;
};

} // namespace pinfold
