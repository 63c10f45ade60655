// SPDX-License-Identifier: LGPL-2.1-or-later
#include "healthy_host.hpp"

namespace pinfold::test {
namespace {

class SchedulersTest : public HealthyHost {
protected:
    void gridEngine(const std::string& global, const std::string& local = "") {
        host_.gridEngine = Result<doctor::GridEngineAnswer>(doctor::GridEngineAnswer{global, local});
    }
    void slurm(const std::string& conf, const std::string& plugstack) {
        program("usr/sbin/slurmd");
        write("etc/slurm/slurm.conf", conf);
        write("etc/slurm/plugstack.conf", plugstack);
    }
    void torque() {
        for (const char* name : {"torque-prologue", "torque-epilogue", "torque-job-starter"})
            program(std::filesystem::path("usr/libexec/pinfold") / name);
        write(kMom / "config", "$logevent 255\n$job_starter /usr/libexec/pinfold/torque-job-starter\n");
        for (const char* name : {"prologue", "epilogue"})
            for (const char* parallel : {"", ".parallel"})
                link(kMom / (std::string(name) + parallel), std::string("/usr/libexec/pinfold/torque-") + name);
    }
    void openPbs(const std::string& hook) {
        write("etc/pbs.conf", "PBS_EXEC=/opt/pbs\nPBS_START_MOM=1\nPBS_HOME=/var/spool/pbs\n");
        write(kHooks / "pinfold.HK", hook);
        write(kHooks / "pinfold.PY", "");
    }

    const std::filesystem::path kMom = "var/spool/torque/mom_priv";
    const std::filesystem::path kHooks = "var/spool/pbs/mom_priv/hooks";
    static constexpr const char* kHook =
        "hook_name=pinfold\nevent=execjob_begin,execjob_launch,execjob_attach,execjob_resize,execjob_postsuspend,"
        "execjob_preresume,execjob_epilogue,execjob_end,execjob_abort,exechost_periodic\norder=100\nalarm=90\n";
};

TEST_F(SchedulersTest, saysNothingOfBatchSystemsThatAreNotHere) {
    for (const char* id : {"grid-engine.shepherd", "slurm.plugin", "torque.job-starter", "openpbs.hook"})
        EXPECT_FALSE(hasFinding(id)) << id;
}

TEST_F(SchedulersTest, findsGridEngineWithoutItsHook) {
    program("usr/libexec/pinfold/grid-engine-shepherd");
    gridEngine("#global:\nshepherd_cmd                 none\nexecd_params                 none\n");
    EXPECT_EQ(state("grid-engine.shepherd"), Warn);
    gridEngine("shepherd_cmd none\n", "#node1:\nshepherd_cmd \\\n   /usr/libexec/pinfold/grid-engine-shepherd\n");
    EXPECT_EQ(state("grid-engine.shepherd"), Ok) << "the host's own configuration comes first";
    EXPECT_EQ(state("grid-engine.cgroups"), Ok);
    gridEngine("shepherd_cmd /opt/site/shepherd\n");
    EXPECT_TRUE(state("grid-engine.shepherd") == Warn && mentions("grid-engine.shepherd", "/opt/site/shepherd"));
    gridEngine("shepherd_cmd /opt/pinfold/grid-engine-shepherd\nexecd_params ENABLE_ADDGRP_KILL=true,USE_CGROUPS=yes\n");
    EXPECT_TRUE(state("grid-engine.shepherd") == Fail && mentions("grid-engine.shepherd", "a program that does not exist"));
    EXPECT_TRUE(state("grid-engine.cgroups") == Fail && mentions("grid-engine.cgroups", "use_cgroups=yes"));
    gridEngine("");
    EXPECT_EQ(state("grid-engine.shepherd"), Warn);
}

TEST_F(SchedulersTest, doesNotTakeASilentQueueMasterForAGoodOne) {
    host_.gridEngine = Result<doctor::GridEngineAnswer>(Error{ErrorCode::TimedOut, "qconf has not answered"});
    EXPECT_TRUE(state("grid-engine.shepherd") == Warn && mentions("grid-engine.shepherd", "not known: qconf has not answered"));
    host_.gridEngine.reset();
    program("usr/sbin/sge_execd");
    EXPECT_TRUE(state("grid-engine.shepherd") == Warn && mentions("grid-engine.shepherd", "not known"));
}

TEST_F(SchedulersTest, keepsItsHandsOffWhereSlurmHasCgroups) {
    slurm("ClusterName=c\n", "");
    EXPECT_TRUE(state("slurm.plugin") == Ok && mentions("slurm.plugin", "leaves these jobs alone"));
    slurm("proctracktype = proctrack/cgroup # v2\n", "");
    EXPECT_EQ(state("slurm.plugin"), Ok);
    remove("etc/slurm/slurm.conf");
    EXPECT_TRUE(state("slurm.plugin") == Ok && mentions("slurm.plugin", "not configured"));
}

TEST_F(SchedulersTest, findsSlurmWithoutItsPlugin) {
    slurm("ProctrackType=proctrack/linuxproc\n", "include /etc/slurm/plugstack.conf.d/*.conf\n");
    EXPECT_TRUE(state("slurm.plugin") == Warn && mentions("slurm.plugin", "required /usr/libexec/pinfold/pinfold_spank.so"));
    write("etc/slurm/plugstack.conf.d/pinfold.conf", "# pinfold\nrequired /usr/libexec/pinfold/pinfold_spank.so\n");
    EXPECT_TRUE(state("slurm.plugin") == Fail && mentions("slurm.plugin", "there is no"));
    EXPECT_EQ(finding("slurm.plugin").where, "/etc/slurm/plugstack.conf.d/pinfold.conf:2");
    write("usr/libexec/pinfold/pinfold_spank.so", "");
    EXPECT_EQ(state("slurm.plugin"), Ok);
    write("etc/slurm/plugstack.conf.d/pinfold.conf", "optional /usr/libexec/pinfold/pinfold_spank.so\n");
    EXPECT_TRUE(state("slurm.plugin") == Warn && mentions("slurm.plugin", "optional"));
}

TEST_F(SchedulersTest, findsSlurmWithoutItsEpilogue) {
    const auto epilog = [&](const std::string& set) {
        slurm("ProctrackType=proctrack/linuxproc\n" + set, "");
        return state("slurm.epilogue");
    };
    EXPECT_TRUE(epilog("") == Warn && mentions("slurm.epilogue", "there is no Epilog"));
    EXPECT_EQ(epilog("Epilog=/usr/libexec/pinfold/slurm-epilogue\n"), Fail);
    EXPECT_TRUE(mentions("slurm.epilogue", "which does not exist"));
    program("usr/libexec/pinfold/slurm-epilogue");
    EXPECT_EQ(epilog("Epilog=/usr/libexec/pinfold/slurm-epilogue\n"), Ok);
    EXPECT_EQ(epilog("Epilog=/usr/libexec/pinfold/slurm-epilogue\nEpilog=/opt/site/epilogue\n"), Ok);
}

TEST_F(SchedulersTest, findsPinfoldsEpilogueBesideTheSitesOwn) {
    link("etc/slurm/epilog.d/pinfold", "/usr/libexec/pinfold/slurm-epilogue");
    slurm("ProctrackType=proctrack/linuxproc\nEpilog=/etc/slurm/epilog.d/*\n", "");
    EXPECT_EQ(state("slurm.epilogue"), Warn) << "a link that leads nowhere";
    program("usr/libexec/pinfold/slurm-epilogue");
    EXPECT_EQ(state("slurm.epilogue"), Ok);
    remove("etc/slurm/epilog.d/pinfold");
    write("etc/slurm/epilog.d/site", "#!/bin/sh\nrm -rf /scratch/$SLURM_JOB_ID\n");
    EXPECT_TRUE(state("slurm.epilogue") == Warn && mentions("slurm.epilogue", "Epilog is /etc/slurm/epilog.d/*"));
    slurm("ProctrackType=proctrack/linuxproc\nEpilog=/etc/slurm/epilog.d/site\n", "");
    EXPECT_EQ(state("slurm.epilogue"), Warn);
    write("etc/slurm/epilog.d/site", "#!/bin/sh\n/usr/libexec/pinfold/slurm-epilogue || exit 1\n");
    EXPECT_EQ(state("slurm.epilogue"), Ok);
}

TEST_F(SchedulersTest, looksWhereSlurmsConfigurationSays) {
    slurm("Include site.conf\n", "required /usr/libexec/pinfold/pinfold_spank.so\n");
    write("etc/slurm/site.conf", "PROCTRACKTYPE=proctrack/pgid\nPlugStackConfig=/etc/slurm/other.conf\n");
    EXPECT_TRUE(state("slurm.plugin") == Warn && mentions("slurm.plugin", "/etc/slurm/other.conf"));
    write("etc/pinfold/pinfold.toml", "[gpus]\ndevices = [\"/dev/null\"]\n");
    EXPECT_EQ(state("slurm.gpus"), Warn);
}

TEST_F(SchedulersTest, findsTorqueWithAllItsHooks) {
    torque();
    for (const char* id :
         {"torque.job-starter", "torque.prologue", "torque.prologue.parallel", "torque.epilogue", "torque.epilogue.parallel"})
        EXPECT_EQ(state(id), ::geteuid() == 0 || std::string(id) == "torque.job-starter" ? Ok : Fail) << id;
}

TEST_F(SchedulersTest, findsWhichOfTorquesHooksIsMissing) {
    torque();
    remove(kMom / "epilogue.parallel");
    EXPECT_EQ(state("torque.epilogue.parallel"), Fail);
    write(kMom / "config", "$logevent 255\n");
    EXPECT_EQ(state("torque.job-starter"), Warn);
    EXPECT_EQ(state("torque.epilogue.parallel"), Warn) << "a site that has not switched it on";
    write(kMom / "config", "$job_starter /opt/torque-job-starter\n");
    EXPECT_TRUE(state("torque.job-starter") == Fail && mentions("torque.job-starter", "cannot execute"));
}

TEST_F(SchedulersTest, findsThatTorqueDoesNotHearOfANodeThatTakesNoJobs) {
    torque();
    EXPECT_TRUE(state("torque.node-check") == Warn && mentions("torque.node-check", "again and again"));
    write(kMom / "config", "$job_starter /usr/libexec/pinfold/torque-job-starter\n"
                           "$node_check_script /usr/libexec/pinfold/torque-node-check\n");
    EXPECT_EQ(state("torque.node-check"), Ok);
}

TEST_F(SchedulersTest, findsWhatTorqueRunsAsTheUserOutsideOfTheJob) {
    torque();
    write(kMom / "epilogue.user", "#!/bin/sh\n");
    EXPECT_TRUE(state("torque.epilogue.user") == Warn && mentions("torque.epilogue.user", "outside of the job"));
}

TEST_F(SchedulersTest, looksAtTorquesScriptsAsPbsMomDoes) {
    torque();
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root can make files that belong to root";
    const auto script = kMom / "prologue";
    const auto site = [&](const char* text, mode_t mode) {
        remove(script);
        ::chmod(write(script, text).c_str(), mode);
        return state("torque.prologue");
    };
    EXPECT_EQ(site("#!/bin/sh\n/usr/libexec/pinfold/torque-prologue \"$@\" || exit $?\n", 0500), Ok);
    EXPECT_EQ(site("#!/bin/sh\nexit 0\n", 0755), Fail);
    EXPECT_TRUE(mentions("torque.prologue", "does not call torque-prologue"));
    EXPECT_EQ(site("#!/bin/sh\n/usr/libexec/pinfold/torque-prologue\n", 0775), Fail);
    EXPECT_TRUE(mentions("torque.prologue", "users other than root may write"));
    EXPECT_EQ(site("#!/bin/sh\n/usr/libexec/pinfold/torque-prologue\n", 0644), Fail);
    ASSERT_EQ(::chown((top() / script).c_str(), 1000, 0), 0);
    EXPECT_TRUE(mentions("torque.prologue", "does not belong to root"));
}

TEST_F(SchedulersTest, readsOpenPbssHookAsMomHasIt) {
    openPbs(kHook);
    EXPECT_EQ(state("openpbs.hook"), Ok);
    EXPECT_EQ(state("openpbs.cgroups"), Ok);
    openPbs(std::string(kHook) + "enabled=false\n");
    EXPECT_TRUE(state("openpbs.hook") == Warn && mentions("openpbs.hook", "not enabled"));
    openPbs("event=execjob_begin\nalarm=90\n");
    EXPECT_TRUE(state("openpbs.hook") == Fail && mentions("openpbs.hook", "execjob_launch"));
    openPbs(std::string(kHook) + "alarm=30\n");
    EXPECT_TRUE(state("openpbs.hook") == Warn && mentions("openpbs.hook", "alarm"));
    openPbs(kHook);
    remove(kHooks / "pinfold.PY");
    EXPECT_EQ(state("openpbs.hook"), Fail);
    remove(kHooks / "pinfold.HK");
    EXPECT_TRUE(state("openpbs.hook") == Warn && mentions("openpbs.hook", "no hook"));
    write(kHooks / "pbs_cgroups.HK", "hook_name=pbs_cgroups\nevent=execjob_begin\n");
    EXPECT_EQ(state("openpbs.cgroups"), Fail) << "enabled is OpenPBS's default";
    write("etc/pbs.conf", "PBS_START_MOM=0\n");
    EXPECT_FALSE(hasFinding("openpbs.hook"));
}

} // namespace
} // namespace pinfold::test
