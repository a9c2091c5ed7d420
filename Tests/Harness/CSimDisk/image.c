/* Makes the disk that a loss of power leaves: the durable state, and some of the changes since.
 *
 * Until a sync, a file system may bring writes to the medium in any order, in parts, or not at all. The same
 * holds for names until the directory is synced (https://sqlite.org/atomiccommit.html, sections 2 and 9;
 * ALICE, OSDI 2014). A sector that is being written when the power fails holds the old or the new bytes;
 * bytes beside a write stay (SQLITE_IOCAP_POWERSAFE_OVERWRITE, which SQLite's own VFS assumes too). */
#include "disk.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
  simdisk_loss kind;
  uint64_t random;
  uint64_t cut; /* for SIMDISK_LOSS_TAIL: the change at which the power fails */
  int64_t unit; /* bytes that the medium writes at once */
  /* A change is lost with a chance of one in 2^rareness. With a fixed chance of one half, a long log would keep
   * only its beginning. */
  int rareness;
} choice;

static bool coin(choice *choice) { return next_random(&choice->random) >> 63; }

static bool is_lost(choice *choice) { return next_random(&choice->random) >> (64 - choice->rareness) == 0; }

/* A part of a change that reaches the medium as a whole. */
typedef struct piece {
  const change *change;
  int64_t from, count;
} piece;

typedef struct {
  piece *pieces;
  size_t count, capacity;
} piece_list;

static int add_piece(piece_list *list, piece piece) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? list->capacity * 2 : 64;
    struct piece *pieces = realloc(list->pieces, capacity * sizeof *list->pieces);
    if (!pieces) return -1;
    list->pieces = pieces;
    list->capacity = capacity;
  }
  list->pieces[list->count++] = piece;
  return 0;
}

/* Lists the pieces of a change that survive. Units begin at multiples of their size in the file. */
static int choose_pieces(choice *choice, const change *change, piece_list *list) {
  bool is_sectors = choice->kind == SIMDISK_LOSS_SECTORS;
  bool is_torn = choice->kind == SIMDISK_LOSS_TAIL && change->sequence == choice->cut;
  switch (choice->kind) {
  case SIMDISK_LOSS_ALL: return 0;
  case SIMDISK_LOSS_TAIL:
    if (change->sequence > choice->cut) return 0;
    break;
  case SIMDISK_LOSS_WRITES:
  case SIMDISK_LOSS_REORDERED:
    if (is_lost(choice)) return 0;
    break;
  default: break;
  }
  if (change->length < 0) {
    if ((is_sectors || is_torn) && coin(choice)) return 0;
    return add_piece(list, (piece){change, 0, -1});
  }
  if (!is_sectors && !is_torn) return add_piece(list, (piece){change, 0, change->length});
  for (int64_t from = 0; from < change->length;) {
    int64_t end = (change->offset + from) / choice->unit * choice->unit + choice->unit - change->offset;
    if (end > change->length) end = change->length;
    bool is_kept = is_torn ? coin(choice) : !is_lost(choice);
    if (is_kept && add_piece(list, (piece){change, from, end - from})) return -1;
    from = end;
  }
  return 0;
}

static void shuffle(choice *choice, piece_list *list) {
  for (size_t i = list->count; i > 1; i--) {
    size_t j = (size_t)(next_random(&choice->random) % i);
    piece other = list->pieces[i - 1];
    list->pieces[i - 1] = list->pieces[j];
    list->pieces[j] = other;
  }
}

static int settle_content(choice *choice, const inode *file, buffer *content) {
  if (buffer_copy(content, &file->durable)) return -1;
  piece_list list = {0};
  int code = 0;
  for (const change *each = file->first; each && !code; each = each->next) code = choose_pieces(choice, each, &list);
  if (choice->kind == SIMDISK_LOSS_REORDERED) shuffle(choice, &list);
  for (size_t i = 0; i < list.count && !code; i++) {
    const piece *piece = &list.pieces[i];
    code = piece->count < 0
               ? buffer_resize(content, piece->change->offset)
               : buffer_write(content, piece->change->offset + piece->from, piece->change->bytes + piece->from, piece->count);
  }
  free(list.pieces);
  /* The length may reach the medium before the bytes, which then read as zeros. */
  bool is_disorderly = choice->kind >= SIMDISK_LOSS_WRITES;
  if (!code && is_disorderly && content->size < file->content.size && next_random(&choice->random) % 4 == 0) {
    code = buffer_resize(content, file->content.size);
  }
  for (int64_t at = 0; at < file->stranded_bytes && at < file->content.size && !code; at += sector_size) {
    int64_t sector = at / sector_size;
    if (!(file->stranded[sector / 8] >> (sector % 8) & 1) || choice->kind == SIMDISK_LOSS_ALL) continue;
    if (choice->kind != SIMDISK_LOSS_NONE && coin(choice)) continue;
    int64_t count = file->content.size - at < sector_size ? file->content.size - at : sector_size;
    if (at + count <= content->size) code = buffer_write(content, at, file->content.bytes + at, count);
  }
  return code;
}

static bool survives(choice *choice, const name_change *change) {
  switch (choice->kind) {
  case SIMDISK_LOSS_ALL: return false;
  case SIMDISK_LOSS_NONE: return true;
  case SIMDISK_LOSS_TAIL: return change->sequence <= choice->cut;
  default: return !is_lost(choice);
  }
}

/* Finds the range of changes, of bytes and of names, that are not on the medium. */
static void look(const simdisk *disk, uint64_t *first, uint64_t *end) {
  *first = UINT64_MAX;
  *end = 0;
  const directory *lists[] = {&disk->names, &disk->durable_names};
  for (int l = 0; l < 2; l++) {
    for (int i = 0; i < lists[l]->count; i++) {
      const inode *file = lists[l]->entries[i].inode;
      if (!file->first) continue;
      if (file->first->sequence < *first) *first = file->first->sequence;
      if (file->last->sequence >= *end) *end = file->last->sequence + 1;
    }
  }
  if (disk->first_name && disk->first_name->sequence < *first) *first = disk->first_name->sequence;
  if (disk->last_name && disk->last_name->sequence >= *end) *end = disk->last_name->sequence + 1;
}

static int fill(simdisk *image, const simdisk *disk, choice *choice) {
  directory names = {0};
  int code = 0;
  for (int i = 0; i < disk->durable_names.count && !code; i++) {
    code = directory_set(&names, disk->durable_names.entries[i].name, disk->durable_names.entries[i].inode);
  }
  for (const name_change *each = disk->first_name; each && !code; each = each->next) {
    if (survives(choice, each)) code = directory_set(&names, each->name, each->inode);
  }
  for (int i = 0; i < names.count && !code; i++) {
    const inode *file = names.entries[i].inode;
    inode *new = inode_new(image);
    if (!new) code = -1;
    if (new) {
      new->number = file->number;
      code = settle_content(choice, file, &new->content);
      if (!code) code = buffer_copy(&new->durable, &new->content);
      if (!code) code = directory_set(&image->names, names.entries[i].name, new);
      if (!code) code = directory_set(&image->durable_names, names.entries[i].name, new);
      inode_drop(new);
    }
  }
  directory_clear(&names);
  image->next_inode = disk->next_inode;
  image->copied_after = disk->copied_after;
  for (int i = 0; i < image->names.count; i++) mirror(image, image->names.entries[i].name, image->names.entries[i].inode);
  return code;
}

simdisk *simdisk_power_loss(const simdisk *disk, uint64_t seed, simdisk_loss loss) {
  disk_lock();
  choice choice = {loss, seed, 0, 0, 1};
  if (loss <= SIMDISK_LOSS_BY_SEED || loss >= SIMDISK_LOSSES) {
    choice.kind = (simdisk_loss)(1 + next_random(&choice.random) % (SIMDISK_LOSSES - 1));
  }
  choice.unit = next_random(&choice.random) % 2 ? 512 : 4096;
  choice.rareness = 1 + (int)(next_random(&choice.random) % 6);
  uint64_t first, end;
  look(disk, &first, &end);
  choice.cut = first < end ? first + next_random(&choice.random) % (end - first) : 0;
  simdisk *image = disk_new(disk->machine);
  if (image) {
    image->time = disk->time;
    image->capacity = disk->capacity;
    image->sleeps_virtually = disk->sleeps_virtually;
    if (fill(image, disk, &choice)) {
      disk_drop(image);
      image = NULL;
    }
  }
  disk_unlock();
  return image;
}
