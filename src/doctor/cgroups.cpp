// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/word_list.hpp"
#include "doctor/checks.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace pinfold::doctor {
namespace {

constexpr const char* kMount = "/sys/fs/cgroup";
constexpr const char* kBootV2 =
    "boot with systemd.unified_cgroup_hierarchy=1 on the kernel's command line: in GRUB_CMDLINE_LINUX of "
    "/etc/default/grub and `update-grub`, or by `grubby --update-kernel=ALL --args=...`";

struct Controller {
    const char* name;
    /// The doctor's finding has this state if the controller is missing. The state is Fail if jobs need the controller even with
    /// the default settings. The state is Warn if only optional settings of a site need the controller.
    FindingState without;
    const char* limits;
    bool accounted; ///< systemd enables the controller for each job
};
constexpr Controller kControllers[] = {
    {"memory", FindingState::Fail, "limits of memory, and the memory use of jobs", true},
    {"cpu", FindingState::Fail, "CPU weights and quotas", false},
    {"pids", FindingState::Fail, "limits of processes and threads", true},
    {"cpuset", FindingState::Warn, "CPUs that are reserved for a job", false},
    {"io", FindingState::Warn, "limits of disks", true},
};

std::filesystem::path mount() { return kMount; }

/// Returns the reason why the kernel does not offer a controller, and the remedy. (The columns of /proc/cgroups are the name, the
/// hierarchy, the number of cgroups, and whether the controller is enabled.)
std::pair<std::string, std::string> whyMissing(const Files& files, const std::string& controller) {
    for (const auto& line : meaningfulLines(files.text("/proc/cgroups"))) {
        const auto row = words(line.text);
        if (row.size() < 4 || row[0] != controller)
            continue;
        if (row[3] == "0")
            return {"the controller is switched off",
                    fmt::format("remove cgroup_disable={} from the kernel's command line, and reboot", controller)};
        if (row[1] != "0")
            return {"a cgroup v1 hierarchy uses the controller", kBootV2};
    }
    return {"the kernel, or the container's host, does not provide it", "look at /proc/cgroups and the kernel's configuration"};
}

bool checkVersion(const Files& files, Findings& findings) {
    if (files.exists(mount() / "cgroup.controllers")) {
        findings.ok("cgroup.version", "cgroup v2", kMount);
        return true;
    }
    if (files.exists(mount() / "unified/cgroup.controllers"))
        findings.fail("cgroup.version",
                      "the node uses the hybrid mode, with systemd's own tree in cgroup v2 and the controllers in cgroup v1: "
                      "jobs would have no limits",
                      kBootV2, kMount);
    else if (files.exists(mount() / "systemd") || files.exists(mount() / "memory"))
        findings.fail("cgroup.version", "the node uses cgroup v1, and pinfoldd does not start with it", kBootV2, kMount);
    else
        findings.fail("cgroup.version", "no cgroups are mounted", kBootV2, kMount);
    return false;
}

/// Returns true if a program other than systemd has taken the controller away from live jobs. If Controller::accounted is true,
/// systemd enables the controller for each job. If Controller::accounted is false, systemd enables the controller only for jobs
/// whose properties need the controller.
bool keptFromJobs(const Files& files, const Controller& controller) {
    const auto slice = mount() / "batch.slice";
    return controller.accounted && !files.matching(slice / "batch-*.slice").empty() &&
           !hasWord(files.text(slice / "cgroup.subtree_control"), controller.name);
}

void checkController(const Host& host, const Files& files, const Controller& controller, Findings& findings) {
    const auto id = std::string("cgroup.") + controller.name;
    if (!hasWord(files.text(mount() / "cgroup.controllers"), controller.name)) {
        const auto [why, remedy] = whyMissing(files, controller.name);
        findings.add(controller.without, id, fmt::format("no controller for {}: {}", controller.limits, why), remedy, kMount);
        return;
    }
    for (const char* slice : {"-.slice", "batch.slice"})
        if (hasWord(property(host.unit(slice), "DisableControllers"), controller.name)) {
            const auto dropIns = property(host.unit(slice), "DropInPaths");
            findings.add(controller.without, id,
                         fmt::format("DisableControllers= of {} switches off {}", slice, controller.limits),
                         fmt::format("remove {} from DisableControllers= of the slice, then run `systemctl daemon-reload`",
                                     controller.name),
                         dropIns.empty() ? slice : dropIns);
            return;
        }
    if (keptFromJobs(files, controller)) {
        const auto control = (mount() / "batch.slice/cgroup.subtree_control").string();
        findings.add(controller.without, id, std::string("the running jobs are without the controller for ") + controller.limits,
                     fmt::format("echo +{} >{}", controller.name, control), control);
        return;
    }
    findings.ok(id, std::string("available, for ") + controller.limits);
}

/// Returns some cgroups. The directories of the cgroups show the doctor which files the kernel provides. The result does not
/// contain the root cgroup, because the root cgroup lacks some files that other cgroups have.
std::vector<std::filesystem::path> someCgroups(const Files& files) {
    std::vector<std::filesystem::path> found;
    for (const auto& name : files.list(kMount))
        if (name.ends_with(".slice") || name.ends_with(".scope"))
            found.push_back(mount() / name);
    return found;
}

/// Returns true if no cgroup contains the file with the name `file`, although some cgroups contain the file with the name
/// `beside`. lacks() looks at files instead of the kernel's version, because distributions add new features to old kernels.
bool lacks(const Files& files, const char* file, const char* beside) {
    const auto cgroups = someCgroups(files);
    const auto has = [&files](const char* name) {
        return [&files, name](const auto& cgroup) { return files.exists(cgroup / name); };
    };
    return std::any_of(cgroups.begin(), cgroups.end(), has(beside)) && std::none_of(cgroups.begin(), cgroups.end(), has(file));
}

void checkFiles(const Host& host, const Files& files, Findings& findings) {
    if (lacks(files, "cgroup.kill", "cgroup.procs"))
        findings.fail("cgroup.kill",
                      fmt::format("kernel {} cannot kill a whole cgroup at once: it has no cgroup.kill", host.kernelRelease),
                      "install a kernel of version 5.14 or later", kMount);
    else
        findings.ok("cgroup.kill", fmt::format("kernel {} can kill a whole job at once", host.kernelRelease));
    std::vector<std::string> lost;
    for (const auto& [file, beside, since] : {std::tuple("memory.peak", "memory.current", "5.19"),
                                              {"memory.swap.peak", "memory.swap.current", "6.5"},
                                              {"pids.peak", "pids.current", "6.1"}})
        if (lacks(files, file, beside))
            lost.push_back(fmt::format("{} ({})", file, since));
    if (lacks(files, "memory.peak", "memory.current"))
        findings.warn("cgroup.peaks", "this kernel records no peaks: receipts lack " + enumerated(lost, "and"),
                      "install a kernel of version 5.19 or later", kMount);
    else
        findings.ok("cgroup.peaks", lost.empty() ? "receipts have all peaks"
                                                 : "receipts do not contain the peaks that only a newer kernel records: " +
                                                       enumerated(lost, "and"));
}

} // namespace

void checkCgroups(const Host& host, const Files& files, Findings& findings) {
    if (!checkVersion(files, findings))
        return;
    for (const auto& controller : kControllers)
        checkController(host, files, controller, findings);
    checkFiles(host, files, findings);
}

} // namespace pinfold::doctor
