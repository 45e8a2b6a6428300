// Why a piece of work failed, in the users' words.
#pragma once

#include "base/error.h"

namespace hopper {

// The exception that is being handled; to be called in a catch block. Texts of libtorch come
// without their stack traces. Where there is no memory for the words, it says so in fewer.
Problem DescribeException() noexcept;

// "9319 MB": of bytes from 0 on, as the server's pg_size_pretty() writes them.
std::string BytesText(int64_t bytes);

}  // namespace hopper
