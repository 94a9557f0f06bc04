// libarchive: reading and writing tar archives with any compression.

#ifndef RESOURCE_VALUES_CARCHIVE_H
#define RESOURCE_VALUES_CARCHIVE_H

#include <archive.h>
#include <archive_entry.h>

#endif
