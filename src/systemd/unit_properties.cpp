// SPDX-License-Identifier: LGPL-2.1-or-later
#include "systemd/unit_properties.hpp"

#include "base/parse.hpp"
#include "model/limit_table.hpp"
#include "model/set_limit.hpp"

#include <algorithm>

namespace pinfold {
namespace {

// pinfoldd has its own timer for the grace period. TimeoutStopUSec is the time limit for a stop that PID 1 begins at a shutdown.
constexpr std::uint64_t kTimeoutStop = 30'000'000;
constexpr const char* kDaemon = "pinfoldd.service";
constexpr std::uint64_t kProgramTime = 300'000'000;
constexpr std::uint64_t kUsecPerSecond = 1'000'000;
constexpr std::uint64_t kDefaultPeriod = 100'000;
constexpr std::uint64_t kMaxPeriod = 1'000'000; // the kernel's longest quota period, in microseconds (sched-bwc.rst)
constexpr std::uint64_t kMinQuota = 1'000;      // the kernel's smallest quota, in microseconds (sched-bwc.rst)

constexpr std::string_view kIoWeight = "io.weight";
constexpr const char* kBfqWeight = "io.bfq.weight";

using Properties = std::vector<UnitProperty>;

// The valueOf() functions convert a value to the form that systemd needs.
std::uint64_t valueOf(std::uint64_t number) { return number; }
std::vector<std::uint8_t> valueOf(const CpuList& numbers) { return numbers.toBitmap(); }
UnitProperty::DeviceAmounts valueOf(const DeviceAmounts& list) { return {list.amounts.begin(), list.amounts.end()}; }
std::string valueOf(const std::string& text) { return text; }
std::string valueOf(OomPolicy policy) { return policy == OomPolicy::Job ? "kill" : "continue"; }

void appendLimits(Properties& properties, const ResourceLimits& limits) {
    forEachLimit(limits, [&properties](const LimitRow& row, const auto& limit) {
        if (limit && row.property)
            properties.push_back({row.property, valueOf(*limit)});
    });
}

void appendCommon(Properties& properties, std::string description) {
    // If the description contained a line break, a daemon-reload would turn the text after the line break into settings of the
    // unit. To be safe, pinfoldd escapes the key, although a key cannot contain a line break.
    properties.push_back({"Description", std::move(description)});
    // Without CollectMode=inactive-or-failed, a unit would remain as a failed unit after a SIGKILL. No new unit could get the
    // name of the failed unit.
    properties.push_back({"CollectMode", std::string("inactive-or-failed")});
    // Only a limit of the job, the owner of the job, or a lack of memory on the node should end a job. systemd-oomd must not
    // end a job, because systemd-oomd only guesses that memory will run out.
    properties.push_back({"ManagedOOMPreference", std::string("omit")});
    for (const char* accounting : {"CPUAccounting", "MemoryAccounting", "TasksAccounting", "IOAccounting"})
        properties.push_back({accounting, true});
}

std::string describe(const char* what, const JobKey& key) {
    auto shown = key.escaped().substr(0, 100);
    // substr() can cut an escape such as "\\xNN" in two, and the description would then end with a backslash. After a
    // daemon-reload, systemd would read this description and the next line as one line.
    if (const auto escape = shown.rfind('\\'); escape != std::string::npos && escape + 4 > shown.size())
        shown.resize(escape);
    return what + shown;
}

void appendDevices(Properties& properties, const std::optional<DeviceRules>& devices) {
    if (!devices)
        return;
    properties.push_back({"DevicePolicy", std::string("closed")});
    UnitProperty::DeviceRules rules;
    for (const auto& rule : *devices)
        rules.emplace_back(rule.device, rule.access);
    properties.push_back({"DeviceAllow", std::move(rules)});
}

std::string cpuMax(std::uint64_t quotaPerSecond) {
    if (quotaPerSecond == kInfinity)
        return "max " + std::to_string(kDefaultPeriod);
    // If the quota for the usual period is below the kernel's minimum, pinfoldd uses a longer period, as systemd does.
    auto period = kDefaultPeriod;
    if (quotaPerSecond * period / kUsecPerSecond < kMinQuota)
        period = std::min(kMaxPeriod, kMinQuota * kUsecPerSecond / quotaPerSecond);
    const auto quota = std::max(kMinQuota, quotaPerSecond * period / kUsecPerSecond);
    return std::to_string(quota) + " " + std::to_string(period);
}

std::string maxOr(std::uint64_t value) { return value == kInfinity ? "max" : std::to_string(value); }

std::string pages(std::uint64_t bytes, std::uint64_t pageSize) {
    return maxOr(bytes == kInfinity ? bytes : bytes / pageSize * pageSize);
}

/// Converts IOWeight= to the weight of the BFQ scheduler, as systemd does (src/basic/cgroup-util.h, BFQ_WEIGHT). IOWeight= and
/// BFQ have the same minimum weight and the same default weight. bfqWeight() converts only weights above the default.
std::uint64_t bfqWeight(std::uint64_t weight) {
    constexpr std::uint64_t usual = 100;
    constexpr std::uint64_t most = 10'000;
    constexpr std::uint64_t mostOfBfq = 1'000;
    return weight <= usual ? weight : usual + (weight - usual) * (mostOfBfq - usual) / (most - usual);
}

/// Lists the values that the files of a cgroup must contain for the limits of a job. For each limit, limitTable() says in which
/// form the cgroup shows the value.
class Expectations {
public:
    Expectations(std::uint64_t pageSize, const DeviceNumbers& numbers) : pageSize_(pageSize), numbers_(numbers) {}

    void expect(const LimitRow& row, std::uint64_t amount) {
        auto& expected = add(row, row.cgroupWord + text(row.form, amount));
        if (expected.file == kIoWeight) { // either the kernel's own controller or the BFQ scheduler applies the weight
            expected.fallbackFile = kBfqWeight;
            expected.fallbackValue = std::to_string(bfqWeight(amount));
        }
    }
    void expect(const LimitRow& row, const CpuList& numbers) { add(row, numbers.toString()); }
    void expect(const LimitRow& row, const DeviceAmounts& list) {
        for (const auto& [device, amount] : list.amounts)
            add(row, row.cgroupWord + maxOr(amount)).device = numbers_(device).value_or("no number of " + device);
    }
    void expect(const LimitRow& row, const auto& text) { add(row, limitText(text)); }

    std::vector<ExpectedCgroupValue> values;

private:
    ExpectedCgroupValue& add(const LimitRow& row, std::string value) {
        return values.emplace_back(ExpectedCgroupValue{row.name, row.cgroupFile, std::move(value)});
    }
    std::string text(LimitForm form, std::uint64_t amount) const {
        if (form == LimitForm::Quota)
            return cpuMax(amount);
        return form == LimitForm::Size ? pages(amount, pageSize_) : maxOr(amount);
    }

    std::uint64_t pageSize_;
    const DeviceNumbers& numbers_;
};

} // namespace

std::vector<UnitProperty> sliceProperties(const JobKey& key, const TaskProperties& job) {
    Properties properties;
    appendCommon(properties, describe("Batch job ", key));
    // At a shutdown, PID 1 stops units in the reverse order of the start: first the scopes, then pinfoldd, then the slice.
    // During a shutdown, pinfoldd can read the counters of the job's slice until pinfoldd ends.
    properties.push_back({"Before", std::vector<std::string>{kDaemon}});
    appendLimits(properties, job.limits);
    appendDevices(properties, job.devices);
    return properties;
}

std::vector<UnitProperty> scopeProperties(const JobKey& key, std::uint32_t task, const TaskProperties& job,
                                          const std::vector<pid_t>& pids) {
    Properties properties;
    appendCommon(properties, describe("Batch job ", key) + (task == 0 ? "" : ", task " + std::to_string(task)));
    properties.push_back({"Slice", key.sliceName()});
    // A comment in sliceProperties() explains why the scope is ordered after pinfoldd.
    properties.push_back({"After", std::vector<std::string>{kDaemon}});
    properties.push_back({"PIDs", std::vector<std::uint32_t>(pids.begin(), pids.end())});
    properties.push_back({"TimeoutStopUSec", kTimeoutStop});
    // pinfoldd always sets OOMPolicy. With systemd's default for OOMPolicy, the kernel would kill one process, and PID 1 would
    // then stop the scope.
    const auto oomPolicy = job.shepherd ? OomPolicy::Process : job.limits.oomPolicy.value_or(OomPolicy::Job);
    properties.push_back({"OOMPolicy", valueOf(oomPolicy)});
    if (task == 0) {
        appendLimits(properties, job.limits);
        appendDevices(properties, job.devices);
    }
    return properties;
}

std::vector<UnitProperty> programProperties(std::string description) {
    return {{"Description", std::move(description)},
            {"CollectMode", std::string("inactive-or-failed")},
            // With Type=exec, the systemd job for the start ends when systemd has executed the program, or has failed to execute
            // the program. The systemd job does not wait for the end of the program.
            {"Type", std::string("exec")},
            {"RuntimeMaxUSec", kProgramTime}};
}

std::vector<UnitProperty> limitProperties(const ResourceLimits& limits) {
    Properties properties;
    appendLimits(properties, limits);
    return properties;
}

bool ExpectedCgroupValue::holds(const CgroupReader& read) const {
    const auto text = read(file);
    if (!text) // systemd disables a controller for a unit when the unit no longer has a limit that needs the controller
        return value.starts_with("max") || (fallbackFile && read(fallbackFile) == fallbackValue);
    if (device.empty())
        return *text == value;
    // If a device has no limit, `file` contains no line for the device.
    const auto line = ("\n" + *text).find("\n" + device + " ");
    if (line == std::string::npos)
        return value.ends_with("=max");
    const auto words = text->substr(line, text->find('\n', line) - line) + " ";
    return words.find(" " + value + " ") != std::string::npos;
}

std::vector<ExpectedCgroupValue> expectedCgroupValues(const ResourceLimits& limits, std::uint64_t pageSize,
                                                      const DeviceNumbers& numbers) {
    Expectations expectations(pageSize, numbers);
    forEachLimit(limits, [&expectations](const LimitRow& row, const auto& limit) {
        if (limit && row.cgroupFile)
            expectations.expect(row, *limit);
    });
    return std::move(expectations.values);
}

} // namespace pinfold
