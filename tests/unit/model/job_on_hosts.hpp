// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the receipts of one job from several hosts. In this header, each time is a duration since the start of
// the job.
#pragma once

#include "model/hosts_of_job.hpp"

#include <string>

namespace pinfold::test {

inline RealTime at(Microseconds sinceStart) { return RealTime(1'700'000'000s) + sinceStart; }

/// Returns the receipt of a host on which the batch system ended the job.
inline Receipt toldHost(const std::string& name, Microseconds end) {
    Receipt receipt;
    receipt.id = "id-" + name;
    receipt.key = "slurm.123";
    receipt.uid = 1000;
    receipt.origin.host = name;
    receipt.started = at(0s);
    receipt.ended = at(end);
    receipt.wall = end;
    receipt.taskList = {{.number = 1, .kind = TaskKind::Task, .started = at(0s), .ended = at(end), .exit = {.status = 0}}};
    receipt.identity.run = 0;
    return receipt;
}

inline Receipt batchHost(const std::string& name, Microseconds end, ExitState exit) {
    auto receipt = toldHost(name, end);
    receipt.exit = exit;
    if (exit.signal)
        receipt.result = JobResult::Signaled;
    receipt.taskList = {{.number = 0, .kind = TaskKind::Batch, .started = at(0s), .ended = at(end), .exit = exit}};
    return receipt;
}

/// Replaces the task list of the receipt by a list with one task.
inline Receipt withTask(Receipt receipt, std::uint32_t number, Microseconds end, ExitState exit) {
    receipt.taskList = {{.number = number, .kind = TaskKind::Task, .started = at(0s), .ended = at(end), .exit = exit}};
    return receipt;
}

inline Receipt ended(Receipt receipt, JobResult result) {
    receipt.result = result;
    if (result == JobResult::NodeLost) // nobody knows the tasks of a host that went down
        receipt.taskList.clear();
    return receipt;
}

inline Receipt outOfMemory(Receipt receipt, Microseconds kill) {
    receipt.result = JobResult::OutOfMemory;
    constexpr auto limit = std::uint64_t{4} << 30;
    receipt.oom = OomVerdict();
    receipt.oom->at = at(kill);
    receipt.oom->limit = limit;
    receipt.limits.memoryMax = limit;
    return receipt;
}

} // namespace pinfold::test
