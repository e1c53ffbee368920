// SPDX-License-Identifier: Apache-2.0

// Package sluice schedules quantised neural networks on accelerators, at run time, in
// fixed memory.
//
// A graph and a description of the hardware go in, as flatbuffers; out comes a plan: an
// instruction stream that has been verified, its cost, and how far it can be from optimal.
// Every buffer is checked by the C library before anything reads it.
//
// Build: cgo finds the library by pkg-config (an installed sluice), or by CGO_CFLAGS and
// CGO_LDFLAGS with the build tag sluice_env.
//
// Memory: objects are C's; Close frees them, in any order, and a context frees the objects
// left open. The library keeps no pointer into Go memory beyond a call.
//
// Threads: a lock serialises the calls on one context and on the objects made from it;
// different contexts run in parallel.
package sluice

/*
#cgo !sluice_env pkg-config: sluice
#cgo sluice_env LDFLAGS: -lsluice
#include <stdlib.h>
#include <string.h>
#include "sluice/sluice.h"
#include "sluice/stream.h"

// Structs are filled and calls made in C, so that no struct that C reads contains a Go
// pointer. The cancel word lies in C memory, too.
static sluice_status_t open_context(uint64_t max_bytes, void* block, uint64_t block_bytes,
                                    sluice_context_t** out, sluice_diagnostic_t* d) {
  sluice_context_options_t o;
  memset(&o, 0, sizeof o);
  o.struct_size = sizeof o;
  o.max_bytes = max_bytes;
  o.block = block;
  o.block_bytes = block_bytes;
  return sluice_context_create(&o, out, d);
}

typedef struct {
  uint32_t solver;
  uint64_t scratchpad_bytes, deadline_ns, max_iterations, seed;
  uint32_t energy_exponent, delay_exponent, granularity, minimise_changes;
} settings_t;

// Schedules, or reschedules if `previous` is not NULL.
static sluice_status_t schedule(sluice_context_t* c, sluice_plan_t* previous,
                                sluice_graph_t* g, sluice_hardware_t* h, settings_t s,
                                uint32_t* cancel, sluice_plan_t** out,
                                sluice_change_t* change, sluice_diagnostic_t* d) {
  sluice_reschedule_options_t again;
  sluice_schedule_options_t o;
  memset(&o, 0, sizeof o);
  o.struct_size = sizeof o;
  o.solver = s.solver;
  o.scratchpad_bytes = s.scratchpad_bytes;
  o.deadline_ns = s.deadline_ns;
  o.max_iterations = s.max_iterations;
  o.seed = s.seed;
  o.energy_exponent = s.energy_exponent;
  o.delay_exponent = s.delay_exponent;
  o.granularity = s.granularity;
  o.cancel = cancel;
  if (previous == NULL) return sluice_schedule(c, g, h, &o, out, d);
  memset(&again, 0, sizeof again);
  again.struct_size = sizeof again;
  again.minimise_changes = s.minimise_changes;
  again.schedule = &o;
  again.previous = previous;
  again.change = change;
  change->struct_size = sizeof *change;
  return sluice_reschedule(c, g, h, &again, out, d);
}

static void clear(sluice_diagnostic_t* d) {
  memset(d, 0, sizeof *d);
  d->struct_size = sizeof *d;
}

static void set_word(uint32_t* word) { __atomic_store_n(word, 1, __ATOMIC_RELAXED); }
*/
import "C"

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// Version of the library, "0.1.0".
func Version() string { return C.GoString(C.sluice_version()) }

// Kinds of errors: every error of this package is an *Error of one of these kinds, or
// wraps the context's error.
var (
	ErrInfeasible  = errors.New("infeasible")     // proved: no legal plan exists
	ErrStopped     = errors.New("stopped")        // before any legal plan existed
	ErrRejected    = errors.New("rejected")       // verification found the plan wrong
	ErrBadArgument = errors.New("bad argument")   // also: an object that was closed
	ErrBadInput    = errors.New("bad input")      // not a valid graph, hardware or plan
	ErrUnsupported = errors.New("unsupported")    // valid, but not done by this version
	ErrOutOfMemory = errors.New("out of memory")  // or the cap would be exceeded
	ErrInternal    = errors.New("internal error") // a defect of the library
)

// Error is a status with the library's message and numbers. Indices are -1 and bytes 0
// where they do not apply.
type Error struct {
	Kind                          error
	Stage, Rule, Message          string
	Layer, Tensor, Instruction    int
	RequiredBytes, AvailableBytes uint64
	SmallestScratchpadBytes       uint64
}

func (e *Error) Error() string { return "sluice: " + e.Kind.Error() + ": " + e.Message }

// Unwrap makes errors.Is(err, ErrInfeasible) and the like work.
func (e *Error) Unwrap() error { return e.Kind }

var kinds = map[C.sluice_status_t]error{
	C.SLUICE_INFEASIBLE:    ErrInfeasible,
	C.SLUICE_STOPPED:       ErrStopped,
	C.SLUICE_REJECTED:      ErrRejected,
	C.SLUICE_BAD_INPUT:     ErrBadInput,
	C.SLUICE_UNSUPPORTED:   ErrUnsupported,
	C.SLUICE_OUT_OF_MEMORY: ErrOutOfMemory,
	C.SLUICE_INTERNAL:      ErrInternal,
}

func index(value C.uint32_t) int {
	if value == C.SLUICE_NO_INDEX {
		return -1
	}
	return int(value)
}

func failure(status C.sluice_status_t, d *C.sluice_diagnostic_t) error {
	if status == C.SLUICE_OK {
		return nil
	}
	kind := kinds[status]
	if kind == nil {
		kind = ErrBadArgument
	}
	return &Error{
		Kind: kind, Stage: C.GoString(&d.stage[0]), Rule: C.GoString(&d.rule[0]),
		Message: C.GoString(&d.message[0]), Layer: index(d.layer),
		Tensor: index(d.tensor), Instruction: index(d.instruction),
		RequiredBytes:           uint64(d.required_bytes),
		AvailableBytes:          uint64(d.available_bytes),
		SmallestScratchpadBytes: uint64(d.smallest_scratchpad_bytes),
	}
}

// stopped is the library's error with the reason of the Go context.
type stopped struct{ library, reason error }

func stoppedBy(library, reason error) error { return &stopped{library, reason} }

func (e *stopped) Error() string        { return e.library.Error() + "\n" + e.reason.Error() }
func (e *stopped) Is(target error) bool { return errors.Is(e.library, target) }
func (e *stopped) As(target any) bool   { return errors.As(e.library, target) }
func (e *stopped) Unwrap() error        { return e.reason }

func closed(what string) error {
	return &Error{Kind: ErrBadArgument, Stage: "go", Message: what + " is closed",
		Layer: -1, Tensor: -1, Instruction: -1}
}

// Context owns all memory of the objects made from it.
type Context struct {
	mutex sync.Mutex
	raw   *C.sluice_context_t
	block unsafe.Pointer
	open  map[closer]struct{}
}

type closer interface{ free() }

// New makes a context on the C heap with a cap on its bytes; 0: none.
func New(maxBytes uint64) (*Context, error) { return create(maxBytes, nil, 0) }

// NewInBlock makes a context in one block of C memory; afterwards nothing is allocated.
func NewInBlock(bytes uint64) (*Context, error) {
	block := C.malloc(C.size_t(bytes))
	if block == nil {
		return nil, &Error{Kind: ErrOutOfMemory, Stage: "go", Message: "no block",
			Layer: -1, Tensor: -1, Instruction: -1}
	}
	c, err := create(0, block, bytes)
	if err != nil {
		C.free(block)
	}
	return c, err
}

func create(maxBytes uint64, block unsafe.Pointer, bytes uint64) (*Context, error) {
	var d C.sluice_diagnostic_t
	C.clear(&d)
	c := &Context{block: block, open: map[closer]struct{}{}}
	status := C.open_context(C.uint64_t(maxBytes), block, C.uint64_t(bytes), &c.raw, &d)
	if err := failure(status, &d); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(c, (*Context).Close)
	return c, nil
}

// Close frees the context and all open objects made from it. It may be called
// twice.
func (c *Context) Close() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.raw == nil {
		return
	}
	for object := range c.open {
		object.free()
	}
	c.open = nil
	C.sluice_context_destroy(c.raw)
	c.raw = nil
	C.free(c.block)
	runtime.SetFinalizer(c, nil)
}

// MemoryStats of a context, in bytes.
type MemoryStats struct{ Live, Peak, Allocations uint64 }

// Memory is zero when the context is closed.
func (c *Context) Memory() MemoryStats {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var s C.sluice_memory_stats_t
	s.struct_size = C.uint32_t(unsafe.Sizeof(s))
	if c.raw != nil {
		C.sluice_context_memory(c.raw, &s)
	}
	return MemoryStats{uint64(s.live_bytes), uint64(s.peak_bytes), uint64(s.allocations)}
}

func pointer(bytes []byte) unsafe.Pointer {
	if len(bytes) == 0 {
		return unsafe.Pointer(&nothing)
	}
	return unsafe.Pointer(&bytes[0])
}

var nothing [1]byte

// adopt calls create and registers the new object, both under the lock.
func (c *Context) adopt(object closer, create func(*C.sluice_diagnostic_t) C.sluice_status_t) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.raw == nil {
		return closed("the context")
	}
	var d C.sluice_diagnostic_t
	C.clear(&d)
	if err := failure(create(&d), &d); err != nil {
		return err
	}
	c.open[object] = struct{}{}
	return nil
}

// Graph is a network that has been checked.
type Graph struct {
	context *Context
	raw     *C.sluice_graph_t
}

// Graph reads a graph.fbs buffer; it is copied.
func (c *Context) Graph(bytes []byte) (*Graph, error) {
	g := &Graph{context: c}
	err := c.adopt(g, func(d *C.sluice_diagnostic_t) C.sluice_status_t {
		return C.sluice_graph_create(c.raw, pointer(bytes), C.size_t(len(bytes)), &g.raw, d)
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

func (g *Graph) free() {
	C.sluice_graph_destroy(g.raw)
	g.raw = nil
}

// Hash covers everything but the values of constants: a key for plans. 0: the graph is
// closed.
func (g *Graph) Hash() uint64 {
	g.context.mutex.Lock()
	defer g.context.mutex.Unlock()
	return uint64(C.sluice_graph_hash(g.raw))
}

// Close may be called twice, and after the context's.
func (g *Graph) Close() { shut(g.context, g) }

func shut(c *Context, object closer) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if _, known := c.open[object]; known {
		delete(c.open, object)
		object.free()
	}
}

// Hardware is a description of an accelerator that has been checked.
type Hardware struct {
	context *Context
	raw     *C.sluice_hardware_t
}

// Hardware reads a hardware.fbs buffer; it is copied.
func (c *Context) Hardware(bytes []byte) (*Hardware, error) {
	h := &Hardware{context: c}
	err := c.adopt(h, func(d *C.sluice_diagnostic_t) C.sluice_status_t {
		return C.sluice_hardware_create(c.raw, pointer(bytes), C.size_t(len(bytes)), &h.raw, d)
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

func (h *Hardware) free() {
	C.sluice_hardware_destroy(h.raw)
	h.raw = nil
}

// Hash is a key for plans. 0: the hardware is closed.
func (h *Hardware) Hash() uint64 {
	h.context.mutex.Lock()
	defer h.context.mutex.Unlock()
	return uint64(C.sluice_hardware_hash(h.raw))
}

// Close may be called twice, and after the context's.
func (h *Hardware) Close() { shut(h.context, h) }

// Solver of a schedule.
type Solver uint32

const (
	Default  Solver = C.SLUICE_SOLVER_DEFAULT
	Baseline Solver = C.SLUICE_SOLVER_BASELINE // every layer by itself
	Fusion   Solver = C.SLUICE_SOLVER_FUSION   // layers fused where that is cheaper
	Cocco    Solver = C.SLUICE_SOLVER_COCCO    // as published
	Soma     Solver = C.SLUICE_SOLVER_SOMA     // as published
)

// Granularity of a schedule.
type Granularity uint32

const (
	Tile      Granularity = C.SLUICE_GRANULARITY_TILE      // layers are cut into tiles
	Operator  Granularity = C.SLUICE_GRANULARITY_OPERATOR  // whole tensors, spilled and retrieved
	Recompute Granularity = C.SLUICE_GRANULARITY_RECOMPUTE // and a layer may run again instead
)

// Options of a schedule; zero values are the library's defaults.
type Options struct {
	Solver          Solver
	ScratchpadBytes uint64 // budget; 0: the hardware's capacity
	MaxIterations   uint64 // of improvement; same bound, same bytes on every machine
	Seed            uint64
	EnergyExponent  uint32 // cost = energy^n * delay^m; both 0: 1, 1
	DelayExponent   uint32
	Granularity     Granularity
}

// Schedule stops at the deadline of ctx and when ctx is cancelled. It returns the best
// verified plan so far; if there is none, ErrStopped with ctx's error.
func (c *Context) Schedule(ctx context.Context, g *Graph, h *Hardware, o Options) (*Plan, error) {
	plan, _, err := c.schedule(ctx, nil, g, h, o, false)
	return plan, err
}

// Change is what a rescheduled plan kept of the earlier one. PatchBytes of the new
// stream's StreamBytes differ from the old one's.
type Change struct {
	Graph, Hardware, Scratchpad                              bool // what has changed
	FromScratch                                              bool // nothing could be used
	LayersKept, LayersChanged, LayersInserted, LayersRemoved uint32
	Blocks, BlocksChanged                                    uint32
	StreamBytes, PatchBytes                                  uint64
}

// Reschedule makes a plan for a changed graph, machine or scratchpad from previous, in a
// fraction of the time. With minimiseChanges addresses, orders and blocks stay wherever
// they are still valid, so that a device can patch its stream.
func (c *Context) Reschedule(ctx context.Context, previous *Plan, g *Graph, h *Hardware, o Options, minimiseChanges bool) (*Plan, Change, error) {
	if previous == nil {
		return nil, Change{}, closed("the previous plan")
	}
	return c.schedule(ctx, previous, g, h, o, minimiseChanges)
}

func (c *Context) schedule(ctx context.Context, previous *Plan, g *Graph, h *Hardware, o Options, minimise bool) (*Plan, Change, error) {
	if err := ctx.Err(); err != nil {
		return nil, Change{}, stoppedBy(&Error{Kind: ErrStopped, Stage: "go",
			Message: "the context was done before the call", Layer: -1, Tensor: -1,
			Instruction: -1}, err)
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.raw == nil || g == nil || h == nil || g.raw == nil || h.raw == nil {
		return nil, Change{}, closed("the context, graph or hardware")
	}
	var before *C.sluice_plan_t
	if previous != nil {
		if previous.raw == nil {
			return nil, Change{}, closed("the previous plan")
		}
		before = previous.raw
	}
	s := C.settings_t{
		solver: C.uint32_t(o.Solver), scratchpad_bytes: C.uint64_t(o.ScratchpadBytes),
		max_iterations: C.uint64_t(o.MaxIterations), seed: C.uint64_t(o.Seed),
		energy_exponent: C.uint32_t(o.EnergyExponent),
		delay_exponent:  C.uint32_t(o.DelayExponent),
		granularity:     C.uint32_t(o.Granularity),
	}
	if minimise {
		s.minimise_changes = 1
	}
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		if left < 1 {
			left = 1
		}
		s.deadline_ns = C.uint64_t(left)
	}
	cancel := (*C.uint32_t)(C.calloc(1, C.size_t(unsafe.Sizeof(C.uint32_t(0)))))
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-ctx.Done():
			// A deadline needs no cancel word: the library stops by itself and reports the
			// deadline.
			if s.deadline_ns == 0 || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				C.set_word(cancel)
			}
		case <-done:
		}
	}()
	var d C.sluice_diagnostic_t
	C.clear(&d)
	p := &Plan{context: c}
	var t C.sluice_change_t
	status := C.schedule(c.raw, before, g.raw, h.raw, s, cancel, &p.raw, &t, &d)
	close(done)
	<-watched
	C.free(unsafe.Pointer(cancel))
	if err := failure(status, &d); err != nil {
		if status == C.SLUICE_STOPPED && ctx.Err() != nil {
			err = stoppedBy(err, ctx.Err())
		}
		return nil, Change{}, err
	}
	c.open[p] = struct{}{}
	return p, Change{
		Graph:       t.changed&C.SLUICE_CHANGED_GRAPH != 0,
		Hardware:    t.changed&C.SLUICE_CHANGED_HARDWARE != 0,
		Scratchpad:  t.changed&C.SLUICE_CHANGED_SCRATCHPAD != 0,
		FromScratch: t.from_scratch != 0, LayersKept: uint32(t.layers_kept),
		LayersChanged: uint32(t.layers_changed), LayersInserted: uint32(t.layers_inserted),
		LayersRemoved: uint32(t.layers_removed), Blocks: uint32(t.blocks),
		BlocksChanged: uint32(t.blocks_changed), StreamBytes: uint64(t.stream_bytes),
		PatchBytes: uint64(t.patch_bytes),
	}, nil
}

// Verify checks a plan with the static judge, which shares only structs and basic helpers
// with the solver.
func (c *Context) Verify(p *Plan, g *Graph, h *Hardware) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.raw == nil || p == nil || g == nil || h == nil || p.raw == nil || g.raw == nil ||
		h.raw == nil {
		return closed("the context, plan, graph or hardware")
	}
	var d C.sluice_diagnostic_t
	C.clear(&d)
	return failure(C.sluice_verify(c.raw, g.raw, h.raw, p.raw, &d), &d)
}
