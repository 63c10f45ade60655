// SPDX-License-Identifier: LGPL-2.1-or-later
#include "healthy_host.hpp"

#include "model/job_record.hpp"

namespace pinfold::test {
namespace {

using DoctorTest = HealthyHost;

TEST_F(DoctorTest, findsNothingWrongWithAHealthyHost) {
    for (const auto& finding : examined())
        EXPECT_EQ(finding.state, Ok) << finding.id << ": " << finding.found;
}

TEST_F(DoctorTest, givesEachCheckItsOwnIdAndARemedyToWhatIsWrong) {
    std::filesystem::remove_all(top() / "sys");
    host_.units.clear();
    host_.daemonVersion = Result<std::string>(Error{ErrorCode::TimedOut, "late"});
    std::vector<std::string> ids;
    for (const auto& finding : examined()) {
        EXPECT_EQ(finding.state == Ok, finding.remedy.empty()) << finding.id;
        ids.push_back(finding.id);
    }
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

TEST_F(DoctorTest, tellsTheCgroupVersionsApart) {
    EXPECT_EQ(finding("cgroup.version").found, "cgroup v2");
    remove("sys/fs/cgroup/cgroup.controllers");
    write("sys/fs/cgroup/unified/cgroup.controllers", "");
    EXPECT_TRUE(state("cgroup.version") == Fail && mentions("cgroup.version", "hybrid"));
    EXPECT_FALSE(hasFinding("cgroup.memory"));
    remove("sys/fs/cgroup/unified");
    write("sys/fs/cgroup/memory/tasks", "");
    EXPECT_TRUE(state("cgroup.version") == Fail && mentions("cgroup.version", "cgroup v1"));
    remove("sys/fs/cgroup");
    EXPECT_TRUE(state("cgroup.version") == Fail && mentions("cgroup.version", "no cgroups"));
}

TEST_F(DoctorTest, saysWhyAControllerIsMissing) {
    write("sys/fs/cgroup/cgroup.controllers", "cpu pids\n");
    EXPECT_EQ(state("cgroup.memory"), Fail);
    EXPECT_EQ(state("cgroup.cpuset"), Warn);
    EXPECT_EQ(state("cgroup.io"), Warn);
    EXPECT_EQ(state("cgroup.cpu"), Ok);
    write("proc/cgroups", "#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t0\t1\t0\ncpuset\t3\t1\t1\nio\n");
    EXPECT_TRUE(mentions("cgroup.memory", "cgroup_disable=memory"));
    EXPECT_TRUE(mentions("cgroup.cpuset", "v1 hierarchy uses"));
    EXPECT_TRUE(mentions("cgroup.io", "does not provide it"));
}

TEST_F(DoctorTest, findsControllersThatSystemdSwitchesOff) {
    host_.units["-.slice"] = doctor::Properties{{"DisableControllers", "io cpuset"}};
    host_.units["batch.slice"]["DisableControllers"] = "memory";
    host_.units["batch.slice"]["DropInPaths"] = "/etc/systemd/system/batch.slice.d/off.conf";
    EXPECT_EQ(state("cgroup.memory"), Fail);
    EXPECT_EQ(finding("cgroup.memory").where, "/etc/systemd/system/batch.slice.d/off.conf");
    EXPECT_EQ(state("cgroup.io"), Warn);
    EXPECT_EQ(finding("cgroup.io").where, "-.slice");
    EXPECT_EQ(state("cgroup.cpu"), Ok);
}

TEST_F(DoctorTest, findsControllersThatWereTakenFromLiveJobs) {
    write("sys/fs/cgroup/batch.slice/cgroup.subtree_control", "memory\n");
    EXPECT_EQ(state("cgroup.pids"), Ok) << "there is no job";
    write("sys/fs/cgroup/batch.slice/batch-sge.1.slice/cgroup.procs", "");
    EXPECT_TRUE(state("cgroup.pids") == Fail && mentions("cgroup.pids", "echo +pids"));
    EXPECT_EQ(state("cgroup.memory"), Ok);
    EXPECT_EQ(state("cgroup.io"), Warn);
    EXPECT_EQ(state("cgroup.cpuset"), Ok) << "no job asks for it";
}

TEST_F(DoctorTest, goesByFilesAndNotByTheKernelsVersion) {
    remove("sys/fs/cgroup/system.slice/memory.swap.peak");
    EXPECT_EQ(state("cgroup.peaks"), Ok);
    EXPECT_TRUE(mentions("cgroup.peaks", "memory.swap.peak (6.5)"));
    remove("sys/fs/cgroup/system.slice/memory.peak");
    EXPECT_EQ(state("cgroup.peaks"), Warn);
    remove("sys/fs/cgroup/system.slice/cgroup.kill");
    EXPECT_EQ(state("cgroup.kill"), Fail);
    write("sys/fs/cgroup/user.slice/cgroup.kill", "");
    EXPECT_EQ(state("cgroup.kill"), Ok);
}

TEST_F(DoctorTest, findsAKernelWithoutPressureAndWithFewPids) {
    remove("proc/pressure");
    write("proc/sys/kernel/pid_max", "32768\n");
    EXPECT_EQ(state("kernel.pressure"), Warn);
    EXPECT_EQ(state("kernel.pid-max"), Warn);
}

TEST_F(DoctorTest, mindsHiddenProcessesOnlyWherePinfolddMayNotLook) {
    write("proc/mounts", "proc /proc proc rw,hidepid=invisible,gid=4 0 0\n");
    EXPECT_EQ(state("kernel.hidepid"), Ok);
    EXPECT_TRUE(mentions("kernel.hidepid", "hidepid=invisible, but"));
    host_.units["pinfoldd.service"]["CapabilityBoundingSet"] = "32";
    EXPECT_EQ(state("kernel.hidepid"), Fail);
    write("proc/mounts", "proc /proc proc rw,hidepid=off 0 0\n");
    EXPECT_EQ(state("kernel.hidepid"), Ok);
}

TEST_F(DoctorTest, refusesAnOldSystemdAndNamesWhatEachLacks) {
    EXPECT_TRUE(mentions("systemd.version", "memory_zswap_max (253)"));
    host_.systemd = doctor::Properties{{"Version", "257.13"}};
    EXPECT_FALSE(mentions("systemd.version", "memory_zswap_max"));
    for (const char* old : {"251.4", "239 (239-82.el8)", "", "v252", "99999999999999999999"}) {
        host_.systemd = doctor::Properties{{"Version", old}};
        EXPECT_EQ(state("systemd.version"), Fail) << old;
    }
    host_.systemd.reset();
    EXPECT_TRUE(mentions("systemd.version", "did not answer"));
    remove("run/systemd");
    EXPECT_TRUE(mentions("systemd.version", "does not run as PID 1"));
}

TEST_F(DoctorTest, findsWhatOomdMayKill) {
    host_.units["batch.slice"]["ManagedOOMMemoryPressure"] = "kill";
    EXPECT_EQ(state("systemd.oomd"), Ok) << "nobody acts on it";
    host_.units["systemd-oomd.service"] = doctor::Properties{{"ActiveState", "active"}};
    EXPECT_TRUE(state("systemd.oomd") == Warn && mentions("systemd.oomd", "ManagedOOMMemoryPressure=kill of batch.slice"));
    host_.units["batch.slice"]["ManagedOOMMemoryPressure"] = "auto";
    EXPECT_EQ(state("systemd.oomd"), Ok);
    host_.units["-.slice"]["ManagedOOMSwap"] = "kill";
    EXPECT_EQ(state("systemd.oomd"), Warn);
}

TEST_F(DoctorTest, findsABatchSliceThatCantBeUsed) {
    host_.units["batch.slice"]["LoadState"] = "masked";
    EXPECT_TRUE(state("systemd.batch-slice") == Fail && mentions("systemd.batch-slice", "systemctl unmask batch.slice"));
    host_.units["batch.slice"]["LoadState"] = "not-found";
    EXPECT_EQ(state("systemd.batch-slice"), Fail);
    host_.units["batch.slice"] = doctor::Properties{{"LoadState", "loaded"}, {"NeedDaemonReload", "yes"}};
    EXPECT_EQ(state("systemd.batch-slice"), Warn);
    host_.units["batch.slice"]["DropInPaths"] = "/run/systemd/system.control/batch.slice.d/50-MemoryMax.conf";
    EXPECT_EQ(state("systemd.batch-slice"), Ok);
}

TEST_F(DoctorTest, readsLogindsConfigurationAsLogindDoes) {
    write("usr/lib/systemd/logind.conf.d/10-ipc.conf", "[Login]\nRemoveIPC=yes\n");
    EXPECT_EQ(state("logind.remove-ipc"), Warn);
    EXPECT_EQ(finding("logind.remove-ipc").where, "/usr/lib/systemd/logind.conf.d/10-ipc.conf");
    write("etc/systemd/logind.conf.d/10-ipc.conf", "# masks the one of that name\n");
    EXPECT_EQ(state("logind.remove-ipc"), Ok);
    host_.logind->at("RemoveIPC") = "yes";
    EXPECT_TRUE(state("logind.remove-ipc") == Warn && mentions("logind.remove-ipc", "still uses yes"));
    host_.logind.reset();
    EXPECT_EQ(state("logind.remove-ipc"), Ok);
    remove("etc/systemd");
    write("usr/lib/systemd/logind.conf.d/10-ipc.conf", "");
    EXPECT_EQ(state("logind.remove-ipc"), Warn) << "yes is systemd's default";
}

TEST_F(DoctorTest, namesUsersWhoLinger) {
    write("var/lib/systemd/linger/root", "");
    EXPECT_EQ(state("logind.linger"), Ok);
    write("var/lib/systemd/linger/bob", "");
    write("var/lib/systemd/linger/alice", "");
    EXPECT_TRUE(state("logind.linger") == Warn && mentions("logind.linger", "alice and bob"));
}

TEST_F(DoctorTest, findsWhatPinfolddLacks) {
    auto& unit = host_.units["pinfoldd.service"];
    unit["ProtectControlGroups"] = "yes";
    EXPECT_EQ(state("pinfoldd.sandbox"), Fail);
    unit["ProtectControlGroups"] = "no";
    unit["CapabilityBoundingSet"] = "524288"; // CAP_SYS_PTRACE
    EXPECT_TRUE(state("pinfoldd.sandbox") == Warn && mentions("pinfoldd.sandbox", "CAP_KILL"));
    unit["CapabilityBoundingSet"] = "17188257824"; // CAP_SYS_PTRACE is missing, as on a site that has removed CAP_SYS_PTRACE
    EXPECT_EQ(state("pinfoldd.sandbox"), Ok);
    EXPECT_TRUE(mentions("pinfoldd.sandbox", "where hanging processes wait"));
    unit["FragmentPath"] = "/etc/systemd/system/pinfoldd.service";
    EXPECT_EQ(state("pinfoldd.unit"), Warn);
    unit["NeedDaemonReload"] = "yes";
    EXPECT_TRUE(mentions("pinfoldd.unit", "daemon-reload"));
    unit = doctor::Properties{{"LoadState", "masked"}};
    EXPECT_TRUE(state("pinfoldd.unit") == Fail && mentions("pinfoldd.unit", "systemctl unmask"));
    EXPECT_FALSE(hasFinding("pinfoldd.running"));
}

TEST_F(DoctorTest, tellsADaemonThatRestsFromOneThatIsMissed) {
    auto& unit = host_.units["pinfoldd.service"];
    host_.daemonVersion.reset();
    unit["ActiveState"] = "inactive";
    EXPECT_TRUE(state("pinfoldd.running") == Warn && mentions("pinfoldd.running", "next job starts it"));
    host_.units["pinfoldd.socket"]["ActiveState"] = "inactive";
    EXPECT_EQ(state("pinfoldd.running"), Fail);
    EXPECT_EQ(state("pinfoldd.socket"), Fail);
    write("sys/fs/cgroup/batch.slice/batch-sge.1.slice/cgroup.procs", "");
    EXPECT_TRUE(state("pinfoldd.running") == Fail && mentions("pinfoldd.running", "but jobs do"));
    unit["ActiveState"] = "activating";
    unit["Result"] = "exit-code";
    EXPECT_TRUE(state("pinfoldd.running") == Fail && mentions("pinfoldd.running", "does not stay up"));
}

TEST_F(DoctorTest, comparesVersionsAndKnowsSilence) {
    host_.daemonVersion = Result<std::string>("0.9");
    EXPECT_TRUE(state("pinfoldd.answers") == Warn && mentions("pinfoldd.answers", "0.9"));
    host_.daemonVersion = Result<std::string>(Error{ErrorCode::TimedOut, "Connection timed out"});
    EXPECT_TRUE(state("pinfoldd.answers") == Fail && mentions("pinfoldd.answers", "Connection timed out"));
}

TEST_F(DoctorTest, findsASocketThatNobodyListensOn) {
    host_.units["pinfoldd.socket"]["UnitFileState"] = "disabled";
    EXPECT_EQ(state("pinfoldd.socket"), Warn);
    remove("run/pinfold/wrapper.sock");
    EXPECT_EQ(state("pinfoldd.socket"), Fail);
}

TEST_F(DoctorTest, checksTheConfigurationAndTheGroup) {
    write("etc/pinfold/pinfold.toml", "[jobs]\nkill_graze = \"1s\"\n");
    EXPECT_TRUE(state("pinfoldd.config") == Warn && mentions("pinfoldd.config", "kill_graze"));
    write("etc/pinfold/pinfold.toml", "[jobs]\nkill_grace = \"never\"\n");
    EXPECT_TRUE(state("pinfoldd.config") == Fail && mentions("pinfoldd.config", "pinfold.toml:2:"));
    write("etc/group", "not-pinfold-admin:x:1:\n");
    EXPECT_EQ(state("pinfoldd.group"), Warn);
}

TEST_F(DoctorTest, findsUnitsWithoutRecordAndRecordsWithoutUnit) {
    JobRecord record("id", "boot", *JobKey::parse("sge.1"));
    record.state = JobState::Running;
    write("run/pinfold/jobs/sge.1.json", encode(record));
    EXPECT_TRUE(state("jobs.records") == Warn && mentions("jobs.records", "sge.1.json"));
    write("sys/fs/cgroup/batch.slice/batch-sge.1.slice/cgroup.procs", "");
    EXPECT_EQ(state("jobs.records"), Ok);
    EXPECT_EQ(state("jobs.units"), Ok);
    write("sys/fs/cgroup/batch.slice/batch-sge.2.slice/cgroup.procs", "");
    EXPECT_TRUE(state("jobs.units") == Warn && mentions("jobs.units", "batch-sge.2.slice"));
    EXPECT_FALSE(mentions("jobs.units", "batch-sge.1.slice"));
    record.state = JobState::Creating; // systemd is just starting the job's unit
    write("run/pinfold/jobs/sge.3.json", encode(record));
    EXPECT_EQ(state("jobs.records"), Ok);
    write("run/pinfold/jobs/sge.4.json", "{");
    EXPECT_EQ(state("jobs.unreadable"), Fail);
}

TEST_F(DoctorTest, tellsOfReceiptsThatWaitAndOfDamagedFiles) {
    EXPECT_EQ(state("history.kept"), Ok);
    EXPECT_EQ(state("history.damaged"), Ok);
    write("run/pinfold/receipts/0123.json", "{}");
    EXPECT_TRUE(state("history.kept") == Warn && mentions("history.kept", "1 receipt could"));
    write("var/lib/pinfold/history.db.damaged-20250131T120000Z", "");
    write("var/lib/pinfold/history.db.damaged-20250131T120000Z-wal", "");
    EXPECT_TRUE(state("history.damaged") == Warn &&
                mentions("history.damaged", "started a new one: history.db.damaged-20250131T120000Z"));
}

TEST_F(DoctorTest, knowsScarceRoomAndClocks) {
    host_.space["/var/lib/pinfold"] = {1 << 20, 1000, 1000};
    host_.space["/run"] = {1 << 30, 1000, 5};
    EXPECT_EQ(state("space.history"), Fail);
    EXPECT_TRUE(state("space.run") == Fail && mentions("space.run", "5 inodes"));
    host_.space["/var/lib/pinfold"] = {64 << 20, 0, 0};
    EXPECT_EQ(state("space.history"), Warn) << "and a file system that counts no inodes lacks none";
    host_.clockSet = false;
    EXPECT_EQ(state("clock.synchronised"), Warn);
    host_.clockSet.reset();
    EXPECT_EQ(state("clock.synchronised"), Ok);
    host_.newestReceipt = host_.now + 1h;
    EXPECT_EQ(state("clock.receipts"), Warn);
    host_.newestReceipt = host_.now;
    EXPECT_FALSE(hasFinding("clock.receipts"));
}

TEST_F(DoctorTest, readsTheBusesLimitsInTheBusesOrder) {
    write("usr/share/dbus-1/system.conf", "<busconfig>\n <limit name=\"max_replies_per_connection\">50000</limit>\n");
    EXPECT_EQ(state("bus.limits"), Ok);
    write("etc/dbus-1/system.d/a.conf", "<limit name='max_replies_per_connection'>\n 32 </limit>");
    EXPECT_TRUE(state("bus.limits") == Fail && mentions("bus.limits", "/etc/dbus-1/system.d/a.conf"));
    write("etc/dbus-1/system-local.conf", "<!-- <limit name=\"max_replies_per_connection\">8</limit> --><limit "
                                          "name=\"max_replies_per_connection\">128</limit>");
    EXPECT_EQ(state("bus.limits"), Ok);
    write("etc/dbus-1/system.conf", "<limit name=\"max_match_rules_per_connection\">10</limit>");
    EXPECT_TRUE(state("bus.limits") == Fail && mentions("bus.limits", "max_match_rules_per_connection is 10"));
    host_.units["dbus.service"]["Id"] = "dbus-broker.service";
    EXPECT_FALSE(hasFinding("bus.limits")) << "dbus-broker has limits of its own";
    remove("usr/share/dbus-1/system.d");
    EXPECT_EQ(state("bus.policy"), Fail);
}

TEST_F(DoctorTest, saysWhatItCanWithoutABus) {
    host_.busError = "Connection refused";
    host_.systemd.reset();
    host_.logind.reset();
    host_.units.clear();
    host_.daemonVersion.reset();
    EXPECT_TRUE(state("bus.answers") == Fail && mentions("bus.answers", "Connection refused"));
    EXPECT_EQ(state("cgroup.memory"), Ok);
    EXPECT_EQ(state("pinfoldd.config"), Ok);
    EXPECT_FALSE(hasFinding("systemd.version"));
}

} // namespace
} // namespace pinfold::test
