// SPDX-License-Identifier: Apache-2.0
//! Builds graph.fbs buffers.
use flatbuffers::{FlatBufferBuilder, ForwardsUOffset, Vector, WIPOffset};

/// Index of a tensor of the graph that is being built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorId(u32);

impl TensorId {
    pub fn index(self) -> u32 {
        self.0
    }
}

/// Element types of ops.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[non_exhaustive]
pub enum Dtype {
    Int8 = 1,
    Uint8 = 2,
    Int16 = 3,
    Int32 = 4,
    Int64 = 5,
}

/// Collects tensors and layers; the library checks them when the graph is read.
///
/// ```
/// use sluice::{sys, Context, Dtype, GraphBuilder};
/// let mut g = GraphBuilder::new("larger");
/// let a = g.input("a", &[1, 4, 4, 8], Dtype::Int8);
/// let b = g.input("b", &[1, 4, 4, 8], Dtype::Int8);
/// let y = g.output("y", &[1, 4, 4, 8], Dtype::Int8);
/// let attributes = [0; sys::SLUICE_BINARY_ATTRIBUTES as usize]; // in the order of ops.h
/// g.layer("larger", sys::SLUICE_OP_MAXIMUM, &[Some(a), Some(b)], &[y], &attributes);
/// let context = Context::new()?;
/// assert_eq!(context.graph(&g.finish())?.layer_count(), 1);
/// # Ok::<(), sluice::Error>(())
/// ```
#[derive(Debug, Default, Clone)]
pub struct GraphBuilder {
    name: String,
    names: Vec<String>,
    tensor_name: Vec<u32>,
    dtype: Vec<u8>,
    kind: Vec<u8>,
    dim_begin: Vec<u32>,
    dims: Vec<i32>,
    source: Vec<u8>,
    source_offset: Vec<u64>,
    source_file: Vec<u32>,
    encoded: Vec<u64>,
    data: Vec<u8>,
    layer_name: Vec<u32>,
    op: Vec<u16>,
    input_begin: Vec<u32>,
    inputs: Vec<u32>,
    output_begin: Vec<u32>,
    outputs: Vec<u32>,
    attribute_begin: Vec<u32>,
    attributes: Vec<i32>,
    parameter_name: Vec<u32>,
    parameter_min: Vec<i32>,
    parameter_max: Vec<i32>,
}

const NONE: u32 = u32::MAX;

impl GraphBuilder {
    pub fn new(name: &str) -> GraphBuilder {
        GraphBuilder { name: name.into(), ..Default::default() }
    }

    pub fn input(&mut self, name: &str, dims: &[i32], dtype: Dtype) -> TensorId {
        self.tensor(name, dims, dtype, 1, 0, 0)
    }
    pub fn output(&mut self, name: &str, dims: &[i32], dtype: Dtype) -> TensorId {
        self.tensor(name, dims, dtype, 2, 0, 0)
    }
    pub fn intermediate(&mut self, name: &str, dims: &[i32], dtype: Dtype) -> TensorId {
        self.tensor(name, dims, dtype, 0, 0, 0)
    }
    /// A state tensor: persists over runs, starts zeroed.
    pub fn state(&mut self, name: &str, dims: &[i32], dtype: Dtype) -> TensorId {
        self.tensor(name, dims, dtype, 4, 0, 0)
    }
    /// A constant with dense little-endian bytes, stored inside the graph.
    pub fn constant(&mut self, name: &str, dims: &[i32], dtype: Dtype, bytes: &[u8]) -> TensorId {
        self.data.resize(self.data.len().next_multiple_of(16), 0);
        let offset = self.data.len() as u64;
        self.data.extend_from_slice(bytes);
        self.tensor(name, dims, dtype, 3, 1, offset)
    }
    /// A constant whose bytes ops.h generates from a seed, to schedule without weights.
    pub fn seeded(&mut self, name: &str, dims: &[i32], dtype: Dtype, seed: u64) -> TensorId {
        self.tensor(name, dims, dtype, 3, 3, seed)
    }
    /// A constant stored in a file, from `offset` on.
    pub fn external(&mut self, name: &str, dims: &[i32], dtype: Dtype, file: &str, offset: u64) -> TensorId {
        let file = self.intern(file);
        let id = self.tensor(name, dims, dtype, 3, 2, offset);
        self.source_file[id.0 as usize] = file;
        id
    }
    /// Weights take so many bytes off chip, where a LOAD decodes them.
    pub fn encoded(&mut self, tensor: TensorId, bytes: u64) {
        self.encoded[tensor.0 as usize] = bytes;
    }
    /// A value that each run supplies; returns the parameter's index.
    pub fn parameter(&mut self, name: &str, min: i32, max: i32) -> u32 {
        let name = self.intern(name);
        self.parameter_name.push(name);
        self.parameter_min.push(min);
        self.parameter_max.push(max);
        self.parameter_min.len() as u32 - 1
    }

    /// Adds a layer. Layers must be added in topological order. `op` is a SLUICE_OP_ of
    /// [`crate::sys`].
    pub fn layer(&mut self, name: &str, op: u32, inputs: &[Option<TensorId>], outputs: &[TensorId], attributes: &[i32]) {
        let name = self.intern(name);
        self.layer_name.push(name);
        self.op.push(op as u16);
        self.input_begin.push(self.inputs.len() as u32);
        self.inputs.extend(inputs.iter().map(|t| t.map_or(NONE, |t| t.0)));
        self.output_begin.push(self.outputs.len() as u32);
        self.outputs.extend(outputs.iter().map(|t| t.0));
        self.attribute_begin.push(self.attributes.len() as u32);
        self.attributes.extend_from_slice(attributes);
    }

    /// The graph.fbs buffer.
    pub fn finish(&self) -> Vec<u8> {
        let begin = |begin: &Vec<u32>, items: usize| {
            let mut csr = begin.clone();
            csr.push(items as u32);
            csr
        };
        let mut b = FlatBufferBuilder::new();
        let mut slots: Vec<(u16, WIPOffset<()>)> = Vec::new();
        let name = b.create_string(&self.name);
        slots.push((1, erase(name)));
        let names: Vec<_> = self.names.iter().map(|n| b.create_string(n)).collect();
        let names: WIPOffset<Vector<ForwardsUOffset<&str>>> = b.create_vector(&names);
        slots.push((2, erase(names)));
        slots.push((3, erase(b.create_vector(&self.tensor_name))));
        slots.push((4, erase(b.create_vector(&self.dtype))));
        slots.push((5, erase(b.create_vector(&self.kind))));
        slots.push((6, erase(b.create_vector(&begin(&self.dim_begin, self.dims.len())))));
        slots.push((7, erase(b.create_vector(&self.dims))));
        slots.push((10, erase(b.create_vector(&self.source))));
        slots.push((11, erase(b.create_vector(&self.source_offset))));
        slots.push((12, erase(b.create_vector(&self.source_file))));
        if !self.data.is_empty() {
            slots.push((13, erase(b.create_vector(&self.data))));
        }
        slots.push((14, erase(b.create_vector(&self.layer_name))));
        slots.push((15, erase(b.create_vector(&self.op))));
        slots.push((16, erase(b.create_vector(&begin(&self.input_begin, self.inputs.len())))));
        slots.push((17, erase(b.create_vector(&self.inputs))));
        slots.push((18, erase(b.create_vector(&begin(&self.output_begin, self.outputs.len())))));
        slots.push((19, erase(b.create_vector(&self.outputs))));
        slots.push((20, erase(b.create_vector(&begin(&self.attribute_begin, self.attributes.len())))));
        slots.push((21, erase(b.create_vector(&self.attributes))));
        slots.push((22, erase(b.create_vector(&self.parameter_name))));
        slots.push((23, erase(b.create_vector(&self.parameter_min))));
        slots.push((24, erase(b.create_vector(&self.parameter_max))));
        if self.encoded.iter().any(|&bytes| bytes != 0) {
            slots.push((25, erase(b.create_vector(&self.encoded))));
        }
        let table = b.start_table();
        for (id, offset) in slots {
            b.push_slot_always(4 + 2 * id, offset);
        }
        let root = b.end_table(table);
        b.finish(root, Some("SLG1"));
        b.finished_data().to_vec()
    }

    fn intern(&mut self, name: &str) -> u32 {
        self.names.push(name.into());
        self.names.len() as u32 - 1
    }

    fn tensor(&mut self, name: &str, dims: &[i32], dtype: Dtype, kind: u8, source: u8, offset: u64) -> TensorId {
        let name = self.intern(name);
        self.tensor_name.push(name);
        self.dtype.push(dtype as u8);
        self.kind.push(kind);
        self.dim_begin.push(self.dims.len() as u32);
        self.dims.extend_from_slice(dims);
        self.source.push(source);
        self.source_offset.push(offset);
        self.source_file.push(NONE);
        self.encoded.push(0);
        TensorId(self.kind.len() as u32 - 1)
    }
}

fn erase<T>(offset: WIPOffset<T>) -> WIPOffset<()> {
    WIPOffset::new(offset.value())
}
