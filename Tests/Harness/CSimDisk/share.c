#include "disk.h"
#include <stdlib.h>

share *share_new(void) {
  share *memory = calloc(1, sizeof *memory);
  if (memory) memory->references = 1;
  return memory;
}

void share_keep(share *memory) { memory->references++; }

void share_drop(share *memory) {
  if (!memory || --memory->references > 0) return;
  for (int i = 0; i < memory->region_count; i++) free(memory->regions[i]);
  free(memory->regions);
  free(memory);
}
