/* Simulated disks for SQLite: files in memory that record what was synced and what was not.
 *
 * `simdisk_register` makes a VFS the default of the process. The VFS serves paths below the directory of a
 * simulated disk, and passes every other path to the previous default. Temporary files without a name stay
 * with the previous default, too.
 *
 * A disk has one directory. For each file it keeps the bytes that programs see, the bytes that a loss of
 * power certainly leaves, and the writes between the two in their order. It keeps the same for names. From
 * these, `simdisk_power_loss` makes a new disk by a seed. Locks and shared memory are those of the
 * connections of this process.
 *
 * Any thread may call any function. No function traps. When memory is short, SQLite gets SQLITE_NOMEM, and
 * other callers get NULL. */
#ifndef TANDEM_CSIMDISK_H
#define TANDEM_CSIMDISK_H

#include <stddef.h>
#include <stdint.h>

typedef struct simdisk simdisk;

/* Makes the VFS the default one. Later calls do nothing. Returns 0 or a SQLite result code. */
int simdisk_register(void);
/* Seeds SQLite's own randomness (WAL salts, randomblob). */
void simdisk_seed_randomness(uint64_t seed);

/* MARK: Disks */

/* Makes an empty disk; NULL when memory is short. `machine` is part of fingerprints; disks of one machine
 * share it. */
simdisk *simdisk_create(uint64_t machine);
/* Copies the disk as it is, with unsynced writes, as the same files on the same machine. Nobody has the copy
 * open. */
simdisk *simdisk_copy(const simdisk *disk);
/* Releases the disk. Its memory is freed when the last connection is closed. */
void simdisk_release(simdisk *disk);
/* The path of the disk's directory, without a slash at the end. */
const char *simdisk_directory(const simdisk *disk);
uint64_t simdisk_machine(const simdisk *disk);

/* Sets SQLite's 'now' for connections to this disk, in milliseconds since 1970; SIMDISK_REAL_TIME for the
 * real time. */
#define SIMDISK_REAL_TIME INT64_MIN
void simdisk_set_time(simdisk *disk, int64_t milliseconds);
/* With 1, waiting for a lock takes no time, so a busy timeout passes at once. The microseconds of such waits
 * are added up. */
void simdisk_set_virtual_sleep(simdisk *disk, int on);
/* Sets the bytes that all files together may have. A write beyond it fails as on a full disk; 0 for no limit.
 */
void simdisk_set_capacity(simdisk *disk, int64_t bytes);

/* MARK: Crashes */

/* Kills the processes: every connection to the disk fails from then on, locks and shared memory are removed,
 * and files keep what was written. Nobody can open a file before `simdisk_start`. */
void simdisk_crash(simdisk *disk);
void simdisk_start(simdisk *disk);
int simdisk_is_down(const simdisk *disk);

/* What happens to writes that were not synced. */
typedef enum {
  SIMDISK_LOSS_BY_SEED,   /* one of the following */
  SIMDISK_LOSS_ALL,       /* all are lost */
  SIMDISK_LOSS_NONE,      /* all survive */
  SIMDISK_LOSS_TAIL,      /* those before some moment survive; the write at that moment is torn */
  SIMDISK_LOSS_WRITES,    /* each survives or is lost */
  SIMDISK_LOSS_SECTORS,   /* each sector of each survives or is lost: 512 bytes or 4 KiB */
  SIMDISK_LOSS_REORDERED, /* some survive, and reached the medium in another order */
  SIMDISK_LOSSES
} simdisk_loss;

/* Makes the disk that a loss of power at this moment leaves. Nobody has the new disk open. The same disk,
 * seed and kind give the same bytes. NULL when memory is short. */
simdisk *simdisk_power_loss(const simdisk *disk, uint64_t seed, simdisk_loss loss);
/* The bytes of writes, and the number of changes of names, that a loss of power may take. */
int64_t simdisk_unsynced_bytes(const simdisk *disk);
int simdisk_unsynced_names(const simdisk *disk);

/* MARK: Operations and faults */

enum {
  SIMDISK_OPEN = 1,
  SIMDISK_READ = 2,
  SIMDISK_WRITE = 4,
  SIMDISK_TRUNCATE = 8,
  SIMDISK_SYNC = 16,
  SIMDISK_DELETE = 32,
  SIMDISK_LOCK = 64,      /* the locks of a rollback journal, and those of side files */
  SIMDISK_SHARE_LOCK = 128, /* the locks of the write-ahead log */
  SIMDISK_SHARE_MAP = 256,
  SIMDISK_NAMES_SYNC = 512, /* a sync of the directory */
};

enum {
  SIMDISK_DATABASE = 1,
  SIMDISK_LOG = 2,     /* -wal */
  SIMDISK_JOURNAL = 4, /* -journal */
  SIMDISK_SIDE = 8,    /* any other file, and the directory */
};

typedef enum {
  SIMDISK_FAIL,         /* an input/output error. After a failed sync, no later sync brings its writes to the medium. */
  SIMDISK_FULL,         /* no space; half of a write may be done */
  SIMDISK_BUSY,         /* another connection holds the lock */
  SIMDISK_SHORT,        /* half of a write is done, then an error */
  SIMDISK_FLIP,         /* one bit of what is read or written is wrong; no error */
  SIMDISK_CRASH_BEFORE, /* see simdisk_crash; the operation is not done */
  SIMDISK_CRASH_AFTER,  /* the operation is done */
  SIMDISK_CAPTURE       /* a copy of the disk is set aside, see simdisk_take_capture; the operation succeeds */
} simdisk_action;

#define SIMDISK_FOREVER UINT64_MAX

/* A fault. It counts only the operations in `operations` on files in `roles`. */
typedef struct {
  uint32_t operations;
  uint32_t roles;
  simdisk_action action;
  /* The counted operation at which the fault begins, 1 for the next one; 0 to use `rate`. */
  uint64_t first;
  /* The number of counted operations in a row that fail. */
  uint64_t times;
  /* With `first` 0: how many of 2^32 counted operations fail, drawn from `seed`. */
  uint32_t rate;
  uint64_t seed;
} simdisk_fault;

/* Adds a fault; at most SIMDISK_MOST_FAULTS at a time. Returns its number, or -1 when there are too many. */
#define SIMDISK_MOST_FAULTS 16
int simdisk_add_fault(simdisk *disk, simdisk_fault fault);
void simdisk_clear_faults(simdisk *disk);
/* With 1, faults stay armed but do not happen and count nothing, so that an observer can use a connection. */
void simdisk_hold_faults(simdisk *disk, int on);
int simdisk_holds_faults(const simdisk *disk);
/* How often a fault happened. */
uint64_t simdisk_fault_count(const simdisk *disk, int fault);

/* How many operations of these kinds were done since the disk was made, with those that failed. */
uint64_t simdisk_operations(const simdisk *disk, uint32_t operations);

/* Returns the oldest disk that SIMDISK_CAPTURE set aside, and gives it to the caller; NULL when there is
 * none. At most SIMDISK_MOST_CAPTURES wait; further ones are not captured. */
#define SIMDISK_MOST_CAPTURES 64
simdisk *simdisk_take_capture(simdisk *disk);
/* For a copy or a capture: how many operations its original had done. */
uint64_t simdisk_copied_after(const simdisk *disk);

/* How well processes keep the rule that one process at a time checkpoints, with the lock of
 * `<database>-checkpoint`. */
typedef struct {
  uint64_t writes;       /* into a database whose log is in use: only checkpoints do that */
  uint64_t outside_lock; /* those of them without the lock */
  uint64_t restarts;     /* the log was restarted at its beginning, after a checkpoint */
  uint64_t idle_starts;  /* a checkpoint began while the whole log was in the database: the start of SQLite's WAL-reset bug */
} simdisk_checkpoint_count;
simdisk_checkpoint_count simdisk_checkpoints(const simdisk *disk);

/* MARK: Files without SQLite */

/* Each returns 0 or an errno. Each is an operation as SQLite's are, with the same faults. */
int simdisk_file_read(simdisk *disk, const char *name, int64_t offset, void *bytes, size_t count, size_t *read);
int simdisk_file_write(simdisk *disk, const char *name, int64_t offset, const void *bytes, size_t count);
int simdisk_file_create(simdisk *disk, const char *name);
int simdisk_file_sync(simdisk *disk, const char *name);
int simdisk_names_sync(simdisk *disk);
int simdisk_file_delete(simdisk *disk, const char *name);
int simdisk_file_rename(simdisk *disk, const char *from, const char *to);
/* Takes an exclusive lock of the whole file, which a crash releases. EWOULDBLOCK when another holds it. */
int simdisk_file_lock(simdisk *disk, const char *name);
void simdisk_file_unlock(simdisk *disk, const char *name);

/* An open file keeps its bytes when its name is removed. A crash of its process ends it: each function then
 * returns EIO. */
typedef struct simdisk_open_file simdisk_open_file;
/* NULL when there is no such file, when the disk is down, and when memory is short. */
simdisk_open_file *simdisk_open(simdisk *disk, const char *name);
/* Closes the file, and releases its lock. */
void simdisk_close(simdisk_open_file *file);
int simdisk_open_read(simdisk_open_file *file, int64_t offset, void *bytes, size_t count, size_t *read);
int simdisk_open_write(simdisk_open_file *file, int64_t offset, const void *bytes, size_t count);
/* Sets the size; what is added is zeros. */
int simdisk_open_resize(simdisk_open_file *file, int64_t size);
int64_t simdisk_open_size(const simdisk_open_file *file);
/* Takes the lock of simdisk_file_lock. */
int simdisk_open_lock(simdisk_open_file *file);
void simdisk_open_unlock(simdisk_open_file *file);

/* For observers: not counted, and never with a fault. */
/* The name at a position, from 0; NULL beyond the last one. Valid until names change. */
const char *simdisk_name(const simdisk *disk, int position);
int64_t simdisk_file_size(const simdisk *disk, const char *name); /* -1 when there is no such file */
uint64_t simdisk_file_inode(const simdisk *disk, const char *name);
/* Copies a file as `cp` and `sync` do, into the file that is there or into a new one. Bytes and names are
 * synced. Returns 0, ENOENT or ENOMEM. */
int simdisk_file_copy(const simdisk *from, const char *name, simdisk *to, const char *as);
/* Flips a bit on the medium (bit rot). Returns 0, ENOENT or EINVAL. */
int simdisk_file_flip(simdisk *disk, const char *name, int64_t offset, int bit);
/* A hash of all names and bytes that programs see. */
uint64_t simdisk_digest(const simdisk *disk);

#endif
