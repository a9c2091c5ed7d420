#include "CSQLiteShim.h"
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

int tandem_enable_triggers(sqlite3 *connection, int on) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, on, (int *)0);
}

int tandem_defensive(sqlite3 *connection, int on) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, on, (int *)0);
}

int tandem_trusted_schema(sqlite3 *connection, int on) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, on, (int *)0);
}

int tandem_exchange_rules(sqlite3 *connection, int *triggers, int *foreign_keys) {
  int options[] = {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_FKEY};
  int *values[] = {triggers, foreign_keys};
  for (int i = 0; i < 2; i++) {
    int before = 0;
    int code = sqlite3_db_config(connection, options[i], -1, &before);
    if (code == SQLITE_OK) code = sqlite3_db_config(connection, options[i], *values[i], (int *)0);
    if (code != SQLITE_OK) return code;
    *values[i] = before;
  }
  return SQLITE_OK;
}

int tandem_no_checkpoint_on_close(sqlite3 *connection, int on) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, on, (int *)0);
}

int tandem_forgo_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

int tandem_log_position(sqlite3 *connection, unsigned *written, unsigned *moved, unsigned *page_bytes) {
  sqlite3_file *file = 0;
  void volatile *index = 0;
  int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK) return code;
  if (!file || !file->pMethods || file->pMethods->iVersion < 2) return SQLITE_NOTFOUND;
  code = file->pMethods->xShmMap(file, 0, 32768, 0, &index);
  if (code != SQLITE_OK) return code;
  if (!index) return SQLITE_NOTFOUND;
  /* https://sqlite.org/walformat.html#the_wal_index_header: mxFrame, nBackfill and szPage, in native byte
     order. */
  *written = ((const volatile unsigned *)index)[4];
  *moved = ((const volatile unsigned *)index)[24];
  /* 1 means 65 536, which does not fit into two bytes. */
  unsigned page = ((const volatile unsigned short *)index)[7];
  *page_bytes = page == 1 ? 65536 : page;
  return SQLITE_OK;
}

static char **extension_paths;
static int extension_count;

int tandem_load_extension(sqlite3 *connection, const char *path, char **message) {
  /* On for the C function only, and only here. */
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, (int *)0);
  int code = sqlite3_load_extension(connection, path, 0, message);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, (int *)0);
  return code;
}

static int load_extensions(sqlite3 *connection, char **message, const struct sqlite3_api_routines *api) {
  (void)api;
  for (int i = 0; i < extension_count; i++) {
    int code = tandem_load_extension(connection, extension_paths[i], message);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

int tandem_load_extensions(const char *const *paths, int count) {
  /* The call below takes a mutex that only an initialized library has. */
  int code = sqlite3_initialize();
  if (code != SQLITE_OK) return code;
  sqlite3_cancel_auto_extension((void (*)(void))load_extensions);
  for (int i = 0; i < extension_count; i++) free(extension_paths[i]);
  free(extension_paths);
  extension_paths = 0;
  extension_count = 0;
  if (count == 0) return SQLITE_OK;
  extension_paths = calloc((size_t)count, sizeof(char *));
  if (!extension_paths) return SQLITE_NOMEM;
  for (int i = 0; i < count; i++) {
    extension_paths[i] = strdup(paths[i]);
    if (!extension_paths[i]) return SQLITE_NOMEM;
    extension_count++;
  }
  return sqlite3_auto_extension((void (*)(void))load_extensions);
}
