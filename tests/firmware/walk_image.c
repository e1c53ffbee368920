/* SPDX-License-Identifier: Apache-2.0 */
/* Works as firmware does: opens a stream, places it, walks it to its end. Prints one line of
 * counts and hashes, so that machines can be compared. Freestanding; the few system
 * calls are Linux's, for qemu's user mode, or those of a hosted C library. */
#include "walker.h"

#ifdef SLUICE_HOSTED
#include <stdio.h>
#include <string.h>
#else
static void leave(int code);
static void say(const char* text, size_t size);

#if defined(__arm__)
static long call(long number, long a, long b, long c) {
  register long r7 __asm__("r7") = number;
  register long r0 __asm__("r0") = a;
  register long r1 __asm__("r1") = b;
  register long r2 __asm__("r2") = c;
  __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory");
  return r0;
}
enum { kExit = 1, kWrite = 4 };
#elif defined(__riscv)
static long call(long number, long a, long b, long c) {
  register long a7 __asm__("a7") = number;
  register long a0 __asm__("a0") = a;
  register long a1 __asm__("a1") = b;
  register long a2 __asm__("a2") = c;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
  return a0;
}
enum { kExit = 93, kWrite = 64 };
#endif

static void leave(int code) { call(kExit, code, 0, 0); }
static void say(const char* text, size_t size) {
  call(kWrite, 1, (long)(size_t)text, (long)size);
}

/* The whole of libc that the walker needs. */
void* memcpy(void* to, const void* from, size_t bytes) {
  char* t = (char*)to;
  const char* f = (const char*)from;
  while (bytes-- > 0) *t++ = *f++;
  return to;
}
void* memset(void* to, int value, size_t bytes) {
  char* t = (char*)to;
  while (bytes-- > 0) *t++ = (char)value;
  return to;
}
#endif

/* The stream, as a linker would put it into flash, copied to where it can be patched. */
extern const unsigned char image_begin[], image_end[];
__asm__(
    ".section .rodata\n.balign 16\n"
    ".globl image_begin\nimage_begin:\n.incbin \"" SLUICE_IMAGE
    "\"\n.globl image_end\nimage_end:\n.text\n");

enum { kEngines = 64 };
static unsigned char image[SLUICE_IMAGE_BYTES];
static sluice_walker_t walker;
static sluice_walk_cursor_t cursors[kEngines];

static uint64_t digest = 0xcbf29ce484222325u;
static void note(uint64_t value) { digest = (digest ^ value) * 0x100000001b3u; }

static void note_operand(const sluice_walk_visit_t* visit, uint32_t index) {
  sluice_walk_operand_t o;
  int a;
  if (index == SLUICE_NONE) return;
  sluice_walk_operand(&walker, visit, index, &o);
  note(o.region);
  note(o.offset);
  note(o.span);
  for (a = 0; a < 4; ++a) note(o.extent[a] * (uint64_t)o.stride[a]);
}

/* Stands for a device: notes what the instruction would do. */
static void execute(const sluice_walk_visit_t* visit, const sluice_instruction_t* n) {
  note(n->opcode);
  if (n->opcode == SLUICE_OPCODE_COMPUTE) {
    sluice_tile_t t;
    sluice_kernel_t k;
    sluice_walk_tile(&walker, visit, n->descriptor, &t);
    sluice_walk_kernel(&walker, visit->instance, t.kernel, &k);
    note(k.op);
    note((uint32_t)sluice_walk_attribute(&walker, &k, 0));
    note_operand(visit, t.input0);
    note_operand(visit, t.weight);
    note_operand(visit, t.output);
  } else if (n->opcode != SLUICE_OPCODE_HOST) {
    sluice_transfer_t t;
    sluice_walk_transfer(&walker, visit->instance, n->descriptor, &t);
    note_operand(visit, t.src);
    note_operand(visit, t.dst);
  }
}

static uint32_t walk(void) {
  uint32_t done = 0, e, before;
  sluice_walk_start(&walker, cursors);
  do {
    before = done;
    for (e = 0; e < walker.engines; ++e) {
      sluice_instruction_t n;
      if (!sluice_walk_next(&walker, cursors, e, &n)) continue;
      if (!sluice_walk_waits_hold(&walker, cursors, e, NULL)) continue;
      execute(&cursors[e].visit, &n);
      sluice_walk_complete(&walker, cursors, e);
      ++done;
    }
  } while (done != before);
  return done;
}

static size_t append(char* line, size_t at, const char* name, uint64_t value) {
  int shift;
  while (*name != 0) line[at++] = *name++;
  for (shift = 60; shift >= 0; shift -= 4) {
    line[at++] = "0123456789abcdef"[(value >> shift) & 15];
  }
  return at;
}

static int run(char* line, size_t* size) {
  static const int32_t parameters[1] = {7};
  uint64_t base[SLUICE_REGION_COUNT];
  uint32_t left = 0, e, done;
  sluice_instruction_t n;
  memcpy(image, image_begin, sizeof image);
  if (sluice_walk_open(&walker, image, sizeof image, NULL) != SLUICE_WALK_OK) return 2;
  if (walker.engines > kEngines) return 3;
  for (e = 0; e < SLUICE_REGION_COUNT; ++e) base[e] = (uint64_t)e << 33;
  if (sluice_walk_relocate(image, base) != SLUICE_WALK_OK) return 4;
  if (sluice_walk_open(&walker, image, sizeof image, NULL) != SLUICE_WALK_OK) return 5;
  sluice_walk_set_parameters(&walker, parameters, 1);
  done = walk();
  for (e = 0; e < walker.engines; ++e) {
    left += (uint32_t)sluice_walk_next(&walker, cursors, e, &n);
  }
  *size = append(line, 0, "instructions ", done);
  *size = append(line, *size, " engines left ", left);
  *size = append(line, *size, " digest ", digest);
  line[(*size)++] = '\n';
  return left == 0 ? 0 : 6;
}

#ifdef SLUICE_HOSTED
int main(void) {
  char line[128];
  size_t size = 0;
  const int code = run(line, &size);
  fwrite(line, 1, size, stdout);
  return code;
}
#else
void _start(void) {
  static char line[128];
  size_t size = 0;
  const int code = run(line, &size);
  say(line, size);
  leave(code);
  for (;;) {
  }
}
#endif
