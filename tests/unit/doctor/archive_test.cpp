// SPDX-License-Identifier: LGPL-2.1-or-later
#include "healthy_host.hpp"

namespace pinfold::test {
namespace {

using DoctorTest = HealthyHost;

class ArchiveTest : public DoctorTest {
protected:
    ArchiveTest() {
        write("etc/pinfold/pinfold.toml", "[archive]\nserver = \"archive.example.org\"\n");
        host_.units["pinfold-ship.service"] = {{"LoadState", "loaded"}, {"ActiveState", "active"}};
        figures(0, 0, host_.now - 5min, host_.now + 300 * 24h);
    }
    /// Writes the metrics of pinfold-ship. The parameter `answer` contains those metrics that depend on an answer of the archive.
    void figures(int failing, int unsent, RealTime success, RealTime expires, const std::string& answer = kGoodAnswer) const {
        const auto seconds = [](RealTime time) { return std::to_string(time.time_since_epoch() / 1s); };
        write("var/lib/pinfold-ship/pinfold-ship.prom",
              "# TYPE pinfold_ship_failing gauge\npinfold_ship_failing " + std::to_string(failing) + "\npinfold_ship_unsent " +
                  std::to_string(unsent) + "\npinfold_ship_last_success_seconds " + seconds(success) +
                  "\npinfold_ship_certificate_expires_seconds " + seconds(expires) + "\n" + answer);
    }
    void answered(const std::string& offset, const std::string& missing) const {
        figures(0, 0, host_.now - 5min, host_.now + 300 * 24h,
                "pinfold_ship_missing " + missing + "\npinfold_ship_clock_offset_seconds " + offset + "\n");
    }
    static constexpr const char* kGoodAnswer = "pinfold_ship_missing 0\npinfold_ship_clock_offset_seconds -0.012\n";
};

TEST_F(ArchiveTest, isCheckedOnlyWhereASiteHasOne) {
    for (const char* check :
         {"archive.ship", "archive.reached", "archive.backlog", "archive.clock", "archive.gaps", "archive.certificate"})
        EXPECT_EQ(state(check), Ok) << check;
    write("etc/pinfold/pinfold.toml", "");
    EXPECT_FALSE(hasFinding("archive.ship") || hasFinding("archive.reached"));
}

TEST_F(ArchiveTest, needsPinfoldShip) {
    host_.units["pinfold-ship.service"]["ActiveState"] = "failed";
    EXPECT_TRUE(state("archive.ship") == Fail && mentions("archive.ship", "systemctl enable --now pinfold-ship"));
    EXPECT_FALSE(hasFinding("archive.reached")) << "its figures are old";
    host_.units["pinfold-ship.service"] = {{"LoadState", "not-found"}, {"ActiveState", "inactive"}};
    EXPECT_TRUE(state("archive.ship") == Fail && mentions("archive.ship", "install the package"));
    write("etc/pinfold/pinfold.toml", "[archive]\nserver = \"archive.example.org\"\nask = true\n");
    EXPECT_FALSE(hasFinding("archive.ship")) << "a login node has no receipts";
}

TEST_F(ArchiveTest, mustTakeReceipts) {
    host_.units["pinfold-ship.service"]["StatusText"] = "3 receipts to send; connection refused";
    figures(1, 3, host_.now - 5min, host_.now + 300 * 24h);
    EXPECT_TRUE(state("archive.reached") == Fail && mentions("archive.reached", "connection refused"));
    EXPECT_EQ(state("archive.backlog"), Ok) << "for five minutes";
    figures(1, 3, host_.now - 1h, host_.now + 300 * 24h);
    EXPECT_TRUE(state("archive.backlog") == Warn && mentions("archive.backlog", "3 receipts wait"));
    write("var/lib/pinfold-ship/pinfold-ship.prom", "pinfold_ship_failing 0\npinfold_ship_unsent 0\n");
    EXPECT_TRUE(state("archive.reached") == Warn && mentions("archive.reached", "has not answered"))
        << "pinfold-ship has just started";
    write("var/lib/pinfold-ship/pinfold-ship.prom", "nonsense\npinfold_ship_failing many\n");
    EXPECT_EQ(state("archive.reached"), Warn);
}

TEST_F(ArchiveTest, comparesTheClocks) {
    answered("0.5", "0");
    EXPECT_EQ(state("archive.clock"), Ok) << "`pinfold why` allows for it";
    answered("0.500001", "0");
    EXPECT_EQ(state("archive.clock"), Warn);
    answered("3600", "0");
    EXPECT_TRUE(state("archive.clock") == Warn && mentions("archive.clock", "1h ahead of the clock of the archive"));
    answered("-90.25", "0");
    EXPECT_TRUE(state("archive.clock") == Warn && mentions("archive.clock", "1min 30s behind the clock of the archive"));
    answered("86400.013", "0");
    EXPECT_TRUE(state("archive.clock") == Warn && mentions("archive.clock", "1d ahead of the clock of the archive"));
    answered("-86400", "0");
    EXPECT_TRUE(state("archive.clock") == Warn && mentions("archive.clock", "1d behind the clock of the archive"));
    for (const char* nonsense : {"-9223372036854.775807", "many", "-", "1e9", "NaN"}) {
        answered(nonsense, "0");
        EXPECT_EQ(state("archive.clock"), Warn) << nonsense;
    }
    figures(1, 3, host_.now - 1h, host_.now + 300 * 24h);
    EXPECT_TRUE(state("archive.clock") == Warn &&
                mentions("archive.clock", "not known: the archive has not answered in the last 30min"));
    figures(0, 0, host_.now, host_.now + 300 * 24h, "");
    EXPECT_TRUE(state("archive.clock") == Ok && mentions("archive.clock", "not known yet"));
}

TEST_F(ArchiveTest, namesReceiptsThatTheArchiveCannotGet) {
    answered("0", "4");
    EXPECT_TRUE(state("archive.gaps") == Warn && mentions("archive.gaps", "can never get 4 receipts of this node"));
    figures(0, 0, host_.now, host_.now + 300 * 24h, "");
    EXPECT_TRUE(state("archive.gaps") == Ok && mentions("archive.gaps", "not known yet"));
}

TEST_F(ArchiveTest, needsACertificateThatIsValid) {
    figures(0, 0, host_.now, host_.now + 29 * 24h);
    EXPECT_TRUE(state("archive.certificate") == Warn && mentions("archive.certificate", "in 29 days"));
    figures(0, 0, host_.now, host_.now);
    EXPECT_EQ(state("archive.certificate"), Fail);
}

class LoginNodeTest : public DoctorTest {
protected:
    LoginNodeTest() {
        write("etc/pinfold/pinfold.toml", "[archive]\nserver = \"archive.example.org\"\nask = true\n");
        write("etc/pinfold/archive/node.key", "");
        keyMode(0640);
        host_.units["pinfold-ship.service"] = {{"LoadState", "not-found"}, {"ActiveState", "inactive"}};
        host_.units["pinfold-archive.socket"] = {
            {"LoadState", "loaded"}, {"ActiveState", "active"}, {"UnitFileState", "enabled"}};
        host_.archiveAnswer = Result<void>();
        host_.certificateExpires = host_.now + 31 * 24h;
    }
    void keyMode(unsigned mode) const {
        std::filesystem::permissions(host_.root / "etc/pinfold/archive/node.key", static_cast<std::filesystem::perms>(mode));
    }
};

TEST_F(LoginNodeTest, isCheckedOnlyWhereUsersAskTheArchive) {
    for (const char* check : {"archive.socket", "archive.answer", "archive.key", "archive.certificate"})
        EXPECT_EQ(state(check), Ok) << check;
    write("etc/pinfold/pinfold.toml", "[archive]\nserver = \"archive.example.org\"\n");
    EXPECT_FALSE(hasFinding("archive.socket") || hasFinding("archive.answer") || hasFinding("archive.key"));
}

TEST_F(LoginNodeTest, needsTheSocket) {
    auto& unit = host_.units["pinfold-archive.socket"];
    unit["UnitFileState"] = "disabled";
    EXPECT_TRUE(state("archive.socket") == Warn && mentions("archive.socket", "does not start at boot"));
    unit["ActiveState"] = "inactive";
    EXPECT_TRUE(state("archive.socket") == Fail && mentions("archive.socket", "systemctl enable --now pinfold-archive.socket"));
    EXPECT_FALSE(hasFinding("archive.answer")) << "the finding about the socket explains it";
    unit["LoadState"] = "not-found";
    EXPECT_TRUE(state("archive.socket") == Fail && mentions("archive.socket", "install the package pinfold-archive"));
}

TEST_F(LoginNodeTest, needsAnAnswer) {
    host_.archiveAnswer = Error{ErrorCode::Unreachable, "the archive of receipts is not reachable: connection refused"};
    EXPECT_TRUE(state("archive.answer") == Fail && mentions("archive.answer", "connection refused"));
}

TEST_F(LoginNodeTest, keepsItsKeySecret) {
    for (const unsigned mode : {0644u, 0641u, 0660u}) {
        keyMode(mode);
        EXPECT_TRUE(state("archive.key") == Fail && mentions("archive.key", "chmod 0640")) << mode;
    }
    keyMode(0600);
    EXPECT_EQ(state("archive.key"), Ok);
    std::filesystem::remove(host_.root / "etc/pinfold/archive/node.key");
    EXPECT_TRUE(state("archive.key") == Fail && mentions("archive.key", "does not exist"));
    host_.privileged = false;
    EXPECT_TRUE(state("archive.key") == Warn && mentions("archive.key", "as root"));
}

TEST_F(LoginNodeTest, needsACertificateThatIsValid) {
    EXPECT_TRUE(state("archive.certificate") == Ok && mentions("archive.certificate", "in 31 days"));
    host_.certificateExpires = host_.now + 29 * 24h;
    EXPECT_TRUE(state("archive.certificate") == Warn && mentions("archive.certificate", "in 29 days") &&
                mentions("archive.certificate", "pinfold-archive uses the new one"));
    host_.certificateExpires = host_.now;
    EXPECT_EQ(state("archive.certificate"), Fail);
    host_.certificateExpires = Error{ErrorCode::Internal, "pinfold-archive failed"};
    EXPECT_TRUE(state("archive.certificate") == Fail && mentions("archive.certificate", "--print-expiry"));
    host_.privileged = false;
    EXPECT_TRUE(state("archive.certificate") == Warn && mentions("archive.certificate", "as root"));
    host_.certificateExpires.reset();
    EXPECT_FALSE(hasFinding("archive.certificate"));
}

TEST_F(LoginNodeTest, theCertificateOfPinfoldShipIsCheckedOnce) {
    host_.units["pinfold-ship.service"] = {{"LoadState", "loaded"}, {"ActiveState", "active"}};
    write("var/lib/pinfold-ship/pinfold-ship.prom",
          "pinfold_ship_failing 0\npinfold_ship_certificate_expires_seconds 1800086400\n");
    const auto all = examined();
    EXPECT_EQ(std::ranges::count(all, "archive.certificate", &Finding::id), 1);
    EXPECT_TRUE(mentions("archive.certificate", "in 1 day"));
}

TEST_F(LoginNodeTest, theSocketOfTheServerNeedsNoKey) {
    write("etc/pinfold/pinfold.toml", "[archive]\nserver = \"/run/postgresql\"\nask = true\n");
    EXPECT_FALSE(hasFinding("archive.key"));
}

} // namespace
} // namespace pinfold::test
