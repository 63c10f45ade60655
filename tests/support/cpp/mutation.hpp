// SPDX-License-Identifier: LGPL-2.1-or-later
// Damages an input as a fuzzer does, but repeats the same damage in every run.
#pragma once

#include <random>
#include <string>

namespace pinfold {

class Mutator {
public:
    /// Returns `original` with one to four bytes changed, removed, added or cut off.
    std::string mutate(std::string text) {
        for (auto changes = pick(4) + 1; changes > 0; --changes) {
            const auto position = pick(text.size() + 1);
            switch (pick(5)) {
            case 0:
                text.resize(position);
                break;
            case 1:
                text.erase(position, pick(8) + 1);
                break;
            case 2:
                text.insert(position, 1, byte());
                break;
            case 3:
                text.insert(position, text.substr(pick(text.size() + 1), pick(16)));
                break;
            default:
                if (position < text.size())
                    text[position] = byte();
            }
        }
        return text;
    }

    std::string bytes(std::size_t most) {
        std::string text(pick(most + 1), '\0');
        for (char& c : text)
            c = byte();
        return text;
    }

private:
    std::size_t pick(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }
    char byte() { return static_cast<char>(pick(256)); }

    std::mt19937 random_{20261120};
};

} // namespace pinfold
