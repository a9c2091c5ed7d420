#include "disk.h"
#include <string.h>

uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

static bool ends_with(const char *name, const char *suffix) {
  size_t length = strlen(name), count = strlen(suffix);
  return length >= count && strcmp(name + length - count, suffix) == 0;
}

int role_of(const char *name) {
  if (ends_with(name, "-wal")) return SIMDISK_LOG;
  if (ends_with(name, "-journal")) return SIMDISK_JOURNAL;
  if (ends_with(name, "-identity") || ends_with(name, "-checkpoint") || ends_with(name, "-peers") || ends_with(name, "-acks") || ends_with(name, "-archives") || ends_with(name, "-ends") ||
      ends_with(name, "-syncd"))
    return SIMDISK_SIDE;
  return SIMDISK_DATABASE;
}

static void capture(simdisk *disk) {
  if (disk->capture_count == SIMDISK_MOST_CAPTURES) return;
  simdisk *copy = disk_copy(disk);
  if (copy) disk->captures[disk->capture_count++] = copy;
}

static bool happens(standing_fault *standing) {
  const simdisk_fault *fault = &standing->fault;
  standing->seen++;
  if (fault->first == 0) return (uint32_t)next_random(&standing->random) < fault->rate;
  return standing->seen >= fault->first && standing->seen - fault->first < fault->times;
}

/* True for a fault that can happen to an operation. Other faults do not happen and do not count it. */
static bool applies(simdisk_action action, uint32_t operation) {
  switch (action) {
  case SIMDISK_FULL: return operation & (SIMDISK_OPEN | SIMDISK_WRITE | SIMDISK_TRUNCATE | SIMDISK_SYNC | SIMDISK_SHARE_MAP);
  case SIMDISK_BUSY: return operation & (SIMDISK_LOCK | SIMDISK_SHARE_LOCK);
  case SIMDISK_SHORT: return operation & SIMDISK_WRITE;
  case SIMDISK_FLIP: return operation & (SIMDISK_READ | SIMDISK_WRITE);
  default: return true;
  }
}

verdict operation_begins(simdisk *disk, uint32_t operation, int role) {
  disk->operations[__builtin_ctz(operation)]++;
  verdict result = {false, SIMDISK_FAIL, 0};
  if (disk->holds_faults) return result;
  for (int i = 0; i < disk->fault_count; i++) {
    standing_fault *standing = &disk->faults[i];
    if (!(standing->fault.operations & operation) || !(standing->fault.roles & (uint32_t)role)) continue;
    if (!happens(standing) || !applies(standing->fault.action, operation)) continue;
    standing->count++;
    if (standing->fault.action == SIMDISK_CAPTURE) {
      capture(disk);
    } else if (!result.is_fault) {
      result = (verdict){true, standing->fault.action, next_random(&standing->random)};
    }
  }
  if (result.is_fault && result.action == SIMDISK_CRASH_BEFORE) disk_crash(disk);
  return result;
}

bool is_full(const simdisk *disk, const inode *file, int64_t end) {
  if (disk->capacity == 0 || end <= file->content.size) return false;
  int64_t sum = end - file->content.size;
  for (int i = 0; i < disk->names.count; i++) sum += disk->names.entries[i].inode->content.size;
  return sum > disk->capacity;
}

void flip_bit(uint8_t *bytes, int64_t count, uint64_t random) {
  if (count > 0) bytes[random % (uint64_t)count] ^= (uint8_t)(1 << (random >> 32) % 8);
}
