/* sqlite3_db_config() and sqlite3_config() are variadic, and Swift cannot call variadic C functions. These
   functions wrap the calls that Tandem needs. tandem_log_position() reads shared memory, which needs C too. */
#ifndef TANDEM_CSQLITE_SHIM_H
#define TANDEM_CSQLITE_SHIM_H

struct sqlite3;

/* Each returns a SQLite result code. `on` is 0 or 1. `connection` is a `sqlite3 *`. */
int tandem_enable_triggers(struct sqlite3 *connection, int on);
int tandem_defensive(struct sqlite3 *connection, int on);
int tandem_trusted_schema(struct sqlite3 *connection, int on);
int tandem_no_checkpoint_on_close(struct sqlite3 *connection, int on);

/* Sets whether SQLite compiles triggers and foreign keys into the statements that it prepares (1) or leaves
   them out (0), and puts the former settings in their places. Returns a SQLite result code. */
int tandem_exchange_rules(struct sqlite3 *connection, int *triggers, int *foreign_keys);

/* Turns off SQLite's memory statistics. One lock for the whole process guards their counters, and threads
   would wait for it at each allocation. Call this before the first use of SQLite. Returns a SQLite result
   code; SQLITE_MISUSE when SQLite is already initialized.
   https://sqlite.org/c3ref/c_config_covering_index_scan.html#sqliteconfigmemstatus */
int tandem_forgo_memory_statistics(void);

/* Reads from the WAL index how many pages the write-ahead log holds (`written`), how many of them checkpoints
   have copied into the database (`moved`), and the size of a page in bytes. The connection must have read in
   WAL mode. Returns a SQLite result code; SQLITE_NOTFOUND when there is no shared memory. */
int tandem_log_position(struct sqlite3 *connection, unsigned *written, unsigned *moved, unsigned *page_bytes);

/* Loads an extension on one connection. Returns a SQLite result code; for other ones than SQLITE_OK, `message` gets
   a text for sqlite3_free(). https://sqlite.org/c3ref/load_extension.html */
int tandem_load_extension(struct sqlite3 *connection, const char *path, char **message);

/* Makes each connection that is opened from now on load these extensions, in their order; `count` is 0 for
   none. Opening fails when one cannot be loaded. Call it while no other thread opens a connection. Returns a
   SQLite result code. https://sqlite.org/c3ref/auto_extension.html */
int tandem_load_extensions(const char *const *paths, int count);

#endif
