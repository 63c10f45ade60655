// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/slurm/shared_variables.hpp"

#include "model/wrapper_protocol.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace pinfold {

struct SharedVariables::Memory {
    std::size_t used;
    std::array<char, kMaxWrapperPacket> text; ///< "NAME=VALUE" for each variable, with a NUL byte after each value
};

SharedVariables::~SharedVariables() {
    if (memory_)
        ::munmap(memory_, sizeof *memory_);
}

Result<void> SharedVariables::prepare() {
    if (memory_)
        return {};
    void* mapped = ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return Error{ErrorCode::Internal, std::string("mmap: ") + std::strerror(errno)};
    memory_ = static_cast<Memory*>(mapped); // the kernel has filled the memory with zeros
    return {};
}

void SharedVariables::set(const Variables& variables) {
    std::string text;
    for (const auto& [name, value] : variables)
        text.append(name).append(1, '=').append(value).append(1, '\0');
    if (!memory_ || text.size() > memory_->text.size())
        return;
    std::ranges::copy(text, memory_->text.begin());
    memory_->used = text.size();
}

SharedVariables::Variables SharedVariables::get() const {
    Variables variables;
    std::string_view rest = memory_ ? std::string_view(memory_->text.data(), memory_->used) : std::string_view();
    while (!rest.empty()) {
        const auto equals = rest.find('=');
        const auto end = rest.find('\0', equals);
        variables.emplace(rest.substr(0, equals), rest.substr(equals + 1, end - equals - 1));
        rest.remove_prefix(end + 1);
    }
    return variables;
}

} // namespace pinfold
