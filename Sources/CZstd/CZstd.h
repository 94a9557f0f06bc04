// Decompression of Zstandard (RFC 8878), in which restic stores what it compresses.

#ifndef RESOURCE_VALUES_CZSTD_H
#define RESOURCE_VALUES_CZSTD_H

#include <zstd.h>

#endif
