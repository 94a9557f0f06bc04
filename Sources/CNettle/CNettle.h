// SHA-256 of nettle, the library of hashes that libarchive itself is linked with.

#ifndef RESOURCE_VALUES_CNETTLE_H
#define RESOURCE_VALUES_CNETTLE_H

#include <nettle/sha2.h>

#endif
