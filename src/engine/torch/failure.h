// Why a piece of work failed, in the users' words.
#pragma once

#include "base/error.h"

namespace hopper {

// The exception that is being handled; to be called in a catch block. Texts of libtorch come
// without their stack traces. Where there is no memory for the words, it says so in fewer.
Problem DescribeException() noexcept;

}  // namespace hopper
