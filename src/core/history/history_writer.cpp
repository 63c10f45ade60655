// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/history/history_writer.hpp"

#include "base/parse.hpp"
#include "base/paths.hpp"
#include "core/report/events.hpp"
#include "model/receipt_json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace pinfold {
namespace {

constexpr Microseconds kOpening = 10s;
constexpr Microseconds kFirstRetry = 1s;
constexpr Microseconds kLastRetry = 30s;
constexpr std::size_t kReceiptsAtOnce = 500;
constexpr std::size_t kMostRecent = 64;
constexpr std::size_t kMostKept = 10'000;
constexpr std::size_t kMostBytesKept = 32 << 20;

} // namespace

HistoryWriter::HistoryWriter(CoreContext& context, LiveRows& rows)
    : context_(context), rows_(rows), spool_(inRoot(context.root, kKeptReceiptsDirectory)), news_(context.loop) {
    rows_.onDue = [this] { flushSoon(); };
    context.history.onOpened = [this](std::uint64_t lastManualNumber) {
        rows_.expectAll();
        onOpened(lastManualNumber);
    };
    context.history.onDamage = [this](const std::string& words) {
        ++damaged_;
        logHistoryDamaged(context_, words);
    };
}

HistoryWriter::~HistoryWriter() {
    rows_.onDue = nullptr;
    context_.history.onOpened = nullptr;
    context_.history.onDamage = nullptr;
}

void HistoryWriter::start(std::function<void()> ready) {
    ready_ = std::move(ready);
    takeUpKept();
    waitForOpening();
    flush();
}

void HistoryWriter::takeUpKept() {
    auto loaded = spool_.load();
    for (const auto& line : loaded.unreadable)
        logNodeWarning(context_, "a kept receipt cannot be read: " + line);
    for (auto& receipt : loaded.receipts) {
        const auto size = encodeForStore(receipt).size();
        ++keptCount_;
        keptBytes_ += size;
        if (const auto key = JobKey::parse(receipt.key); key && onKept)
            onKept(*key);
        queue_.push_back({.receipt = std::move(receipt), .done = {}, .asked = context_.loop.bootTime(), .size = size});
    }
}

void HistoryWriter::waitForOpening() {
    opening_ = context_.loop.after(kOpening, [this] {
        if (context_.history.migrating())
            return waitForOpening();
        beginTrouble("the history could not be opened within " + formatDuration(kOpening));
        started();
    });
}

void HistoryWriter::started() {
    opening_.reset();
    if (const auto ready = std::exchange(ready_, nullptr))
        ready();
}

void HistoryWriter::write(Receipt receipt, std::function<void(const Receipt&)> done) {
    // Perhaps an earlier pinfoldd set aside a receipt of this job, but ended before the job was over. The receipt of the earlier
    // pinfoldd possibly has more figures than the new receipt. HistoryWriter stores the receipt of the earlier pinfoldd in place
    // of the new receipt.
    if (const auto* kept = firstThat([&](const Entry& entry) { return entry.size > 0 && entry.receipt.id == receipt.id; }))
        receipt = kept->receipt;
    queue_.push_back({.receipt = std::move(receipt), .done = std::move(done), .asked = context_.loop.bootTime(), .size = 0});
    watchPatience();
    flushSoon();
}

void HistoryWriter::commit() {
    if (!busy_ && retry_ == 0s && !queue_.empty())
        flush();
}

void HistoryWriter::amend(const LateReport& report, const std::function<void()>& done) {
    if (const auto known = std::ranges::find(recent_, report.id, &Receipt::id); known != recent_.end())
        pinfold::amend(*known, report.exit, report.identity);
    const auto kept = std::ranges::find(queue_, report.id, [](const Entry& entry) { return entry.receipt.id; });
    if (kept != queue_.end() && pinfold::amend(kept->receipt, report.exit, report.identity)) {
        if (kept->size > 0)
            keep(*kept);
        return done();
    }
    reports_.push_back({.report = report, .done = trouble_ ? nullptr : done});
    flushSoon();
    if (trouble_) // the caller has already waited for the job's receipt, so the caller does not wait again
        done();
}

void HistoryWriter::flushSoon() {
    if (!busy_ && !flushSource_)
        flushSource_ = context_.loop.whenIdle([this] { flush(); });
}

void HistoryWriter::flush() {
    flushSource_.reset();
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(std::min(queue_.size(), kReceiptsAtOnce));
    inFlight_.assign(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
    queue_.erase(queue_.begin(), end);
    HistoryChanges changes{.receipts = {}, .started = rows_.take(), .reports = {}};
    for (const auto& entry : inFlight_)
        changes.receipts.push_back(entry.receipt);
    reportsInFlight_ = reports_.size();
    for (const auto& waiting : reports_)
        changes.reports.push_back(waiting.report);
    busy_ = true;
    context_.history.write(std::move(changes), [this](const Result<std::vector<Receipt>>& done) {
        busy_ = false;
        done ? written(*done) : failed(done.error());
        started();
    });
}

void HistoryWriter::written(const std::vector<Receipt>& stored) {
    retry_ = 0s;
    rows_.written();
    auto next = stored.begin();
    for (const auto& entry : std::exchange(inFlight_, {})) {
        remember(*next++);
        if (entry.size > 0) {
            spool_.remove(entry.receipt);
            --keptCount_;
            keptBytes_ -= entry.size;
            ++lateReceipts_;
            continue;
        }
        entry.done(recent_.back());
    }
    tellStored(stored);
    answerReports();
    reports_.erase(reports_.begin(), reports_.begin() + static_cast<std::ptrdiff_t>(reportsInFlight_));
    if (keptCount_ == 0)
        endTrouble();
    if (!firstWaiting())
        patience_.reset();
    if (!queue_.empty() || !reports_.empty() || rows_.due())
        flushSoon();
}

void HistoryWriter::tellStored(const std::vector<Receipt>& stored) {
    if (stored.empty())
        return;
    const auto [first, last] = std::ranges::minmax_element(stored, {}, &Receipt::sequence);
    news_.add({.epoch = last->epoch.value_or(""), .first = first->sequence.value_or(0), .last = last->sequence.value_or(0)});
}

void HistoryWriter::answerReports() {
    for (std::size_t i = 0; i < std::min(reportsInFlight_, reports_.size()); ++i)
        if (const auto done = std::exchange(reports_[i].done, nullptr))
            done();
}

void HistoryWriter::remember(const Receipt& receipt) {
    recent_.push_back(receipt);
    recent_.back().unwritten.clear();
    if (recent_.size() > kMostRecent)
        recent_.pop_front();
}

void HistoryWriter::failed(const Error& why) {
    retry_ = std::clamp<Microseconds>(retry_ * 2, kFirstRetry, kLastRetry);
    queue_.insert(queue_.begin(), std::make_move_iterator(inFlight_.begin()), std::make_move_iterator(inFlight_.end()));
    inFlight_.clear();
    answerReports();
    rows_.failed();
    flushSource_ = context_.loop.after(retry_, [this] { flush(); });
    drop();
    beginTrouble(why.message);
}

/// Returns the time until which a job waits for its receipt. If all attempts to write receipts have failed for longer than the
/// time history.patience, a job does not wait for its receipt.
BootTime HistoryWriter::patienceEnds(const Entry& entry) const {
    const auto patience = context_.config.history.patience;
    const auto own = entry.asked + patience;
    return trouble_ ? std::min(own, std::max(entry.asked, troubleBegan_ + patience)) : own;
}

const HistoryWriter::Entry* HistoryWriter::firstThat(const std::function<bool(const Entry&)>& isWanted) const {
    if (const auto found = std::ranges::find_if(inFlight_, isWanted); found != inFlight_.end())
        return &*found;
    const auto found = std::ranges::find_if(queue_, isWanted);
    return found == queue_.end() ? nullptr : &*found;
}

const HistoryWriter::Entry* HistoryWriter::firstWaiting() const {
    return firstThat([](const Entry& entry) { return entry.size == 0; });
}

void HistoryWriter::watchPatience() {
    const auto* first = patience_ ? nullptr : firstWaiting();
    if (!first)
        return;
    patience_ = context_.loop.after(timeBetween(context_.loop.bootTime(), patienceEnds(*first)), [this] {
        patience_.reset();
        losePatience();
        watchPatience();
    });
}

void HistoryWriter::losePatience() {
    const auto now = context_.loop.bootTime();
    std::vector<std::pair<std::function<void(const Receipt&)>, Receipt>> answers;
    const auto look = [&](Entry& entry) {
        if (entry.size > 0 || patienceEnds(entry) > now)
            return;
        beginTrouble("the disk did not confirm a write within " + formatDuration(context_.config.history.patience));
        entry.receipt.unwritten = trouble_->why;
        setAside(entry);
        answers.emplace_back(std::exchange(entry.done, nullptr), entry.receipt);
    };
    std::ranges::for_each(inFlight_, look);
    std::ranges::for_each(queue_, look);
    drop();
    for (const auto& [done, receipt] : answers)
        done(receipt);
}

void HistoryWriter::setAside(Entry& entry) {
    keep(entry);
    ++keptCount_;
    keptBytes_ += entry.size;
}

void HistoryWriter::keep(Entry& entry) {
    const auto text = encodeForStore(entry.receipt);
    if (auto kept = spool_.keep(entry.receipt, text); !kept)
        logNodeWarning(
            context_,
            fmt::format("the receipt of job {} is only in pinfoldd's memory, and a restart of pinfoldd would lose it: {}",
                        entry.receipt.key, kept.error().message));
    entry.size = text.size();
}

void HistoryWriter::drop() {
    while (keptCount_ > kMostKept || keptBytes_ > kMostBytesKept) {
        const auto oldest = std::ranges::find_if(queue_, [](const Entry& entry) { return entry.size > 0; });
        if (oldest == queue_.end()) // every receipt that is set aside is in the running transaction
            return;
        if (dropped_++ == 0)
            logReceiptsDropped(context_, oldest->receipt);
        spool_.remove(oldest->receipt);
        --keptCount_;
        keptBytes_ -= oldest->size;
        queue_.erase(oldest);
    }
}

std::optional<Receipt> HistoryWriter::newest(std::string_view key, std::optional<uid_t> owner) const {
    const auto isIt = [&](const Receipt& receipt) { return receipt.key == key && (!owner || receipt.uid == *owner); };
    const auto wanted = [&](const Entry& entry) { return entry.size > 0 && isIt(entry.receipt); };
    const auto newest = std::find_if(queue_.rbegin(), queue_.rend(), wanted);
    if (newest != queue_.rend())
        return newest->receipt;
    const auto written = std::find_if(inFlight_.rbegin(), inFlight_.rend(), wanted);
    if (written != inFlight_.rend())
        return written->receipt;
    const auto recent = std::find_if(recent_.rbegin(), recent_.rend(), isIt);
    return recent == recent_.rend() ? std::nullopt : std::optional(*recent);
}

HistoryFigures HistoryWriter::figures() const {
    return {.failing = trouble_.has_value(), .kept = keptCount_, .dropped = dropped_, .damaged = damaged_};
}

void HistoryWriter::beginTrouble(const std::string& why) {
    if (trouble_)
        return;
    trouble_ = HistoryTrouble{why, context_.loop.realTime()};
    troubleBegan_ = context_.loop.bootTime();
    logHistoryFailing(context_, why);
    if (onChange)
        onChange();
}

void HistoryWriter::endTrouble() {
    if (const auto late = std::exchange(lateReceipts_, 0); trouble_ || late > 0)
        logHistoryWorks(context_, late);
    if (!std::exchange(trouble_, std::nullopt))
        return;
    if (onChange)
        onChange();
}

} // namespace pinfold
