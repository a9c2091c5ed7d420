/* Files other than SQLite's, with the same counting, faults and durability. */
#include "disk.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Begins an operation and takes the lock. 0 means that the operation may be done. */
static int begin_role(simdisk *disk, uint32_t operation, int role, verdict *verdict) {
  if (disk->is_down) return EIO;
  *verdict = operation_begins(disk, operation, role);
  if (!verdict->is_fault) return 0;
  switch (verdict->action) {
  case SIMDISK_FULL: return ENOSPC;
  case SIMDISK_BUSY: return EWOULDBLOCK;
  case SIMDISK_FAIL:
  case SIMDISK_CRASH_BEFORE: return EIO;
  default: return 0;
  }
}

static int begin(simdisk *disk, uint32_t operation, const char *name, verdict *verdict) {
  disk_lock();
  return begin_role(disk, operation, name ? role_of(name) : SIMDISK_SIDE, verdict);
}

static int end(simdisk *disk, const verdict *verdict, int code) {
  if (verdict->is_fault && verdict->action == SIMDISK_CRASH_AFTER && !disk->is_down) {
    disk_crash(disk);
    code = EIO;
  }
  disk_unlock();
  return code;
}

int simdisk_file_create(simdisk *disk, const char *name) {
  verdict verdict = {0};
  int code = begin(disk, SIMDISK_OPEN, name, &verdict);
  if (!code && !directory_find(&disk->names, name)) {
    inode *file = inode_new(disk);
    if (!file || names_change(disk, name, file)) code = ENOMEM;
    inode_drop(file);
  }
  return end(disk, &verdict, code);
}

/* `code` is what the beginning of the operation gave. */
static int read_bytes(const inode *file, int code, const verdict *verdict, int64_t offset, void *bytes, size_t count,
                      size_t *read) {
  if (code) return code;
  if (!file) return ENOENT;
  if (offset >= file->content.size) return 0;
  int64_t rest = file->content.size - offset;
  *read = rest < (int64_t)count ? (size_t)rest : count;
  memcpy(bytes, file->content.bytes + offset, *read);
  if (verdict->is_fault && verdict->action == SIMDISK_FLIP) flip_bit(bytes, (int64_t)*read, verdict->random);
  return 0;
}

static int write_bytes(simdisk *disk, inode *file, int code, const verdict *verdict, int64_t offset, const void *bytes,
                       size_t count) {
  if (!code && !file) code = ENOENT;
  if (file && code != EIO && is_full(disk, file, offset + (int64_t)count)) code = ENOSPC;
  bool is_short = code == ENOSPC || (verdict->is_fault && verdict->action == SIMDISK_SHORT);
  if (file && is_short) {
    if (!code) code = EIO;
    if (!is_full(disk, file, offset + (int64_t)count / 2) && inode_write(disk, file, offset, bytes, (int64_t)count / 2)) code = ENOMEM;
  } else if (file && !code) {
    if (inode_write(disk, file, offset, bytes, (int64_t)count)) code = ENOMEM;
    if (!code && verdict->is_fault && verdict->action == SIMDISK_FLIP) flip_bit(file->content.bytes + offset, (int64_t)count, verdict->random);
  }
  return code;
}

int simdisk_file_read(simdisk *disk, const char *name, int64_t offset, void *bytes, size_t count, size_t *read) {
  verdict verdict = {0};
  *read = 0;
  int code = begin(disk, SIMDISK_READ, name, &verdict);
  const inode *file = code ? NULL : directory_find(&disk->names, name);
  return end(disk, &verdict, read_bytes(file, code, &verdict, offset, bytes, count, read));
}

int simdisk_file_write(simdisk *disk, const char *name, int64_t offset, const void *bytes, size_t count) {
  verdict verdict = {0};
  int code = begin(disk, SIMDISK_WRITE, name, &verdict);
  inode *file = code == EIO ? NULL : directory_find(&disk->names, name);
  return end(disk, &verdict, write_bytes(disk, file, code, &verdict, offset, bytes, count));
}

int simdisk_file_sync(simdisk *disk, const char *name) {
  verdict verdict = {0};
  int code = begin(disk, SIMDISK_SYNC, name, &verdict);
  inode *file = disk->is_down ? NULL : directory_find(&disk->names, name);
  if (code && file && inode_strand(file)) code = ENOMEM;
  if (!code) code = !file ? ENOENT : inode_sync(file) ? ENOMEM : 0;
  return end(disk, &verdict, code);
}

int simdisk_names_sync(simdisk *disk) {
  verdict verdict = {0};
  int code = begin(disk, SIMDISK_NAMES_SYNC, NULL, &verdict);
  if (!code && names_sync(disk)) code = ENOMEM;
  return end(disk, &verdict, code);
}

int simdisk_file_delete(simdisk *disk, const char *name) {
  verdict verdict = {0};
  int code = begin(disk, SIMDISK_DELETE, name, &verdict);
  if (!code && !directory_find(&disk->names, name)) code = ENOENT;
  if (!code) {
    mirror(disk, name, NULL);
    if (names_change(disk, name, NULL)) code = ENOMEM;
  }
  return end(disk, &verdict, code);
}

int simdisk_file_rename(simdisk *disk, const char *from, const char *to) {
  verdict verdict = {0};
  int code = begin(disk, SIMDISK_DELETE, from, &verdict);
  inode *file = code ? NULL : directory_find(&disk->names, from);
  if (!code && !file) code = ENOENT;
  if (!code) {
    inode_keep(file);
    mirror(disk, from, NULL);
    if (names_change(disk, to, file) || names_change(disk, from, NULL)) code = ENOMEM;
    mirror(disk, to, file);
    inode_drop(file);
  }
  return end(disk, &verdict, code);
}

int simdisk_file_lock(simdisk *disk, const char *name) {
  verdict verdict = {0};
  int code = begin(disk, SIMDISK_LOCK, name, &verdict);
  inode *file = code ? NULL : directory_find(&disk->names, name);
  if (!code) code = !file ? ENOENT : file->is_locked ? EWOULDBLOCK : 0;
  if (!code) file->is_locked = true;
  return end(disk, &verdict, code);
}

void simdisk_file_unlock(simdisk *disk, const char *name) {
  disk_lock();
  inode *file = disk->is_down ? NULL : directory_find(&disk->names, name);
  if (file) file->is_locked = false;
  disk_unlock();
}

/* MARK: Open files */

struct simdisk_open_file {
  simdisk *disk;
  inode *inode;
  int role;
  uint64_t generation;
  bool is_locked;
};

static int begin_open(simdisk_open_file *file, uint32_t operation, verdict *verdict) {
  disk_lock();
  if (file->generation != file->disk->generation) return EIO;
  return begin_role(file->disk, operation, file->role, verdict);
}

simdisk_open_file *simdisk_open(simdisk *disk, const char *name) {
  disk_lock();
  inode *found = disk->is_down ? NULL : directory_find(&disk->names, name);
  simdisk_open_file *file = found ? calloc(1, sizeof *file) : NULL;
  if (file) {
    *file = (simdisk_open_file){.disk = disk, .inode = found, .role = role_of(name), .generation = disk->generation};
    disk_keep(disk);
    inode_keep(found);
  }
  disk_unlock();
  return file;
}

static void unlock(simdisk_open_file *file) {
  if (file->is_locked && file->generation == file->disk->generation) file->inode->is_locked = false;
  file->is_locked = false;
}

void simdisk_close(simdisk_open_file *file) {
  disk_lock();
  unlock(file);
  inode_drop(file->inode);
  disk_drop(file->disk);
  disk_unlock();
  free(file);
}

int simdisk_open_read(simdisk_open_file *file, int64_t offset, void *bytes, size_t count, size_t *read) {
  verdict verdict = {0};
  *read = 0;
  int code = begin_open(file, SIMDISK_READ, &verdict);
  return end(file->disk, &verdict, read_bytes(file->inode, code, &verdict, offset, bytes, count, read));
}

int simdisk_open_write(simdisk_open_file *file, int64_t offset, const void *bytes, size_t count) {
  verdict verdict = {0};
  int code = begin_open(file, SIMDISK_WRITE, &verdict);
  inode *inode = code == EIO ? NULL : file->inode;
  return end(file->disk, &verdict, write_bytes(file->disk, inode, code, &verdict, offset, bytes, count));
}

int simdisk_open_resize(simdisk_open_file *file, int64_t size) {
  verdict verdict = {0};
  int code = begin_open(file, SIMDISK_TRUNCATE, &verdict);
  if (!code && inode_resize(file->disk, file->inode, size)) code = ENOMEM;
  return end(file->disk, &verdict, code);
}

int64_t simdisk_open_size(const simdisk_open_file *file) {
  disk_lock();
  int64_t size = file->inode->content.size;
  disk_unlock();
  return size;
}

int simdisk_open_lock(simdisk_open_file *file) {
  verdict verdict = {0};
  int code = begin_open(file, SIMDISK_LOCK, &verdict);
  if (!code && file->inode->is_locked) code = EWOULDBLOCK;
  if (!code) file->inode->is_locked = file->is_locked = true;
  return end(file->disk, &verdict, code);
}

void simdisk_open_unlock(simdisk_open_file *file) {
  disk_lock();
  unlock(file);
  disk_unlock();
}

/* MARK: Functions for observers, which count no operations */

const char *simdisk_name(const simdisk *disk, int position) {
  disk_lock();
  const char *name = position < disk->names.count ? disk->names.entries[position].name : NULL;
  disk_unlock();
  return name;
}

int64_t simdisk_file_size(const simdisk *disk, const char *name) {
  disk_lock();
  const inode *file = directory_find(&disk->names, name);
  int64_t size = file ? file->content.size : -1;
  disk_unlock();
  return size;
}

uint64_t simdisk_file_inode(const simdisk *disk, const char *name) {
  disk_lock();
  const inode *file = directory_find(&disk->names, name);
  uint64_t number = file ? file->number : 0;
  disk_unlock();
  return number;
}

int simdisk_file_copy(const simdisk *from, const char *name, simdisk *to, const char *as) {
  disk_lock();
  const inode *source = directory_find(&from->names, name);
  inode *target = directory_find(&to->names, as);
  int code = source ? 0 : ENOENT;
  if (!code && !target) {
    target = inode_new(to);
    if (!target || names_change(to, as, target)) code = ENOMEM;
    inode_drop(target);
  }
  if (!code && source != target) {
    inode_forget_changes(target);
    if (buffer_copy(&target->content, &source->content) || buffer_copy(&target->durable, &source->content)) code = ENOMEM;
    if (!code && names_sync(to)) code = ENOMEM;
    mirror(to, as, target);
  }
  disk_unlock();
  return code;
}

int simdisk_file_flip(simdisk *disk, const char *name, int64_t offset, int bit) {
  disk_lock();
  inode *file = directory_find(&disk->names, name);
  int code = !file ? ENOENT : offset < 0 || offset >= file->content.size || bit < 0 || bit > 7 ? EINVAL : 0;
  if (!code) {
    file->content.bytes[offset] ^= (uint8_t)(1 << bit);
    if (offset < file->durable.size) file->durable.bytes[offset] ^= (uint8_t)(1 << bit);
  }
  disk_unlock();
  return code;
}

static uint64_t hash(uint64_t sum, const void *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) sum = (sum ^ ((const uint8_t *)bytes)[i]) * 0x100000001B3;
  return sum;
}

/* Hashes of names are added up, so the order of names does not matter. */
uint64_t simdisk_digest(const simdisk *disk) {
  disk_lock();
  uint64_t sum = 0;
  for (int i = 0; i < disk->names.count; i++) {
    const entry *entry = &disk->names.entries[i];
    uint64_t one = hash(0xCBF29CE484222325, entry->name, strlen(entry->name) + 1);
    if (entry->inode->content.size) one = hash(one, entry->inode->content.bytes, (size_t)entry->inode->content.size);
    sum += one;
  }
  disk_unlock();
  return sum;
}
