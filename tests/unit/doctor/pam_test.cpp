// SPDX-License-Identifier: LGPL-2.1-or-later
#include "doctor/pam_stack.hpp"
#include "healthy_host.hpp"

namespace pinfold::test {
namespace {

class PamTest : public HealthyHost {
protected:
    PamTest() {
        write("etc/ssh/sshd_config", "Include /etc/ssh/sshd_config.d/*.conf\nUsePAM yes\n");
        write("usr/lib/x86_64-linux-gnu/security/pam_systemd.so", "");
        write("etc/pam.d/common-session", "session required pam_unix.so\nsession optional pam_systemd.so\n");
        sshd("account required pam_pinfold.so\n", "session required pam_pinfold.so\n");
    }
    void sshd(const std::string& account, const std::string& session) {
        write("etc/pam.d/sshd", "account required pam_nologin.so\n" + account + "@include common-session\n" + session);
    }
    std::string modules(const std::string& service, const std::string& type) const {
        std::string names;
        for (const auto& entry : doctor::pamStack(doctor::Files(top()), service, type))
            names += (names.empty() ? "" : " ") + entry.module;
        return names;
    }
};

TEST_F(PamTest, readsAServiceWithAllItsIncludes) {
    write("etc/pam.d/x", "# comment\n-session optional pam_a.so\nauth required pam_no.so\n"
                         "session [success=1 default=ignore] /lib/security/pam_b.so quiet\n"
                         "SESSION include y\nsession substack z\nsession required \\\n pam_e.so # end\nsession required\n");
    write("usr/lib/pam.d/y", "session required pam_c.so\nauth required pam_no.so\n");
    write("etc/pam.d/z", "session sufficient pam_d.so\n");
    EXPECT_EQ(modules("x", "session"), "pam_a.so pam_b.so pam_c.so pam_d.so pam_e.so");
    const auto stack = doctor::pamStack(doctor::Files(top()), "x", "session");
    EXPECT_EQ(stack[1].control, "[success=1 default=ignore]");
    EXPECT_EQ(stack[2].where, "/usr/lib/pam.d/y:1");
    EXPECT_FALSE(stack[2].apart);
    EXPECT_TRUE(stack[3].apart);
    EXPECT_EQ(modules("none", "session"), "");
}

TEST_F(PamTest, survivesFilesThatIncludeThemselves) {
    std::string text;
    for (int i = 0; i < 100; ++i)
        text += "@include circle\nsession include circle\n";
    write("etc/pam.d/circle", text + "session required pam_a.so\n");
    EXPECT_NE(modules("circle", "session"), "");
}

TEST_F(PamTest, wantsPinfoldAfterSystemd) {
    EXPECT_EQ(state("pam.sshd"), Ok);
    EXPECT_EQ(state("pam.order"), Ok);
    write("etc/pam.d/sshd", "account required pam_pinfold.so\nsession required pam_pinfold.so\n@include common-session\n");
    EXPECT_TRUE(state("pam.order") == Fail && mentions("pam.order", "after /etc/pam.d/common-session:2"));
    EXPECT_EQ(finding("pam.order").where, "/etc/pam.d/sshd:2");
}

TEST_F(PamTest, wantsASessionThatMustSucceedAndNoneWithoutAccount) {
    sshd("", "");
    EXPECT_TRUE(state("pam.sshd") == Ok && mentions("pam.sshd", "not used"));
    EXPECT_FALSE(hasFinding("pam.use-pam"));
    sshd("account required pam_pinfold.so\n", "");
    EXPECT_EQ(state("pam.sshd"), Ok) << "a site may only keep others out";
    sshd("", "session required pam_pinfold.so\n");
    EXPECT_EQ(state("pam.sshd"), Warn);
    sshd("account required pam_pinfold.so\n", "session optional pam_pinfold.so\n");
    EXPECT_TRUE(state("pam.sshd") == Warn && mentions("pam.sshd", "optional"));
}

TEST_F(PamTest, findsWhatLetsUsersInBeforePinfoldIsAsked) {
    sshd("account sufficient pam_localuser.so\naccount required pam_pinfold.so\n", "");
    EXPECT_TRUE(state("pam.bypass") == Fail && mentions("pam.bypass", "pam_localuser.so"));
    sshd("account required pam_pinfold.so\naccount sufficient pam_localuser.so\n", "");
    EXPECT_EQ(state("pam.bypass"), Ok);
    write("etc/pam.d/local", "account sufficient pam_localuser.so\n");
    sshd("account substack local\naccount required pam_pinfold.so\n", "");
    EXPECT_EQ(state("pam.bypass"), Ok) << "a substack ends by itself alone";
    sshd("account include local\naccount required pam_pinfold.so\n", "");
    EXPECT_EQ(state("pam.bypass"), Fail);
}

TEST_F(PamTest, takesSshdsFirstWord) {
    EXPECT_EQ(state("pam.use-pam"), Ok);
    write("etc/ssh/sshd_config.d/50-site.conf", "usepam=No\n");
    EXPECT_EQ(state("pam.use-pam"), Fail);
    remove("etc/ssh/sshd_config.d");
    write("etc/ssh/sshd_config", "=\nPort 22\n");
    EXPECT_EQ(state("pam.use-pam"), Fail) << "no is sshd's default";
}

TEST_F(PamTest, keepsUsersManagersOutOfJobs) {
    write("etc/pam.d/systemd-user", "@include common-session\n");
    EXPECT_EQ(state("pam.user-manager"), Ok);
    write("etc/pam.d/common-session", "session required pam_pinfold.so\n");
    EXPECT_EQ(state("pam.user-manager"), Fail);
    EXPECT_EQ(finding("pam.user-manager").where, "/etc/pam.d/common-session:1");
}

TEST_F(PamTest, namesServicesThatTakeProcessesOutOfJobs) {
    write("etc/pam.d/su", "@include common-session\n");
    write("etc/pam.d/slurm", "session required pam_unix.so\n");
    write("etc/pam.d/runuser-l", "-session optional pam_systemd.so\n");
    EXPECT_TRUE(state("pam.movers") == Warn && mentions("pam.movers", "su and runuser-l"));
    remove("usr/lib/x86_64-linux-gnu/security/pam_systemd.so");
    EXPECT_EQ(state("pam.movers"), Ok) << "the module is not installed";
}

} // namespace
} // namespace pinfold::test
