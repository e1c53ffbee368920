// SPDX-License-Identifier: Apache-2.0

package sluice

import flatbuffers "github.com/google/flatbuffers/go"

// Dtype of elements, as in ops.h.
type Dtype uint8

const (
	Int8  Dtype = 1
	Uint8 Dtype = 2
	Int16 Dtype = 3
	Int32 Dtype = 4
	Int64 Dtype = 5
)

// NoTensor stands for an optional input that is absent.
const NoTensor uint32 = 0xffffffff

// GraphBuilder collects tensors and layers into a graph.fbs buffer; the library checks
// them when the graph is read.
type GraphBuilder struct {
	name                                 string
	names                                []string
	tensorName, dimBegin, sourceFile     []uint32
	dtype, kind, source, data            []byte
	dims, attributes                     []int32
	sourceOffset, encoded                []uint64
	layerName, inputBegin, inputs        []uint32
	outputBegin, outputs, attributeBegin []uint32
	op                                   []uint16
}

// NewGraph starts a graph.
func NewGraph(name string) *GraphBuilder { return &GraphBuilder{name: name} }

func (b *GraphBuilder) intern(name string) uint32 {
	b.names = append(b.names, name)
	return uint32(len(b.names) - 1)
}

func (b *GraphBuilder) tensor(name string, d Dtype, k TensorKind, s SourceKind, at uint64, dims []int32) uint32 {
	b.tensorName = append(b.tensorName, b.intern(name))
	b.dtype = append(b.dtype, byte(d))
	b.kind = append(b.kind, byte(k))
	b.dimBegin = append(b.dimBegin, uint32(len(b.dims)))
	b.dims = append(b.dims, dims...)
	b.source = append(b.source, byte(s))
	b.sourceOffset = append(b.sourceOffset, at)
	b.sourceFile = append(b.sourceFile, NoTensor)
	b.encoded = append(b.encoded, 0)
	return uint32(len(b.kind) - 1)
}

// Tensor adds an input, an output, an intermediate or a state; returns its index.
func (b *GraphBuilder) Tensor(name string, kind TensorKind, d Dtype, dims ...int32) uint32 {
	return b.tensor(name, d, kind, NoSource, 0, dims)
}

// Constant adds dense little-endian bytes, kept inside the graph.
func (b *GraphBuilder) Constant(name string, bytes []byte, d Dtype, dims ...int32) uint32 {
	for len(b.data)%16 != 0 {
		b.data = append(b.data, 0)
	}
	at := uint64(len(b.data))
	b.data = append(b.data, bytes...)
	return b.tensor(name, d, Constant, Inline, at, dims)
}

// Seeded adds a constant whose bytes ops.h generates from a seed, to schedule without
// weights.
func (b *GraphBuilder) Seeded(name string, seed uint64, d Dtype, dims ...int32) uint32 {
	return b.tensor(name, d, Constant, Seeded, seed, dims)
}

// Encoded says that weights take so many bytes off chip, where a LOAD decodes them.
func (b *GraphBuilder) Encoded(tensor uint32, bytes uint64) { b.encoded[tensor] = bytes }

// Layer adds a layer that reads what earlier ones wrote. op: SLUICE_OP_ of ops.h;
// attributes in its order.
func (b *GraphBuilder) Layer(name string, op uint16, inputs, outputs []uint32, attributes ...int32) {
	b.layerName = append(b.layerName, b.intern(name))
	b.op = append(b.op, op)
	b.inputBegin = append(b.inputBegin, uint32(len(b.inputs)))
	b.inputs = append(b.inputs, inputs...)
	b.outputBegin = append(b.outputBegin, uint32(len(b.outputs)))
	b.outputs = append(b.outputs, outputs...)
	b.attributeBegin = append(b.attributeBegin, uint32(len(b.attributes)))
	b.attributes = append(b.attributes, attributes...)
}

// Bytes is the graph.fbs buffer.
func (b *GraphBuilder) Bytes() []byte {
	f := flatbuffers.NewBuilder(1024)
	csr := func(begin []uint32, items int) []uint32 {
		return append(append([]uint32{}, begin...), uint32(items))
	}
	u32 := func(v []uint32) flatbuffers.UOffsetT {
		f.StartVector(4, len(v), 4)
		for i := len(v) - 1; i >= 0; i-- {
			f.PrependUint32(v[i])
		}
		return f.EndVector(len(v))
	}
	i32 := func(v []int32) flatbuffers.UOffsetT {
		f.StartVector(4, len(v), 4)
		for i := len(v) - 1; i >= 0; i-- {
			f.PrependInt32(v[i])
		}
		return f.EndVector(len(v))
	}
	u64 := func(v []uint64) flatbuffers.UOffsetT {
		f.StartVector(8, len(v), 8)
		for i := len(v) - 1; i >= 0; i-- {
			f.PrependUint64(v[i])
		}
		return f.EndVector(len(v))
	}
	offsets := map[int]flatbuffers.UOffsetT{1: f.CreateString(b.name)}
	strings := make([]flatbuffers.UOffsetT, len(b.names))
	for i, name := range b.names {
		strings[i] = f.CreateString(name)
	}
	f.StartVector(4, len(strings), 4)
	for i := len(strings) - 1; i >= 0; i-- {
		f.PrependUOffsetT(strings[i])
	}
	offsets[2] = f.EndVector(len(strings))
	offsets[3] = u32(b.tensorName)
	offsets[4] = f.CreateByteVector(b.dtype)
	offsets[5] = f.CreateByteVector(b.kind)
	offsets[6] = u32(csr(b.dimBegin, len(b.dims)))
	offsets[7] = i32(b.dims)
	offsets[10] = f.CreateByteVector(b.source)
	offsets[11] = u64(b.sourceOffset)
	offsets[12] = u32(b.sourceFile)
	offsets[13] = f.CreateByteVector(b.data)
	offsets[14] = u32(b.layerName)
	f.StartVector(2, len(b.op), 2)
	for i := len(b.op) - 1; i >= 0; i-- {
		f.PrependUint16(b.op[i])
	}
	offsets[15] = f.EndVector(len(b.op))
	offsets[16] = u32(csr(b.inputBegin, len(b.inputs)))
	offsets[17] = u32(b.inputs)
	offsets[18] = u32(csr(b.outputBegin, len(b.outputs)))
	offsets[19] = u32(b.outputs)
	offsets[20] = u32(csr(b.attributeBegin, len(b.attributes)))
	offsets[21] = i32(b.attributes)
	offsets[25] = u64(b.encoded)
	f.StartObject(26)
	for id := 0; id < 26; id++ {
		if offset, there := offsets[id]; there {
			f.PrependUOffsetTSlot(id, offset, 0)
		}
	}
	f.FinishWithFileIdentifier(f.EndObject(), []byte("SLG1"))
	return f.FinishedBytes()
}
