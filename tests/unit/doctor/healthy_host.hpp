// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "doctor/checks.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace pinfold::test {

using doctor::Finding;
using doctor::FindingState;

inline void PrintTo(FindingState state, std::ostream* out) { *out << doctor::toString(state); }

/// Makes a directory with the files of a healthy node. Each test causes a different fault on the healthy node.
class HealthyHost : public TemporaryDirectory {
protected:
    HealthyHost() {
        host_.root = top();
        host_.version = "1.0";
        host_.libexec = "/usr/libexec/pinfold";
        host_.kernelRelease = "6.1.0";
        host_.now = RealTime(1'800'000'000s);
        host_.clockSet = true;
        host_.systemd = doctor::Properties{{"Version", "252.39-1~deb12u1"}};
        host_.units = {
            {"pinfoldd.service",
             {{"LoadState", "loaded"},
              {"ActiveState", "active"},
              {"Result", "success"},
              {"FragmentPath", "/lib/systemd/system/pinfoldd.service"},
              {"CapabilityBoundingSet", "17188782112"}, // CAP_KILL, CAP_SYS_PTRACE, CAP_SYS_NICE and CAP_SYSLOG
              {"ProtectControlGroups", "no"}}},
            {"pinfoldd.socket", {{"LoadState", "loaded"}, {"ActiveState", "active"}, {"UnitFileState", "enabled"}}},
            {"batch.slice", doctor::Properties{{"LoadState", "loaded"}}},
            {"dbus.service", doctor::Properties{{"Id", "dbus.service"}}},
        };
        host_.logind = doctor::Properties{{"RemoveIPC", "no"}, {"KillUserProcesses", "no"}};
        host_.daemonVersion = Result<std::string>("1.0");
        host_.space = {{"/var/lib/pinfold", {1 << 30, 1000, 1000}}, {"/run", {1 << 30, 1000, 1000}}};
        write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids rdma\n");
        for (const char* file : {"cgroup.procs", "cgroup.kill", "memory.current", "memory.peak", "memory.swap.current",
                                 "memory.swap.peak", "pids.current", "pids.peak"})
            write(std::filesystem::path("sys/fs/cgroup/system.slice") / file, "0\n");
        write("proc/pressure/memory", "some avg10=0.00\n");
        write("proc/sys/kernel/pid_max", "4194304\n");
        write("proc/mounts", "proc /proc proc rw,nosuid 0 0\n");
        write("run/systemd/system/x", "");
        write("run/pinfold/wrapper.sock", "");
        write("etc/group", "root:x:0:\npinfold-admin:x:990:\n");
        write("etc/systemd/logind.conf", "[Login]\nRemoveIPC=no\n");
        write("usr/share/dbus-1/system.d/org.pinfold1.conf", "<busconfig/>\n");
    }

    std::vector<Finding> examined() const {
        auto host = host_;
        host.config = loadConfig(ConfigPaths::below(top()));
        return doctor::examine(host);
    }

    /// Returns the finding that has the given id. The finding must exist.
    Finding finding(const std::string& id) const {
        const auto all = examined();
        const auto found = std::find_if(all.begin(), all.end(), [&id](const auto& finding) { return finding.id == id; });
        if (found != all.end())
            return *found;
        ADD_FAILURE() << "no finding " << id;
        return {};
    }
    FindingState state(const std::string& id) const { return finding(id).state; }
    bool mentions(const std::string& id, const std::string& words) const {
        const auto found = finding(id);
        return (found.found + "\n" + found.remedy + "\n" + found.where).find(words) != std::string::npos;
    }
    bool hasFinding(const std::string& id) const {
        const auto all = examined();
        return std::any_of(all.begin(), all.end(), [&id](const auto& finding) { return finding.id == id; });
    }

    void link(const std::filesystem::path& file, const std::filesystem::path& target) const {
        std::filesystem::create_directories((top() / file).parent_path());
        std::filesystem::create_symlink(target, top() / file);
    }
    void program(const std::filesystem::path& file, std::string_view text = "#!/bin/sh\n") const {
        ::chmod(write(file, text).c_str(), 0755);
    }
    void remove(const std::filesystem::path& file) const { std::filesystem::remove_all(top() / file); }

    static constexpr auto Ok = FindingState::Ok;
    static constexpr auto Warn = FindingState::Warn;
    static constexpr auto Fail = FindingState::Fail;

    doctor::Host host_;
};

} // namespace pinfold::test
