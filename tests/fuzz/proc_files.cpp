// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how pinfold reads files of /proc and of /sys. Users choose the names of processes and cgroups. An input has one section
// for each file name in kFiles.
#include "adapters/slurm/translate.hpp"
#include "fuzz.hpp"
#include "os/fuse_mounts.hpp"
#include "os/process.hpp"
#include "os/sysv_ipc.hpp"
#include "os/topology.hpp"

#include <array>

using namespace pinfold;

namespace {

constexpr pid_t kPid = 7;
constexpr std::array kFiles{"proc/7/stat",
                            "proc/7/status",
                            "proc/7/cmdline",
                            "proc/7/cgroup",
                            "proc/7/wchan",
                            "proc/7/task/8/stat",
                            "proc/7/task/8/cgroup",
                            "proc/7/task/8/wchan",
                            "proc/self/mountinfo",
                            "proc/self/status",
                            "proc/sysvipc/shm",
                            "proc/sysvipc/sem",
                            "proc/sysvipc/msg",
                            "sys/devices/system/cpu/online",
                            "sys/devices/system/cpu/cpu0/topology/physical_package_id",
                            "sys/devices/system/cpu/cpu0/topology/core_cpus_list",
                            "sys/devices/system/cpu/cpu0/cache/index3/level",
                            "sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list",
                            "sys/devices/system/node/node0/cpulist"};

template <class T> void requireAnswer(const Result<T>& result) {
    if (!result)
        fuzz::requireOneLine(result.error());
}

void lookAtProcess(const ProcessTable& table) {
    requireAnswer(table.cgroupOf(kPid));
    requireAnswer(table.processOf(kPid));
    requireAnswer(table.tracerOf(kPid));
    requireAnswer(table.threadsOf(kPid));
    requireAnswer(table.readStuck(kPid));
    requireAnswer(table.pids());
    requireAnswer(table.showsAll());
    const auto info = table.readWithCommand(kPid);
    requireAnswer(info);
    if (!info)
        return;
    requireAnswer(table.cgroupOf(*info));
    fuzz::requireOneLine({ErrorCode::Internal, info->command}); // the text can be printed in a message
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static fuzz::Tree tree;
    tree.show(fuzz::text(data, size), kFiles, tree.top());
    lookAtProcess(ProcessTable(tree.top()));
    requireAnswer(listIpcObjects(tree.top()));
    requireAnswer(readTopology(tree.top()));
    (void)nodesFuseServersAnswer(tree.top());
    (void)usersServeFuse(tree.top());
    (void)slurmContains(fuzz::text(data, size));
    return 0;
}
