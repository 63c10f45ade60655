// SPDX-License-Identifier: LGPL-2.1-or-later
#include "doctor/pam_stack.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace pinfold::doctor {
namespace {

constexpr int kDeepest = 16;    // libpam's own maximum is 32 levels of includes
constexpr int kMostFiles = 256; // the number of files is limited, because files can include each other for ever

/// Holds three parts of a line of PAM's configuration: the type, the control and the rest of the line. A control field in
/// brackets can contain blanks.
struct Fields {
    std::string type;
    std::string control;
    std::string rest;
};

Fields fieldsOf(const std::string& line) {
    Fields fields;
    const auto typeEnd = std::min(line.find_first_of(" \t"), line.size());
    fields.type = lowerCase(line.substr(0, typeEnd));
    if (fields.type.starts_with('-')) // a '-' before the type means that PAM accepts a missing module
        fields.type.erase(0, 1);
    const auto begin = line.find_first_not_of(" \t", typeEnd);
    if (begin == std::string::npos)
        return fields;
    auto end = line[begin] == '[' ? line.find(']', begin) : line.find_first_of(" \t", begin);
    end = end == std::string::npos ? line.size() : line[begin] == '[' ? end + 1 : end;
    fields.control = lowerCase(line.substr(begin, end - begin));
    fields.rest = line.substr(end);
    return fields;
}

class Reader {
public:
    Reader(const Files& files, std::string type) : files_(files), type_(std::move(type)) {}

    void read(const std::string& service, int depth, bool apart) {
        const auto file = fileOf(service);
        if (!file || depth > kDeepest || ++read_ > kMostFiles)
            return;
        for (const auto& line : meaningfulLines(files_.text(*file))) {
            const auto fields = fieldsOf(line.text);
            const auto arguments = words(fields.rest);
            if (fields.type == "@include")
                read(words(line.text).back(), depth + 1, apart);
            else if (fields.type != type_ || arguments.empty())
                continue;
            else if (fields.control == "include" || fields.control == "substack")
                read(arguments.front(), depth + 1, apart || fields.control == "substack");
            else
                entries_.push_back({fields.control, std::filesystem::path(arguments.front()).filename().string(),
                                    fmt::format("{}:{}", file->string(), line.number), apart});
        }
    }

    std::vector<PamEntry> take() { return std::move(entries_); }

private:
    std::optional<std::filesystem::path> fileOf(const std::string& service) const {
        if (service.starts_with('/'))
            return service;
        return files_.first({"/etc/pam.d/" + service, "/usr/lib/pam.d/" + service, "/usr/etc/pam.d/" + service});
    }

    const Files& files_;
    std::string type_;
    int read_ = 0;
    std::vector<PamEntry> entries_;
};

} // namespace

std::vector<PamEntry> pamStack(const Files& files, const std::string& service, const std::string& type) {
    Reader reader(files, type);
    reader.read(service, 0, false);
    return reader.take();
}

} // namespace pinfold::doctor
