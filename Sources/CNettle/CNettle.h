// SHA-256, AES-256 and Poly1305-AES of nettle, the library that libarchive itself is linked with.

#ifndef RESOURCE_VALUES_CNETTLE_H
#define RESOURCE_VALUES_CNETTLE_H

#include <nettle/aes.h>
#include <nettle/poly1305.h>
#include <nettle/sha2.h>

#endif
