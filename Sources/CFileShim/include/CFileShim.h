/* The C library declares statx() and renameat2() only under _GNU_SOURCE, which Swift does not define when it
   imports the C library, and Swift's module of it lacks malloc.h. This header declares what Tandem needs of them. */
#ifndef TANDEM_CFILE_SHIM_H
#define TANDEM_CFILE_SHIM_H

#include <stdint.h>

/* The creation time of the file at `path`, in nanoseconds since 1970; 0 when the file system records none.
   A symbolic link is followed. */
int64_t tandem_birth_time(const char *path);

/* Renames a file, unless the new name is taken: then it fails with EEXIST. Returns 0, or -1 and sets errno. */
int tandem_rename_once(const char *path, const char *name);

/* Makes blocks of at least `bytes` mappings of their own, which go back to the system when they are freed. Without
   it, glibc raises that size to that of the blocks that it has seen, up to 32 MiB, and then keeps the memory of a
   large value among smaller blocks (https://man7.org/linux/man-pages/man3/mallopt.3.html, M_MMAP_THRESHOLD). Does
   nothing with another C library. */
void tandem_return_large_blocks(int bytes);

#endif
