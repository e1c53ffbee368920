// SPDX-License-Identifier: Apache-2.0

// Package cache keeps plans on disk, with hashes of their inputs as keys. It is the
// library of bindings/cache, so programs in other languages find the same files.
//
// Verify a plan from the cache before use: its checksum detects accidental damage, not
// forgery.
//
// Build: as package sluice, and libsluice_cache.a where the linker looks.
package cache

/*
#cgo !sluice_env pkg-config: sluice
#cgo !sluice_env CPPFLAGS: -DSLUICE_INSTALLED
#cgo !sluice_env LDFLAGS: -l:libsluice_cache.a
#cgo sluice_env LDFLAGS: -l:libsluice_cache.a -lsluice
#include <stdlib.h>
#ifdef SLUICE_INSTALLED
#include "sluice/plan_cache.h"
#else
#include "plan_cache.h"
#endif

// Keys are built in C, so that no struct that C reads contains a Go pointer.
static int get(const char* folder, uint64_t g, uint64_t h, uint64_t o, void** out,
               size_t* size) {
  const plan_cache_key_t key = {g, h, o};
  return plan_cache_get(folder, &key, out, size);
}

static int put(const char* folder, uint64_t g, uint64_t h, uint64_t o, const void* plan,
               size_t size) {
  const plan_cache_key_t key = {g, h, o};
  return plan_cache_put(folder, &key, plan, size);
}

static uint64_t hash(const void* bytes, size_t size) {
  return plan_cache_hash(PLAN_CACHE_FIRST_HASH, bytes, size);
}
*/
import "C"

import (
	"unsafe"

	"sluice"
)

// Key holds hashes of all inputs that a plan depends on. It does not depend on weights'
// values.
type Key struct{ graph, hardware, options uint64 }

// NewKey makes a key. options: bytes that encode the options of the plan.
func NewKey(g *sluice.Graph, h *sluice.Hardware, options []byte) Key {
	var first unsafe.Pointer
	if len(options) > 0 {
		first = unsafe.Pointer(&options[0])
	}
	return Key{g.Hash(), h.Hash(), uint64(C.hash(first, C.size_t(len(options))))}
}

// Folder is a folder of plans, which processes may share.
type Folder string

// Get returns the bytes of a plan. False: there is none, or its file is damaged or not
// a plan.
func (f Folder) Get(key Key) ([]byte, bool) {
	name := C.CString(string(f))
	defer C.free(unsafe.Pointer(name))
	var out unsafe.Pointer
	var size C.size_t
	if C.get(name, C.uint64_t(key.graph), C.uint64_t(key.hardware), C.uint64_t(key.options), &out, &size) == 0 {
		return nil, false
	}
	defer C.free(out)
	return append([]byte(nil), unsafe.Slice((*byte)(out), int(size))...), true
}

// Put stores a plan; false: it could not be written.
func (f Folder) Put(key Key, plan []byte) bool {
	if len(plan) == 0 {
		return false
	}
	name := C.CString(string(f))
	defer C.free(unsafe.Pointer(name))
	return C.put(name, C.uint64_t(key.graph), C.uint64_t(key.hardware), C.uint64_t(key.options),
		unsafe.Pointer(&plan[0]), C.size_t(len(plan))) != 0
}
