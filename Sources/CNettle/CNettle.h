// SHA-256, AES-256 and Poly1305-AES of nettle, the library that libarchive itself is linked with.

#ifndef RESOURCE_VALUES_CNETTLE_H
#define RESOURCE_VALUES_CNETTLE_H

#include <nettle/aes.h>
#include <nettle/ctr.h>
#include <nettle/poly1305.h>
#include <nettle/sha2.h>

// Encrypts or decrypts with AES-256 in counter mode. The counter goes on.
static inline void cnettle_aes256_ctr(
    const struct aes256_ctx *key, uint8_t counter[AES_BLOCK_SIZE], size_t length,
    uint8_t *destination, const uint8_t *source) {
    nettle_ctr_crypt(
        key, (nettle_cipher_func *)nettle_aes256_encrypt, AES_BLOCK_SIZE, counter, length,
        destination, source);
}

#endif
