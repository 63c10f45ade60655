// SPDX-License-Identifier: LGPL-2.1-or-later
#include "socket/wrapper_socket.hpp"

#include "model/profile.hpp"
#include "model/wrapper_protocol.hpp"
#include "os/descriptor_reserve.hpp"
#include "os/host_name.hpp"
#include "os/process.hpp"
#include "wording/profile_text.hpp"
#include "wording/receipt_text.hpp"

#include <fmt/core.h>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

namespace pinfold {
namespace {

// pinfoldd accepts at most kAcceptedAtOnce connections in a row, and then handles other events.
constexpr int kAcceptedAtOnce = 16;
constexpr Microseconds kPauseWithoutDescriptors = 100ms;
/// Limits how long pinfoldd waits for the request of an ordinary user's wrapper. A wrapper sends its request immediately after
/// connect(2). If the node is too busy for a wrapper to send its request in time, the wrapper connects again.
constexpr Microseconds kSilence = 1s;
constexpr Microseconds kShortageToldAgain = 60s;
// A list of at most kMostJobsListed jobs fits into one packet, even with the longest keys.
constexpr std::size_t kMostJobsListed = 128;
constexpr std::size_t kUsersAtLeast = 4; // one user is allowed to use at most a quarter of all connections

std::string thisNode() {
    const auto name = hostName();
    return name.empty() ? "this node" : name;
}

bool wantsSummary(Summary site, const Receipt& receipt) {
    return site == Summary::Always || (site == Summary::OnFailure && outcomeOf(receipt) == JobOutcome::Failed);
}

/// Returns the text that the supervisor prints at the end of the job. lastWords() does not repeat a line that pinfoldd has
/// already written to the job's output.
WrapperReply lastWords(const Receipt& receipt, Summary summary) {
    WrapperReply reply;
    reply.key = receipt.key;
    if (receipt.oom && !receipt.oomSaid)
        reply.notice = oomNotice(*receipt.oom, receipt.usage.memoryPeak, receipt.key, thisNode()) + "\n";
    if (const auto stopped = stopLine(receipt, thisNode(), userNumber); !stopped.empty() && !receipt.stopSaid)
        reply.notice += stopped + "\n";
    if (!receipt.unwritten.empty())
        reply.notice += fmt::format("pinfold-run: the receipt of job {} is not written yet: {}; pinfoldd keeps the receipt in "
                                    "/run and writes it when it can\n",
                                    receipt.key, receipt.unwritten);
    if (wantsSummary(summary, receipt))
        reply.summary = fmt::format("\n--- pinfold: job {} on {} ---\n", receipt.key, thisNode()) +
                        receiptPage(receipt, userNumber, {}) + useOverTime(decodeProfile(receipt.profile), {});
    return reply;
}

/// Returns true if the socket's queue contains no message with descriptors, and no more messages can come.
bool closesAtOnce(int socket) {
    constexpr int kOn = 1;
    constexpr int kMostMessages = 4; // usually, a socket's queue contains one message, even if pinfoldd has very many connections
    (void)::shutdown(socket, SHUT_RD);
    // With SO_PASSCRED, each message comes with its sender's credentials, even if the message is empty. The credentials fill the
    // buffer `control`, so there is no room for a descriptor, and the kernel sets MSG_CTRUNC.
    (void)::setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &kOn, sizeof kOn);
    for (int i = 0; i <= kMostMessages; ++i) {
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
        msghdr message{};
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        if (::recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT) < 0 || (message.msg_flags & MSG_CTRUNC) != 0)
            return false;
        if (message.msg_controllen == 0)
            return true;
        (void)!::recv(socket, nullptr, 0, MSG_DONTWAIT);
    }
    return false;
}

/// Closes the connection. closeConnection() uses a thread if closing the socket can take long. Closing a socket can take long if
/// unread messages contain descriptors, because the kernel also closes these descriptors.
void closeConnection(UniqueFd socket, uid_t peer, DescriptorCloser& closer) {
    if (socket && peer != 0 && !closesAtOnce(socket.get()))
        closer.close(peer, std::move(socket));
}

/// Returns the descriptor if it is a pidfd. The code in src/core opens and closes pidfds in the event loop's thread. The event
/// loop's thread must not wait. close(2) never blocks for a pidfd, but can block for another descriptor that a user has sent.
Result<UniqueFd> takePidfd(ForeignFd& fd) {
    if (!isPidfd(fd.get()))
        return Error{ErrorCode::InvalidArgument, "a passed descriptor is not a pidfd: use pidfd_open(2)"};
    return fd.release();
}

std::size_t mostOfAll() { return partOfDescriptors(kPartForConnections); }

Error tooLarge() {
    return {ErrorCode::InvalidArgument, "the request is too large: use at most 65536 bytes and three descriptors"};
}

} // namespace

struct WrapperSocket::Connection {
    Connection(UniqueFd socketArg, const Caller& callerArg, DescriptorCloser& closerArg)
        : socket(std::move(socketArg)), caller(callerArg), closer(closerArg) {}
    ~Connection() { closeConnection(std::move(socket), caller.countsAs, closer); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void answer(const Result<WrapperReply>& reply) {
        sendWrapperReply(socket.get(), reply);
        readable.reset();
        closeConnection(std::move(socket), caller.countsAs, closer);
    }

    UniqueFd socket;
    Caller caller;
    DescriptorCloser& closer;
    /// While `counted` exists, the connection counts as a connection of the user. The pointer is null for an admin's connection.
    std::shared_ptr<void> counted;
    EventHandle readable;
    EventHandle patience;
};

WrapperSocket::WrapperSocket(UniqueFd listener, Parts parts)
    : listener_(std::move(listener)), parts_(std::move(parts)),
      connections_(std::min(kMostConnections, mostOfAll() / kUsersAtLeast), mostOfAll()) {}

WrapperSocket::~WrapperSocket() = default;

void WrapperSocket::open() {
    pause_.reset();
    readable_ = parts_.loop.onReadable(listener_.get(), [this] { acceptSome(); });
}

void WrapperSocket::acceptSome() {
    for (int i = 0; i < kAcceptedAtOnce; ++i) {
        auto socket = acceptWrapper(listener_.get());
        if (socket) {
            const bool isOneTooMany = isOfReserve(socket.get(), kReservedForWork);
            acceptOne(std::move(socket));
            if (isOneTooMany)
                return pause(EMFILE);
            continue;
        }
        if (errno == EAGAIN)
            return;
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            return pause(errno);
    }
}

void WrapperSocket::pause(int why) {
    tellShortage(std::string(std::strerror(why)) + ", so pinfoldd waits until other connections close");
    readable_.reset();
    pause_ = parts_.loop.after(kPauseWithoutDescriptors, [this] { open(); });
}

void WrapperSocket::tellShortage(const std::string& what) {
    const auto now = parts_.loop.bootTime();
    if (shortageTold_ && now - *shortageTold_ < kShortageToldAgain)
        return;
    shortageTold_ = now;
    parts_.logError("wrapper's socket: " + what);
}

std::shared_ptr<void> WrapperSocket::count(const Caller& caller) {
    auto counted = connections_.enter(caller.countsAs);
    if (!counted)
        tellShortage(fmt::format("user {} or all ordinary users together have the maximum number of connections: pinfoldd "
                                 "closes new connections, and pinfold-run connects again",
                                 caller.countsAs));
    return counted;
}

void WrapperSocket::acceptOne(UniqueFd socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    // SO_PEERCRED gives the peer's effective user id at the time of connect(2). A later execve(2) of the peer does not change
    // the result of SO_PEERCRED.
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return;
    const auto caller = parts_.clients.caller(peer.uid);
    auto counted = caller.admin ? nullptr : count(caller);
    auto connection = std::make_shared<Connection>(std::move(socket), caller, parts_.closer);
    // If there are too many connections or requests, pinfoldd closes the new connection and does not read the request. Closing
    // a connection costs pinfoldd almost no time. The wrapper connects again soon after the close.
    if (isOfReserve(connection->socket.get(), kReservedForWork) || parts_.closer.overloaded(caller.countsAs) ||
        (!caller.admin && (!counted || !parts_.clients.rate.take(caller.countsAs, parts_.loop.bootTime()))))
        return;
    connection->counted = std::move(counted);
    if (receive(connection)) // most clients have already sent their request when pinfoldd accepts the connection
        return;
    const auto place = silent_.insert(silent_.end(), connection);
    connection->readable = parts_.loop.onReadable(connection->socket.get(), [this, place] {
        const auto ready = *place;
        if (!receive(ready))
            return;
        ready->readable.reset();
        ready->patience.reset();
        silent_.erase(place);
    });
    if (!caller.admin)
        connection->patience = parts_.loop.after(kSilence, [this, place] {
            // `gone` keeps the connection in memory until this handler ends. The connection owns the timer that runs this
            // handler.
            const auto gone = *place;
            silent_.erase(place);
        });
}

bool WrapperSocket::receive(const ConnectionPtr& connection) {
    if (parts_.closer.overloaded(connection->caller.countsAs))
        return true; // pinfoldd closes the connection and does not read the request
    auto packet = receiveWrapperPacket(connection->socket.get());
    if (!packet)
        return false;
    for (auto& fd : packet->fds)
        fd.closeBy(parts_.closer, connection->caller.countsAs);
    if (packet->lacking)
        tellShortage(std::strerror(EMFILE)); // pinfoldd closes the connection without an answer, and the wrapper connects again
    else if (!packet->text.empty())
        serve(connection, std::move(*packet));
    return true;
}

void WrapperSocket::serve(const ConnectionPtr& connection, WrapperPacket packet) {
    if (packet.cut)
        return connection->answer(tooLarge());
    const auto spentBefore = parts_.loop.cpuTime();
    const auto& caller = connection->caller;
    try {
        handle(connection, std::move(packet));
    } catch (const std::exception& error) {
        parts_.logError(std::string("unexpected error in a request: ") + error.what());
        connection->answer(Error{ErrorCode::Internal, "unexpected error in pinfoldd: see `journalctl -u pinfoldd`"});
    }
    parts_.clients.rate.charge(caller.countsAs, parts_.loop.cpuTime() - spentBefore);
}

void WrapperSocket::handle(const ConnectionPtr& connection, WrapperPacket packet) {
    const auto request = decodeWrapperRequest(packet.text);
    if (!request)
        return connection->answer(request.error());
    std::visit([&](const auto& call) { act(connection, call, std::move(packet.fds)); }, *request);
}

void WrapperSocket::act(const ConnectionPtr& connection, const WrapperCreate& create, std::vector<ForeignFd> fds) {
    // A pinfold-run of an earlier version passes both pidfds, but does not set `supervised`.
    const bool earlier = !create.supervised && !create.output && fds.size() == 2;
    if (!earlier && fds.size() != 1U + (create.supervised ? 1 : 0) + (create.output ? 1 : 0))
        return connection->answer(Error{
            ErrorCode::InvalidArgument,
            fmt::format("{} descriptors were passed: pass the leader's pidfd and those that the request names", fds.size())});
    auto leader = takePidfd(fds[0]);
    auto supervisor = create.supervised || earlier ? takePidfd(fds[1]) : UniqueFd();
    if (!leader || !supervisor)
        return connection->answer(leader ? supervisor.error() : leader.error());
    auto output = create.output ? std::move(fds.back()) : ForeignFd();

    CreateRequest job;
    job.key = create.key;
    job.limits = create.limits;
    job.allocation = create.allocation;
    job.owner = create.owner;
    job.slots = create.slots;
    job.identity = create.identity;
    if (create.role == WrapperRole::Job) {
        job.leader = std::move(*leader);
        job.supervisor = std::move(*supervisor);
        job.output = std::move(output);
        job.shepherd = create.shepherd;
        return parts_.jobs.createJob(connection->caller, std::move(job), [connection](const Result<JobSummary>& created) {
            connection->answer(created ? Result<WrapperReply>({created->key.text(), created->allocation.environment, {}, {}})
                                       : Result<WrapperReply>(created.error()));
        });
    }
    TaskRequest task{
        .key = create.key, .leader = std::move(*leader), .supervisor = std::move(*supervisor), .output = std::move(output)};
    task.batch = create.role == WrapperRole::Batch;
    task.shepherd = create.shepherd;
    if (create.role == WrapperRole::TaskOfOpen)
        task.open = std::move(job);
    parts_.jobs.addTask(connection->caller, std::move(task), [connection](const Result<TaskAdded>& added) {
        if (!added)
            return connection->answer(added.error());
        WrapperReply reply{added->key.text(), added->environment, {}, {}};
        if (added->task != 0)
            reply.task = added->task;
        connection->answer(reply);
    });
}

void WrapperSocket::act(const ConnectionPtr& connection, const WrapperEnd& end, std::vector<ForeignFd>) {
    auto wait = parts_.clients.enterWait(connection->caller);
    if (!wait)
        return connection->answer(wait.error());
    const auto leader = end.leader ? std::optional(end.leader) : std::nullopt;
    if (end.task)
        return parts_.jobs.waitTask(
            connection->caller, end.key, *end.task, {end.exit, leader},
            [connection, key = end.key, held = std::move(*wait)](const Result<void>& over) {
                connection->answer(over ? Result<WrapperReply>({key, {}, {}, {}}) : Result<WrapperReply>(over.error()));
            });
    parts_.jobs.endJob(
        connection->caller, end.key, {end.exit, leader, end.identity},
        [&config = parts_.config, connection, full = end.receipt, held = std::move(*wait)](const Result<Receipt>& receipt) {
            if (!receipt)
                return connection->answer(receipt.error());
            auto words = lastWords(*receipt, config.jobs.summary);
            if (full)
                words.receipt = *receipt;
            connection->answer(words);
        });
}

void WrapperSocket::act(const ConnectionPtr& connection, const WrapperSuspend& suspend, std::vector<ForeignFd>) {
    const auto action = suspend.resume ? &JobManager::resumeJob : &JobManager::suspendJob;
    (parts_.jobs.*action)(connection->caller, suspend.key, [connection, key = suspend.key](const Result<void>& done) {
        connection->answer(done ? Result<WrapperReply>({key, {}, {}, {}}) : Result<WrapperReply>(done.error()));
    });
}

void WrapperSocket::act(const ConnectionPtr& connection, const WrapperList& list, std::vector<ForeignFd>) {
    if (auto allowed = decide(connection->caller, Action::ListJobs, {}); !allowed)
        return connection->answer(allowed.error());
    WrapperReply reply;
    reply.jobs.emplace();
    for (const auto& job : parts_.jobs.jobsOfUser(list.uid))
        if (reply.jobs->size() < kMostJobsListed)
            reply.jobs->push_back({job.key.text(), shownState(job)});
    connection->answer(reply);
}

void WrapperSocket::act(const ConnectionPtr& connection, const WrapperAdopt& adopt, std::vector<ForeignFd> fds) {
    if (fds.size() != 1)
        return connection->answer(
            Error{ErrorCode::InvalidArgument,
                  fmt::format("{} descriptors were passed: pass only the pidfd of the process to adopt", fds.size())});
    const auto job = parts_.jobs.job(adopt.key);
    if (job && job->uid != adopt.owner)
        return connection->answer(Error{ErrorCode::NoSuchJob, fmt::format("job '{}' now belongs to user {}, not to user {}",
                                                                          adopt.key, job->uid, adopt.owner)});
    auto process = takePidfd(fds[0]);
    if (!process)
        return connection->answer(process.error());
    // If root has sent a WrapperAdopt, the sender is pam_pinfold. `pinfold adopt` uses the bus and not the wrapper's socket.
    AdoptRequest request{.processes = {}, .kind = connection->caller.uid == 0 ? TaskKind::Login : TaskKind::Task};
    request.processes.push_back(std::move(*process));
    parts_.jobs.adopt(connection->caller, adopt.key, std::move(request), [connection](const Result<TaskAdded>& added) {
        if (!added)
            return connection->answer(added.error());
        WrapperReply reply{added->key.text(), added->environment, {}, {}};
        reply.task = added->task;
        connection->answer(reply);
    });
}

} // namespace pinfold
