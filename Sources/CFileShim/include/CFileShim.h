/* The C library declares statx() and renameat2() only under _GNU_SOURCE, which Swift does not define when it
   imports the C library. This header declares what Tandem needs of them. */
#ifndef TANDEM_CFILE_SHIM_H
#define TANDEM_CFILE_SHIM_H

#include <stdint.h>

/* The creation time of the file at `path`, in nanoseconds since 1970; 0 when the file system records none.
   A symbolic link is followed. */
int64_t tandem_birth_time(const char *path);

/* Renames a file, unless the new name is taken: then it fails with EEXIST. Returns 0, or -1 and sets errno. */
int tandem_rename_once(const char *path, const char *name);

#endif
