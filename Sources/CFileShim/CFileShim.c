#define _GNU_SOURCE
#include "CFileShim.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

int64_t tandem_birth_time(const char *path) {
#ifdef STATX_BTIME
  struct statx status;
  if (statx(AT_FDCWD, path, 0, STATX_BTIME, &status) != 0 || !(status.stx_mask & STATX_BTIME)) return 0;
  return (int64_t)status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
#else
  (void)path;
  return 0;
#endif
}

int tandem_rename_once(const char *path, const char *name) {
  return renameat2(AT_FDCWD, path, AT_FDCWD, name, RENAME_NOREPLACE);
}

void tandem_return_large_blocks(int bytes) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, bytes);
#else
  (void)bytes;
#endif
}
