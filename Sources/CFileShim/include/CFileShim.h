/* The C library declares statx() only under _GNU_SOURCE, which Swift does not define when it imports the C
   library. This header declares the one field of statx() that Tandem needs. */
#ifndef TANDEM_CFILE_SHIM_H
#define TANDEM_CFILE_SHIM_H

#include <stdint.h>

/* The creation time of the file at `path`, in nanoseconds since 1970; 0 when the file system records none.
   A symbolic link is followed. */
int64_t tandem_birth_time(const char *path);

#endif
