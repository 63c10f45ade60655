// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/support/cpp/fake_node.hpp"

#include "base/cpu_list.hpp"
#include "model/job_key.hpp"
#include "os/process.hpp"
#include "tests/support/cpp/fork.hpp"
#include "tests/support/cpp/stat_line.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>

namespace pinfold::test {
namespace {

constexpr Microseconds kReplyTimeout = 25s; // sd-bus waits at most 25 s for an answer

// Changes the existing file. An inotify watch would not notice a new file with the same name.
void write(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::trunc) << text;
}

std::uint64_t startOf(pid_t pid) { return 1000 + static_cast<std::uint64_t>(pid); }

} // namespace

ChildProcess::ChildProcess() : pid_(forkDependent()) {
    if (pid_ == 0) {
        for (;;)
            ::pause();
    }
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}

ChildProcess::~ChildProcess() { end(); }

UniqueFd ChildProcess::pidfd() const { return *openPidfd(pid_); }

void ChildProcess::end() {
    if (pid_ <= 0)
        return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
}

FakeNode::FakeNode(ManualEventLoop& loop) : loop_(loop) {
    auto name = (std::filesystem::temp_directory_path() / "pinfold-node-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    write(root_ / "sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n");
    write(root_ / "sys/fs/cgroup/cpuset.cpus.effective", "0-15\n");
    write(root_ / "sys/fs/cgroup/cpuset.mems.effective", "0-1\n");
    makeCgroup("/pinfold.slice");
    makeCgroup("/batch.slice");
}

FakeNode::~FakeNode() { std::filesystem::remove_all(root_); }

void FakeNode::show(pid_t pid, uid_t uid, const std::string& cgroup, const std::string& command) {
    const auto proc = root_ / "proc" / std::to_string(pid);
    const auto id = std::to_string(uid);
    write(proc / "stat", statLine({.pid = pid, .name = "odd) name", .started = startOf(pid)}));
    write(proc / "status", "Name:\todd\nUid:\t" + id + "\t" + id + "\t" + id + "\t" + id + "\n");
    write(proc / "cmdline", command);
    write(proc / "cgroup", "0::" + cgroup + "\n");
    processes_[pid] = cgroup;
    makeCgroup(cgroup);
    updateCgroup(cgroup);
}

void FakeNode::spawnInside(pid_t pid, const std::string& cgroup, uid_t uid, const std::string& command) {
    show(pid, uid, cgroup, command);
}

void FakeNode::hang(pid_t pid, const std::string& waitPoint) {
    const auto proc = root_ / "proc" / std::to_string(pid);
    write(proc / "stat", statLine({.pid = pid, .name = "stuck", .state = 'D', .started = startOf(pid)}));
    write(proc / "wchan", waitPoint);
}

void FakeNode::sendSigkill(pid_t pid) {
    write(
        root_ / "proc" / std::to_string(pid) / "stat",
        statLine({.pid = pid, .name = "killed", .state = 'R', .started = startOf(pid), .pendingSignals = 1UL << (SIGKILL - 1)}));
}

void FakeNode::vanish(pid_t pid) {
    std::filesystem::remove_all(root_ / "proc" / std::to_string(pid));
    const auto entry = processes_.extract(pid);
    if (!entry)
        return;
    updateCgroup(entry.mapped());
    if (entry.mapped().ends_with(".scope") && !keepEmptyScopes && !hangs)
        answers_.push_back(loop_.whenIdle([this, path = entry.mapped()] {
            if (removeIfEmpty(path) && onUnitRemoved)
                onUnitRemoved(path.substr(path.rfind('/') + 1));
        }));
}

/// Does what PID 1 does when a scope has become empty. Returns false if the scope has processes or does not exist.
bool FakeNode::removeIfEmpty(const std::string& scope) {
    const auto isThere = [&scope](const auto& process) { return process.second.starts_with(scope); };
    if (std::any_of(processes_.begin(), processes_.end(), isThere) || units.erase(scope.substr(scope.rfind('/') + 1)) == 0)
        return false;
    std::filesystem::remove_all(cgroupDir(scope));
    return true;
}

std::string FakeNode::cgroupOf(pid_t pid) const {
    const auto it = processes_.find(pid);
    return it == processes_.end() ? "" : it->second;
}

void FakeNode::makeCgroup(const std::string& path) {
    const auto directory = cgroupDir(path);
    if (std::filesystem::exists(directory / "cgroup.events"))
        return;
    if (const auto parent = path.substr(0, path.rfind('/')); !parent.empty())
        makeCgroup(parent);
    write(directory / "cgroup.events", "populated 0\nfrozen 0\n");
    write(directory / "cgroup.procs", "");
    write(directory / "cgroup.kill", "");
    write(directory / "cgroup.freeze", "0\n");
    write(directory / "cpu.stat", "usage_usec 300\nuser_usec 200\nsystem_usec 100\n");
    write(directory / "memory.peak", "4096\n");
    write(directory / "memory.max", "max\n");
    write(directory / "pids.peak", "3\n");
}

void FakeNode::updateCgroup(const std::string& path) {
    std::string procs;
    for (const auto& [pid, cgroup] : processes_)
        if (cgroup == path)
            procs += std::to_string(pid) + "\n";
    if (std::filesystem::exists(cgroupDir(path)))
        write(cgroupDir(path) / "cgroup.procs", procs);
    for (auto at = path; !at.empty(); at = at.substr(0, at.rfind('/'))) {
        bool populated = false;
        for (const auto& [pid, cgroup] : processes_)
            populated = populated || cgroup == at || cgroup.starts_with(at + "/");
        if (std::filesystem::exists(cgroupDir(at)))
            write(cgroupDir(at) / "cgroup.events",
                  std::string("populated ") + (populated ? "1" : "0") + "\nfrozen " + (isFrozen(at) ? "1" : "0") + "\n");
    }
}

bool FakeNode::isFrozen(const std::string& cgroup) const {
    return std::ranges::any_of(frozen, [&](const std::string& unit) { return pathOf(unit) == cgroup; });
}

void FakeNode::applyFreeze(const std::string& cgroup) {
    std::string text;
    std::ifstream(cgroupDir(cgroup) / "cgroup.freeze") >> text;
    std::ifstream events(cgroupDir(cgroup) / "cgroup.events");
    std::string populated;
    std::getline(events, populated);
    setFile(cgroup, "cgroup.events", populated + "\nfrozen " + text + "\n");
}

bool FakeNode::applyCgroupKills() {
    bool any = false;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_ / "sys/fs/cgroup")) {
        if (entry.path().filename() != "cgroup.kill" || std::filesystem::file_size(entry.path()) == 0)
            continue;
        write(entry.path(), "");
        const auto path = "/" + std::filesystem::relative(entry.path().parent_path(), root_ / "sys/fs/cgroup").string();
        for (const auto& [pid, cgroup] : std::map(processes_))
            if (cgroup == path || cgroup.starts_with(path + "/")) {
                vanish(pid);
                any = true;
            }
    }
    return any;
}

std::string FakeNode::pathOf(const std::string& unit) const {
    if (unit == kBatchSlice)
        return "/batch.slice";
    const auto identity = identifyUnit(unit);
    if (!identity)
        return "";
    const auto slice = "/batch.slice/" + identity->key.sliceName();
    return identity->task ? slice + "/" + unit : slice;
}

void FakeNode::answer(SystemdDone done, SystemdOutcome outcome) {
    if (holdStarts) {
        held_.emplace_back(std::move(done), std::move(outcome));
        return;
    }
    answers_.push_back(nullptr);
    answers_.back() = loop_.whenIdle([done = std::move(done), outcome = std::move(outcome)] { done(outcome); });
}

void FakeNode::release() {
    holdStarts = false;
    for (auto& [done, outcome] : std::exchange(held_, {}))
        answer(std::move(done), std::move(outcome));
}

void FakeNode::setFile(const std::string& cgroup, const std::string& file, const std::string& text) {
    write(cgroupDir(cgroup) / file, text);
}

void FakeNode::applyProperties(const std::string& unit, const std::vector<UnitProperty>& properties) {
    static const std::map<std::string, std::string> files{{"MemoryMax", "memory.max"},
                                                          {"MemoryHigh", "memory.high"},
                                                          {"MemoryLow", "memory.low"},
                                                          {"CPUWeight", "cpu.weight"},
                                                          {"TasksMax", "pids.max"}};
    if (ignoreProperties || !std::filesystem::exists(cgroupDir(pathOf(unit))))
        return;
    for (const auto& property : properties) {
        const auto file = files.find(property.name);
        const auto* number = std::get_if<std::uint64_t>(&property.value);
        if (file != files.end() && number)
            setFile(pathOf(unit), file->second, (*number == UINT64_MAX ? "max" : std::to_string(*number)) + "\n");
        if (const auto* bitmap = std::get_if<std::vector<std::uint8_t>>(&property.value)) {
            std::string text;
            for (unsigned bit = 0; bit < bitmap->size() * 8; ++bit)
                if (((*bitmap)[bit / 8] >> (bit % 8) & 1) != 0)
                    text += (text.empty() ? "" : ",") + std::to_string(bit);
            if (const auto list = CpuList::parse(text)) // systemd 252 never writes an empty list
                setFile(pathOf(unit), property.name == "AllowedCPUs" ? "cpuset.cpus" : "cpuset.mems", list->toString() + "\n");
        }
    }
}

void FakeNode::setProperties(const std::string& unit, std::vector<UnitProperty> properties, SystemdDone done) {
    changes.emplace_back(unit, properties);
    if (const auto fault = propertyFaults.find(unit); fault != propertyFaults.end())
        return answer(std::move(done), fault->second);
    applyProperties(unit, properties);
    answer(std::move(done), std::nullopt);
}

void FakeNode::freeze(const std::string& unit, SystemdDone done) {
    if (beforeFreeze)
        beforeFreeze();
    if (earlyFreezeAnswers > 0)
        --earlyFreezeAnswers;
    else if (!freezeFault)
        frozen.insert(unit);
    updateCgroup(pathOf(unit));
    answer(std::move(done), freezeFault);
}

void FakeNode::thaw(const std::string& unit, SystemdDone done) {
    frozen.erase(unit);
    updateCgroup(pathOf(unit));
    answer(std::move(done), std::nullopt);
}

void FakeNode::start(StartRequest request, SystemdDone done) {
    starts.push_back(request);
    if (hangs) {
        queued_.push_back(std::move(request));
        timeouts_.push_back(loop_.after(kReplyTimeout, [done = std::move(done)] {
            done(SystemdError{SystemdFault::NoReply, "Method call timed out"});
        }));
        return;
    }
    if (!nextStartFaults.empty()) {
        const auto fault = nextStartFaults.front();
        nextStartFaults.pop_front();
        return answer(std::move(done), fault);
    }
    const auto unit = request.scope.empty() ? request.slice : request.scope;
    if (units.contains(unit) || (!request.slice.empty() && units.contains(request.slice)))
        return answer(std::move(done), SystemdError{SystemdFault::UnitExists, "Unit was already loaded or has a fragment file."});
    units.insert(unit);
    if (!request.slice.empty())
        units.insert(request.slice);
    const auto path = pathOf(unit);
    makeCgroup(path);
    if (!request.slice.empty())
        applyProperties(request.slice, request.sliceProperties);
    for (const auto& property : request.scopeProperties)
        if (property.name == "PIDs" && !startWithoutMoving)
            for (const auto pid : std::get<std::vector<std::uint32_t>>(property.value))
                moveTo(static_cast<pid_t>(pid), path);
    updateCgroup(path);
    if (std::exchange(loseNextStartAnswer, false))
        return answer(std::move(done), SystemdError{SystemdFault::NoReply, "Message recipient disconnected"});
    answer(std::move(done), std::nullopt);
}

void FakeNode::moveTo(pid_t pid, const std::string& cgroup) {
    const auto old = processes_[pid];
    write(root_ / "proc" / std::to_string(pid) / "cgroup", "0::" + cgroup + "\n");
    processes_[pid] = cgroup;
    updateCgroup(old);
    updateCgroup(cgroup);
}

Result<pid_t> FakeNode::start() {
    const auto pid = 5'000'000 + static_cast<pid_t>(starts.size()); // higher than the process ids of real processes
    show(pid, 0, "/system.slice/pinfoldd.service", "pinfoldd");
    placeholders.insert(pid);
    return pid;
}

void FakeNode::end(pid_t placeholder, std::function<void()> over) {
    const auto path = cgroupOf(placeholder);
    vanish(placeholder);
    if (path.ends_with(".scope"))
        (void)removeIfEmpty(path);
    answers_.push_back(loop_.whenIdle(std::move(over)));
}

void FakeNode::release(pid_t placeholder) {
    if (lives(placeholder))
        end(placeholder, [] {});
    placeholders.erase(placeholder);
}

struct FakeNode::Mover : ProcessMover {
    explicit Mover(FakeNode& nodeArg) : node(nodeArg) {}

    Outcome move(const Newcomer& process, const std::string& cgroup, const UserIds&) const override {
        if (node.beforeMove)
            node.beforeMove(process.pid);
        if (hasEnded(process.pidfd.get()))
            return {Error{ErrorCode::PidGone, "process has ended"}};
        if (!node.units.contains(cgroup.substr(cgroup.rfind('/') + 1)) && cgroup.ends_with(".scope"))
            return {Error{ErrorCode::Internal, "no such cgroup"}};
        if (!node.startWithoutMoving)
            node.moveTo(process.pid, cgroup);
        return {};
    }
    std::string putBack(pid_t, const std::string&, const UserIds&) const override { return {}; }
    std::vector<std::string> clear(const std::string&, const std::vector<Newcomer>&, const UserIds&) const override { return {}; }

    FakeNode& node;
};

std::shared_ptr<const ProcessMover> FakeNode::mover() { return std::make_shared<Mover>(*this); }

struct FakeNode::Killer : ProcessKiller {
    explicit Killer(FakeNode& nodeArg) : node(nodeArg) {}
    void killEach(const CgroupDir&, const std::string& path) const override { node.killedEach.push_back(path); }
    std::vector<pid_t> killTracers(const CgroupDir&, const UserIds& owner) const override {
        node.tracersKilledOf.push_back(owner.user);
        return node.tracers;
    }
    FakeNode& node;
};

std::shared_ptr<const ProcessKiller> FakeNode::killer() { return std::make_shared<Killer>(*this); }

void FakeNode::startService(ServiceRequest request, SystemdDone done) {
    services.push_back(std::move(request));
    answer(std::move(done), std::nullopt);
}

void FakeNode::stop(const std::string& unit, SystemdDone done) {
    stops.push_back(unit);
    if (!nextStopFaults.empty()) {
        const auto fault = nextStopFaults.front();
        nextStopFaults.pop_front();
        return answer(std::move(done), fault);
    }
    const auto path = pathOf(unit);
    for (const auto& [pid, cgroup] : std::map(processes_))
        if (cgroup == path || cgroup.starts_with(path + "/"))
            vanish(pid);
    for (const auto& other : std::set(units))
        if (const auto otherPath = pathOf(other); otherPath == path || otherPath.starts_with(path + "/"))
            units.erase(other);
    if (!path.empty())
        std::filesystem::remove_all(cgroupDir(path));
    answer(std::move(done), std::nullopt);
}

void FakeNode::kill(const std::string& unit, int signal, SystemdDone done) {
    signals.emplace_back(unit, signal);
    answer(std::move(done), std::nullopt);
}

void FakeNode::resetFailed(const std::string&, SystemdDone done) { answer(std::move(done), std::nullopt); }

void FakeNode::listUnits(std::vector<std::string>,
                         std::function<void(std::variant<std::vector<UnitStatus>, SystemdError>)> done) {
    if (hangs) {
        timeouts_.push_back(loop_.after(kReplyTimeout, [done = std::move(done)] {
            done(SystemdError{SystemdFault::NoReply, "Method call timed out"});
        }));
        return;
    }
    std::vector<UnitStatus> list;
    for (const auto& unit : units)
        list.push_back({unit, activeStates.contains(unit) ? activeStates[unit] : "active", "running"});
    auto tell = [done = std::move(done), list = std::move(list)] { done(list); };
    if (holdLists)
        heldLists_.push_back(std::move(tell));
    else
        answers_.push_back(loop_.whenIdle(std::move(tell)));
}

void FakeNode::goOn() {
    hangs = false;
    for (auto& request : std::exchange(queued_, {})) {
        // systemd does not start a scope if a process for the scope has already ended.
        const auto dead =
            std::any_of(request.scopeProperties.begin(), request.scopeProperties.end(), [this](const auto& property) {
                const auto* pids = std::get_if<std::vector<std::uint32_t>>(&property.value);
                return property.name == "PIDs" && pids && std::any_of(pids->begin(), pids->end(), [this](std::uint32_t pid) {
                           return !processes_.contains(static_cast<pid_t>(pid));
                       });
            });
        if (!dead)
            start(std::move(request), [](const SystemdOutcome&) {});
    }
}

void FakeNode::forgetCallers() {
    for (const auto placeholder : std::set(placeholders))
        release(placeholder);
    answers_.clear();
    timeouts_.clear();
    held_.clear();
    heldLists_.clear();
}

void FakeNode::askShutdown(std::function<void()> done) {
    answers_.push_back(loop_.whenIdle([this, done = std::move(done)] {
        if (shutDown)
            onShutdown(loop_.bootTime());
        done();
    }));
}

void FakeNode::releaseLists() {
    holdLists = false;
    for (const auto& tell : std::exchange(heldLists_, {}))
        tell();
}

} // namespace pinfold::test
