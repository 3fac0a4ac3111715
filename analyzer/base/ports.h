#pragma once

#include <cstdint>

namespace allranks::base {

// Ports have 16 bits. PyTorch since 1.10 refuses others (`TCPStore` takes a `uint16_t`); before, it took the number modulo 65536.
constexpr int64_t kLastPort = 65535;

}  // namespace allranks::base
