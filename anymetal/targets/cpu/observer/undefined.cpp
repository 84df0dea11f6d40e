// Outputs that are not written, and memory for what generated code keeps of undefined values.

#include "undefined.h"

extern "C" {
void* calloc(uint64_t, uint64_t);
void* malloc(uint64_t);
void free(void*);
}

namespace {

constexpr uint8_t UNDEFINED = 255;

// Memory for a twin. What the last launches had is kept: the next one often needs the same, and fresh
// pages take longer than the launch.
struct Block {
  uint64_t bytes;
  alignas(64) uint8_t memory[];
};

Block* kept[4];

void* block_of(uint64_t bytes) {
  for (Block*& one : kept) {
    Block* const block = __atomic_exchange_n(&one, nullptr, __ATOMIC_ACQ_REL);
    if (block && block->bytes == bytes) return block->memory;
    free(block);
  }
  Block* const made = static_cast<Block*>(malloc(sizeof(Block) + bytes));
  if (!made) return nullptr;
  made->bytes = bytes;
  return made->memory;
}

void give_back(void* memory) {
  Block* block = reinterpret_cast<Block*>(static_cast<uint8_t*>(memory) - sizeof(Block));
  for (Block*& one : kept) {
    block = __atomic_exchange_n(&one, block, __ATOMIC_ACQ_REL);
    if (!block) return;
  }
  free(block);
}

bool is_missing(const uint8_t* twin, uint32_t bytes) {
  uint8_t any = 0;
  for (uint32_t i = 0; i < bytes; ++i) any |= twin[i];
  return any;
}

// Whether any byte is not 0: outputs are written as a rule.
bool any_missing(const uint8_t* twin, uint64_t bytes) {
  uint8_t any = 0;
  for (uint64_t i = 0; i < bytes; ++i) any |= twin[i];
  return any;
}

void tell(Launch* launch, uint32_t object, const Described& described, const uint8_t* twin) {
  const uint64_t bytes = launch->objects[object].bytes;
  if (!any_missing(twin, bytes)) return;
  Finding found{};
  found.kind = UNWRITTEN_OUTPUT;
  found.site = described.site;
  found.object = object;
  found.bytes = described.element;
  found.other_site = NO_SITE;
  uint64_t count = 0;
  for (uint64_t at = 0; at + described.element <= bytes; at += described.element) {
    if (!is_missing(twin + at, described.element)) continue;
    if (count++ == 0) found.offset = at;
  }
  const uint32_t before = launch->found;
  report(launch, found);
  if (launch->found > before) launch->findings[before].count = count;
}

}  // namespace

void** undefined_begin(const Launch* launch, const Described* described, uint64_t shared_twin,
                       void* const* buffers, uint64_t count) {
  uint64_t end = count + 2;  // with the twin of threadgroup memory, and null
  for (uint32_t i = 0; i < launch->object_count; ++i) end += described[i].element != 0;
  void** const all = static_cast<void**>(calloc(end, sizeof(void*)));
  if (!all) return nullptr;
  for (uint64_t i = 0; i < count; ++i) all[i] = buffers[i];
  uint64_t slot = count;
  for (uint32_t i = 0; i <= launch->object_count; ++i) {
    const bool shared = i == launch->object_count;
    if (!shared && !described[i].element) continue;
    const uint64_t bytes = shared ? shared_twin : launch->objects[i].bytes;
    all[slot] = block_of(bytes);
    if (!all[slot]) {
      undefined_end(all, count);
      return nullptr;
    }
    __builtin_memset(all[slot++], UNDEFINED, bytes);
  }
  return all;
}

void undefined_tell(Launch* launch, const Described* described, void* const* buffers,
                    uint64_t count) {
  for (uint32_t i = 0; i < launch->object_count; ++i) {
    if (described[i].element) {
      tell(launch, i, described[i], static_cast<const uint8_t*>(buffers[count++]));
    }
  }
}

void undefined_end(void** buffers, uint64_t count) {
  while (buffers[count]) give_back(buffers[count++]);
  free(buffers);
}
