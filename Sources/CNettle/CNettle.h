// SHA-256 of nettle.

#ifndef RESOURCE_VALUES_CNETTLE_H
#define RESOURCE_VALUES_CNETTLE_H

#include <nettle/sha2.h>

#endif
