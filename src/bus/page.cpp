// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/page.hpp"

#include <map>
#include <string>
#include <utility>

namespace pinfold {
namespace {

constexpr std::size_t kOverhead = 24; ///< the number of bytes for the lengths, the signature and the padding of an entry

std::size_t bytesOf(const sdbus::Variant& value) {
    const std::string type(value.peekValueType());
    if (type == "s")
        return value.get<std::string>().size();
    if (type == "o")
        return value.get<sdbus::ObjectPath>().size();
    std::size_t bytes = sizeof(std::uint64_t);
    if (type == "as")
        for (const auto& text : value.get<std::vector<std::string>>())
            bytes += sizeof(std::uint64_t) + text.size();
    if (type == "ay")
        bytes += value.get<Bytes>().size();
    if (type == "a{ss}")
        for (const auto& [name, text] : value.get<std::map<std::string, std::string>>())
            bytes += 3 * sizeof(std::uint64_t) + name.size() + text.size();
    if (type == "a(stttt)")
        for (const auto& io : value.get<std::vector<DeviceIoStruct>>())
            bytes += sizeof(io) + std::get<0>(io).size();
    if (type == "aa{sv}")
        for (const auto& dict : value.get<std::vector<Dict>>())
            bytes += pinfold::bytesOf(dict);
    return bytes;
}

/// Counts the entries of `dict`, and the entries of all dictionaries that `dict` contains.
std::size_t valuesOf(const Dict& dict) {
    auto values = dict.size();
    for (const auto& [name, value] : dict)
        if (std::string(value.peekValueType()) == "aa{sv}")
            for (const auto& inner : value.get<std::vector<Dict>>())
                values += inner.size();
    return values;
}

} // namespace

std::size_t bytesOf(const Dict& dict) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : dict)
        bytes += kOverhead + name.size() + bytesOf(value);
    return bytes;
}

bool Page::add(Dict entry) {
    bytes_ += bytesOf(entry);
    values_ += valuesOf(entry);
    full_ = !entries_.empty() && (bytes_ > kMostBytes || values_ > kMostValues);
    if (!full_)
        entries_.push_back(std::move(entry));
    return !full_;
}

std::vector<Dict> Page::take(bool more) && {
    if ((more || full_) && !entries_.empty())
        entries_.back().emplace("more", sdbus::Variant(true));
    return std::move(entries_);
}

} // namespace pinfold
