// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures the time of History::list(), and of other calls for which pinfoldd waits. The history has PINFOLD_BENCH_RECEIPTS
// receipts, by default 1,000,000. The exit status is 1 if a query took more than 50 ms.
#include "store/history.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>

namespace pinfold {
namespace {

constexpr RealTime kStart(1'700'000'000s);
constexpr Microseconds kBetween = 30s; // the time between the ends of two jobs
constexpr double kAllowedMs = 50;

template <class T> T demand(Result<T> result) {
    if (result)
        return *std::move(result);
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(2);
}

std::string randomId() {
    static std::mt19937_64 random(1); // the fixed seed makes the same file every time
    char id[33];
    std::snprintf(id, sizeof id, "%016llx%016llx", static_cast<unsigned long long>(random()),
                  static_cast<unsigned long long>(random()));
    return id;
}

/// Returns a long list that contains every second CPU. A receipt that contains this list takes 1.5 KB.
CpuList cpus() {
    std::string text;
    for (int cpu = 0; cpu < 430; cpu += 2)
        text += (text.empty() ? "" : ",") + std::to_string(cpu);
    return demand(CpuList::parse(text));
}

/// Returns the receipt of job number `n` in a history of `total` jobs. Three of all jobs reach a time limit, three belong to user
/// 7, and three have the scheduler "rare". One job in 100 fails, and one in 1000 leaves processes behind. User 1000 has half of
/// all jobs.
Receipt receipt(std::uint64_t n, std::uint64_t total) {
    static const auto list = cpus();
    Receipt made;
    made.id = randomId();
    const bool rare = n % (total / 3 + 1) == total / 6;
    made.key = (n % 10 == 0 ? "pbs." : n % 10 == 1 ? "slurm." : "sge.") + std::to_string(n) + ".server-1.example.org";
    made.uid = n % 2 ? 1000 : static_cast<std::uint32_t>(1001 + n % 200);
    made.ended = kStart + n * kBetween;
    made.started = made.ended - 1h;
    made.wall = 1h;
    made.exit.status = n % 100 == 99 ? 1 : 0;
    made.usage.cpuUser = n * 17us;
    made.usage.cpuSystem = n * 3us;
    made.usage.memoryPeak = 4ULL << 30;
    made.usage.tasksPeak = 42;
    made.usage.ioRead = n * 4096;
    made.usage.ioWritten = n * 512;
    made.usage.oomKills = 0;
    made.limits.memoryMax = 8ULL << 30;
    made.limits.allowedCpus = list;
    if (n % 1000 == 500)
        made.leftovers = {2, 17us, {"/usr/bin/ssh -N tunnel.example.org", "sleep 86400"}};
    if (rare) {
        made.uid = 7;
        made.key = "rare." + std::to_string(n);
        made.result = JobResult::Timeout;
        made.exit = {.status = {}, .signal = 15};
    }
    return made;
}

double millisecondsOf(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Prints the median time and the longest time of all runs. Returns the longest time.
double measure(const char* name, int runs, const std::function<std::string()>& work) {
    std::vector<double> times;
    std::string note;
    for (int run = 0; run < runs; ++run)
        times.push_back(millisecondsOf([&] { note = work(); }));
    std::sort(times.begin(), times.end());
    std::printf("%-44s median %8.3f ms  worst %8.3f ms  %s\n", name, times[times.size() / 2], times.back(), note.c_str());
    std::fflush(stdout);
    return times.back();
}

void fill(History& history, std::uint64_t total) {
    constexpr std::uint64_t kBatch = 10'000;
    const auto took = millisecondsOf([&] {
        for (std::uint64_t from = 0; from < total; from += kBatch) {
            std::vector<Receipt> batch;
            for (auto n = from; n < std::min(total, from + kBatch); ++n)
                batch.push_back(receipt(n, total));
            demand(history.write({batch}));
        }
    });
    const auto info = demand(history.info());
    std::printf("filled with %llu receipts, %llu bytes, in %.1f s\n", static_cast<unsigned long long>(info.rows),
                static_cast<unsigned long long>(info.bytes), took / 1000);
}

struct Query {
    const char* name;
    ReceiptFilter filter;
};

std::vector<Query> queries(std::uint64_t total) {
    const auto middle = kStart + total / 2 * kBetween;
    const auto with = [](const std::function<void(ReceiptFilter&)>& set) {
        ReceiptFilter filter;
        set(filter);
        return filter;
    };
    return {
        {"all", {}},
        {"key", with([](auto& f) { f.key = "sge.4712.server-1.example.org"; })},
        {"user with half of all", with([](auto& f) { f.uid = 1000; })},
        {"user with 3 jobs", with([](auto& f) { f.uid = 7; })},
        {"user without jobs", with([](auto& f) { f.uid = 8; })},
        {"hour in the middle", with([&](auto& f) { f.since = middle, f.until = middle + 1h; })},
        {"older than the middle", with([&](auto& f) { f.until = middle; })},
        {"common result", with([](auto& f) { f.result = "exited"; })},
        {"rare result", with([](auto& f) { f.result = "timeout"; })},
        {"absent result", with([](auto& f) { f.result = "lost"; })},
        {"common scheduler", with([](auto& f) { f.scheduler = "sge"; })},
        {"rare scheduler", with([](auto& f) { f.scheduler = "rare"; })},
        {"leftovers", with([](auto& f) { f.leftoversOnly = true; })},
        {"failed", with([](auto& f) { f.outcomes = {JobOutcome::Failed}; })},
        {"failed, leftovers: none", with([](auto& f) { f.outcomes = {JobOutcome::Failed}, f.leftoversOnly = true; })},
        {"user with half, rare result: none", with([](auto& f) { f.uid = 1000, f.result = "timeout"; })},
        {"user with half, failed, middle",
         with([&](auto& f) { f.uid = 1000, f.outcomes = {JobOutcome::Failed}, f.until = middle; })},
        {"user with half, leftovers: none", with([](auto& f) { f.uid = 1000, f.leftoversOnly = true; })},
        {"user with half, scheduler pbs: none", with([](auto& f) { f.uid = 1000, f.scheduler = "pbs"; })},
        {"scheduler slurm, leftovers: none", with([](auto& f) { f.scheduler = "slurm", f.leftoversOnly = true; })},
        {"scheduler sge, failed, middle",
         with([&](auto& f) { f.scheduler = "sge", f.outcomes = {JobOutcome::Failed}, f.until = middle; })},
        {"rare result, hour in the middle",
         with([&](auto& f) { f.result = "timeout", f.since = middle, f.until = middle + 1h; })},
    };
}

bool queriesAreFast(const History& history, std::uint64_t total) {
    bool fast = true;
    for (const auto& [name, filter] : queries(total)) {
        const auto worst = measure(
            name, 11, [&, &filter = filter] { return std::to_string(demand(history.list(filter)).size()) + " receipts"; });
        fast = fast && worst <= kAllowedMs;
    }
    return fast;
}

void measureWrites(History& history, std::uint64_t total) {
    auto next = total;
    measure("add one, durable", 1000, [&] {
        demand(history.write({{receipt(next++, total)}}));
        return std::string();
    });
    measure("vacuum 1000 by size", 11,
            [&] { return std::to_string(demand(history.vacuum({.maxBytes = 0}, kStart, 1000)).removed) + " removed"; });
    measure("vacuum 100 by age", 11, [&] {
        return std::to_string(demand(history.vacuum({.maxAge = 0s}, kStart + total * kBetween, 100)).removed) + " removed";
    });
    measure("vacuum without work", 11,
            [&] { return std::to_string(demand(history.vacuum({.maxBytes = UINT64_MAX}, kStart, 1000)).removed) + " removed"; });
    measure("info", 11, [&] { return std::to_string(demand(history.info()).rows) + " rows"; });
}

int benchmark(const std::filesystem::path& directory) {
    const char* asked = std::getenv("PINFOLD_BENCH_RECEIPTS");
    const auto total = std::max<std::uint64_t>(asked ? std::strtoull(asked, nullptr, 10) : 1'000'000, 1000);
    auto history = demand(History::open(directory / "history.db", History::Mode::ReadWrite));
    fill(history, total);
    ::sync(); // without sync(), add() would wait until the disk has written the data of fill()
    const bool fast = queriesAreFast(history, total);
    measureWrites(history, total);
    return fast ? 0 : 1;
}

} // namespace
} // namespace pinfold

int main() {
    auto name = (std::filesystem::temp_directory_path() / "pinfold-bench-XXXXXX").string();
    if (!::mkdtemp(name.data()))
        return 2;
    const int status = pinfold::benchmark(name);
    std::filesystem::remove_all(name);
    return status;
}
