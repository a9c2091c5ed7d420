/* A file: the bytes that programs see, the durable bytes, and the changes between the two.
 *
 * Invariant: `content` is `durable` with the changes applied in their order and the stranded sectors written
 * over it. */
#include "disk.h"
#include <stdlib.h>
#include <string.h>

inode *inode_new(simdisk *disk) {
  inode *file = calloc(1, sizeof *file);
  if (!file) return NULL;
  file->references = 1;
  file->number = disk->next_inode++;
  return file;
}

void inode_keep(inode *file) { file->references++; }

void inode_drop(inode *file) {
  if (!file || --file->references > 0) return;
  inode_forget_changes(file);
  share_drop(file->share);
  free(file->stranded);
  free(file->content.bytes);
  free(file->durable.bytes);
  free(file);
}

void inode_forget_changes(inode *file) {
  for (change *next, *each = file->first; each; each = next) {
    next = each->next;
    free(each);
  }
  file->first = file->last = NULL;
  file->change_bytes = 0;
}

static int add_change(simdisk *disk, inode *file, int64_t offset, int64_t length, const void *bytes) {
  size_t count = length > 0 ? (size_t)length : 0;
  change *new = malloc(sizeof *new + count);
  if (!new) return -1;
  new->next = NULL;
  new->sequence = disk->sequence++;
  new->offset = offset;
  new->length = length;
  if (count) memcpy(new->bytes, bytes, count);
  if (file->last) file->last->next = new;
  else file->first = new;
  file->last = new;
  file->change_bytes += (int64_t)count;
  return 0;
}

static bool is_stranded(const inode *file, int64_t sector) {
  return sector * sector_size < file->stranded_bytes && (file->stranded[sector / 8] >> (sector % 8) & 1);
}

int inode_write(simdisk *disk, inode *file, int64_t offset, const void *bytes, int64_t count) {
  if (count <= 0) return 0;
  if (buffer_write(&file->content, offset, bytes, count)) return -1;
  if (file->stranded) {
    /* Writing to a page makes all of it dirty again, so the next sync also writes its stranded part. */
    int64_t first = offset / sector_size, last = (offset + count - 1) / sector_size;
    int64_t from = offset, end = offset + count;
    if (is_stranded(file, first)) from = first * sector_size;
    if (is_stranded(file, last)) end = (last + 1) * sector_size;
    for (int64_t sector = first; sector <= last; sector++) {
      if (is_stranded(file, sector)) file->stranded[sector / 8] &= (uint8_t)~(1 << (sector % 8));
    }
    if (end > file->content.size) end = file->content.size;
    return add_change(disk, file, from, end - from, file->content.bytes + from);
  }
  return add_change(disk, file, offset, count, bytes);
}

int inode_resize(simdisk *disk, inode *file, int64_t size) {
  if (size == file->content.size) return 0;
  if (buffer_resize(&file->content, size)) return -1;
  return add_change(disk, file, size, -1, NULL);
}

int inode_sync(inode *file) {
  for (const change *each = file->first; each; each = each->next) {
    int code = each->length < 0 ? buffer_resize(&file->durable, each->offset)
                                : buffer_write(&file->durable, each->offset, each->bytes, each->length);
    if (code) return -1;
  }
  inode_forget_changes(file);
  return 0;
}

int inode_strand(inode *file) {
  int64_t size = (file->content.size + sector_size * 8 - 1) / (sector_size * 8) * (sector_size * 8);
  if (size > file->stranded_bytes) {
    uint8_t *bits = realloc(file->stranded, (size_t)(size / sector_size / 8));
    if (!bits) return -1;
    memset(bits + file->stranded_bytes / sector_size / 8, 0, (size_t)((size - file->stranded_bytes) / sector_size / 8));
    file->stranded = bits;
    file->stranded_bytes = size;
  }
  for (const change *each = file->first; each; each = each->next) {
    if (each->length <= 0) continue;
    int64_t last = (each->offset + each->length - 1) / sector_size;
    for (int64_t sector = each->offset / sector_size; sector <= last && sector * sector_size < size; sector++) {
      file->stranded[sector / 8] |= (uint8_t)(1 << (sector % 8));
    }
  }
  /* The length of the file is metadata. Failed writes of pages do not change it. */
  if (buffer_resize(&file->durable, file->content.size)) return -1;
  inode_forget_changes(file);
  return 0;
}

inode *inode_copy(const inode *file) {
  inode *copy = calloc(1, sizeof *copy);
  if (!copy) return NULL;
  copy->references = 1;
  copy->number = file->number;
  if (buffer_copy(&copy->content, &file->content) || buffer_copy(&copy->durable, &file->durable)) goto short_memory;
  if (file->stranded) {
    size_t count = (size_t)(file->stranded_bytes / sector_size / 8);
    if (!(copy->stranded = malloc(count))) goto short_memory;
    memcpy(copy->stranded, file->stranded, count);
    copy->stranded_bytes = file->stranded_bytes;
  }
  for (const change *each = file->first; each; each = each->next) {
    size_t count = sizeof *each + (each->length > 0 ? (size_t)each->length : 0);
    change *new = malloc(count);
    if (!new) goto short_memory;
    memcpy(new, each, count);
    new->next = NULL;
    if (copy->last) copy->last->next = new;
    else copy->first = new;
    copy->last = new;
  }
  copy->change_bytes = file->change_bytes;
  return copy;
short_memory:
  inode_drop(copy);
  return NULL;
}
