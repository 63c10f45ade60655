// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/metrics_file.hpp"

#include "os/replace_file.hpp"

#include <system_error>
#include <utility>

namespace pinfold {

MetricsFile::MetricsFile(Parts parts) : parts_(std::move(parts)) {
    parts_.counter.onChange = [this] { changed(); };
}

MetricsFile::~MetricsFile() {
    parts_.counter.onChange = nullptr;
    remove();
}

void MetricsFile::configure() {
    const auto& textfile = parts_.config.metrics.textfile;
    const auto file = textfile ? std::optional(parts_.root / textfile->relative_path()) : std::nullopt;
    if (file != file_) {
        remove();
        file_ = file;
        failing_ = false;
    }
    settleTimer_.reset();
    refreshTimer_.reset();
    if (file_)
        write();
}

void MetricsFile::changed() {
    if (file_ && !settleTimer_)
        settleTimer_ = parts_.loop.after(parts_.config.metrics.perJob ? kSettlePerJob : kSettle, [this] { write(); });
}

void MetricsFile::write() {
    settleTimer_.reset();
    refreshTimer_ = parts_.loop.after(parts_.config.metrics.perJob ? kRefreshPerJob : kRefresh, [this] { write(); });
    const auto written = replaceFile(*file_, metricsText(look()), 0644);
    if (!written && !failing_)
        parts_.warn("metrics not written, tried again and not said again: " + written.error().message +
                    "; pinfold.toml(5) says at metrics.textfile what pinfoldd needs to write there");
    failing_ = !written;
}

void MetricsFile::remove() const {
    std::error_code ignored; // it may never have been written
    if (file_)
        std::filesystem::remove(*file_, ignored);
}

NodeMetrics MetricsFile::look() const {
    NodeMetrics node{.version = parts_.version,
                     .jobs = parts_.jobs.jobCount(),
                     .draining = parts_.jobs.draining().has_value(),
                     .counts = parts_.counter.counts(),
                     .each = {}};
    if (!parts_.config.metrics.perJob)
        return node;
    const Caller root{0, true};
    for (auto& job : parts_.jobs.jobs())
        if (auto usage = parts_.jobs.usage(root, job.key.text()))
            node.each.push_back({job.key, job.uid, std::move(job.limits), std::move(*usage)});
    return node;
}

} // namespace pinfold
