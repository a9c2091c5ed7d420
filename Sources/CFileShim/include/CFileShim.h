/* statx() hides behind _GNU_SOURCE, which Swift's view of the C library does not define. This is the one field that Tandem needs. */
#ifndef TANDEM_CFILE_SHIM_H
#define TANDEM_CFILE_SHIM_H

#include <stdint.h>

/* The moment at which the file at `path` was created, in nanoseconds since 1970; 0 where the file system keeps none. A symbolic link is
   followed. */
int64_t tandem_birth_time(const char *path);

#endif
