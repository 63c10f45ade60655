// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/cgroup.hpp"

#include "base/cpu_list.hpp"
#include "base/parse.hpp"
#include "os/read_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace pinfold {
namespace {

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;

Error failed(const std::string& what) { return {ErrorCode::Internal, what + ": " + std::strerror(errno)}; }

bool vanished(int error) { return error == ENOENT || error == ENODEV; }

/// Calls f(key, value) for each "key value" line.
template <class F> void forEachLine(std::string_view text, F&& f) {
    for (std::size_t start = 0; start < text.size();) {
        const auto end = std::min(text.find('\n', start), text.size());
        const auto line = text.substr(start, end - start);
        const auto blank = line.find(' ');
        if (blank != std::string_view::npos)
            f(line.substr(0, blank), line.substr(blank + 1));
        start = end + 1;
    }
}

std::optional<std::uint64_t> valueOf(const std::optional<std::string>& text, std::string_view key) {
    std::optional<std::uint64_t> found;
    forEachLine(text ? std::string_view(*text) : std::string_view(), [&](std::string_view name, std::string_view value) {
        if (name == key)
            if (const auto parsed = parseUnsigned(value))
                found = *parsed;
    });
    return found;
}

std::optional<std::uint64_t> single(const std::optional<std::string>& text) {
    const auto parsed = parseUnsigned(text.value_or(""));
    return parsed ? std::optional(*parsed) : std::nullopt;
}

/// Parses io.stat. For each device, the file has a line such as "8:0 rbytes=1 wbytes=2 rios=3 wios=4 …".
std::vector<DeviceIo> parseIo(const std::string& text) {
    std::vector<DeviceIo> devices;
    forEachLine(text, [&devices](std::string_view number, std::string_view words) {
        DeviceIo device{std::string(number), 0, 0, 0, 0};
        for (std::size_t start = 0; start < words.size();) {
            const auto end = std::min(words.find(' ', start), words.size());
            const auto word = words.substr(start, end - start);
            for (const auto& [name, amount] : {std::pair("rbytes=", &device.read), std::pair("wbytes=", &device.written),
                                               std::pair("rios=", &device.reads), std::pair("wios=", &device.writes)})
                if (word.starts_with(name))
                    *amount = single(std::string(word.substr(std::strlen(name)))).value_or(0);
            start = end + 1;
        }
        if (!words.empty()) // for a disk without I/O, Linux 6.1 and earlier write a line with only the device number
            devices.push_back(std::move(device));
    });
    return devices;
}

void sumIo(Usage& usage) {
    DeviceIo sum;
    for (const auto& device : usage.ioDevices) {
        sum.read += device.read;
        sum.written += device.written;
        sum.reads += device.reads;
        sum.writes += device.writes;
    }
    usage.ioRead = sum.read;
    usage.ioWritten = sum.written;
    usage.ioReads = sum.reads;
    usage.ioWrites = sum.writes;
}

std::optional<Microseconds> microseconds(const std::optional<std::uint64_t>& number) {
    return number ? std::optional(fromUsec<Microseconds>(*number)) : std::nullopt;
}

/// Reads the total in the lines "some avg10=0.00 avg60=0.00 avg300=0.00 total=123" and "full …" (psi.rst).
std::optional<Microseconds> pressure(const std::optional<std::string>& text, std::string_view line) {
    std::optional<std::uint64_t> total;
    forEachLine(text.value_or(""), [&](std::string_view name, std::string_view words) {
        const auto at = words.rfind("total=");
        if (name == line && at != std::string_view::npos)
            total = single(std::string(words.substr(at + 6)));
    });
    return microseconds(total);
}

using Directory = std::unique_ptr<DIR, decltype([](DIR* directory) { ::closedir(directory); })>;

Directory openForListing(int directory) {
    const int fd = ::openat(directory, ".", kOpenDirectory);
    DIR* listing = fd >= 0 ? ::fdopendir(fd) : nullptr;
    if (!listing && fd >= 0)
        ::close(fd);
    return Directory(listing);
}

Result<std::vector<std::string>> subdirectories(int directory) {
    std::vector<std::string> names;
    const auto listing = openForListing(directory);
    if (!listing && vanished(errno))
        return names;
    errno = 0; // readdir() returns nullptr at the end of the directory and also after an error
    while (const dirent* entry = listing ? ::readdir(listing.get()) : nullptr)
        if (entry->d_type == DT_DIR && std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
            names.emplace_back(entry->d_name);
    if (!listing || errno != 0)
        return failed("nested cgroups cannot be listed");
    return names;
}

/// Reads the file `file` in `directory` and in all directories below `directory`, and adds the numbers in these files to `pids`.
/// `file` is "cgroup.procs" or "cgroup.threads".
Result<void> collect(int directory, const char* file, std::vector<pid_t>& pids) {
    const auto text = readFile(directory, file, 64 << 20);
    if (!text && vanished(errno))
        return {};
    if (!text)
        return failed(std::string(file) + " cannot be read");
    for (std::size_t start = 0; start < text->size();) {
        const auto end = std::min(text->find('\n', start), text->size());
        const auto pid = parseUnsigned(std::string_view(*text).substr(start, end - start));
        if (!pid || *pid == 0)
            return Error{ErrorCode::Internal,
                         std::string(file) + " contains a process of another pid namespace: the list is incomplete"};
        pids.push_back(static_cast<pid_t>(*pid));
        start = end + 1;
    }
    const auto names = subdirectories(directory);
    if (!names)
        return names.error();
    for (const auto& name : *names) {
        const UniqueFd child(::openat(directory, name.c_str(), kOpenDirectory));
        if (!child && vanished(errno))
            continue;
        if (!child)
            return failed("cgroup " + name + " cannot be opened");
        if (auto collected = collect(child.get(), file, pids); !collected)
            return collected;
    }
    return {};
}

Result<void> writeFile(int directory, const char* name, const std::string& text) {
    const UniqueFd fd(::openat(directory, name, O_WRONLY | O_CLOEXEC));
    if (!fd)
        return failed(std::string(name) + " cannot be opened");
    if (::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()))
        return {};
    if (errno == ESRCH)
        return Error{ErrorCode::PidGone, "process " + text + " has ended"};
    return failed(std::string(name) + " cannot be written");
}

bool isCgroup2(const std::filesystem::path& directory) {
    struct statfs status {};
    return ::statfs(directory.c_str(), &status) == 0 && status.f_type == CGROUP2_SUPER_MAGIC;
}

} // namespace

bool CgroupDir::populated() const {
    if (!events_)
        events_.reset(::openat(directory_.get(), "cgroup.events", O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    std::array<char, 256> text{};
    const auto length = events_ ? ::pread(events_.get(), text.data(), text.size(), 0) : -1;
    if (length < 0)
        // It is possible that the file of an existing cgroup cannot be read, for example because no descriptor is free. If the
        // file cannot be read, populated() returns true, because pinfoldd must not regard a running job as ended.
        return !vanished(errno);
    return std::string_view(text.data(), static_cast<std::size_t>(length)).find("populated 1") != std::string_view::npos;
}

bool CgroupDir::gone() const {
    struct stat status {};
    return ::fstatat(directory_.get(), "cgroup.procs", &status, 0) != 0;
}

Result<std::vector<pid_t>> CgroupDir::processes() const {
    std::vector<pid_t> pids;
    if (auto collected = collect(directory_.get(), "cgroup.procs", pids); !collected)
        return collected.error();
    return pids;
}

Result<std::vector<pid_t>> CgroupDir::threads() const {
    std::vector<pid_t> threads;
    if (auto collected = collect(directory_.get(), "cgroup.threads", threads); !collected)
        return collected.error();
    return threads;
}

Result<void> CgroupDir::kill() const { return writeFile(directory_.get(), "cgroup.kill", "1"); }

Result<void> CgroupDir::freeze(bool on) const { return writeFile(directory_.get(), "cgroup.freeze", on ? "1" : "0"); }

Result<void> CgroupDir::attach(pid_t pid) const { return writeFile(directory_.get(), "cgroup.procs", std::to_string(pid)); }

Usage CgroupDir::cpuUsage() const {
    Usage usage;
    const auto cpu = read("cpu.stat");
    usage.cpuUser = microseconds(valueOf(cpu, "user_usec"));
    usage.cpuSystem = microseconds(valueOf(cpu, "system_usec"));
    usage.cpuThrottled = microseconds(valueOf(cpu, "throttled_usec"));
    return usage;
}

Usage CgroupDir::commonUsage() const {
    auto usage = cpuUsage();
    const auto memory = read("memory.stat");
    usage.memoryAnon = valueOf(memory, "anon");
    usage.memoryShmem = valueOf(memory, "shmem");
    usage.memoryFile = valueOf(memory, "file");
    usage.tasksCurrent = single(read("pids.current"));
    if (const auto io = read("io.stat")) {
        usage.ioDevices = parseIo(*io);
        sumIo(usage);
    }
    return usage;
}

Usage CgroupDir::briefUsage() const {
    auto usage = commonUsage();
    usage.memoryCurrent = single(read("memory.current"));
    usage.memoryPeak = single(read("memory.peak"));
    return usage;
}

Usage CgroupDir::usage() const {
    auto usage = briefUsage();
    usage.swapCurrent = single(read("memory.swap.current"));
    usage.swapPeak = single(read("memory.swap.peak"));
    usage.tasksPeak = single(read("pids.peak"));
    const auto events = read("memory.events");
    usage.memoryHighEvents = valueOf(events, "high");
    usage.memoryMaxEvents = valueOf(events, "max");
    usage.oomEvents = valueOf(events, "oom");
    usage.oomKills = valueOf(events, "oom_kill");
    usage.oomGroupKills = valueOf(events, "oom_group_kill");
    usage.cpuPressure = pressure(read("cpu.pressure"), "some");
    const auto memoryPressure = read("memory.pressure");
    usage.memoryPressure = pressure(memoryPressure, "some");
    usage.memoryPressureFull = pressure(memoryPressure, "full");
    const auto ioPressure = read("io.pressure");
    usage.ioPressure = pressure(ioPressure, "some");
    usage.ioPressureFull = pressure(ioPressure, "full");
    return usage;
}

Usage CgroupDir::profileUsage() const {
    auto usage = commonUsage();
    usage.memoryPressure = pressure(read("memory.pressure"), "some");
    return usage;
}

Usage CgroupDir::taskUsage() const {
    auto usage = cpuUsage();
    usage.memoryPeak = single(read("memory.peak"));
    return usage;
}

CgroupDir::Bounds CgroupDir::bounds() const {
    Bounds bounds;
    bounds.memoryMax = single(read("memory.max"));
    if (const auto list = CpuList::parse(read("cpuset.cpus.effective").value_or("")))
        bounds.cpus = static_cast<double>(list->count());
    forEachLine(read("cpu.max").value_or(""), [&bounds](std::string_view quota, std::string_view period) {
        const auto used = parseUnsigned(quota); // if the file cpu.max contains "max", the cgroup has no quota
        const auto of = parseUnsigned(period);
        if (used && of && *of > 0)
            bounds.cpus = std::min(bounds.cpus.value_or(CpuList::kMaxCpu), static_cast<double>(*used) / static_cast<double>(*of));
    });
    return bounds;
}

std::optional<bool> CgroupDir::frozen() const {
    const auto value = valueOf(read("cgroup.events"), "frozen");
    return value ? std::optional(*value == 1) : std::nullopt;
}

CgroupDir::OomCount CgroupDir::oomCount() const {
    const auto events = read("memory.events");
    return {valueOf(events, "oom"), valueOf(events, "oom_kill")};
}

std::optional<std::uint64_t> CgroupDir::unreclaimableMemory() const {
    const auto current = single(read("memory.current"));
    const auto memory = read("memory.stat");
    const auto file = valueOf(memory, "file");
    // The figure "file" of memory.stat includes shared memory, which is not stored in any file on a disk.
    const auto shared = valueOf(memory, "shmem");
    if (!current || !file || !shared)
        return std::nullopt;
    return *current - std::min(*current, *file - std::min(*file, *shared) + valueOf(memory, "slab_reclaimable").value_or(0));
}

std::optional<std::string> CgroupDir::read(const char* file) const {
    auto text = keepsFiles_ ? readKept(file) : readFile(directory_.get(), file);
    if (text && text->ends_with('\n'))
        text->pop_back();
    return text;
}

void CgroupDir::keepFilesOpen() {
    keepsFiles_ = true;
    std::erase_if(kept_, [](const auto& entry) { return !entry.second; });
}

std::optional<std::string> CgroupDir::readKept(const char* file) const {
    // A string_view is safe as the key, because every caller passes a string literal.
    const auto [kept, isNew] = kept_.try_emplace(file);
    auto& fd = kept->second;
    if (isNew)
        fd.reset(::openat(directory_.get(), file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    std::array<char, 4096> text; // NOLINT(cppcoreguidelines-pro-type-member-init): pread(2) fills the buffer
    const auto length = fd ? ::pread(fd.get(), text.data(), text.size(), 0) : -1;
    if (length < 0)
        return std::nullopt;
    if (length == static_cast<ssize_t>(text.size())) // on a node with very many disks, the file can be longer than the buffer
        return readFile(directory_.get(), file);
    return std::string(text.data(), static_cast<std::size_t>(length));
}

CgroupTree::CgroupTree(const std::filesystem::path& root) : mount_(root / "sys/fs/cgroup"), real_(root == "/") {}

Result<void> CgroupTree::check() const {
    std::error_code ignored;
    if (!std::filesystem::is_directory(mount_, ignored))
        return Error{ErrorCode::Internal, mount_.string() + " is not a directory: pinfold needs cgroup v2 mounted there"};
    if (!real_ || isCgroup2(mount_))
        return {};
    const std::string found =
        isCgroup2(mount_ / "unified") ? "cgroup v1 and v2 are mounted side by side" : "cgroup v1 is mounted";
    return Error{ErrorCode::Internal,
                 found + " at " + mount_.string() +
                     "; pinfold needs cgroup v2 without cgroup v1: boot with systemd.unified_cgroup_hierarchy=1 on the "
                     "kernel command line"};
}

std::filesystem::path CgroupTree::absolute(std::string_view path) const {
    return mount_ / path.substr(std::min(path.find_first_not_of('/'), path.size()));
}

Result<CgroupDir> CgroupTree::open(std::string_view path) const {
    UniqueFd directory(::open(absolute(path).c_str(), kOpenDirectory));
    if (!directory)
        return failed("cgroup " + std::string(path) + " cannot be opened");
    return CgroupDir(std::move(directory));
}

bool CgroupTree::exists(std::string_view path) const { return ::access(absolute(path).c_str(), F_OK) == 0; }

bool CgroupTree::isEmpty(std::string_view path) const {
    const auto directory = open(path);
    const auto events = directory ? directory->read("cgroup.events") : std::nullopt;
    return events ? ("\n" + *events + "\n").find("\npopulated 0\n") != std::string::npos : !exists(path);
}

std::vector<std::string> CgroupTree::children(std::string_view path) const {
    const UniqueFd directory(::open(absolute(path).c_str(), kOpenDirectory));
    auto names = directory ? subdirectories(directory.get()) : std::vector<std::string>{};
    return names ? *std::move(names) : std::vector<std::string>{};
}

Result<void> CgroupTree::remove(std::string_view path) const {
    if (::rmdir(absolute(path).c_str()) == 0 || errno == ENOENT)
        return {};
    return failed("cgroup " + std::string(path) + " cannot be removed");
}

std::filesystem::path CgroupTree::eventsFile(std::string_view path) const { return absolute(path) / "cgroup.events"; }

} // namespace pinfold
