// SPDX-License-Identifier: Apache-2.0

package sluice

/*
#include "sluice/sluice.h"
#include "sluice/stream.h"
*/
import "C"

import "unsafe"

// Plan is a schedule that has passed verification, or one read from bytes.
type Plan struct {
	context *Context
	raw     *C.sluice_plan_t
}

// Plan reads plan.fbs bytes (structure only: verify it against graph and hardware).
func (c *Context) Plan(bytes []byte) (*Plan, error) {
	p := &Plan{context: c}
	err := c.adopt(p, func(d *C.sluice_diagnostic_t) C.sluice_status_t {
		return C.sluice_plan_create(c.raw, pointer(bytes), C.size_t(len(bytes)), &p.raw, d)
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Plan) free() {
	C.sluice_plan_destroy(p.raw)
	p.raw = nil
}

// Close may be called twice, and after the context's Close.
func (p *Plan) Close() { shut(p.context, p) }

// Bytes is a copy of the plan.fbs bytes; nil when the plan is closed.
func (p *Plan) Bytes() []byte {
	p.context.mutex.Lock()
	defer p.context.mutex.Unlock()
	var data unsafe.Pointer
	var size C.size_t
	if p.raw == nil || C.sluice_plan_bytes(p.raw, &data, &size) != C.SLUICE_OK {
		return nil
	}
	return C.GoBytes(data, C.int(size))
}

// Stream is a copy of the instruction stream: the bytes for the firmware.
func (p *Plan) Stream() []byte {
	p.context.mutex.Lock()
	defer p.context.mutex.Unlock()
	var data unsafe.Pointer
	var size C.size_t
	if p.raw == nil || C.sluice_plan_stream(p.raw, &data, &size) != C.SLUICE_OK {
		return nil
	}
	return C.GoBytes(data, C.int(size))
}

// StopReason of a search.
type StopReason uint32

const (
	Complete   StopReason = C.SLUICE_STOP_COMPLETE
	Deadline   StopReason = C.SLUICE_STOP_DEADLINE
	Iterations StopReason = C.SLUICE_STOP_ITERATIONS
	Cancelled  StopReason = C.SLUICE_STOP_CANCELLED
	Proved     StopReason = C.SLUICE_STOP_PROVED
)

// Report is what a plan costs: cycles of the hardware's clock, picojoules, bytes.
type Report struct {
	LatencyCycles, BoundLatencyCycles         uint64
	EnergyPJ, BoundEnergyPJ                   float64
	DRAMReadBytes, DRAMWriteBytes, SpillBytes uint64
	PeakBufferBytes, MACs, Iterations         uint64
	Layers, Groups, Tiles, Instructions       uint32
	HostLayers                                uint32 // executed by HOST calls
	HostMACs, HostBytes                       uint64 // of those calls
	EnergyHostPJ                              float64
	StopReason                                StopReason
}

// Report is zero when the plan is closed.
func (p *Plan) Report() Report {
	p.context.mutex.Lock()
	defer p.context.mutex.Unlock()
	var r C.sluice_report_t
	r.struct_size = C.uint32_t(unsafe.Sizeof(r))
	if p.raw == nil || C.sluice_plan_report(p.raw, &r) != C.SLUICE_OK {
		return Report{}
	}
	return Report{
		LatencyCycles: uint64(r.latency_cycles), BoundLatencyCycles: uint64(r.bound_latency_cycles),
		EnergyPJ: float64(r.energy_pj), BoundEnergyPJ: float64(r.bound_energy_pj),
		DRAMReadBytes: uint64(r.dram_read_bytes), DRAMWriteBytes: uint64(r.dram_write_bytes),
		SpillBytes: uint64(r.spill_bytes), PeakBufferBytes: uint64(r.peak_buffer_bytes),
		MACs: uint64(r.macs), Iterations: uint64(r.iterations), Layers: uint32(r.layers),
		Groups: uint32(r.groups), Tiles: uint32(r.tiles), Instructions: uint32(r.instructions),
		HostLayers: uint32(r.host_layers), HostMACs: uint64(r.host_macs),
		HostBytes: uint64(r.host_bytes), EnergyHostPJ: float64(r.energy_host_pj),
		StopReason: StopReason(r.stop_reason),
	}
}

// LayerLeast is the least that any plan takes of a layer: cycles, bytes off chip, picojoules on
// chip.
type LayerLeast struct {
	Cycles, ConstantBytes, LoadedBytes, StoredBytes uint64
	EnergyPJ                                        float64
}

// Certificate is what the bounds of a report are made of: sluice_certificate_t of sluice.h.
type Certificate struct {
	Layers                                            []LayerLeast // by layer of the graph
	All                                               LayerLeast   // their sums
	HostCycles, ComputeCycles, PortCycles, RoomCycles uint64
	CallerCycles                                      uint64
	AgainPJ, CallerPJ                                 float64
}

func leastOf(l C.sluice_layer_least_t) LayerLeast {
	return LayerLeast{
		Cycles: uint64(l.cycles), ConstantBytes: uint64(l.constant_bytes),
		LoadedBytes: uint64(l.loaded_bytes), StoredBytes: uint64(l.stored_bytes),
		EnergyPJ: float64(l.energy_pj),
	}
}

// Certificate is zero when the plan is closed, or of an earlier version. Verify counts it
// again.
func (p *Plan) Certificate() Certificate {
	p.context.mutex.Lock()
	defer p.context.mutex.Unlock()
	var c C.sluice_certificate_t
	c.struct_size = C.uint32_t(unsafe.Sizeof(c))
	if p.raw == nil || C.sluice_plan_certificate(p.raw, &c) != C.SLUICE_OK {
		return Certificate{}
	}
	certificate := Certificate{
		All: leastOf(c.all), HostCycles: uint64(c.host_cycles),
		ComputeCycles: uint64(c.compute_cycles), PortCycles: uint64(c.port_cycles),
		RoomCycles: uint64(c.room_cycles), AgainPJ: float64(c.again_pj),
		CallerCycles: uint64(c.caller_cycles), CallerPJ: float64(c.caller_pj),
	}
	for _, layer := range unsafe.Slice(c.layers, int(c.count)) {
		certificate.Layers = append(certificate.Layers, leastOf(layer))
	}
	return certificate
}

// Place is where a tensor lies in DRAM: element (n, h, w, c) at Offset + the indices
// times the strides, in bytes of the region (SLUICE_REGION_ of stream.h).
type Place struct {
	Region uint32
	Offset uint64
	Stride [4]uint32
}

// Place is false for tensors that never leave the scratchpad.
func (p *Plan) Place(tensor int) (Place, bool) {
	p.context.mutex.Lock()
	defer p.context.mutex.Unlock()
	var t C.sluice_tensor_place_t
	t.struct_size = C.uint32_t(unsafe.Sizeof(t))
	if p.raw == nil || tensor < 0 ||
		C.sluice_plan_tensor(p.raw, C.uint32_t(tensor), &t) != C.SLUICE_OK ||
		t.region >= C.SLUICE_REGION_COUNT {
		return Place{}, false
	}
	place := Place{Region: uint32(t.region), Offset: uint64(t.offset)}
	for a := range place.Stride {
		place.Stride[a] = uint32(t.stride[a])
	}
	return place, true
}

// TensorKind of a graph's tensor.
type TensorKind uint32

const (
	Intermediate TensorKind = C.SLUICE_TENSOR_INTERMEDIATE
	Input        TensorKind = C.SLUICE_TENSOR_INPUT
	Output       TensorKind = C.SLUICE_TENSOR_OUTPUT
	Constant     TensorKind = C.SLUICE_TENSOR_CONSTANT
	State        TensorKind = C.SLUICE_TENSOR_STATE
)

// SourceKind says where a constant's bytes come from.
type SourceKind uint32

const (
	NoSource SourceKind = C.SLUICE_SOURCE_NONE
	Inline   SourceKind = C.SLUICE_SOURCE_INLINE   // SourceOffset: byte of the graph's buffer
	External SourceKind = C.SLUICE_SOURCE_EXTERNAL // SourceOffset: byte of File
	Seeded   SourceKind = C.SLUICE_SOURCE_SEEDED   // SourceOffset: the seed of ops.h
)

// Tensor of a graph. Extent: N H W C, ones in front.
type Tensor struct {
	Name, File   string
	Kind         TensorKind
	Dtype        uint32
	Extent       [4]int32
	Bytes        uint64
	Source       SourceKind
	SourceOffset uint64
}

// Tensors of the graph, in order; nil when it is closed.
func (g *Graph) Tensors() []Tensor {
	g.context.mutex.Lock()
	defer g.context.mutex.Unlock()
	var counts C.sluice_graph_counts_t
	counts.struct_size = C.uint32_t(unsafe.Sizeof(counts))
	if g.raw == nil || C.sluice_graph_count(g.raw, &counts) != C.SLUICE_OK {
		return nil
	}
	tensors := make([]Tensor, counts.tensors)
	for i := range tensors {
		var t C.sluice_tensor_info_t
		t.struct_size = C.uint32_t(unsafe.Sizeof(t))
		C.sluice_graph_tensor(g.raw, C.uint32_t(i), &t)
		tensors[i] = Tensor{
			Name: C.GoStringN(t.name, C.int(t.name_size)),
			File: C.GoStringN(t.file, C.int(t.file_size)),
			Kind: TensorKind(t.kind), Dtype: uint32(t.dtype), Bytes: uint64(t.bytes),
			Source: SourceKind(t.source), SourceOffset: uint64(t.source_offset),
		}
		for a := range tensors[i].Extent {
			tensors[i].Extent[a] = int32(t.extent[a])
		}
	}
	return tensors
}

// Layers is how many the graph has.
func (g *Graph) Layers() int {
	g.context.mutex.Lock()
	defer g.context.mutex.Unlock()
	var counts C.sluice_graph_counts_t
	counts.struct_size = C.uint32_t(unsafe.Sizeof(counts))
	if g.raw == nil {
		return 0
	}
	C.sluice_graph_count(g.raw, &counts)
	return int(counts.layers)
}
