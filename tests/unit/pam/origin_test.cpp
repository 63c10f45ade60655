// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pam/origin.hpp"
#include "tests/support/cpp/mutation.hpp"

#include "base/unique_fd.hpp"
#include "os/read_file.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pinfold::pam {
namespace {

const std::string kHead = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
const std::string kTail = " 00000000:00000000 00:00000000 00000000  1000        0 ";
const std::string kFromHere = "127.0.0.1 40000 127.0.0.2 22";

std::string row(const std::string& local, const std::string& remote, const std::string& state, int inode) {
    return "   0: " + local + " " + remote + " " + state + kTail + std::to_string(inode) + " 1 00000000 100 0 0 10 0\n";
}

const std::string kTable = kHead + row("00000000:0016", "00000000:0000", "0A", 10) +
                           row("0200007F:0016", "0100007F:9C40", "01", 11) + row("0100007F:9C40", "0200007F:0016", "06", 12) +
                           row("0100007F:9C40", "0200007F:0017", "01", 13) + row("0100007F:9C40", "0200007F:0016", "01", 14);

TEST(ClientSocket, isTheOneAtTheClientsEnd) {
    EXPECT_EQ(clientSocket(kFromHere, kTable), 14U);
    EXPECT_EQ(clientSocket("127.0.0.2 22 127.0.0.1 40000", kTable), 11U);
    EXPECT_EQ(clientSocket("127.0.0.1 40001 127.0.0.2 22", kTable), std::nullopt);
    EXPECT_EQ(clientSocket("10.0.0.1 40000 127.0.0.2 22", kTable), std::nullopt);
    EXPECT_EQ(clientSocket(kFromHere, ""), std::nullopt);
}

TEST(ClientSocket, ofWhicheverAddresses) {
    const auto mapped = kHead + row("0000000000000000FFFF00000100007F:9C40", "0000000000000000FFFF00000200007F:0016", "01", 15);
    EXPECT_EQ(clientSocket(kFromHere, mapped), 15U);
    const auto local = kHead + row("000080FE000000000000000001000000:9C40", "00000000000000000000000001000000:0016", "01", 16);
    EXPECT_EQ(clientSocket("fe80::1%eth0 40000 ::1 22", local), 16U);
}

TEST(ClientSocket, ofWhatIsNoConnectionThereIsNone) {
    for (const char* text : {"", "127.0.0.1 40000 127.0.0.2", "127.0.0.1 40000 127.0.0.2 22 x", "127.0.0.1 x 127.0.0.2 22",
                             "127.0.0.1 4000 127.0.0.2 99999", "localhost 40000 127.0.0.2 22", "127.0.0.1 -1 127.0.0.2 22"})
        EXPECT_EQ(clientSocket(text, kTable), std::nullopt) << text;
}

TEST(ClientSocket, noTextMakesItFail) {
    Mutator mutator;
    for (int i = 0; i < 20'000; ++i) {
        const auto found = clientSocket(mutator.mutate(kFromHere), mutator.mutate(kTable));
        EXPECT_TRUE(!found || *found != 0);
    }
}

TEST(ClientSocket, isFoundInTheKernelsOwnTable) {
    const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in server{}, own{};
    server.sin_family = AF_INET;
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof server;
    ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&server), size), 0);
    ASSERT_EQ(::listen(listener.get(), 1), 0);
    ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&server), &size), 0);
    if (::connect(client.get(), reinterpret_cast<sockaddr*>(&server), size) != 0)
        GTEST_SKIP() << "this machine has no loopback interface";
    ASSERT_EQ(::getsockname(client.get(), reinterpret_cast<sockaddr*>(&own), &size), 0);
    struct stat status {};
    ASSERT_EQ(::fstat(client.get(), &status), 0);
    const auto connection =
        "127.0.0.1 " + std::to_string(ntohs(own.sin_port)) + " 127.0.0.1 " + std::to_string(ntohs(server.sin_port));
    EXPECT_EQ(clientSocket(connection, readFile(AT_FDCWD, "/proc/net/tcp", 16 << 20).value_or("")), status.st_ino);
}

class OriginOf : public test::TemporaryDirectory {
protected:
    OriginOf() {
        write("proc/net/tcp", kTable);
        write("sys/fs/cgroup/batch.slice/batch-sge.1.slice/cgroup.procs", "");
        write("sys/fs/cgroup/batch.slice/batch-sge.1.slice/job-sge.1.scope/cgroup.procs", "100\n");
        write("sys/fs/cgroup/batch.slice/batch-sge.2.slice/cgroup.procs", "");
        write("sys/fs/cgroup/batch.slice/batch-sge.2.slice/job-sge.2.scope/cgroup.procs", "200\n201\n");
        for (const char* process : {"100", "201"})
            std::filesystem::create_directories(top() / "proc" / process / "fd");
        open(100, 3, "socket:[13]");
    }
    void open(int pid, int fd, const char* what) const {
        std::filesystem::create_symlink(what, top() / "proc" / std::to_string(pid) / "fd" / std::to_string(fd));
    }
    std::optional<std::string> origin(Microseconds time = 60s) const { return originOf(kFromHere, jobs, Deadline(time), top()); }
    const Jobs jobs{{"sge.1", ShownState::Running}, {"sge.2", ShownState::Running}, {"sge.3", ShownState::Running}};
};

TEST_F(OriginOf, isTheJobOfWhoHoldsTheSocket) {
    EXPECT_EQ(origin(), std::nullopt);
    open(201, 5, "socket:[14]");
    EXPECT_EQ(origin(), "sge.2");
    EXPECT_EQ(originOf("10.0.0.9 40000 127.0.0.2 22", jobs, Deadline(60s), top()), std::nullopt);
    EXPECT_EQ(origin(0s), std::nullopt) << "a login waits for other things too";
}

} // namespace
} // namespace pinfold::pam
