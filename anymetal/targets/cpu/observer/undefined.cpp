// Outputs that are not written, and memory for what generated code keeps of undefined values.

#include "undefined.h"

extern "C" {
void* calloc(uint64_t, uint64_t);
void* malloc(uint64_t);
void free(void*);
}

namespace {

constexpr uint8_t WRITTEN = 255;

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

uint64_t bytes_of(const Described& described, const Object& object) {
  return (object.bytes + described.grain - 1) / described.grain;
}

typedef uint8_t Line __attribute__((ext_vector_type(64), aligned(1)));

// Whether all bytes are 255: outputs are written as a rule.
bool is_written(const uint8_t* twin, uint64_t bytes) {
  Line line(WRITTEN);
  uint64_t i = 0;
  for (; i + sizeof(Line) <= bytes; i += sizeof(Line)) line &= *reinterpret_cast<const Line*>(twin + i);
  uint8_t all = __builtin_reduce_and(line);
  for (; i < bytes; ++i) all &= twin[i];
  return all == WRITTEN;
}

void tell(Launch* launch, uint32_t object, const Described& described, const uint8_t* twin) {
  const uint64_t bytes = bytes_of(described, launch->objects[object]);
  if (is_written(twin, bytes)) return;
  Finding found{};
  found.kind = UNWRITTEN_OUTPUT;
  found.site = described.site;
  found.object = object;
  found.bytes = described.element;
  found.other_site = NO_SITE;
  const uint64_t step = described.element > described.grain ? described.element / described.grain : 1;
  uint64_t count = 0;
  for (uint64_t at = 0; at + step <= bytes; at += step) {
    if (is_written(twin + at, step)) continue;
    if (count++ == 0) found.offset = at * described.grain;
  }
  const uint64_t each = described.grain > described.element ? described.grain / described.element : 1;
  const uint32_t before = launch->found;
  report(launch, found);
  if (launch->found > before) launch->findings[before].count = count * each;
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
    const uint64_t bytes = shared ? shared_twin : bytes_of(described[i], launch->objects[i]);
    all[slot] = block_of(bytes);
    if (!all[slot]) {
      undefined_end(all, count);
      return nullptr;
    }
    __builtin_memset(all[slot++], 0, bytes);
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
