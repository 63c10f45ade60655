// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/report/metrics_file.hpp"

#include "base/paths.hpp"
#include "os/replace_file.hpp"

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace pinfold {
namespace {

/// Maps the number of each GPU in the allocation to the name of this GPU. If a reload has removed a GPU from the configuration,
/// the name of the GPU is empty.
std::map<unsigned, std::string> gpusOf(const Allocation& allocation, const std::vector<std::string>& ids) {
    std::map<unsigned, std::string> gpus;
    for (const auto gpu : allocation.gpus.numbers())
        gpus.emplace(gpu, gpu < ids.size() ? ids[gpu] : "");
    return gpus;
}

void removeFile(const std::filesystem::path& file) {
    std::error_code ignored; // removeFile() ignores errors, because the file possibly does not exist
    std::filesystem::remove(file, ignored);
}

std::map<std::string, std::uint64_t> refusedBy(const Background& background) {
    std::map<std::string, std::uint64_t> refused;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
        refused.emplace(toString(static_cast<Lane>(lane)), background.refused(static_cast<Lane>(lane)));
    return refused;
}

} // namespace

MetricsFile::MetricsFile(Parts parts) : parts_(std::move(parts)) {
    parts_.counter.onChange = [this] { changed(); };
}

MetricsFile::~MetricsFile() {
    parts_.counter.onChange = nullptr;
    *alive_ = false;
    if (!file_)
        return;
    const auto gone = std::make_shared<std::promise<void>>();
    if (parts_.background.run(
            Lane::Metrics,
            [gone, file = *file_] {
                removeFile(file);
                gone->set_value();
            },
            nullptr))
        gone->get_future().wait_for(std::chrono::microseconds(kRemoval));
}

void MetricsFile::configure() {
    const auto& textfile = parts_.config.metrics.textfile;
    const auto file = textfile ? std::optional(parts_.root / textfile->relative_path()) : std::nullopt;
    if (file != file_) {
        if (file_)
            (void)parts_.background.run(
                Lane::Metrics, [old = *file_] { removeFile(old); }, nullptr);
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
    if (writing_)
        return changed();
    askUnsent();
    writing_ = parts_.background.ask(
        Lane::Metrics, [file = *file_, text = metricsText(look())] { return replaceFile(file, text, 0644); },
        [this](const Result<void>& done) { written(done); });
}

void MetricsFile::written(const Result<void>& done) {
    writing_ = false;
    if (!done && !failing_)
        parts_.warn(fmt::format("cannot write the metrics (pinfoldd tries again, but logs this only once): {}; see "
                                "metrics.textfile in pinfold.toml(5) for what pinfoldd needs to write there",
                                done.error().message));
    failing_ = !done;
}

void MetricsFile::askUnsent() {
    if (!parts_.config.archive.enabled()) {
        unsent_.reset();
        return;
    }
    parts_.history.unsent(inRoot(parts_.root, kSentFile), [this, alive = alive_](const Result<std::uint64_t>& answer) {
        if (!*alive || !answer || unsent_ == *answer || !parts_.config.archive.enabled())
            return;
        unsent_ = *answer;
        changed();
    });
}

NodeMetrics MetricsFile::look() const {
    const auto drain = parts_.jobs.draining();
    NodeMetrics node{.version = parts_.version,
                     .jobs = parts_.jobs.jobCount(),
                     .draining = drain.has_value(),
                     .drainingAutomatic = drain && !drain->by,
                     .unkillable = parts_.jobs.unkillableCount(),
                     .idle = parts_.jobs.idleJobs(),
                     .history = parts_.jobs.historyFigures(),
                     .unsent = unsent_,
                     .resources = parts_.jobs.resources(),
                     .unclosed = parts_.closer.held(),
                     .refused = refusedBy(parts_.background),
                     .counts = parts_.counter.counts(),
                     .each = {}};
    if (!parts_.config.metrics.perJob)
        return node;
    const Caller root{0, true};
    for (auto& job : parts_.jobs.jobs())
        if (auto usage = parts_.jobs.usage(root, job.key.text()))
            node.each.push_back({job.key, job.uid, std::move(job.limits), std::move(*usage), parts_.jobs.userName(job.uid),
                                 gpusOf(job.allocation, parts_.config.gpus.ids)});
    return node;
}

} // namespace pinfold
