// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/codec.hpp"

namespace pinfold {
namespace {

constexpr Microseconds kMaxGrace = 1h;

/// Adds readers for the options that both CreateJob and OpenJob have.
void addJobReaders(EntryReaders& readers, CreateRequest& request) {
    readers["uid"] = [&request](const sdbus::Variant& value) {
        return assign(toNumber("uid", value, 0, UINT32_MAX - 1), request.owner);
    };
    readers["slots"] = readerOf("slots", request.slots);
    addIdentityReaders(readers, request.identity);
    readers["report_within"] = [&request](const sdbus::Variant& value) {
        return assign(toNumber("report_within", value, 0, toUsec(kMaxGrace)), request.reportWithin);
    };
    addLimitReaders(readers, request.limits);
    addAllocationReaders(readers, request.allocation);
}

} // namespace

Result<void> decodeCreateOptions(const Dict& options, CreateRequest& request) {
    EntryReaders readers;
    readers["supervisor"] = readerOf("supervisor", request.supervisor);
    readers["output"] = readerOf("output", request.output);
    readers["shepherd"] = readerOf("shepherd", request.shepherd);
    addJobReaders(readers, request);
    return readEntries(options, readers);
}

Result<void> decodeOpenOptions(const Dict& options, CreateRequest& request) {
    EntryReaders readers;
    readers["linger"] = readerOf("linger", request.linger);
    addJobReaders(readers, request);
    return readEntries(options, readers);
}

Result<void> decodeTaskOptions(const Dict& options, TaskRequest& request) {
    return readEntries(options, {{"batch", readerOf("batch", request.batch)},
                                 {"supervisor", readerOf("supervisor", request.supervisor)},
                                 {"output", readerOf("output", request.output)},
                                 {"shepherd", readerOf("shepherd", request.shepherd)}});
}

Result<EndReport> decodeEndOptions(const Dict& options) {
    EndReport report;
    EntryReaders readers;
    addExitReaders(readers, report.exit);
    addIdentityReaders(readers, report.identity);
    readers["leader"] = [&report](const sdbus::Variant& value) {
        return assign(toNumber("leader", value, 2, INT32_MAX), report.leader);
    };
    if (auto read = readEntries(options, readers); !read)
        return read.error();
    if (report.exit.status && report.exit.signal)
        return Error{ErrorCode::InvalidArgument, "exit_status and exit_signal exclude each other: give one of them"};
    return report;
}

Result<std::optional<Microseconds>> decodeStopOptions(const Dict& options) {
    std::optional<Microseconds> grace;
    auto read = readEntries(options, {{"grace", [&grace](const sdbus::Variant& value) {
                                           return assign(toNumber("grace", value, 0, toUsec(kMaxGrace)), grace);
                                       }}});
    if (!read)
        return read.error();
    return grace;
}

Result<bool> decodeFlag(const Dict& options, const char* name) {
    bool flag = false;
    auto read = readEntries(options, {{name, readerOf(name, flag)}});
    return read ? Result<bool>(flag) : Result<bool>(read.error());
}

Result<void> decodeNoOptions(const Dict& options) { return readEntries(options, {}); }

JobInfo infoOf(const JobSummary& job) {
    JobInfo info;
    info.key = job.key.text();
    info.object = job.key.objectPath();
    info.state = shownState(job);
    info.uid = job.uid;
    info.slice = job.key.sliceName();
    info.unit = job.key.scopeName(0);
    if (job.leader != 0)
        info.leader = static_cast<std::uint32_t>(job.leader);
    info.created = job.created;
    info.tasks = static_cast<std::uint32_t>(job.tasks.size());
    info.unkillableSince = job.unkillableSince;
    info.unkillableInFuse = job.unkillableInFuse;
    info.memoryNeed = job.memoryNeed;
    return info;
}

sdbus::Error toBusError(const Error& error) {
    return dbus::makeError(std::string(kDbusErrorPrefix) + std::string(errorRow(error.code).dbusName), error.message);
}

} // namespace pinfold
