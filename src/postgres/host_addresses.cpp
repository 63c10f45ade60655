// SPDX-License-Identifier: LGPL-2.1-or-later
#include "postgres/host_addresses.hpp"

#include "base/escape.hpp"

#include <fmt/core.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace pinfold {
namespace {

/// Holds a question that a thread of glibc asks the name servers. The thread of glibc writes to the Question, so the Question
/// must stay in memory until this thread has finished.
struct Question {
    std::string host;
    addrinfo hints{};
    gaicb block{};

    explicit Question(std::string name) : host(std::move(name)) {
        hints.ai_socktype = SOCK_STREAM;
        block.ar_name = host.c_str();
        block.ar_request = &hints;
    }
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    ~Question() {
        if (block.ar_result)
            ::freeaddrinfo(block.ar_result);
    }
};

std::string numberOf(const addrinfo& address) {
    std::array<char, NI_MAXHOST> text{};
    const int failed = ::getnameinfo(address.ai_addr, address.ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
    return failed == 0 ? text.data() : "";
}

Error noAddress(const std::string& host, int error) {
    return {ErrorCode::Unreachable,
            fmt::format("the name '{}' has no address: {}; check the name of the server and the name servers "
                        "of this host",
                        printable(host, 300), ::gai_strerror(error))};
}

} // namespace

Result<std::vector<std::string>> hostAddresses(const std::string& host, const Deadline& deadline) {
    auto question = std::make_unique<Question>(host);
    std::array<gaicb*, 1> list{&question->block};
    if (const int error = ::getaddrinfo_a(GAI_NOWAIT, list.data(), 1, nullptr); error != 0)
        return noAddress(host, error);
    int state = EAI_INPROGRESS;
    while ((state = ::gai_error(&question->block)) == EAI_INPROGRESS && !deadline.passed()) {
        const std::array<const gaicb*, 1> waited{&question->block};
        const auto time = toTimespec(std::min<Microseconds>(deadline.remaining(), 1h));
        (void)::gai_suspend(waited.data(), 1, &time);
    }
    if (state == EAI_INPROGRESS) {
        if (::gai_cancel(&question->block) != EAI_CANCELED)
            (void)question.release(); // do not free `question`, because glibc's thread still writes to `*question`
        return Error{ErrorCode::TimedOut,
                     fmt::format("the name servers did not give the address of '{}' in time; check /etc/resolv.conf",
                                 printable(host, 300))};
    }
    if (state != 0)
        return noAddress(host, state);
    std::vector<std::string> addresses;
    for (const auto* address = question->block.ar_result; address; address = address->ai_next)
        if (auto number = numberOf(*address); !number.empty())
            addresses.push_back(std::move(number));
    if (addresses.empty())
        return noAddress(host, EAI_NONAME);
    return addresses;
}

} // namespace pinfold
