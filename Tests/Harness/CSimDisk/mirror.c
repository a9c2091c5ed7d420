/* Keeps a real file of one byte in a real directory for each log that is not empty.
 *
 * When GRDB opens a pool, it looks for `<database>-wal` with the system's own calls, and writes a transaction
 * into a database that has no log. Without these files every opening of a simulated database would begin with
 * a change of its schema. */
#include "disk.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static void remove_root(void) { rmdir(root); }

const char *mirror_root(void) {
  if (root[0]) return root;
  char path[64];
  snprintf(path, sizeof path, "%s/simdisk-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  if (!mkdtemp(path)) return NULL;
  strcpy(root, path);
  atexit(remove_root);
  return root;
}

static void real_path(const simdisk *disk, const char *name, char *path, size_t size) {
  snprintf(path, size, "%s/%s", disk->path, name);
}

void mirror(simdisk *disk, const char *name, const inode *file) {
  char path[512];
  if (role_of(name) != SIMDISK_LOG) return;
  real_path(disk, name, path, sizeof path);
  if (!file || file->content.size == 0) {
    if (disk->has_directory) unlink(path);
    return;
  }
  if (!disk->has_directory) disk->has_directory = mkdir(disk->path, 0700) == 0;
  int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return;
  ssize_t written = write(descriptor, "", 1);
  (void)written;
  close(descriptor);
}

void mirror_end(simdisk *disk) {
  if (!disk->has_directory) return;
  for (int i = 0; i < disk->names.count; i++) mirror(disk, disk->names.entries[i].name, NULL);
  rmdir(disk->path);
  disk->has_directory = false;
}
