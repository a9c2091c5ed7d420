/* sqlite3_db_config() is variadic, which Swift cannot call. These are its calls that Tandem needs. */
#ifndef TANDEM_CSQLITE_SHIM_H
#define TANDEM_CSQLITE_SHIM_H

struct sqlite3;

/* Each returns a SQLite result code. `on` is 0 or 1. `connection` is a `sqlite3 *`. */
int tandem_enable_triggers(struct sqlite3 *connection, int on);
int tandem_defensive(struct sqlite3 *connection, int on);
int tandem_trusted_schema(struct sqlite3 *connection, int on);
int tandem_no_checkpoint_on_close(struct sqlite3 *connection, int on);

#endif
