// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures the pure functions that pinfold calls for every job.
#include "base/escape.hpp"
#include "model/job_key.hpp"
#include "model/job_record.hpp"
#include "systemd/unit_properties.hpp"

#include <benchmark/benchmark.h>

namespace pinfold {
namespace {

const JobKey kKey = *JobKey::parse("pbs.1234[7].server-1.example.org");

ResourceLimits allLimits() {
    ResourceLimits limits;
    limits.memoryMax = 4ULL << 30;
    limits.cpuQuota = 1'500'000;
    limits.cpuWeight = 100;
    limits.allowedCpus = *CpuList::parse("0-15,64-79");
    limits.tasksMax = 512;
    limits.runTimeMax = 3'600'000'000;
    return limits;
}

JobRecord record() {
    JobRecord value("0123456789abcdef0123456789abcdef", "boot", kKey);
    value.limits = allLimits();
    value.supervisor = ProcessIdentity{4711, fromUsec<BootTime>(123456789)};
    value.tasks[0].leader = ProcessIdentity{4712, fromUsec<BootTime>(123456790)};
    return value;
}

void parseKey(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(JobKey::parse(kKey.text()));
}
BENCHMARK(parseKey);

void identifyScope(benchmark::State& state) {
    const auto name = kKey.scopeName(3);
    for (auto _ : state)
        benchmark::DoNotOptimize(identifyUnit(name));
}
BENCHMARK(identifyScope);

void makeProperties(benchmark::State& state) {
    const auto limits = allLimits();
    for (auto _ : state) {
        benchmark::DoNotOptimize(sliceProperties(kKey, {limits, {}}));
        benchmark::DoNotOptimize(scopeProperties(kKey, 0, {limits, {}}, {4711}));
    }
}
BENCHMARK(makeProperties);

void encodeRecord(benchmark::State& state) {
    const auto value = record();
    for (auto _ : state)
        benchmark::DoNotOptimize(encode(value));
}
BENCHMARK(encodeRecord);

void decodeRecord(benchmark::State& state) {
    const auto text = encode(record());
    for (auto _ : state)
        benchmark::DoNotOptimize(decodeJobRecord(text));
}
BENCHMARK(decodeRecord);

void escapeCommandLine(benchmark::State& state) {
    const std::string command(static_cast<std::size_t>(state.range(0)), 'x');
    for (auto _ : state)
        benchmark::DoNotOptimize(printable(command));
}
BENCHMARK(escapeCommandLine)->Arg(100)->Arg(100000);

} // namespace
} // namespace pinfold

BENCHMARK_MAIN();
