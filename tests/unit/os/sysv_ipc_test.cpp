// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/sysv_ipc.hpp"

#include "tests/support/cpp/temporary_directory.hpp"

#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

#include <algorithm>

namespace pinfold::test {
namespace {

class SysvIpc : public TemporaryDirectory {
protected:
    static std::vector<IpcObject> listed(IpcKind kind, int id) {
        auto objects = *listIpcObjects();
        std::erase_if(objects, [&](const auto& object) { return object.kind != kind || object.id != id; });
        return objects;
    }
};

} // namespace

TEST_F(SysvIpc, listsAreReadByTheNamesOfTheirColumns) {
    write("proc/sysvipc/shm",
          "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      atime"
          "      dtime      ctime                   rss                  swap\n"
          "        42          7  1600                  4096   111   222      1  1000  1000  1001  1000       50"
          "         60         40                  4096                     0\n"
          "        -1          8  1600                  4096   111     0      0  1000  1000  1000  1000        0"
          "          0         40                     0                     0\n");
    write("proc/sysvipc/msg", "key msqid perms cbytes qnum lspid lrpid uid gid cuid cgid stime rtime ctime\n"
                              "0 3 600 12 1 333 0 1000 1000 1000 1000 70 0 40\n");
    const auto objects = listIpcObjects(top());
    ASSERT_TRUE(objects) << objects.error().message;
    ASSERT_EQ(objects->size(), 3u);
    EXPECT_EQ((*objects)[0], (IpcObject{IpcKind::SharedMemory, 7, 42, 1000, 1001, 4096, 1, {111, 222}, 40, 60}));
    EXPECT_EQ((*objects)[1].pids, std::vector<pid_t>{111}) << "nobody has attached it yet, which is no unknown process";
    EXPECT_EQ((*objects)[1].key, -1);
    EXPECT_EQ((*objects)[2], (IpcObject{IpcKind::Messages, 3, 0, 1000, 1000, 12, 0, {333}, 40, 70}));
}

TEST_F(SysvIpc, whatCantBeReadIsAnError) {
    for (const char* text :
         {"", "key shmid\n0 1\n",
          "key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime\n0 1 600 4096 1 2 0 1000\n"}) {
        write("proc/sysvipc/shm", text);
        EXPECT_FALSE(listIpcObjects(top())) << text;
    }
}

TEST_F(SysvIpc, sharedMemoryGoesOnlyWhenNothingIsAttached) {
    const int id = ::shmget(IPC_PRIVATE, 4096, 0600);
    ASSERT_GE(id, 0);
    void* memory = ::shmat(id, nullptr, 0);
    auto objects = listed(IpcKind::SharedMemory, id);
    ASSERT_EQ(objects.size(), 1u);
    EXPECT_EQ(objects[0].uid, ::geteuid());
    EXPECT_EQ(objects[0].attachments, 1u);
    EXPECT_EQ(objects[0].pids, (std::vector<pid_t>{::getpid(), ::getpid()}));
    EXPECT_FALSE(removeIpcObject(objects[0]));
    ::shmdt(memory);
    EXPECT_TRUE(removeIpcObject(objects[0]));
    EXPECT_TRUE(listed(IpcKind::SharedMemory, id).empty());
    EXPECT_FALSE(removeIpcObject(objects[0]));
}

TEST_F(SysvIpc, semaphoresAndQueuesGoAndTellTheirUsers) {
    const int set = ::semget(IPC_PRIVATE, 3, 0600);
    auto objects = listed(IpcKind::Semaphores, set);
    ASSERT_EQ(objects.size(), 1u);
    EXPECT_EQ(objects[0].size, 3u);
    EXPECT_EQ(*semaphoreUsers(objects[0]), std::vector<pid_t>{});
    sembuf up{1, 1, 0};
    ASSERT_EQ(::semop(set, &up, 1), 0);
    EXPECT_FALSE(removeIpcObject(objects[0])) << "it was used since it was listed";
    objects = listed(IpcKind::Semaphores, set);
    EXPECT_EQ(*semaphoreUsers(objects[0]), std::vector<pid_t>{::getpid()});
    EXPECT_TRUE(removeIpcObject(objects[0]));
    EXPECT_FALSE(semaphoreUsers(objects[0]));

    const int queue = ::msgget(IPC_PRIVATE, 0600);
    objects = listed(IpcKind::Messages, queue);
    ASSERT_EQ(objects.size(), 1u);
    EXPECT_EQ(objects[0].pids, std::vector<pid_t>{});
    EXPECT_TRUE(removeIpcObject(objects[0]));
    EXPECT_TRUE(listed(IpcKind::Messages, queue).empty());
}

TEST_F(SysvIpc, anotherObjectOfTheSameIdIsLeftAlone) {
    const int id = ::shmget(IPC_PRIVATE, 4096, 0600);
    auto object = listed(IpcKind::SharedMemory, id).at(0);
    auto other = object;
    other.key = 17;
    EXPECT_FALSE(removeIpcObject(other));
    other = object;
    --other.changed;
    EXPECT_FALSE(removeIpcObject(other));
    EXPECT_TRUE(removeIpcObject(object));
}

} // namespace pinfold::test
