// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/fuse_mounts.hpp"

#include "tests/support/cpp/temporary_directory.hpp"

#include <unistd.h>

namespace pinfold::test {
namespace {

class FuseMounts : public TemporaryDirectory {
protected:
    void mounts(const std::string& lines) const {
        write("proc/self/mountinfo", "26 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n" + lines);
    }
    void waiting(const std::string& connection, const std::string& count) const {
        write("sys/fs/fuse/connections/" + connection + "/waiting", count + "\n");
    }
    /// Makes a user the owner of a FUSE connection's directory, as if the user ran the FUSE file server.
    void belongsToAUser(const std::string& connection) const {
        const auto directory = top() / "sys/fs/fuse/connections" / connection;
        if (::geteuid() == 0) {
            ASSERT_EQ(::chown(directory.c_str(), 1000, 1000), 0);
        }
    }
    bool answer() const { return nodesFuseServersAnswer(top()); }
    bool usersServe() const { return usersServeFuse(top()); }
};

} // namespace

TEST_F(FuseMounts, withoutAnyNothingWaits) {
    EXPECT_FALSE(answer()) << "there is no list of mounts";
    mounts("");
    EXPECT_TRUE(answer());
}

TEST_F(FuseMounts, areThoseOfTheNodeItself) {
    mounts("60 26 0:57 / /cvmfs rw shared:2 master:1 - fuse.cvmfs2 cvmfs2 rw,user_id=0,group_id=0\n");
    EXPECT_FALSE(answer()) << "the connection's file is not there";
    waiting("57", "0");
    EXPECT_TRUE(answer());
    waiting("57", "2");
    EXPECT_FALSE(answer());
    mounts("60 26 0:57 / /srv rw shared:2 - fuse.site site rw,user_id=998,group_id=0\n");
    EXPECT_FALSE(answer()) << "a service of the node's";
    mounts("60 26 0:57 / /srv rw - virtiofs shared rw\n");
    EXPECT_FALSE(answer());
}

TEST_F(FuseMounts, ofUsersDoNotCount) {
    mounts("60 26 0:57 / /home/alice/far\\040away rw shared:2 - fuse.sshfs host:dir rw,nosuid,user_id=1000,group_id=1000\n");
    waiting("57", "3");
    EXPECT_TRUE(answer());
}

TEST_F(FuseMounts, ofUsersAreSeenWhereverTheyAreMounted) {
    EXPECT_FALSE(usersServe()) << "there is no list of mounts";
    mounts("60 26 0:57 / /cvmfs rw shared:2 - fuse.cvmfs2 cvmfs2 rw,user_id=0,group_id=0\n");
    EXPECT_FALSE(usersServe());
    waiting("57", "1");
    belongsToAUser("57");
    EXPECT_FALSE(usersServe()) << "the node's own, no matter who runs it";
    waiting("58", "0");
    belongsToAUser("58");
    EXPECT_TRUE(usersServe()) << "in another mount namespace";
    mounts("60 26 0:58 / /home/alice/far rw shared:2 - fuse.sshfs host:dir rw,nosuid,user_id=1000,group_id=1000\n");
    EXPECT_TRUE(usersServe());
}

TEST_F(FuseMounts, ofRootInOtherNamespacesAreNobodys) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root can make files that belong to root";
    mounts("");
    waiting("58", "1");
    EXPECT_FALSE(usersServe());
}

TEST_F(FuseMounts, onDisksAreCalledByMajorAndMinor) {
    mounts("60 26 8:17 / /mnt rw - fuseblk /dev/sdb1 rw,user_id=0,group_id=0\n");
    waiting("8388625", "0");
    EXPECT_TRUE(answer());
    waiting("8388625", "1");
    EXPECT_FALSE(answer());
}

} // namespace pinfold::test
