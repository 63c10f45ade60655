// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads files and directories below a root directory. Absolute paths begin at the root directory, so even an absolute symbolic
// link leads to a file below the root directory.
#pragma once

#include <fmt/core.h>

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold::doctor {

enum class Access { There, Absent, Denied };

struct Line {
    std::size_t number; ///< the number of the line; the first line has the number 1
    std::string text;   ///< the text of the line without comment and without blanks at its ends; never empty
};

struct FileLine {
    std::filesystem::path file;
    Line line;

    std::string where() const { return fmt::format("{}:{}", file.string(), line.number); }
};

class Files {
public:
    explicit Files(std::filesystem::path root) : root_(std::move(root)) {}

    /// Follows all symbolic links, and returns the resulting path without the root directory. If a link points to nothing, or
    /// if the links form a loop, the result is nullopt.
    std::optional<std::filesystem::path> resolve(const std::filesystem::path& path) const;
    Access access(const std::filesystem::path& path) const;
    bool exists(const std::filesystem::path& path) const { return access(path) == Access::There; }
    /// Returns a file's text, at most 1 MiB. Returns nullopt if the file is absent, unreadable, or not a regular file.
    std::optional<std::string> read(const std::filesystem::path& path) const;
    /// Returns the text of a file as read() does, but returns "" if read() would return nullopt.
    std::string text(const std::filesystem::path& path) const { return read(path).value_or(""); }
    /// Returns true if this process is allowed to list the directory.
    bool listable(const std::filesystem::path& directory) const;
    /// Returns a sorted list of the names in a directory. If the directory cannot be read, the list is empty.
    std::vector<std::string> list(const std::filesystem::path& directory) const;
    /// Returns the files that match the pattern. Only the last component of the path can contain wildcards of glob(7).
    std::vector<std::filesystem::path> matching(const std::filesystem::path& pattern) const;

    /// Returns the patterns of the files that the line includes. Relative patterns begin at the directory of the file in the
    /// argument `file` of linesWithIncludes(). For a line that includes nothing, the result is empty.
    using Included = std::function<std::vector<std::filesystem::path>(const std::string& line)>;
    /// Returns the lines of a file, except comments and empty lines. In the result, the lines of an included file replace the
    /// line that includes the file.
    std::vector<FileLine> linesWithIncludes(const std::filesystem::path& file, const Included& included) const;

    struct Status {
        uid_t owner = 0;
        mode_t mode = 0;
    };
    /// Follows all symbolic links, and returns the status of the resulting file.
    std::optional<Status> status(const std::filesystem::path& path) const;
    /// Returns the first path of `paths` that exists.
    std::optional<std::filesystem::path> first(const std::vector<std::filesystem::path>& paths) const;

private:
    std::filesystem::path root_;
};

/// Returns the lines of `text`, except comments and empty lines. The character `#` begins a comment. A backslash at the end of a
/// line joins the line with the next line.
std::vector<Line> meaningfulLines(std::string_view text);
std::vector<std::string> words(std::string_view text);
bool hasWord(std::string_view list, std::string_view word);
std::string lowerCase(std::string text);

} // namespace pinfold::doctor
