// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/receipt_spool.hpp"

#include "base/escape.hpp"
#include "model/receipt_json.hpp"
#include "os/read_file.hpp"
#include "os/replace_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace pinfold {

Result<void> ReceiptSpool::keep(const Receipt& receipt, std::string_view text) const {
    // The code ignores an error of create_directory(), because keep() fails later when it writes the file.
    std::error_code error;
    if (std::filesystem::create_directory(directory_, error))
        std::filesystem::permissions(directory_, std::filesystem::perms::owner_all, error);
    return replaceFile(fileOf(receipt), text, 0600);
}

void ReceiptSpool::remove(const Receipt& receipt) const {
    // If unlink(2) fails, pinfoldd writes the receipt to the history once more after its next start. A second write of the same
    // receipt is harmless, because the history does not store a receipt twice.
    (void)::unlink(fileOf(receipt).c_str());
}

ReceiptSpool::Loaded ReceiptSpool::load() const {
    Loaded loaded;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(directory_, error), end; !error && entry != end; entry.increment(error)) {
        const auto& file = entry->path();
        if (file.native().ends_with(kTemporarySuffix)) {
            ::unlink(file.c_str());
            continue;
        }
        const auto text = readFile(AT_FDCWD, file.c_str());
        auto receipt = text ? decodeReceipt(*text) : Result<Receipt>(Error{ErrorCode::Internal, std::strerror(errno)});
        if (receipt)
            loaded.receipts.push_back(*std::move(receipt));
        else
            loaded.unreadable.push_back(printable(file.string()) + ": " + receipt.error().message);
    }
    std::ranges::sort(loaded.receipts, {}, &Receipt::ended);
    return loaded;
}

} // namespace pinfold
