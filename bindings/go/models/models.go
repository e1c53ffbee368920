// SPDX-License-Identifier: Apache-2.0

// Package models turns model files, presets and known networks into the bytes that
// sluice.Context reads. It links libsluice_import; package sluice does not.
//
// Build: cgo finds the library by pkg-config (an installed sluice-import), or by
// CGO_CFLAGS and CGO_LDFLAGS with the build tag sluice_env.
package models

/*
#cgo !sluice_env pkg-config: sluice-import
#cgo sluice_env LDFLAGS: -lsluice_import -lsluice
#include <stdlib.h>
#include <string.h>
#include "sluice/import.h"
#include "sluice/presets.h"
#include "sluice/zoo.h"

// Structs are filled in C, so that no struct that C reads contains a Go pointer.
static void clear_diagnostic(sluice_diagnostic_t* d) {
  memset(d, 0, sizeof *d);
  d->struct_size = sizeof *d;
}

// The options and what they point to, all of it C memory: names were made by C.CString.
typedef struct named_options {
  sluice_import_options_t o;
  sluice_import_dim_t* dims;
  sluice_import_state_t* states;
  sluice_import_range_t* ranges;
} named_options;

static named_options* new_options(const char* name, uint32_t dims, uint32_t states,
                                  uint32_t ranges) {
  named_options* n = calloc(1, sizeof *n);
  n->o.struct_size = sizeof n->o;
  n->o.name = name;
  n->o.dims = n->dims = calloc((size_t)dims + 1, sizeof *n->dims);
  n->o.states = n->states = calloc((size_t)states + 1, sizeof *n->states);
  n->o.ranges = n->ranges = calloc((size_t)ranges + 1, sizeof *n->ranges);
  return n;
}

static void set_dim(named_options* n, char* name, int64_t extent) {
  n->dims[n->o.dim_count].name = name;
  n->dims[n->o.dim_count++].extent = extent;
}

static void set_state(named_options* n, char* input, char* output) {
  n->states[n->o.state_count].input = input;
  n->states[n->o.state_count++].output = output;
}

static void set_range(named_options* n, char* name, float min, float max) {
  n->ranges[n->o.range_count].name = name;
  n->ranges[n->o.range_count].min = min;
  n->ranges[n->o.range_count++].max = max;
}

static void free_options(named_options* n) {
  uint32_t i;
  for (i = 0; i < n->o.dim_count; ++i) free((char*)n->dims[i].name);
  for (i = 0; i < n->o.state_count; ++i) {
    free((char*)n->states[i].input);
    free((char*)n->states[i].output);
  }
  for (i = 0; i < n->o.range_count; ++i) free((char*)n->ranges[i].name);
  free((char*)n->o.name);
  free(n->dims);
  free(n->states);
  free(n->ranges);
  free(n);
}

static sluice_status_t import_model(const void* model, size_t size, const named_options* n,
                                    sluice_bytes_t* out, sluice_import_report_t** report,
                                    sluice_diagnostic_t* d) {
  clear_diagnostic(d);
  return sluice_import_model(model, size, &n->o, out, report, d);
}

static sluice_import_summary_t summary(const sluice_import_report_t* report) {
  sluice_import_summary_t s;
  memset(&s, 0, sizeof s);
  s.struct_size = sizeof s;
  sluice_import_report_summary(report, &s);
  return s;
}

static sluice_import_entry_t entry(const sluice_import_report_t* report, uint32_t list,
                                   uint32_t index) {
  sluice_import_entry_t e;
  memset(&e, 0, sizeof e);
  e.struct_size = sizeof e;
  sluice_import_report_entry(report, list, index, &e);
  return e;
}

static sluice_status_t zoo_graph(const char* name, int32_t batch, int32_t seq,
                                 int32_t context, int32_t blocks, uint32_t training,
                                 uint32_t skip_unread, sluice_bytes_t* out,
                                 sluice_diagnostic_t* d) {
  sluice_zoo_options_t o;
  memset(&o, 0, sizeof o);
  o.struct_size = sizeof o;
  o.batch = batch;
  o.seq = seq;
  o.context = context;
  o.blocks = blocks;
  o.training = training;
  o.skip_unread = skip_unread;
  clear_diagnostic(d);
  return sluice_zoo_graph(name, &o, out, d);
}
*/
import "C"

import (
	"unsafe"

	"sluice"
)

// Options of an import; zero values are the defaults.
type Options struct {
	Name             string           // of the graph
	AllowOpaque      bool             // what cannot be expressed runs on the host
	Training         bool             // the graph of one training step
	Dims             map[string]int64 // of an ONNX model, by name or as INPUT:AXIS
	MaxConstantBytes uint64           // that the graph may hold; 0: by the model's size
	KeepUnread       bool             // compute also rows and columns that no layer reads
	// Inputs, each with the output that it holds of the run before.
	States map[string]string
	// Also pairs whose names tell it: past.../present..., ..._in/..._out, and so on.
	FindStates bool
	// Least and most number of tensors; a model of floats is quantised by them to int8.
	Ranges map[string][2]float32
}

// Operators is a group of equal operators of the model that were imported in the same
// way.
type Operators struct {
	Name, Reason string // no reason: the importer does not know the operator
	Count        uint32
}

// Imported is a graph and what the import did.
type Imported struct {
	Graph           []byte // graph.fbs
	Exact           bool   // false: plans and costs are the model's, values are not
	Layers, Tensors uint32
	ConstantBytes   uint64
	Opaque          []Operators // left to the host
	ShapesOnly      []Operators // layers of the same shapes only
	Rounded         []Operators // beside a tie the runtime may round the other way
	Folded          []Operators // left no layer: computed at import, or dropped
	Skipped         []Operators // do not compute rows and columns that no layer reads
}

func failed(status C.sluice_status_t, d *C.sluice_diagnostic_t) error {
	kind := sluice.ErrBadArgument
	switch status {
	case C.SLUICE_OK:
		return nil
	case C.SLUICE_BAD_INPUT:
		kind = sluice.ErrBadInput
	case C.SLUICE_UNSUPPORTED:
		kind = sluice.ErrUnsupported
	case C.SLUICE_OUT_OF_MEMORY:
		kind = sluice.ErrOutOfMemory
	case C.SLUICE_INTERNAL:
		kind = sluice.ErrInternal
	}
	return &sluice.Error{Kind: kind, Stage: C.GoString(&d.stage[0]),
		Message: C.GoString(&d.message[0]), Layer: -1, Tensor: -1, Instruction: -1}
}

// Copies the library's bytes into Go memory and frees the library's.
func taken(b *C.sluice_bytes_t) []byte {
	defer C.sluice_bytes_release(nil, b)
	return C.GoBytes(b.data, C.int(b.size))
}

func pointer(b []byte) unsafe.Pointer {
	if len(b) == 0 {
		return unsafe.Pointer(&[1]byte{})
	}
	return unsafe.Pointer(&b[0])
}

func flag(b bool) C.uint32_t {
	if b {
		return 1
	}
	return 0
}

func list(r *C.sluice_import_report_t, s *C.sluice_import_summary_t, which C.uint32_t) []Operators {
	var out []Operators
	for i := C.uint32_t(0); i < C.uint32_t(s.lists[which]); i++ {
		e := C.entry(r, which, i)
		out = append(out, Operators{C.GoString(e.name), C.GoString(e.reason), uint32(e.count)})
	}
	return out
}

// Import a TensorFlow Lite or ONNX file's bytes.
func Import(model []byte, o Options) (*Imported, error) {
	n := C.new_options(C.CString(o.Name), C.uint32_t(len(o.Dims)), C.uint32_t(len(o.States)),
		C.uint32_t(len(o.Ranges)))
	defer C.free_options(n)
	n.o.allow_opaque, n.o.training = flag(o.AllowOpaque), flag(o.Training)
	n.o.max_constant_bytes = C.uint64_t(o.MaxConstantBytes)
	n.o.keep_unread, n.o.find_states = flag(o.KeepUnread), flag(o.FindStates)
	for dim, extent := range o.Dims {
		C.set_dim(n, C.CString(dim), C.int64_t(extent))
	}
	for input, output := range o.States {
		C.set_state(n, C.CString(input), C.CString(output))
	}
	for name, r := range o.Ranges {
		C.set_range(n, C.CString(name), C.float(r[0]), C.float(r[1]))
	}
	var bytes C.sluice_bytes_t
	var report *C.sluice_import_report_t
	var d C.sluice_diagnostic_t
	status := C.import_model(pointer(model), C.size_t(len(model)), n, &bytes, &report, &d)
	defer C.sluice_import_report_destroy(report)
	if err := failed(status, &d); err != nil {
		return nil, err
	}
	s := C.summary(report)
	return &Imported{Graph: taken(&bytes), Exact: s.numbers != C.SLUICE_NUMBERS_SHAPES_ONLY,
		Layers: uint32(s.layers), Tensors: uint32(s.tensors),
		ConstantBytes: uint64(s.constant_bytes),
		Opaque:        list(report, &s, C.SLUICE_IMPORT_OPAQUE),
		ShapesOnly:    list(report, &s, C.SLUICE_IMPORT_SHAPES_ONLY),
		Rounded:       list(report, &s, C.SLUICE_IMPORT_ROUNDED),
		Folded:        list(report, &s, C.SLUICE_IMPORT_FOLDED),
		Skipped:       list(report, &s, C.SLUICE_IMPORT_SKIPPED)}, nil
}

// Presets are the names of the machines that come with sluice.
func Presets() []string {
	var names []string
	for i := C.uint32_t(0); i < C.sluice_preset_count(); i++ {
		names = append(names, C.GoString(C.sluice_preset_name(i)))
	}
	return names
}

// Preset is a machine's descriptor (hardware.fbs).
func Preset(name string) ([]byte, error) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var data unsafe.Pointer
	var size C.size_t
	var d C.sluice_diagnostic_t
	C.clear_diagnostic(&d)
	if err := failed(C.sluice_preset_find(text, &data, &size, &d), &d); err != nil {
		return nil, err
	}
	return C.GoBytes(data, C.int(size)), nil
}

// HardwareFromJSON makes a descriptor of JSON with the field names of hardware.fbs.
func HardwareFromJSON(text []byte) ([]byte, error) {
	var bytes C.sluice_bytes_t
	var d C.sluice_diagnostic_t
	C.clear_diagnostic(&d)
	status := C.sluice_hardware_from_json((*C.char)(pointer(text)), C.size_t(len(text)), nil,
		&bytes, &d)
	if err := failed(status, &d); err != nil {
		return nil, err
	}
	return taken(&bytes), nil
}

// ZooOptions are the sizes of a known network; zero: as it was published.
type ZooOptions struct {
	Batch, Seq, Context, Blocks int32
	Training                    bool
	SkipUnread                  bool // leave out rows and columns that no layer reads, as imports do
}

// Networks are the names of the known networks.
func Networks() []string {
	var names []string
	for i := C.uint32_t(0); i < C.sluice_zoo_count(); i++ {
		names = append(names, C.GoString(C.sluice_zoo_name(i)))
	}
	return names
}

// Network is the graph of a known network, with seeded weights.
func Network(name string, o ZooOptions) ([]byte, error) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var bytes C.sluice_bytes_t
	var d C.sluice_diagnostic_t
	status := C.zoo_graph(text, C.int32_t(o.Batch), C.int32_t(o.Seq), C.int32_t(o.Context),
		C.int32_t(o.Blocks), flag(o.Training), flag(o.SkipUnread), &bytes, &d)
	if err := failed(status, &d); err != nil {
		return nil, err
	}
	return taken(&bytes), nil
}
