// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "config/config.hpp"
#include "core/job_manager.hpp"
#include "core/report/metrics_counter.hpp"
#include "os/background.hpp"
#include "os/descriptor_closer.hpp"
#include "os/event_loop.hpp"
#include "store/async_history.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace pinfold {

/// Keeps the file of metrics.textfile up to date, for node_exporter's collector "textfile". If the file cannot be written,
/// MetricsFile writes one warning, and jobs are not affected. The file can be on any disk that the site chooses. If the disk of
/// the file hangs, MetricsFile does not update the file, but pinfoldd works as usual.
class MetricsFile {
public:
    /// MetricsFile writes each change into the file after the time kSettle. Between two writes of the file, MetricsFile waits at
    /// least for the time kSettle. pinfoldd needs about 70 microseconds to read the figures of one live job. While pinfoldd reads
    /// the figures of jobs, the loop does no other work.
    static constexpr Microseconds kSettle = 2s;
    static constexpr Microseconds kSettlePerJob = 10s;
    /// If no event happens, MetricsFile writes the file again after the time kRefresh. Because MetricsFile writes the file
    /// regularly, a monitoring system can see that pinfoldd is alive. The figures of jobs change even when no event happens, so
    /// MetricsFile must write the file regularly.
    static constexpr Microseconds kRefresh = 5min;
    static constexpr Microseconds kRefreshPerJob = 30s;
    /// The longest time for which the destructor waits for a disk that hangs.
    static constexpr Microseconds kRemoval = 1s;

    struct Parts {
        EventLoop& loop;
        Background& background;
        const JobManager& jobs;
        AsyncHistory& history;
        MetricsCounter& counter;
        const DescriptorCloser& closer;
        const Config& config;
        std::filesystem::path root; ///< MetricsFile puts the directory `root` before the configured path
        std::string version;
        std::function<void(const std::string&)> warn;
    };
    explicit MetricsFile(Parts parts);
    /// Removes the file, because without pinfoldd the figures in the file would soon be wrong.
    ~MetricsFile();
    MetricsFile(const MetricsFile&) = delete;
    MetricsFile& operator=(const MetricsFile&) = delete;

    /// Applies the present settings of [metrics] at once. Before the first call of configure(), MetricsFile does not write a
    /// file.
    void configure();

private:
    void changed();
    void write();
    void written(const Result<void>& done);
    void askUnsent();
    NodeMetrics look() const;

    Parts parts_;
    std::optional<std::filesystem::path> file_; ///< the path of the file; unset if MetricsFile should write no file
    bool failing_ = false;
    bool writing_ = false; ///< a write of the file is in progress, and the next write must wait
    /// The number of receipts that are not in the archive, from the newest answer of the history. The history's disk can hang, so
    /// MetricsFile uses the number from an earlier answer and does not wait.
    std::optional<std::uint64_t> unsent_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    EventHandle settleTimer_;
    EventHandle refreshTimer_;
};

} // namespace pinfold
