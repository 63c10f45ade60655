// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/sent_position.hpp"

#include "base/unique_fd.hpp"
#include "model/json.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

namespace pinfold {
namespace {

constexpr std::size_t kMostPositionBytes = 4096;

/// Opens the file with O_NONBLOCK, because open(2) of a FIFO would wait for a writer.
std::optional<std::string> textOf(const std::filesystem::path& file) {
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size > static_cast<off_t>(kMostPositionBytes))
        return std::nullopt;
    std::array<char, kMostPositionBytes> buffer; // NOLINT(cppcoreguidelines-pro-type-member-init): read(2) fills the buffer
    const auto count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count < 0)
        return std::nullopt;
    return std::string(buffer.data(), static_cast<std::size_t>(count));
}

} // namespace

std::string encode(const SentPosition& sent) {
    Json json;
    put(json, "epoch", sent.epoch);
    put(json, "sequence", sent.sequence);
    put(json, "time", sent.time);
    return dump(json) + "\n";
}

std::optional<SentPosition> readSentPosition(const std::filesystem::path& file) {
    const auto text = textOf(file);
    if (!text)
        return std::nullopt;
    auto read = decode<SentPosition>(*text, "the position", [](const Json& json) {
        SentPosition sent;
        takeMember(json, "time", sent.time);
        sent.epoch = json.at("epoch").get<std::string>();
        const auto& sequence = json.at("sequence");
        if (!sequence.is_number_unsigned())
            throw std::invalid_argument("the sequence is not a number");
        sent.sequence = sequence.get<std::uint64_t>();
        return sent;
    });
    return read ? std::optional(*std::move(read)) : std::nullopt;
}

std::uint64_t sentOf(const std::filesystem::path& file, const std::string& epoch) {
    const auto sent = readSentPosition(file);
    return sent && sent->epoch == epoch ? sent->sequence : 0;
}

} // namespace pinfold
