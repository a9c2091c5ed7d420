#include "disk.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void disk_lock(void) { pthread_mutex_lock(&lock); }
void disk_unlock(void) { pthread_mutex_unlock(&lock); }

/* MARK: The table of all disks, by id */

enum { table_size = 1024 };
static simdisk *table[table_size];
static uint64_t last_id;

simdisk *disk_with_id(uint64_t id) {
  simdisk *disk = table[id % table_size];
  while (disk && disk->id != id) disk = disk->next;
  return disk;
}

simdisk *disk_of_path(const char *path, const char **name) {
  const char *root = mirror_root();
  if (!path || !root) return NULL;
  size_t length = strlen(root);
  if (strncmp(path, root, length) != 0 || path[length] != '/') return NULL;
  char *end;
  uint64_t id = strtoull(path + length + 1, &end, 10);
  if (*end != '/' || !end[1] || strchr(end + 1, '/')) return NULL;
  *name = end + 1;
  return disk_with_id(id);
}

/* MARK: Lifetime */

simdisk *disk_new(uint64_t machine) {
  const char *root = mirror_root();
  simdisk *disk = root ? calloc(1, sizeof *disk) : NULL;
  if (!disk) return NULL;
  disk->id = ++last_id;
  disk->references = 1;
  disk->machine = machine;
  disk->next_inode = 1;
  disk->time = SIMDISK_REAL_TIME;
  snprintf(disk->path, sizeof disk->path, "%s/%llu", root, (unsigned long long)disk->id);
  disk->next = table[disk->id % table_size];
  table[disk->id % table_size] = disk;
  return disk;
}

void disk_keep(simdisk *disk) { disk->references++; }

void disk_drop(simdisk *disk) {
  if (!disk || --disk->references > 0) return;
  simdisk **link = &table[disk->id % table_size];
  while (*link != disk) link = &(*link)->next;
  *link = disk->next;
  for (int i = 0; i < disk->capture_count; i++) disk_drop(disk->captures[i]);
  mirror_end(disk);
  names_forget_changes(disk);
  directory_clear(&disk->names);
  directory_clear(&disk->durable_names);
  free(disk);
}

/* A file may have several names and be in several lists. It is copied once. */
typedef struct {
  const inode **from;
  inode **to;
  int count;
} inode_map;

static inode *mapped(inode_map *map, const inode *file) {
  if (!file) return NULL;
  for (int i = 0; i < map->count; i++) {
    if (map->from[i] == file) return map->to[i];
  }
  inode *copy = inode_copy(file);
  if (!copy) return NULL;
  map->from[map->count] = file;
  map->to[map->count++] = copy;
  return copy;
}

static int copy_names(simdisk *copy, const simdisk *disk, inode_map *map) {
  for (int i = 0; i < disk->names.count; i++) {
    inode *file = mapped(map, disk->names.entries[i].inode);
    if (!file || directory_set(&copy->names, disk->names.entries[i].name, file)) return -1;
  }
  for (int i = 0; i < disk->durable_names.count; i++) {
    inode *file = mapped(map, disk->durable_names.entries[i].inode);
    if (!file || directory_set(&copy->durable_names, disk->durable_names.entries[i].name, file)) return -1;
  }
  for (const name_change *each = disk->first_name; each; each = each->next) {
    name_change *new = calloc(1, sizeof *new);
    if (!new) return -1;
    new->sequence = each->sequence;
    new->name = strdup(each->name);
    new->inode = mapped(map, each->inode);
    if (new->inode) inode_keep(new->inode);
    if (copy->last_name) copy->last_name->next = new;
    else copy->first_name = new;
    copy->last_name = new;
    if (!new->name || (each->inode && !new->inode)) return -1;
  }
  return 0;
}

simdisk *disk_copy(const simdisk *disk) {
  simdisk *copy = disk_new(disk->machine);
  if (!copy) return NULL;
  copy->sequence = disk->sequence;
  copy->next_inode = disk->next_inode;
  copy->time = disk->time;
  copy->capacity = disk->capacity;
  copy->sleeps_virtually = disk->sleeps_virtually;
  for (int i = 0; i < 16; i++) copy->copied_after += disk->operations[i];
  int most = disk->names.count + disk->durable_names.count;
  for (const name_change *each = disk->first_name; each; each = each->next) most++;
  inode_map map = {calloc((size_t)most + 1, sizeof *map.from), calloc((size_t)most + 1, sizeof *map.to), 0};
  int code = map.from && map.to ? copy_names(copy, disk, &map) : -1;
  for (int i = 0; i < map.count; i++) inode_drop(map.to[i]);
  free(map.from);
  free(map.to);
  if (code) {
    disk_drop(copy);
    return NULL;
  }
  for (int i = 0; i < copy->names.count; i++) mirror(copy, copy->names.entries[i].name, copy->names.entries[i].inode);
  return copy;
}

/* Only dead connections still have files that lost their last name, so looking at names is enough. */
void disk_crash(simdisk *disk) {
  disk->generation++;
  disk->is_down = true;
  for (int i = 0; i < disk->names.count; i++) {
    inode *file = disk->names.entries[i].inode;
    file->readers = 0;
    file->reserved = file->pending = file->exclusive = NULL;
    file->is_locked = false;
    share_drop(file->share);
    file->share = NULL;
  }
}

/* MARK: Public functions */

simdisk *simdisk_create(uint64_t machine) {
  disk_lock();
  simdisk *disk = disk_new(machine);
  disk_unlock();
  return disk;
}

simdisk *simdisk_copy(const simdisk *disk) {
  disk_lock();
  simdisk *copy = disk_copy(disk);
  disk_unlock();
  return copy;
}

void simdisk_release(simdisk *disk) {
  disk_lock();
  if (disk) disk->is_down = true;
  disk_drop(disk);
  disk_unlock();
}

const char *simdisk_directory(const simdisk *disk) { return disk->path; }
uint64_t simdisk_machine(const simdisk *disk) { return disk->machine; }

void simdisk_set_time(simdisk *disk, int64_t milliseconds) {
  disk_lock();
  disk->time = milliseconds;
  disk_unlock();
}

void simdisk_set_virtual_sleep(simdisk *disk, int on) {
  disk_lock();
  disk->sleeps_virtually = on != 0;
  disk_unlock();
}

void simdisk_set_capacity(simdisk *disk, int64_t bytes) {
  disk_lock();
  disk->capacity = bytes;
  disk_unlock();
}

void simdisk_crash(simdisk *disk) {
  disk_lock();
  disk_crash(disk);
  disk_unlock();
}

void simdisk_start(simdisk *disk) {
  disk_lock();
  disk->is_down = false;
  disk_unlock();
}

int simdisk_is_down(const simdisk *disk) {
  disk_lock();
  int is_down = disk->is_down;
  disk_unlock();
  return is_down;
}

int64_t simdisk_unsynced_bytes(const simdisk *disk) {
  disk_lock();
  int64_t sum = 0;
  for (int i = 0; i < disk->names.count; i++) sum += disk->names.entries[i].inode->change_bytes;
  disk_unlock();
  return sum;
}

int simdisk_unsynced_names(const simdisk *disk) {
  disk_lock();
  int count = 0;
  for (const name_change *each = disk->first_name; each; each = each->next) count++;
  disk_unlock();
  return count;
}

int simdisk_add_fault(simdisk *disk, simdisk_fault fault) {
  disk_lock();
  int number = -1;
  if (disk->fault_count < SIMDISK_MOST_FAULTS) {
    number = disk->fault_count++;
    disk->faults[number] = (standing_fault){fault, 0, 0, fault.seed};
  }
  disk_unlock();
  return number;
}

void simdisk_clear_faults(simdisk *disk) {
  disk_lock();
  disk->fault_count = 0;
  disk_unlock();
}

void simdisk_hold_faults(simdisk *disk, int on) {
  disk_lock();
  disk->holds_faults = on != 0;
  disk_unlock();
}

int simdisk_holds_faults(const simdisk *disk) {
  disk_lock();
  int holds = disk->holds_faults;
  disk_unlock();
  return holds;
}

uint64_t simdisk_fault_count(const simdisk *disk, int fault) {
  disk_lock();
  uint64_t count = fault >= 0 && fault < disk->fault_count ? disk->faults[fault].count : 0;
  disk_unlock();
  return count;
}

uint64_t simdisk_operations(const simdisk *disk, uint32_t operations) {
  disk_lock();
  uint64_t sum = 0;
  for (int i = 0; i < 16; i++) {
    if (operations >> i & 1) sum += disk->operations[i];
  }
  disk_unlock();
  return sum;
}

simdisk *simdisk_take_capture(simdisk *disk) {
  disk_lock();
  simdisk *capture = NULL;
  if (disk->capture_count > 0) {
    capture = disk->captures[0];
    memmove(disk->captures, disk->captures + 1, (size_t)--disk->capture_count * sizeof *disk->captures);
  }
  disk_unlock();
  return capture;
}

uint64_t simdisk_copied_after(const simdisk *disk) { return disk->copied_after; }

simdisk_checkpoint_count simdisk_checkpoints(const simdisk *disk) {
  disk_lock();
  simdisk_checkpoint_count count = disk->checkpoints;
  disk_unlock();
  return count;
}
