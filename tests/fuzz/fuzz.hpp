// SPDX-License-Identifier: LGPL-2.1-or-later
// Contains the functions that the fuzz targets share. A target reads one kind of input, and checks promises that must hold for
// every input. The target ends the process if a promise does not hold.
#pragma once

#include "base/result.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold::fuzz {

/// Ends the process if `holds` is false. libFuzzer keeps the input that makes the process end.
inline void require(bool holds, const char* promise) {
    if (holds)
        return;
    std::fprintf(stderr, "this promise does not hold: %s\n", promise);
    std::abort();
}

/// Checks that the error's message is one line without control characters.
inline void requireOneLine(const Error& error) {
    for (const unsigned char c : error.message)
        require(c >= 0x20 && c != 0x7f, "a message is one line without control characters");
}

inline std::string_view text(const std::uint8_t* data, std::size_t size) { return {reinterpret_cast<const char*>(data), size}; }

/// Calls f(line) for each line of the text. `line` does not contain the line break.
template <class F> void forEachLine(std::string_view text, F&& f) {
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        f(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

/// Splits an input into named texts. Before each text, the input has a line "== NAME".
inline std::map<std::string, std::string, std::less<>> sections(std::string_view input) {
    std::map<std::string, std::string, std::less<>> found;
    std::string* section = nullptr;
    forEachLine(input, [&](std::string_view line) {
        if (line.starts_with("== "))
            section = &found[std::string(line.substr(3))];
        else if (section)
            section->append(line).append("\n");
    });
    return found;
}

/// A temporary directory that contains the input files of a target.
class Tree {
public:
    Tree() {
        auto name = (std::filesystem::temp_directory_path() / "pinfold-fuzz-XXXXXX").string();
        require(::mkdtemp(name.data()) != nullptr, "there is a directory for temporary files");
        top_ = name;
    }
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;
    ~Tree() { std::filesystem::remove_all(top_); }

    const std::filesystem::path& top() const { return top_; }

    /// Writes sections of the input into files in `directory`. Each name in `files` is the name of a section, and also the name
    /// of the file into which show() writes the section. If the input lacks a section, show() removes the file.
    template <class Files> void show(std::string_view input, const Files& files, const std::filesystem::path& directory) {
        const auto given = sections(input);
        for (const auto* file : files) {
            const auto section = given.find(file);
            write(directory / file, section == given.end() ? std::nullopt : std::optional(section->second));
        }
    }
    /// Writes `text` into the file, or removes the file if `text` has no value. If the file already has the right text, the
    /// function does not write the file. A write to a file takes longer than a test of an input.
    void write(const std::filesystem::path& path, const std::optional<std::string>& text) {
        auto& now = files_[path];
        if (now == text)
            return;
        if (text && !now)
            std::filesystem::create_directories(path.parent_path());
        if (text)
            std::ofstream(path, std::ios::binary) << *text;
        else
            std::filesystem::remove(path);
        now = text;
    }

private:
    std::filesystem::path top_;
    std::map<std::filesystem::path, std::optional<std::string>> files_; ///< maps the path of a file to the file's present text
};

} // namespace pinfold::fuzz
