/* Simulated disks for SQLite: files in memory that remember what was synced and what was not.
 *
 * `simdisk_register` makes a VFS the process's default one. It answers for paths below the directory of a simulated disk and hands every other
 * path to the VFS that was the default before. Temporary files without a name stay with that one, too.
 *
 * A disk has one directory. For each file it keeps what programs see, what a loss of power certainly leaves, and the writes between the two, in
 * their order; the same for names. `simdisk_power_loss` makes a new disk out of that, by a seed. Locks and shared memory are those of the
 * connections of this process.
 *
 * Every function may be called by any thread. None traps; where memory is short, SQLite gets SQLITE_NOMEM and other callers a NULL.
 */
#ifndef TANDEM_CSIMDISK_H
#define TANDEM_CSIMDISK_H

#include <stddef.h>
#include <stdint.h>

typedef struct simdisk simdisk;

/* Makes the VFS the default one, once. 0, or a SQLite result code. */
int simdisk_register(void);
/* Makes SQLite's own randomness (WAL salts, randomblob) follow a seed from here on. */
void simdisk_seed_randomness(uint64_t seed);

/* MARK: Disks */

/* An empty disk; NULL when memory is short. `machine` goes into fingerprints; two disks of one machine share it. */
simdisk *simdisk_create(uint64_t machine);
/* The disk as it is, not synced writes included, for the same files on the same machine. Nobody has it open. */
simdisk *simdisk_copy(const simdisk *disk);
/* Gives the disk up. Its memory goes when the last connection is closed. */
void simdisk_release(simdisk *disk);
/* The directory in which its files appear, without a slash at the end. */
const char *simdisk_directory(const simdisk *disk);
uint64_t simdisk_machine(const simdisk *disk);

/* Milliseconds since 1970 that SQLite's 'now' tells connections to this disk; SIMDISK_REAL_TIME for the machine's. */
#define SIMDISK_REAL_TIME INT64_MIN
void simdisk_set_time(simdisk *disk, int64_t milliseconds);
/* 1: waiting for a lock takes no time, so a busy timeout passes at once. Microseconds that were waited so are added up. */
void simdisk_set_virtual_sleep(simdisk *disk, int on);
/* Writes that make all files together larger than this fail as on a full disk; 0 for no limit. */
void simdisk_set_capacity(simdisk *disk, int64_t bytes);

/* MARK: Crashes */

/* The process dies: every connection to the disk fails from now on, locks and shared memory are gone, files keep what was written. Nobody can open
   a file before `simdisk_start`. */
void simdisk_crash(simdisk *disk);
void simdisk_start(simdisk *disk);
int simdisk_is_down(const simdisk *disk);

/* What becomes of writes that were not synced. */
typedef enum {
  SIMDISK_LOSS_BY_SEED,   /* one of the following */
  SIMDISK_LOSS_ALL,       /* none is there */
  SIMDISK_LOSS_NONE,      /* each is there */
  SIMDISK_LOSS_TAIL,      /* those before some moment are there; the one at that moment is torn */
  SIMDISK_LOSS_WRITES,    /* each is there or not */
  SIMDISK_LOSS_SECTORS,   /* each sector of each is there or not: 512 bytes or 4 KiB */
  SIMDISK_LOSS_REORDERED, /* some are there, and they came to the medium in another order */
  SIMDISK_LOSSES
} simdisk_loss;

/* What a loss of power at this moment leaves, as a new disk that nobody has open. The same disk, seed and kind give the same bytes. NULL when memory
   is short. */
simdisk *simdisk_power_loss(const simdisk *disk, uint64_t seed, simdisk_loss loss);
/* How many bytes are written, and how many names changed, that a loss of power may take. */
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
  SIMDISK_LOCK = 64,      /* the locks of the rollback journal's time, and those of side files */
  SIMDISK_SHARE_LOCK = 128, /* the locks of the write-ahead log */
  SIMDISK_SHARE_MAP = 256,
  SIMDISK_NAMES_SYNC = 512, /* of the directory */
};

enum {
  SIMDISK_DATABASE = 1,
  SIMDISK_LOG = 2,     /* -wal */
  SIMDISK_JOURNAL = 4, /* -journal */
  SIMDISK_SIDE = 8,    /* any other file, and the directory */
};

typedef enum {
  SIMDISK_FAIL,         /* an input/output error. A failed sync leaves writes that no later sync brings to the medium. */
  SIMDISK_FULL,         /* no space; half of a write may be done */
  SIMDISK_BUSY,         /* somebody else has the lock */
  SIMDISK_SHORT,        /* half of a write is done, then an error */
  SIMDISK_FLIP,         /* a bit of what is read or written is another one; no error */
  SIMDISK_CRASH_BEFORE, /* see simdisk_crash; the operation is not done */
  SIMDISK_CRASH_AFTER,  /* the operation is done */
  SIMDISK_CAPTURE       /* a copy of the disk is set aside, see simdisk_take_capture; the operation goes on */
} simdisk_action;

#define SIMDISK_FOREVER UINT64_MAX

/* When something goes wrong. Operations count that are among `operations` on a file among `roles`. */
typedef struct {
  uint32_t operations;
  uint32_t roles;
  simdisk_action action;
  /* The fault begins with the first-th counted operation from now on, 1…; 0 to go by `rate`. */
  uint64_t first;
  /* For how many counted operations in a row. */
  uint64_t times;
  /* With `first` 0: in how many of 2^32 counted operations it happens, drawn from `seed`. */
  uint32_t rate;
  uint64_t seed;
} simdisk_fault;

/* Adds a fault; up to SIMDISK_MOST_FAULTS stand at once. The number of the fault, or -1 when there are too many. */
#define SIMDISK_MOST_FAULTS 16
int simdisk_add_fault(simdisk *disk, simdisk_fault fault);
void simdisk_clear_faults(simdisk *disk);
/* 1: faults stay armed, but nothing goes wrong and they count nothing; for looking on from outside with a connection. */
void simdisk_hold_faults(simdisk *disk, int on);
int simdisk_holds_faults(const simdisk *disk);
/* How often a fault has happened. */
uint64_t simdisk_fault_count(const simdisk *disk, int fault);

/* How many operations of these kinds were done since the disk was made, failed ones included. */
uint64_t simdisk_operations(const simdisk *disk, uint32_t operations);

/* The oldest disk that SIMDISK_CAPTURE set aside, which is the caller's now; NULL when there is none. At most SIMDISK_MOST_CAPTURES wait; more are not
   taken. */
#define SIMDISK_MOST_CAPTURES 64
simdisk *simdisk_take_capture(simdisk *disk);
/* Of a copy or a capture: how many operations its original had done. */
uint64_t simdisk_copied_after(const simdisk *disk);

/* What became of the rule that one process at a time moves a log into its database, holding the lock of `<database>-checkpoint`. */
typedef struct {
  uint64_t writes;       /* into a database whose log is in use: only checkpoints do that */
  uint64_t outside_lock; /* of those: while nobody held the lock */
  uint64_t restarts;     /* the log began anew at its beginning, after a checkpoint */
  uint64_t idle_starts;  /* a checkpoint began while all of the log was in the database: the beginning of SQLite's WAL-reset bug */
} simdisk_checkpoint_count;
simdisk_checkpoint_count simdisk_checkpoints(const simdisk *disk);

/* MARK: Files without SQLite */

/* 0, or an errno. Each is an operation like SQLite's, with the same faults. */
int simdisk_file_read(simdisk *disk, const char *name, int64_t offset, void *bytes, size_t count, size_t *read);
int simdisk_file_write(simdisk *disk, const char *name, int64_t offset, const void *bytes, size_t count);
int simdisk_file_create(simdisk *disk, const char *name);
int simdisk_file_sync(simdisk *disk, const char *name);
int simdisk_names_sync(simdisk *disk);
int simdisk_file_delete(simdisk *disk, const char *name);
int simdisk_file_rename(simdisk *disk, const char *from, const char *to);
/* An exclusive lock of the whole file, which a crash drops. EWOULDBLOCK when it is taken. */
int simdisk_file_lock(simdisk *disk, const char *name);
void simdisk_file_unlock(simdisk *disk, const char *name);

/* Not counted, and never at fault: for looking on from outside. */
int64_t simdisk_file_size(const simdisk *disk, const char *name); /* -1 when there is no such file */
uint64_t simdisk_file_inode(const simdisk *disk, const char *name);
/* Copies a file as `cp` and `sync` do: into the file that is there, or into a new one. Bytes and names are synced. 0, ENOENT or ENOMEM. */
int simdisk_file_copy(const simdisk *from, const char *name, simdisk *to, const char *as);
/* Changes a bit on the medium, as decay does. 0, or ENOENT, EINVAL. */
int simdisk_file_flip(simdisk *disk, const char *name, int64_t offset, int bit);
/* A hash of all names and bytes that programs see. */
uint64_t simdisk_digest(const simdisk *disk);

#endif
