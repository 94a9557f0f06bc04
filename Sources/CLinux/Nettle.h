// SHA-256 of nettle.

#ifndef RESOURCE_VALUES_NETTLE_H
#define RESOURCE_VALUES_NETTLE_H

#include <nettle/sha2.h>

#endif
