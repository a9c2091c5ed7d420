#include "disk.h"
#include <stdlib.h>
#include <string.h>

static int reserve(buffer *buffer, int64_t size) {
  if (size <= buffer->capacity) return 0;
  int64_t capacity = buffer->capacity < 4096 ? 4096 : buffer->capacity;
  while (capacity < size) capacity *= 2;
  uint8_t *bytes = realloc(buffer->bytes, (size_t)capacity);
  if (!bytes) return -1;
  buffer->bytes = bytes;
  buffer->capacity = capacity;
  return 0;
}

int buffer_resize(buffer *buffer, int64_t size) {
  if (reserve(buffer, size)) return -1;
  if (size > buffer->size) memset(buffer->bytes + buffer->size, 0, (size_t)(size - buffer->size));
  buffer->size = size;
  return 0;
}

int buffer_write(buffer *buffer, int64_t offset, const void *bytes, int64_t count) {
  if (count == 0) return 0;
  if (offset + count > buffer->size && buffer_resize(buffer, offset + count)) return -1;
  memcpy(buffer->bytes + offset, bytes, (size_t)count);
  return 0;
}

int buffer_copy(buffer *to, const buffer *from) {
  if (reserve(to, from->size)) return -1;
  if (from->size) memcpy(to->bytes, from->bytes, (size_t)from->size);
  to->size = from->size;
  return 0;
}
