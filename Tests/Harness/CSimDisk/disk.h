/* The internals of a simulated disk. Functions without the prefix `simdisk_` need the lock of `disk_lock`. */
#ifndef TANDEM_SIMDISK_DISK_H
#define TANDEM_SIMDISK_DISK_H

#include "CSimDisk.h"
#include <stdbool.h>

enum { sector_size = 512 };

typedef struct {
  uint8_t *bytes;
  int64_t size;
  int64_t capacity;
} buffer;

/* A write or a truncation that no sync has brought to the medium yet. */
typedef struct change {
  struct change *next;
  uint64_t sequence;
  int64_t offset; /* of a truncation: the new size */
  int64_t length; /* -1 for a truncation */
  uint8_t bytes[];
} change;

/* The shared memory of a log. A crash removes it from the file; dead connections keep it until they close. */
typedef struct share {
  int references;
  int region_count;
  int region_size;
  void **regions;
  int shared[8];
  bool exclusive[8];
} share;

typedef struct inode {
  int references;
  uint64_t number;
  buffer content; /* the bytes that programs see */
  buffer durable; /* the bytes that a loss of power certainly leaves */
  change *first, *last;
  int64_t change_bytes;
  /* Sectors whose sync failed, one bit each. They are in `content`, and on the medium only by chance. */
  uint8_t *stranded;
  int64_t stranded_bytes;
  /* The locks of lockingv3.html, with the connection that holds each. */
  int readers;
  const void *reserved, *pending, *exclusive;
  bool is_locked; /* the lock of a side file */
  share *share;
} inode;

typedef struct {
  char *name;
  inode *inode;
} entry;

typedef struct {
  entry *entries;
  int count, capacity;
} directory;

/* A name that was added or removed, and that no sync of the directory has brought to the medium yet. */
typedef struct name_change {
  struct name_change *next;
  uint64_t sequence;
  char *name;
  inode *inode; /* NULL when the name was removed */
} name_change;

typedef struct {
  simdisk_fault fault;
  uint64_t seen;  /* operations that were counted since the fault was added */
  uint64_t count; /* times that the fault happened */
  uint64_t random;
} standing_fault;

struct simdisk {
  struct simdisk *next; /* the next disk in the table of all disks */
  uint64_t id;
  int references; /* held by its owner and by open files */
  uint64_t machine;
  char path[96];
  directory names, durable_names;
  name_change *first_name, *last_name;
  uint64_t sequence;
  uint64_t next_inode;
  uint64_t generation; /* the generation of processes: a crash begins the next one */
  bool is_down;
  bool sleeps_virtually;
  bool holds_faults;
  bool has_directory; /* true when the disk has a real directory, see mirror.c */
  int64_t time;
  int64_t capacity;
  standing_fault faults[SIMDISK_MOST_FAULTS];
  int fault_count;
  uint64_t operations[16];
  uint64_t copied_after;
  simdisk *captures[SIMDISK_MOST_CAPTURES];
  int capture_count;
  simdisk_checkpoint_count checkpoints;
};

void disk_lock(void);
void disk_unlock(void);

uint64_t next_random(uint64_t *state);

/* disk.c */
simdisk *disk_new(uint64_t machine);
simdisk *disk_copy(const simdisk *disk);
void disk_keep(simdisk *disk);
void disk_drop(simdisk *disk);
void disk_crash(simdisk *disk);
/* Finds the disk and the name on it of an absolute path; NULL for a path on no simulated disk. */
simdisk *disk_of_path(const char *path, const char **name);
simdisk *disk_with_id(uint64_t id);

/* buffer.c: both functions return 0, or -1 when memory is short. */
int buffer_write(buffer *buffer, int64_t offset, const void *bytes, int64_t count);
int buffer_resize(buffer *buffer, int64_t size);
int buffer_copy(buffer *to, const buffer *from);

/* inode.c */
inode *inode_new(simdisk *disk);
inode *inode_copy(const inode *file);
void inode_keep(inode *file);
void inode_drop(inode *file);
int inode_write(simdisk *disk, inode *file, int64_t offset, const void *bytes, int64_t count);
int inode_resize(simdisk *disk, inode *file, int64_t size);
int inode_sync(inode *file);
/* Fails a sync: its writes count as written, and are not on the medium. */
int inode_strand(inode *file);
void inode_forget_changes(inode *file);

/* directory.c */
inode *directory_find(const directory *names, const char *name);
int directory_set(directory *names, const char *name, inode *inode);
void directory_clear(directory *names);
int names_change(simdisk *disk, const char *name, inode *inode);
int names_sync(simdisk *disk);
void names_forget_changes(simdisk *disk);

/* fault.c */
int role_of(const char *name);
typedef struct {
  bool is_fault;
  simdisk_action action;
  uint64_t random;
} verdict;
/* Counts an operation and says which fault it has. A crash before the operation has already happened when
 * this returns. */
verdict operation_begins(simdisk *disk, uint32_t operation, int role);
/* True when a file cannot grow to `end`. */
bool is_full(const simdisk *disk, const inode *file, int64_t end);
void flip_bit(uint8_t *bytes, int64_t count, uint64_t random);

/* share.c */
share *share_new(void);
void share_keep(share *memory);
void share_drop(share *memory);

/* mirror.c */
const char *mirror_root(void);
void mirror(simdisk *disk, const char *name, const inode *file);
void mirror_end(simdisk *disk);

#endif
