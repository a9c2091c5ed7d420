/* The VFS that SQLite calls. */
#include "disk.h"
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  sqlite3_file base;
  simdisk *disk;
  inode *inode;
  share *share;
  char *name;
  int role;
  uint64_t generation;
  int level;            /* the level of sqlite3_file locks */
  uint16_t shared;      /* the shared-memory locks held in shared mode, one bit each */
  uint16_t exclusive;
  bool syncs_names;     /* true when the next sync also syncs the directory */
  bool is_delete_on_close;
} file;

static sqlite3_vfs vfs;
static sqlite3_vfs *system_vfs;

/* The disk on which this thread last worked. SQLite does not say for which database it asks the time. */
static _Thread_local uint64_t last_disk;

static bool is_dead(const file *self) { return self->generation != self->disk->generation; }

/* Begins an operation and takes the lock. SQLITE_OK means that the operation may be done. */
static int begin(file *self, uint32_t operation, int failure, verdict *verdict) {
  disk_lock();
  last_disk = self->disk->id;
  verdict->is_fault = false;
  if (is_dead(self)) return SQLITE_IOERR;
  *verdict = operation_begins(self->disk, operation, self->role);
  if (!verdict->is_fault) return SQLITE_OK;
  switch (verdict->action) {
  case SIMDISK_FULL: return operation == SIMDISK_SYNC ? failure : SQLITE_FULL;
  case SIMDISK_BUSY: return SQLITE_BUSY;
  case SIMDISK_FAIL: return failure;
  case SIMDISK_CRASH_BEFORE: return SQLITE_IOERR;
  default: return SQLITE_OK;
  }
}

static int end(file *self, const verdict *verdict, int code) {
  if (verdict->is_fault && verdict->action == SIMDISK_CRASH_AFTER && !is_dead(self)) {
    disk_crash(self->disk);
    code = SQLITE_IOERR;
  }
  disk_unlock();
  return code;
}

/* MARK: Bytes */

static int file_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
  file *self = (file *)base;
  verdict verdict;
  int code = begin(self, SIMDISK_READ, SQLITE_IOERR_READ, &verdict);
  if (code == SQLITE_OK) {
    int64_t rest = self->inode->content.size - offset;
    int64_t there = rest < 0 ? 0 : rest < count ? rest : count;
    if (there) memcpy(bytes, self->inode->content.bytes + offset, (size_t)there);
    if (verdict.is_fault && verdict.action == SIMDISK_FLIP) flip_bit(bytes, there, verdict.random);
    if (there < count) {
      memset((uint8_t *)bytes + there, 0, (size_t)(count - there));
      code = SQLITE_IOERR_SHORT_READ;
    }
  }
  return end(self, &verdict, code);
}

/* Only a checkpoint writes into a database whose log is in use, and it needs the lock that all processes with
 * Tandem share. */
static void note_checkpoint(file *self, int64_t offset) {
  simdisk *disk = self->disk;
  if (self->role == SIMDISK_LOG && offset == 0 && self->inode->content.size > 0) disk->checkpoints.restarts++;
  if (self->role != SIMDISK_DATABASE || !self->inode->share) return;
  char name[300];
  sqlite3_snprintf(sizeof name, name, "%s-checkpoint", self->name);
  const inode *lock = directory_find(&disk->names, name);
  disk->checkpoints.writes++;
  if (!lock || !lock->is_locked) disk->checkpoints.outside_lock++;
}

static int file_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
  file *self = (file *)base;
  verdict verdict;
  int code = begin(self, SIMDISK_WRITE, SQLITE_IOERR_WRITE, &verdict);
  if (!is_dead(self) && code == SQLITE_OK) note_checkpoint(self, offset);
  if (code == SQLITE_OK && is_full(self->disk, self->inode, offset + count)) code = SQLITE_FULL;
  if (verdict.is_fault && verdict.action == SIMDISK_SHORT) code = SQLITE_IOERR_WRITE;
  bool was_empty = self->inode->content.size == 0;
  if (code == SQLITE_OK) {
    if (inode_write(self->disk, self->inode, offset, bytes, count)) code = SQLITE_IOERR_NOMEM;
    else if (verdict.is_fault && verdict.action == SIMDISK_FLIP) flip_bit(self->inode->content.bytes + offset, count, verdict.random);
  } else if (!is_dead(self) && (code == SQLITE_FULL || (verdict.is_fault && verdict.action == SIMDISK_SHORT))) {
    if (!is_full(self->disk, self->inode, offset + count / 2) &&
        inode_write(self->disk, self->inode, offset, bytes, count / 2)) code = SQLITE_IOERR_NOMEM;
  }
  if (self->role == SIMDISK_LOG && was_empty && !is_dead(self)) mirror(self->disk, self->name, self->inode);
  return end(self, &verdict, code);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
  file *self = (file *)base;
  verdict verdict;
  int code = begin(self, SIMDISK_TRUNCATE, SQLITE_IOERR_TRUNCATE, &verdict);
  if (code == SQLITE_OK) {
    if (inode_resize(self->disk, self->inode, size)) code = SQLITE_IOERR_NOMEM;
    if (self->role == SIMDISK_LOG) mirror(self->disk, self->name, self->inode);
  }
  return end(self, &verdict, code);
}

static int file_sync(sqlite3_file *base, int flags) {
  (void)flags;
  file *self = (file *)base;
  verdict verdict;
  int code = begin(self, SIMDISK_SYNC, SQLITE_IOERR_FSYNC, &verdict);
  if (is_dead(self)) return end(self, &verdict, code);
  if (code != SQLITE_OK) {
    if (inode_strand(self->inode)) code = SQLITE_IOERR_NOMEM;
    return end(self, &verdict, code);
  }
  if (inode_sync(self->inode)) code = SQLITE_IOERR_NOMEM;
  code = end(self, &verdict, code);
  if (code != SQLITE_OK || !self->syncs_names) return code;
  /* The first sync of a new log or journal also syncs its name. SQLite's own VFS does so too, and ignores
   * errors of it. */
  code = begin(self, SIMDISK_NAMES_SYNC, SQLITE_OK, &verdict);
  if (code == SQLITE_OK) code = names_sync(self->disk) ? SQLITE_IOERR_NOMEM : SQLITE_OK;
  else if (!is_dead(self)) code = SQLITE_OK;
  self->syncs_names = false;
  return end(self, &verdict, code);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size) {
  file *self = (file *)base;
  disk_lock();
  last_disk = self->disk->id;
  int code = is_dead(self) ? SQLITE_IOERR_FSTAT : SQLITE_OK;
  *size = self->inode->content.size;
  disk_unlock();
  return code;
}

/* MARK: Locks of a rollback journal (https://sqlite.org/lockingv3.html) */

static int file_lock(sqlite3_file *base, int level) {
  file *self = (file *)base;
  verdict verdict;
  int code = begin(self, SIMDISK_LOCK, SQLITE_IOERR_LOCK, &verdict);
  inode *inode = self->inode;
  if (code != SQLITE_OK || self->level >= level) return end(self, &verdict, code);
  bool is_taken = (inode->pending && inode->pending != self) || (inode->exclusive && inode->exclusive != self);
  if (is_taken || (level >= SQLITE_LOCK_RESERVED && inode->reserved && inode->reserved != self)) {
    code = SQLITE_BUSY;
  } else if (level == SQLITE_LOCK_SHARED) {
    inode->readers++;
    self->level = SQLITE_LOCK_SHARED;
  } else if (level == SQLITE_LOCK_RESERVED) {
    inode->reserved = self;
    self->level = SQLITE_LOCK_RESERVED;
  } else {
    inode->pending = self;
    self->level = SQLITE_LOCK_PENDING;
    if (inode->readers > 1) {
      code = SQLITE_BUSY;
    } else {
      inode->exclusive = self;
      self->level = SQLITE_LOCK_EXCLUSIVE;
    }
  }
  return end(self, &verdict, code);
}

static void unlock(file *self, int level) {
  inode *inode = self->inode;
  if (self->level <= level) return;
  if (inode->reserved == self) inode->reserved = NULL;
  if (inode->pending == self) inode->pending = NULL;
  if (inode->exclusive == self) inode->exclusive = NULL;
  if (level == SQLITE_LOCK_NONE) inode->readers--;
  self->level = level;
}

static int file_unlock(sqlite3_file *base, int level) {
  file *self = (file *)base;
  disk_lock();
  if (!is_dead(self)) unlock(self, level);
  disk_unlock();
  return SQLITE_OK;
}

static int file_check_reserved(sqlite3_file *base, int *result) {
  file *self = (file *)base;
  disk_lock();
  int code = is_dead(self) ? SQLITE_IOERR_CHECKRESERVEDLOCK : SQLITE_OK;
  *result = self->inode->reserved || self->inode->pending || self->inode->exclusive;
  disk_unlock();
  return code;
}

/* MARK: Shared memory and locks of a write-ahead log (https://sqlite.org/walformat.html#wal_locks) */

static int file_share_map(sqlite3_file *base, int region, int size, int extend, void volatile **pointer) {
  file *self = (file *)base;
  verdict verdict;
  *pointer = NULL;
  int code = begin(self, SIMDISK_SHARE_MAP, SQLITE_IOERR_SHMMAP, &verdict);
  if (code != SQLITE_OK) return end(self, &verdict, code);
  if (!self->share) {
    if (!self->inode->share) self->inode->share = share_new();
    if (!self->inode->share) return end(self, &verdict, SQLITE_NOMEM);
    self->share = self->inode->share;
    share_keep(self->share);
  }
  share *memory = self->share;
  while (memory->region_count <= region && extend) {
    void **regions = realloc(memory->regions, (size_t)(memory->region_count + 1) * sizeof *regions);
    if (!regions) return end(self, &verdict, SQLITE_NOMEM);
    memory->regions = regions;
    if (!(regions[memory->region_count] = calloc(1, (size_t)size))) return end(self, &verdict, SQLITE_NOMEM);
    memory->region_count++;
  }
  if (region < memory->region_count) *pointer = memory->regions[region];
  return end(self, &verdict, code);
}

static void share_unlock(file *self, int mask) {
  for (int i = 0; i < 8; i++) {
    if (!(mask >> i & 1)) continue;
    if (self->shared >> i & 1) self->share->shared[i]--;
    if (self->exclusive >> i & 1) self->share->exclusive[i] = false;
  }
  self->shared &= (uint16_t)~mask;
  self->exclusive &= (uint16_t)~mask;
}

/* A checkpoint begins with the exclusive lock of number 1 alone. A recovery takes more locks at once. */
static void note_checkpoint_start(file *self, int offset, int count) {
  if (offset != 1 || count != 1 || self->share->region_count == 0) return;
  /* https://sqlite.org/walformat.html#the_wal_index_header: mxFrame and nBackfill */
  const uint32_t *index = self->share->regions[0];
  if (index[4] > 0 && index[24] >= index[4]) self->disk->checkpoints.idle_starts++;
}

static int file_share_lock(sqlite3_file *base, int offset, int count, int flags) {
  file *self = (file *)base;
  int mask = ((1 << count) - 1) << offset;
  verdict verdict;
  if (flags & SQLITE_SHM_UNLOCK) {
    disk_lock();
    if (!is_dead(self) && self->share) share_unlock(self, mask);
    disk_unlock();
    return SQLITE_OK;
  }
  int code = begin(self, SIMDISK_SHARE_LOCK, SQLITE_IOERR_SHMLOCK, &verdict);
  if (code == SQLITE_OK && !self->share) code = SQLITE_IOERR_SHMLOCK;
  if (code != SQLITE_OK) return end(self, &verdict, code);
  bool is_exclusive = flags & SQLITE_SHM_EXCLUSIVE;
  for (int i = offset; i < offset + count; i++) {
    int others = self->share->shared[i] - (self->shared >> i & 1);
    bool is_taken = self->share->exclusive[i] && !(self->exclusive >> i & 1);
    if (is_taken || (is_exclusive && others > 0)) return end(self, &verdict, SQLITE_BUSY);
  }
  if (is_exclusive) note_checkpoint_start(self, offset, count);
  for (int i = offset; i < offset + count; i++) {
    if (is_exclusive) {
      self->share->exclusive[i] = true;
      self->exclusive |= (uint16_t)(1 << i);
    } else if (!(self->shared >> i & 1)) {
      self->share->shared[i]++;
      self->shared |= (uint16_t)(1 << i);
    }
  }
  return end(self, &verdict, code);
}

static void file_share_barrier(sqlite3_file *base) {
  (void)base;
  __sync_synchronize();
  disk_lock();
  disk_unlock();
}

/* The last connection that leaves frees the shared memory. The next connection rebuilds it from the log. */
static void share_leave(file *self) {
  if (!self->share) return;
  if (!is_dead(self)) {
    share_unlock(self, 0xFF);
    if (self->share->references == 2 && self->inode->share == self->share) {
      self->inode->share = NULL;
      share_drop(self->share);
    }
  }
  share_drop(self->share);
  self->share = NULL;
}

static int file_share_unmap(sqlite3_file *base, int delete) {
  (void)delete;
  file *self = (file *)base;
  disk_lock();
  share_leave(self);
  disk_unlock();
  return SQLITE_OK;
}

/* MARK: Other file methods */

static int file_control(sqlite3_file *base, int operation, void *argument) {
  file *self = (file *)base;
  int code = SQLITE_OK;
  disk_lock();
  switch (operation) {
  case SQLITE_FCNTL_LOCKSTATE: *(int *)argument = self->level; break;
  case SQLITE_FCNTL_HAS_MOVED: *(int *)argument = directory_find(&self->disk->names, self->name) != self->inode; break;
  case SQLITE_FCNTL_POWERSAFE_OVERWRITE:
    if (*(int *)argument < 0) *(int *)argument = 1;
    break;
  case SQLITE_FCNTL_SIZE_HINT:
  case SQLITE_FCNTL_CHUNK_SIZE: break;
  default: code = SQLITE_NOTFOUND;
  }
  disk_unlock();
  return code;
}

static int file_sector_size(sqlite3_file *base) {
  (void)base;
  return 4096;
}

static int file_characteristics(sqlite3_file *base) {
  (void)base;
  return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int file_close(sqlite3_file *base) {
  file *self = (file *)base;
  disk_lock();
  share_leave(self);
  if (!is_dead(self)) {
    unlock(self, SQLITE_LOCK_NONE);
    if (self->is_delete_on_close) names_change(self->disk, self->name, NULL);
  }
  inode_drop(self->inode);
  free(self->name);
  disk_drop(self->disk);
  self->base.pMethods = NULL;
  disk_unlock();
  return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_share_map,
    .xShmLock = file_share_lock,
    .xShmBarrier = file_share_barrier,
    .xShmUnmap = file_share_unmap,
};

/* MARK: Names */

static int role_of_flags(const char *name, int flags) {
  if (flags & SQLITE_OPEN_WAL) return SIMDISK_LOG;
  if (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL)) return SIMDISK_JOURNAL;
  return role_of(name);
}

static int open_file(file *self, simdisk *disk, const char *name, int flags) {
  int role = role_of_flags(name, flags);
  last_disk = disk->id;
  if (disk->is_down) return SQLITE_CANTOPEN;
  verdict verdict = operation_begins(disk, SIMDISK_OPEN, role);
  if (verdict.is_fault && verdict.action == SIMDISK_FULL && !directory_find(&disk->names, name)) return SQLITE_CANTOPEN;
  if (verdict.is_fault && (verdict.action == SIMDISK_FAIL || verdict.action == SIMDISK_CRASH_BEFORE)) return SQLITE_CANTOPEN;
  inode *found = directory_find(&disk->names, name);
  if (found && (flags & SQLITE_OPEN_EXCLUSIVE) && (flags & SQLITE_OPEN_CREATE)) return SQLITE_CANTOPEN;
  if (found) {
    inode_keep(found);
  } else {
    if (!(flags & SQLITE_OPEN_CREATE)) return SQLITE_CANTOPEN;
    found = inode_new(disk);
    if (!found || names_change(disk, name, found)) {
      inode_drop(found);
      return SQLITE_NOMEM;
    }
  }
  char *copy = strdup(name);
  if (!copy) {
    inode_drop(found);
    return SQLITE_NOMEM;
  }
  *self = (file){
      .base = {&methods},
      .disk = disk,
      .inode = found,
      .name = copy,
      .role = role,
      .generation = disk->generation,
      .syncs_names = (flags & SQLITE_OPEN_CREATE) && (role & (SIMDISK_LOG | SIMDISK_JOURNAL)),
      .is_delete_on_close = flags & SQLITE_OPEN_DELETEONCLOSE,
  };
  disk_keep(disk);
  if (verdict.is_fault && verdict.action == SIMDISK_CRASH_AFTER) disk_crash(disk);
  return SQLITE_OK;
}

static int vfs_open(sqlite3_vfs *self, sqlite3_filename path, sqlite3_file *base, int flags, int *out_flags) {
  (void)self;
  const char *name = NULL;
  base->pMethods = NULL;
  disk_lock();
  simdisk *disk = disk_of_path(path, &name);
  if (!disk) {
    disk_unlock();
    last_disk = 0;
    return system_vfs->xOpen(system_vfs, path, base, flags, out_flags);
  }
  int code = open_file((file *)base, disk, name, flags);
  if (code == SQLITE_OK && out_flags) *out_flags = flags;
  disk_unlock();
  return code;
}

static int vfs_delete(sqlite3_vfs *self, const char *path, int sync_names) {
  (void)self;
  const char *name = NULL;
  disk_lock();
  simdisk *disk = disk_of_path(path, &name);
  if (!disk) {
    disk_unlock();
    return system_vfs->xDelete(system_vfs, path, sync_names);
  }
  int code = SQLITE_OK;
  uint64_t generation = disk->generation;
  last_disk = disk->id;
  if (disk->is_down) code = SQLITE_IOERR_DELETE;
  else if (!directory_find(&disk->names, name)) code = SQLITE_IOERR_DELETE_NOENT;
  if (code == SQLITE_OK) {
    verdict verdict = operation_begins(disk, SIMDISK_DELETE, role_of(name));
    if (verdict.is_fault && (verdict.action == SIMDISK_FAIL || verdict.action == SIMDISK_CRASH_BEFORE)) code = SQLITE_IOERR_DELETE;
    if (code == SQLITE_OK) {
      mirror(disk, name, NULL);
      if (names_change(disk, name, NULL)) code = SQLITE_IOERR_NOMEM;
      if (verdict.is_fault && verdict.action == SIMDISK_CRASH_AFTER) disk_crash(disk);
    }
  }
  if (code == SQLITE_OK && sync_names && disk->generation == generation) {
    verdict verdict = operation_begins(disk, SIMDISK_NAMES_SYNC, SIMDISK_SIDE);
    if (verdict.is_fault && verdict.action == SIMDISK_FAIL) code = SQLITE_IOERR_DIR_FSYNC;
    if (!verdict.is_fault || verdict.action == SIMDISK_CRASH_AFTER) {
      if (names_sync(disk)) code = SQLITE_IOERR_NOMEM;
    }
    if (verdict.is_fault && verdict.action == SIMDISK_CRASH_AFTER) disk_crash(disk);
  }
  if (disk->generation != generation) code = SQLITE_IOERR_DELETE;
  disk_unlock();
  return code;
}

static int vfs_access(sqlite3_vfs *self, const char *path, int flags, int *result) {
  (void)self;
  const char *name = NULL;
  disk_lock();
  simdisk *disk = disk_of_path(path, &name);
  if (disk) {
    const inode *file = directory_find(&disk->names, name);
    *result = file && (flags != SQLITE_ACCESS_EXISTS || file->content.size > 0);
    last_disk = disk->id;
  }
  disk_unlock();
  return disk ? SQLITE_OK : system_vfs->xAccess(system_vfs, path, flags, result);
}

static int vfs_full_path(sqlite3_vfs *self, const char *path, int size, char *out) {
  (void)self;
  const char *name = NULL;
  disk_lock();
  simdisk *disk = disk_of_path(path, &name);
  disk_unlock();
  if (!disk) return system_vfs->xFullPathname(system_vfs, path, size, out);
  if ((int)strlen(path) + 1 > size) return SQLITE_CANTOPEN;
  strcpy(out, path);
  return SQLITE_OK;
}

/* MARK: Randomness and time */

static bool is_seeded;
static uint64_t random_state;

static int vfs_randomness(sqlite3_vfs *self, int count, char *bytes) {
  (void)self;
  disk_lock();
  bool seeded = is_seeded;
  for (int i = 0; seeded && i < count; i++) bytes[i] = (char)(next_random(&random_state) >> 56);
  disk_unlock();
  return seeded ? count : system_vfs->xRandomness(system_vfs, count, bytes);
}

static int vfs_sleep(sqlite3_vfs *self, int microseconds) {
  (void)self;
  disk_lock();
  const simdisk *disk = disk_with_id(last_disk);
  bool is_virtual = disk && disk->sleeps_virtually;
  disk_unlock();
  return is_virtual ? microseconds : system_vfs->xSleep(system_vfs, microseconds);
}

static int vfs_time(sqlite3_vfs *self, sqlite3_int64 *time) {
  (void)self;
  disk_lock();
  const simdisk *disk = disk_with_id(last_disk);
  int64_t milliseconds = disk ? disk->time : SIMDISK_REAL_TIME;
  disk_unlock();
  if (milliseconds == SIMDISK_REAL_TIME) return system_vfs->xCurrentTimeInt64(system_vfs, time);
  /* From the Julian epoch to 1970. */
  *time = milliseconds + 210866760000000;
  return SQLITE_OK;
}

static int vfs_time_in_days(sqlite3_vfs *self, double *days) {
  sqlite3_int64 time = 0;
  int code = vfs_time(self, &time);
  *days = (double)time / 86400000.0;
  return code;
}

void simdisk_seed_randomness(uint64_t seed) {
  disk_lock();
  is_seeded = true;
  random_state = seed;
  disk_unlock();
  /* SQLite's generator takes a new seed at its next use. */
  sqlite3_randomness(0, NULL);
}

static int code_of_registering;

static void register_once(void) {
  code_of_registering = sqlite3_initialize();
  if (code_of_registering != SQLITE_OK) return;
  system_vfs = sqlite3_vfs_find(NULL);
  if (!system_vfs || system_vfs->iVersion < 2) {
    code_of_registering = SQLITE_ERROR;
    return;
  }
  vfs = *system_vfs;
  vfs.zName = "simdisk";
  vfs.pNext = NULL;
  if (vfs.szOsFile < (int)sizeof(file)) vfs.szOsFile = sizeof(file);
  vfs.xOpen = vfs_open;
  vfs.xDelete = vfs_delete;
  vfs.xAccess = vfs_access;
  vfs.xFullPathname = vfs_full_path;
  vfs.xRandomness = vfs_randomness;
  vfs.xSleep = vfs_sleep;
  vfs.xCurrentTime = vfs_time_in_days;
  vfs.xCurrentTimeInt64 = vfs_time;
  code_of_registering = sqlite3_vfs_register(&vfs, 1);
}

int simdisk_register(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_once);
  return code_of_registering;
}
