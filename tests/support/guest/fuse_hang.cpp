// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs a file server that hangs. `fuse_hang serve DIRECTORY` mounts the file server on DIRECTORY and prints "mounted". The first
// read of the file "f" fails. The server does not answer later reads of the file "f", but prints "asked" for each of them. The
// server does not answer a write to the file "f", but prints "written". If a program closes the file "unclosed", the server does
// not answer. If the program NAME closes the file "unclosed-NAME", this close gets no answer. `fuse_hang victim FILE` hangs in
// the file server, and holds the lock of its own address space. One thread of the victim waits for a page of the file, and
// another thread waits for the lock. A process that reads the victim's /proc/PID/cmdline must wait for both threads of the
// victim.
#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::uint64_t kRoot = 1;
constexpr std::uint64_t kFile = 2;
constexpr std::uint64_t kUnclosed = 3;
constexpr std::uint64_t kUnclosedByOne = 4;
constexpr std::string_view kOfOne = "unclosed-";

void say(const char* what) {
    std::puts(what);
    std::fflush(stdout);
}

int fail(const char* what) {
    std::perror(what);
    return 1;
}

/// Returns the name of a thread. A thread has the name of its program, unless somebody has changed the name.
std::string nameOf(std::uint32_t thread) {
    std::ifstream file("/proc/" + std::to_string(thread) + "/comm");
    std::string name;
    std::getline(file, name);
    return name;
}

class Server {
public:
    explicit Server(int device) : device_(device) {}

    int serve() {
        std::vector<char> request(300'000);
        for (;;) {
            const auto length = ::read(device_, request.data(), request.size());
            if (length < 0 && (errno == EINTR || errno == ENOENT))
                continue;
            if (length < static_cast<ssize_t>(sizeof(fuse_in_header)))
                return 0; // the file system was unmounted
            fuse_in_header header{};
            std::memcpy(&header, request.data(), sizeof header);
            answer(header, request.data() + sizeof header);
        }
    }

private:
    template <class Body> void reply(const fuse_in_header& header, const Body& body) const {
        std::array<char, sizeof(fuse_out_header) + sizeof body> text{};
        const fuse_out_header out{static_cast<std::uint32_t>(text.size()), 0, header.unique};
        std::memcpy(text.data(), &out, sizeof out);
        std::memcpy(text.data() + sizeof out, &body, sizeof body);
        (void)!::write(device_, text.data(), text.size());
    }
    void refuse(const fuse_in_header& header, int error) const {
        const fuse_out_header out{sizeof out, -error, header.unique};
        (void)!::write(device_, &out, sizeof out);
    }
    static fuse_attr attributes(std::uint64_t node) {
        fuse_attr attr{};
        attr.ino = node;
        attr.mode = node == kRoot ? S_IFDIR | 0755 : S_IFREG | 0666;
        attr.nlink = 1;
        attr.size = node == kRoot ? 0 : 65536;
        attr.blksize = 4096;
        return attr;
    }

    /// Returns 0 if the file does not exist.
    static std::uint64_t nodeOf(std::string_view name) {
        if (name == "f")
            return kFile;
        if (name == "unclosed")
            return kUnclosed;
        return name.starts_with(kOfOne) ? kUnclosedByOne : 0;
    }

    void answer(const fuse_in_header& header, const char* argument) {
        switch (header.opcode) {
        case FUSE_INIT: {
            fuse_init_out out{};
            out.major = FUSE_KERNEL_VERSION;
            out.minor = 31;
            out.max_write = 4096;
            return reply(header, out);
        }
        case FUSE_LOOKUP: {
            const std::string_view name(argument);
            const auto node = nodeOf(name);
            if (node == 0)
                return refuse(header, ENOENT);
            if (node == kUnclosedByOne)
                one_ = name.substr(kOfOne.size());
            fuse_entry_out out{};
            out.nodeid = node;
            out.attr_valid = out.entry_valid = 1000;
            out.attr = attributes(out.nodeid);
            return reply(header, out);
        }
        case FUSE_GETATTR: {
            fuse_attr_out out{};
            out.attr_valid = 1000;
            out.attr = attributes(header.nodeid);
            return reply(header, out);
        }
        case FUSE_OPEN:
        case FUSE_OPENDIR:
            return reply(header, fuse_open_out{});
        case FUSE_READ: // the first read can be a read-ahead of the kernel
            return reads_++ == 0 ? refuse(header, EIO) : say("asked");
        case FUSE_WRITE:
            return say("written");
        case FUSE_FLUSH:
            if (header.nodeid == kFile)
                return refuse(header, ENOSYS);
            if (header.nodeid == kUnclosedByOne && nameOf(header.pid) != one_)
                return refuse(header, 0); // error number 0 says that the file is closed
            return;
        case FUSE_FORGET:
        case FUSE_BATCH_FORGET:
        case FUSE_INTERRUPT:
            return;
        default:
            return refuse(header, ENOSYS);
        }
    }

    int device_;
    int reads_ = 0;
    std::string one_; ///< the program NAME, which gets no answer when it closes the file "unclosed-NAME"
};

int serve(const char* directory) {
    const int device = ::open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device < 0)
        return fail("/dev/fuse");
    const auto options = "fd=" + std::to_string(device) + ",rootmode=40000,user_id=0,group_id=0,allow_other";
    ::mkdir(directory, 0755);
    if (::mount("hang", directory, "fuse", 0, options.c_str()) != 0)
        return fail("mount");
    say("mounted");
    return Server(device).serve();
}

int beVictim(const char* file) {
    const int fd = ::open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(file);
    const auto* page = static_cast<const volatile char*>(::mmap(nullptr, 65536, PROT_READ, MAP_SHARED, fd, 0));
    std::thread([page] { (void)page[0]; }).detach();
    for (;;) // when the second thread holds the lock, this thread waits for the lock
        ::munmap(::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
}

} // namespace

int main(int argc, char** argv) {
    const std::string_view mode = argc == 3 ? argv[1] : "";
    if (mode == "serve")
        return serve(argv[2]);
    if (mode == "victim")
        return beVictim(argv[2]);
    std::fputs("usage: fuse_hang serve DIRECTORY | fuse_hang victim FILE\n", stderr);
    return 2;
}
