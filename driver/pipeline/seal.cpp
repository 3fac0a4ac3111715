#include "driver/pipeline/seal.h"

#include <sodium.h>

#include <array>
#include <cstdint>
#include <cstdlib>

namespace allranks::pipeline {
namespace {

constexpr size_t kKey = crypto_aead_xchacha20poly1305_ietf_KEYBYTES;
constexpr size_t kOnce = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
static_assert(Seal::kSize == kOnce + crypto_aead_xchacha20poly1305_ietf_ABYTES);

unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

// A key made of others, and of texts each with its size: no other texts make the same.
std::string KeyFrom(std::string_view key, std::initializer_list<std::string_view> texts) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, Bytes(key), key.size(), kKey);
  for (const std::string_view text : texts) {
    std::array<unsigned char, sizeof(uint64_t)> size{};
    for (size_t i = 0; i < size.size(); ++i) size[i] = static_cast<unsigned char>(uint64_t{text.size()} >> (8 * i));
    crypto_generichash_update(&state, size.data(), size.size());
    crypto_generichash_update(&state, Bytes(text), text.size());
  }
  std::string made(kKey, '\0');
  crypto_generichash_final(&state, Bytes(made), made.size());
  return made;
}

}  // namespace

Seal::Seal(std::string_view key) {
  // Finds the fastest code for this processor; it fails only where the system gives out no random numbers.
  if (sodium_init() < 0) std::abort();
  key_ = KeyFrom({}, {key});
}

std::string Seal::Of(std::initializer_list<std::string_view> what, std::string_view bytes) const {
  std::string mark(kSize, '\0');
  const std::string key = KeyFrom(key_, what);
  randombytes_buf(mark.data(), kOnce);
  crypto_aead_xchacha20poly1305_ietf_encrypt(Bytes(mark) + kOnce, nullptr, nullptr, 0, Bytes(bytes), bytes.size(), nullptr, Bytes(mark),
                                             Bytes(std::string_view(key)));
  return mark;
}

bool Seal::Fits(std::string_view mark, std::initializer_list<std::string_view> what, std::string_view bytes) const {
  if (mark.size() != kSize) return false;
  const std::string_view calculated = mark.substr(kOnce);
  const std::string key = KeyFrom(key_, what);
  return crypto_aead_xchacha20poly1305_ietf_decrypt(nullptr, nullptr, nullptr, Bytes(calculated), calculated.size(), Bytes(bytes),
                                                    bytes.size(), Bytes(mark), Bytes(std::string_view(key))) == 0;
}

}  // namespace allranks::pipeline
