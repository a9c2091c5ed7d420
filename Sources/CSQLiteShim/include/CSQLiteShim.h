/* sqlite3_db_config() and sqlite3_config() are variadic, which Swift cannot call. These are their calls that Tandem needs, and one that reads
   shared memory. */
#ifndef TANDEM_CSQLITE_SHIM_H
#define TANDEM_CSQLITE_SHIM_H

struct sqlite3;

/* Each returns a SQLite result code. `on` is 0 or 1. `connection` is a `sqlite3 *`. */
int tandem_enable_triggers(struct sqlite3 *connection, int on);
int tandem_defensive(struct sqlite3 *connection, int on);
int tandem_trusted_schema(struct sqlite3 *connection, int on);
int tandem_no_checkpoint_on_close(struct sqlite3 *connection, int on);

/* SQLite stops counting the memory that it takes: the counters stand under one lock for the whole process, which threads otherwise wait for at
   each allocation. Before the first use of SQLite only. Returns a SQLite result code; SQLITE_MISUSE when it is too late.
   https://sqlite.org/c3ref/c_config_covering_index_scan.html#sqliteconfigmemstatus */
int tandem_forgo_memory_statistics(void);

/* How many pages are in the write-ahead log, how many of them are in the database already, and how large a page is. Only for a connection that
   has read in WAL mode. Returns a SQLite result code; SQLITE_NOTFOUND where there is no shared memory to look at. */
int tandem_log_position(struct sqlite3 *connection, unsigned *written, unsigned *moved, unsigned *page_bytes);

#endif
