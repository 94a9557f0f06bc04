// Compression by zlib, in the form that browsers read.

#ifndef RESOURCE_VALUES_ZLIB_H
#define RESOURCE_VALUES_ZLIB_H

#include <zlib.h>

#endif
