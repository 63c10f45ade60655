// SPDX-License-Identifier: LGPL-2.1-or-later
#include "doctor/files.hpp"

#include "os/read_file.hpp"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace pinfold::doctor {
namespace fs = std::filesystem;
namespace {

constexpr int kMostLinks = 40;  // the kernel's maximum number of symbolic links in a path
constexpr int kMostFiles = 256; // the number of files is limited, because files can include each other for ever
constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(kBlanks);
    return begin == std::string_view::npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// Returns `path` without the slash at its beginning, so that the caller can append the path to another directory.
fs::path unrooted(const fs::path& path) { return path.is_absolute() ? path.relative_path() : path; }

} // namespace

std::optional<fs::path> Files::resolve(const fs::path& path) const {
    std::vector<fs::path> todo;
    const auto push = [&todo](const fs::path& further) {
        std::vector<fs::path> parts(further.begin(), further.end());
        todo.insert(todo.end(), parts.rbegin(), parts.rend());
    };
    push(unrooted(path));
    fs::path done("/");
    for (int links = 0; !todo.empty();) {
        const auto part = todo.back();
        todo.pop_back();
        if (part.empty() || part == ".")
            continue;
        if (part == "..") {
            done = done.parent_path();
            continue;
        }
        std::error_code error;
        const auto target = fs::read_symlink(root_ / unrooted(done / part), error);
        if (error) {
            done /= part;
            continue;
        }
        if (++links > kMostLinks)
            return std::nullopt;
        if (target.is_absolute())
            done = "/";
        push(unrooted(target));
    }
    return done;
}

Access Files::access(const fs::path& path) const {
    const auto real = resolve(path);
    struct stat status {};
    if (real && ::stat((root_ / unrooted(*real)).c_str(), &status) == 0)
        return Access::There;
    return real && errno == EACCES ? Access::Denied : Access::Absent;
}

std::optional<std::string> Files::read(const fs::path& path) const {
    const auto real = resolve(path);
    const auto found = status(path);
    // The doctor reads only regular files, because reading a FIFO could block for ever.
    if (!real || !found || !S_ISREG(found->mode))
        return std::nullopt;
    return readFile(AT_FDCWD, (root_ / unrooted(*real)).c_str());
}

bool Files::listable(const fs::path& directory) const {
    const auto real = resolve(directory);
    return real && ::access((root_ / unrooted(*real)).c_str(), R_OK | X_OK) == 0;
}

std::vector<std::string> Files::list(const fs::path& directory) const {
    std::vector<std::string> names;
    const auto real = resolve(directory);
    std::error_code error;
    if (real)
        for (fs::directory_iterator entry(root_ / unrooted(*real), error), end; !error && entry != end; entry.increment(error))
            names.push_back(entry->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<fs::path> Files::matching(const fs::path& pattern) const {
    std::vector<fs::path> paths;
    for (const auto& name : list(pattern.parent_path()))
        if (::fnmatch(pattern.filename().c_str(), name.c_str(), FNM_PERIOD) == 0)
            paths.push_back(pattern.parent_path() / name);
    return paths;
}

std::vector<FileLine> Files::linesWithIncludes(const fs::path& file, const Included& included) const {
    std::vector<FileLine> lines;
    int read = 0;
    const std::function<void(const fs::path&)> add = [&](const fs::path& next) {
        if (++read > kMostFiles)
            return;
        for (auto& line : meaningfulLines(text(next))) {
            const auto patterns = included(line.text);
            for (const auto& pattern : patterns)
                for (const auto& match : matching(file.parent_path() / pattern))
                    add(match);
            if (patterns.empty())
                lines.push_back({next, std::move(line)});
        }
    };
    add(file);
    return lines;
}

std::optional<Files::Status> Files::status(const fs::path& path) const {
    const auto real = resolve(path);
    struct stat status {};
    if (!real || ::stat((root_ / unrooted(*real)).c_str(), &status) != 0)
        return std::nullopt;
    return Status{status.st_uid, status.st_mode};
}

std::optional<fs::path> Files::first(const std::vector<fs::path>& paths) const {
    const auto found = std::find_if(paths.begin(), paths.end(), [this](const auto& path) { return exists(path); });
    return found == paths.end() ? std::nullopt : std::optional(*found);
}

std::vector<Line> meaningfulLines(std::string_view text) {
    std::vector<Line> lines;
    std::string begun;
    std::size_t number = 0;
    for (std::size_t start = 0; start < text.size();) {
        const auto end = std::min(text.find('\n', start), text.size());
        auto line = trimmed(text.substr(start, end - start));
        line = trimmed(line.substr(0, line.find('#')));
        start = end + 1;
        ++number;
        if (line.ends_with('\\')) {
            begun += std::string(line.substr(0, line.size() - 1)) + " ";
            continue;
        }
        begun += line;
        if (const auto whole = trimmed(begun); !whole.empty())
            lines.push_back({number, std::string(whole)});
        begun.clear();
    }
    return lines;
}

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> list;
    constexpr std::string_view separators = " \t\r\n";
    for (auto start = text.find_first_not_of(separators); start != std::string_view::npos;) {
        const auto end = std::min(text.find_first_of(separators, start), text.size());
        list.emplace_back(text.substr(start, end - start));
        start = text.find_first_not_of(separators, end);
    }
    return list;
}

bool hasWord(std::string_view list, std::string_view word) {
    const auto all = words(list);
    return std::find(all.begin(), all.end(), word) != all.end();
}

std::string lowerCase(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

} // namespace pinfold::doctor
