#include "disk.h"
#include <stdlib.h>
#include <string.h>

static int position(const directory *names, const char *name) {
  for (int i = 0; i < names->count; i++) {
    if (strcmp(names->entries[i].name, name) == 0) return i;
  }
  return -1;
}

inode *directory_find(const directory *names, const char *name) {
  int i = position(names, name);
  return i < 0 ? NULL : names->entries[i].inode;
}

/* A NULL inode removes the name. */
int directory_set(directory *names, const char *name, inode *file) {
  int i = position(names, name);
  if (i >= 0 && file) {
    inode_keep(file);
    inode_drop(names->entries[i].inode);
    names->entries[i].inode = file;
  } else if (i >= 0) {
    free(names->entries[i].name);
    inode_drop(names->entries[i].inode);
    names->entries[i] = names->entries[--names->count];
  } else if (file) {
    if (names->count == names->capacity) {
      int capacity = names->capacity ? names->capacity * 2 : 8;
      entry *entries = realloc(names->entries, (size_t)capacity * sizeof *entries);
      if (!entries) return -1;
      names->entries = entries;
      names->capacity = capacity;
    }
    char *copy = strdup(name);
    if (!copy) return -1;
    inode_keep(file);
    names->entries[names->count++] = (entry){copy, file};
  }
  return 0;
}

void directory_clear(directory *names) {
  for (int i = 0; i < names->count; i++) {
    free(names->entries[i].name);
    inode_drop(names->entries[i].inode);
  }
  free(names->entries);
  *names = (directory){0};
}

int names_change(simdisk *disk, const char *name, inode *file) {
  name_change *new = calloc(1, sizeof *new);
  char *copy = strdup(name);
  if (!new || !copy || directory_set(&disk->names, name, file)) {
    free(new);
    free(copy);
    return -1;
  }
  if (file) inode_keep(file);
  *new = (name_change){NULL, disk->sequence++, copy, file};
  if (disk->last_name) disk->last_name->next = new;
  else disk->first_name = new;
  disk->last_name = new;
  return 0;
}

int names_sync(simdisk *disk) {
  if (!disk->first_name) return 0;
  for (const name_change *each = disk->first_name; each; each = each->next) {
    if (directory_set(&disk->durable_names, each->name, each->inode)) return -1;
  }
  names_forget_changes(disk);
  return 0;
}

void names_forget_changes(simdisk *disk) {
  for (name_change *next, *each = disk->first_name; each; each = next) {
    next = each->next;
    inode_drop(each->inode);
    free(each->name);
    free(each);
  }
  disk->first_name = disk->last_name = NULL;
}
