// Compression by zlib, in the form that browsers read.

#ifndef RESOURCE_VALUES_CZLIB_H
#define RESOURCE_VALUES_CZLIB_H

#include <zlib.h>

#endif
