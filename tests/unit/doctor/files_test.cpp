// SPDX-License-Identifier: LGPL-2.1-or-later
#include "healthy_host.hpp"
#include "tests/support/cpp/mutation.hpp"

namespace pinfold::test {
namespace {

using FilesTest = HealthyHost;

TEST_F(FilesTest, followsLinksBelowItsRoot) {
    const doctor::Files files(top());
    write("real/file", "text");
    link("a/absolute", "/real/file");
    link("a/relative", "../real/file");
    link("a/out", "../../../../real/file");
    link("directory", "real");
    link("circle", "circle");
    link("nowhere", "/not/there");
    for (const char* path : {"/a/absolute", "a/relative", "/a/out", "/directory/file", "/a/../real/./file"}) {
        EXPECT_EQ(files.resolve(path), std::filesystem::path("/real/file")) << path;
        EXPECT_EQ(files.text(path), "text") << path;
    }
    EXPECT_EQ(files.resolve("/circle"), std::nullopt);
    EXPECT_EQ(files.access("/circle"), doctor::Access::Absent);
    EXPECT_FALSE(files.exists("/nowhere"));
    EXPECT_EQ(files.read("/real"), std::nullopt) << "a directory";
    EXPECT_EQ(files.list("/directory"), std::vector<std::string>{"file"});
}

TEST_F(FilesTest, doesNotWaitForAFifo) {
    ASSERT_EQ(::mkfifo((top() / "fifo").c_str(), 0600), 0);
    EXPECT_EQ(doctor::Files(top()).read("/fifo"), std::nullopt);
}

TEST_F(FilesTest, joinsLinesAndDropsComments) {
    std::vector<std::string> texts;
    for (const auto& line : doctor::meaningfulLines("a # b\n\n  # c\nd \\\n  e\r\n\\\nf"))
        texts.push_back(std::to_string(line.number) + line.text);
    EXPECT_EQ(texts, (std::vector<std::string>{"1a", "5d  e", "7f"}));
    EXPECT_TRUE(doctor::meaningfulLines("").empty());
}

/// Each check must return a finding, whatever the files contain. The text of the finding must be safe for a terminal.
TEST_F(FilesTest, survivesDamagedFiles) {
    const std::vector<std::pair<std::string, std::string>> originals{
        {"etc/pam.d/sshd", "account sufficient pam_x.so\n@include common\nsession [a=1 default=die] pam_pinfold.so x\n"},
        {"etc/pam.d/common", "session include sshd\nsession substack common\n-session optional pam_systemd.so\n"},
        {"etc/ssh/sshd_config", "Include /etc/ssh/*\nMatch all\nUsePAM=yes\n"},
        {"etc/systemd/logind.conf", "[Login]\nRemoveIPC=yes\nKillUserProcesses=no\n"},
        {"etc/dbus-1/system.conf", "<!-- x --><limit name=\"max_replies_per_connection\">12</limit>\n"},
        {"etc/slurm/slurm.conf", "Include *.conf\nProctrackType=proctrack/pgid\nPlugStackConfig=/etc/slurm/plugstack.conf\n"},
        {"etc/slurm/plugstack.conf", "include plug*\nrequired /usr/libexec/pinfold/pinfold_spank.so\n"},
        {"etc/pbs.conf", "PBS_START_MOM=1\nPBS_HOME=/var/spool/pbs\n"},
        {"var/spool/pbs/mom_priv/hooks/pinfold.HK", "enabled=true\nevent=execjob_begin,execjob_end\nalarm=90\n"},
        {"var/spool/torque/mom_priv/config", "$job_starter /usr/libexec/pinfold/torque-job-starter\n"},
        {"etc/pinfold/pinfold.toml", "[jobs]\nkill_grace = \"1s\"\n"},
        {"proc/cgroups", "#name\nmemory\t1\t1\t1\n"},
        {"proc/mounts", "proc /proc proc rw,hidepid=2 0 0\n"},
        {"proc/sys/kernel/pid_max", "4194304\n"},
        {"run/pinfold/jobs/sge.1.json", "{\"version\": 1}"},
        {"sys/fs/cgroup/cgroup.controllers", "cpu memory\n"},
        {"etc/group", "pinfold-admin:x:1:\n"},
    };
    program("usr/sbin/slurmd");
    Mutator mutator;
    for (int round = 0; round < 30; ++round) {
        for (const auto& [file, text] : originals)
            write(file, round % 10 == 9 ? mutator.bytes(200) : mutator.mutate(text));
        const auto answer = doctor::GridEngineAnswer{
            mutator.mutate("shepherd_cmd /x/grid-engine-shepherd\nexecd_params USE_CGROUPS=1\n"), mutator.bytes(50)};
        host_.gridEngine = Result<doctor::GridEngineAnswer>(answer);
        for (auto& [unit, properties] : host_.units)
            for (auto& [name, value] : properties)
                value = mutator.mutate(value);
        const auto findings = examined();
        EXPECT_GT(findings.size(), 20U);
        for (const auto& finding : findings)
            for (const auto& text : {finding.found, finding.remedy, finding.where})
                EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x20 && c != 0x7f; }))
                    << finding.id;
    }
}

} // namespace
} // namespace pinfold::test
