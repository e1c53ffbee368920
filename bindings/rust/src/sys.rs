
// SPDX-License-Identifier: Apache-2.0
//! The C interface as it is. Generated: regenerate.sh.
#![allow(non_camel_case_types, non_upper_case_globals, missing_docs)]
#![allow(clippy::all, deref_nullptr, unsafe_op_in_unsafe_fn)]

pub const SLUICE_STREAM_MAGIC: u32 = 827542611;
pub const SLUICE_STREAM_VERSION: u32 = 0;
pub const SLUICE_NONE: u32 = 4294967295;
pub const SLUICE_ALL_NODES: u32 = 65535;
pub const SLUICE_NO_QUEUE: u32 = 65535;
pub const SLUICE_ROLES: u32 = 31;
pub const SLUICE_MAX_LOOPS: u32 = 3;
pub const SLUICE_ABI_VERSION: u32 = 1;
pub const SLUICE_NO_INDEX: u32 = 4294967295;
pub type __uint8_t = ::std::os::raw::c_uchar;
pub type __uint16_t = ::std::os::raw::c_ushort;
pub type __int32_t = ::std::os::raw::c_int;
pub type __uint32_t = ::std::os::raw::c_uint;
pub type __int64_t = ::std::os::raw::c_long;
pub type __uint64_t = ::std::os::raw::c_ulong;
pub const SLUICE_DOES_LOAD: _bindgen_ty_1 = 1;
pub const SLUICE_DOES_STORE: _bindgen_ty_1 = 2;
pub const SLUICE_DOES_FORWARD: _bindgen_ty_1 = 4;
pub const SLUICE_DOES_COMPUTE: _bindgen_ty_1 = 8;
pub const SLUICE_DOES_HOST: _bindgen_ty_1 = 16;
pub type _bindgen_ty_1 = ::std::os::raw::c_uint;
pub const SLUICE_ROLE_INPUT: _bindgen_ty_2 = 1;
pub const SLUICE_ROLE_WEIGHT: _bindgen_ty_2 = 2;
pub const SLUICE_ROLE_OUTPUT: _bindgen_ty_2 = 4;
pub const SLUICE_ROLE_PARTIAL_SUM: _bindgen_ty_2 = 8;
pub const SLUICE_ROLE_PARAMETERS: _bindgen_ty_2 = 16;
pub type _bindgen_ty_2 = ::std::os::raw::c_uint;
pub const SLUICE_REGION_GBUF: _bindgen_ty_3 = 0;
pub const SLUICE_REGION_CONST: _bindgen_ty_3 = 1;
pub const SLUICE_REGION_INPUT: _bindgen_ty_3 = 2;
pub const SLUICE_REGION_OUTPUT: _bindgen_ty_3 = 3;
pub const SLUICE_REGION_STATE: _bindgen_ty_3 = 4;
pub const SLUICE_REGION_WORKSPACE: _bindgen_ty_3 = 5;
pub const SLUICE_REGION_COUNT: _bindgen_ty_3 = 6;
pub type _bindgen_ty_3 = ::std::os::raw::c_uint;
pub const SLUICE_OPCODE_LOAD: _bindgen_ty_4 = 1;
pub const SLUICE_OPCODE_STORE: _bindgen_ty_4 = 2;
pub const SLUICE_OPCODE_FORWARD: _bindgen_ty_4 = 3;
pub const SLUICE_OPCODE_COMPUTE: _bindgen_ty_4 = 4;
pub const SLUICE_OPCODE_HOST: _bindgen_ty_4 = 5;
pub type _bindgen_ty_4 = ::std::os::raw::c_uint;
pub const SLUICE_WHY_OPAQUE: _bindgen_ty_5 = 0;
pub const SLUICE_WHY_OPERATOR: _bindgen_ty_5 = 1;
pub const SLUICE_WHY_ARITHMETIC: _bindgen_ty_5 = 2;
pub const SLUICE_WHY_DTYPE: _bindgen_ty_5 = 3;
pub const SLUICE_WHY_REQUANTISE: _bindgen_ty_5 = 4;
pub const SLUICE_WHY_ZERO_POINT: _bindgen_ty_5 = 5;
pub const SLUICE_WHY_KERNEL: _bindgen_ty_5 = 6;
pub const SLUICE_WHY_STRIDE: _bindgen_ty_5 = 7;
pub const SLUICE_WHY_DILATION: _bindgen_ty_5 = 8;
pub const SLUICE_WHY_COUNT: _bindgen_ty_5 = 9;
pub type _bindgen_ty_5 = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_stream_header_t {
    pub magic: u32,
    pub version: u32,
    pub size_bytes: u32,
    pub flags: u32,
    pub hash_lo: u32,
    pub hash_hi: u32,
    pub node_cols: u32,
    pub node_rows: u32,
    pub block_count: u32,
    pub block_offset: u32,
    pub instance_count: u32,
    pub instance_offset: u32,
    pub binding_count: u32,
    pub binding_offset: u32,
    pub kernel_count: u32,
    pub kernel_offset: u32,
    pub attribute_count: u32,
    pub attribute_offset: u32,
    pub region_alignment: u32,
    pub gbuf_bytes_lo: u32,
    pub gbuf_bytes_hi: u32,
    pub reserved0: u32,
    pub region_bytes: [[u32; 2usize]; 6usize],
    pub patch_count: u32,
    pub patch_offset: u32,
    pub engine_count: u32,
    pub engine_offset: u32,
    pub loop_count: u32,
    pub loop_offset: u32,
    pub step_count: u32,
    pub step_offset: u32,
    pub reserved: [u32; 2usize],
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_engine_t {
    pub does: u16,
    pub node: u16,
    pub queue: u16,
    pub roles: u8,
    pub reserved: u8,
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_block_t {
    pub body_offset: u32,
    pub body_bytes: u32,
    pub hash_lo: u32,
    pub hash_hi: u32,
    pub slot_count: u32,
    pub kernel_count: u32,
    pub list_offset: u32,
    pub flags: u32,
    pub instruction_count: u32,
    pub instruction_offset: u32,
    pub wait_count: u32,
    pub wait_offset: u32,
    pub tile_count: u32,
    pub tile_offset: u32,
    pub transfer_count: u32,
    pub transfer_offset: u32,
    pub host_call_count: u32,
    pub host_call_offset: u32,
    pub operand_count: u32,
    pub operand_offset: u32,
    pub shape_count: u32,
    pub shape_offset: u32,
    pub reserved: [u32; 2usize],
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_instance_t {
    pub block: u32,
    pub first_binding: u32,
    pub first_kernel: u32,
    pub first_step: u32,
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_loop_t {
    pub first: u32,
    pub last: u32,
    pub count: u32,
    pub parent: u32,
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_binding_t {
    pub region: u32,
    pub base_lo: u32,
    pub base_hi: u32,
    pub reserved: u32,
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_patch_t {
    pub binding: u32,
    pub parameter: u32,
    pub step_lo: u32,
    pub step_hi: u32,
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_kernel_t {
    pub op: u16,
    pub attribute_count: u16,
    pub first_attribute: u32,
    pub layer: u32,
    pub reserved: u32,
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_instruction_t {
    pub opcode: u8,
    pub flags: u8,
    pub wait_count: u16,
    pub descriptor: u32,
    pub first_wait: u32,
    pub reserved: u32,
}
pub const SLUICE_FLAG_FIRST: _bindgen_ty_6 = 1;
pub const SLUICE_FLAG_LAST: _bindgen_ty_6 = 2;
pub type _bindgen_ty_6 = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_wait_t {
    pub engine: u16,
    pub before: u16,
    pub count: u32,
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_shape_t {
    pub extent: [u32; 4usize],
    pub stride: [u32; 4usize],
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_operand_t {
    pub slot: u16,
    pub dtype: u8,
    pub reserved: u8,
    pub shape: u32,
    pub offset_lo: u32,
    pub offset_hi: u32,
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_transfer_t {
    pub src: u32,
    pub dst: u32,
    pub index: u32,
    pub src_node: u16,
    pub dst_node: u16,
    pub dst_cols: u16,
    pub dst_rows: u16,
    pub kernel: u32,
    pub role: u8,
    pub reserved0: u8,
    pub descriptors: u16,
    pub moved_bytes: u32,
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_tile_t {
    pub kernel: u32,
    pub cycles: u32,
    pub input0: u32,
    pub input1: u32,
    pub weight: u32,
    pub parameters: u32,
    pub accumulator: u32,
    pub output: u32,
    pub origin: [u32; 4usize],
    pub c_begin: u32,
    pub c_end: u32,
    pub pad: [u16; 4usize],
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_host_call_t {
    pub kernel: u32,
    pub first_operand: u32,
    pub inputs: u32,
    pub outputs: u32,
    pub cycles_lo: u32,
    pub cycles_hi: u32,
    pub why: u32,
    pub reserved: u32,
}
pub const SLUICE_OP_CONV: _bindgen_ty_7 = 1;
pub const SLUICE_OP_DEPTHWISE_CONV: _bindgen_ty_7 = 2;
pub const SLUICE_OP_TRANSPOSED_CONV: _bindgen_ty_7 = 3;
pub const SLUICE_OP_FULLY_CONNECTED: _bindgen_ty_7 = 4;
pub const SLUICE_OP_BATCH_MATMUL: _bindgen_ty_7 = 5;
pub const SLUICE_OP_MAX_POOL: _bindgen_ty_7 = 6;
pub const SLUICE_OP_AVERAGE_POOL: _bindgen_ty_7 = 7;
pub const SLUICE_OP_ADD: _bindgen_ty_7 = 8;
pub const SLUICE_OP_SUB: _bindgen_ty_7 = 9;
pub const SLUICE_OP_MUL: _bindgen_ty_7 = 10;
pub const SLUICE_OP_MINIMUM: _bindgen_ty_7 = 11;
pub const SLUICE_OP_MAXIMUM: _bindgen_ty_7 = 12;
pub const SLUICE_OP_REQUANTIZE: _bindgen_ty_7 = 13;
pub const SLUICE_OP_LOOKUP: _bindgen_ty_7 = 14;
pub const SLUICE_OP_SOFTMAX: _bindgen_ty_7 = 15;
pub const SLUICE_OP_LAYER_NORM: _bindgen_ty_7 = 16;
pub const SLUICE_OP_RMS_NORM: _bindgen_ty_7 = 17;
pub const SLUICE_OP_REDUCE: _bindgen_ty_7 = 18;
pub const SLUICE_OP_ARGMAX: _bindgen_ty_7 = 19;
pub const SLUICE_OP_CONCAT: _bindgen_ty_7 = 20;
pub const SLUICE_OP_SLICE: _bindgen_ty_7 = 21;
pub const SLUICE_OP_PAD: _bindgen_ty_7 = 22;
pub const SLUICE_OP_RESHAPE: _bindgen_ty_7 = 23;
pub const SLUICE_OP_TRANSPOSE: _bindgen_ty_7 = 24;
pub const SLUICE_OP_GATHER: _bindgen_ty_7 = 25;
pub const SLUICE_OP_RESIZE_BILINEAR: _bindgen_ty_7 = 26;
pub const SLUICE_OP_RESIZE_NEAREST: _bindgen_ty_7 = 27;
pub const SLUICE_OP_STATE_APPEND: _bindgen_ty_7 = 28;
pub const SLUICE_OP_OPAQUE: _bindgen_ty_7 = 29;
pub const SLUICE_OP_WEIGHT_GRADIENT: _bindgen_ty_7 = 30;
pub const SLUICE_OP_RELU_GRADIENT: _bindgen_ty_7 = 31;
pub const SLUICE_OP_MAX_POOL_GRADIENT: _bindgen_ty_7 = 32;
pub const SLUICE_OP_HARD_SWISH: _bindgen_ty_7 = 33;
pub const SLUICE_OP_PRELU: _bindgen_ty_7 = 34;
pub const SLUICE_OP_COUNT: _bindgen_ty_7 = 35;
pub type _bindgen_ty_7 = ::std::os::raw::c_uint;
pub const SLUICE_DTYPE_INT8: _bindgen_ty_8 = 1;
pub const SLUICE_DTYPE_UINT8: _bindgen_ty_8 = 2;
pub const SLUICE_DTYPE_INT16: _bindgen_ty_8 = 3;
pub const SLUICE_DTYPE_INT32: _bindgen_ty_8 = 4;
pub const SLUICE_DTYPE_INT64: _bindgen_ty_8 = 5;
pub const SLUICE_DTYPE_COUNT: _bindgen_ty_8 = 6;
pub type _bindgen_ty_8 = ::std::os::raw::c_uint;
pub const SLUICE_CONV_STRIDE_H: _bindgen_ty_9 = 0;
pub const SLUICE_CONV_STRIDE_W: _bindgen_ty_9 = 1;
pub const SLUICE_CONV_DILATION_H: _bindgen_ty_9 = 2;
pub const SLUICE_CONV_DILATION_W: _bindgen_ty_9 = 3;
pub const SLUICE_CONV_PAD_TOP: _bindgen_ty_9 = 4;
pub const SLUICE_CONV_PAD_LEFT: _bindgen_ty_9 = 5;
pub const SLUICE_CONV_PAD_BOTTOM: _bindgen_ty_9 = 6;
pub const SLUICE_CONV_PAD_RIGHT: _bindgen_ty_9 = 7;
pub const SLUICE_CONV_GROUPS: _bindgen_ty_9 = 8;
pub const SLUICE_CONV_INPUT_ZERO: _bindgen_ty_9 = 9;
pub const SLUICE_CONV_WEIGHT_ZERO: _bindgen_ty_9 = 10;
pub const SLUICE_CONV_OUTPUT_ZERO: _bindgen_ty_9 = 11;
pub const SLUICE_CONV_ACT_MIN: _bindgen_ty_9 = 12;
pub const SLUICE_CONV_ACT_MAX: _bindgen_ty_9 = 13;
pub const SLUICE_CONV_ROUNDING: _bindgen_ty_9 = 14;
pub const SLUICE_CONV_ATTRIBUTES: _bindgen_ty_9 = 15;
pub const SLUICE_CONV_WEIGHT_LAYOUT: _bindgen_ty_9 = 15;
pub const SLUICE_TRANSPOSED_CONV_ATTRIBUTES: _bindgen_ty_9 = 16;
pub type _bindgen_ty_9 = ::std::os::raw::c_uint;
pub const SLUICE_WEIGHT_LAYOUT_OWN: _bindgen_ty_10 = 0;
pub const SLUICE_WEIGHT_LAYOUT_CONV: _bindgen_ty_10 = 1;
pub const SLUICE_WEIGHT_LAYOUT_DEPTHWISE: _bindgen_ty_10 = 2;
pub type _bindgen_ty_10 = ::std::os::raw::c_uint;
pub const SLUICE_WEIGHT_GRADIENT_ERROR_ZERO: _bindgen_ty_11 = 10;
pub const SLUICE_WEIGHT_GRADIENT_MULTIPLIER: _bindgen_ty_11 = 14;
pub const SLUICE_WEIGHT_GRADIENT_SHIFT: _bindgen_ty_11 = 15;
pub const SLUICE_WEIGHT_GRADIENT_ATTRIBUTES: _bindgen_ty_11 = 16;
pub type _bindgen_ty_11 = ::std::os::raw::c_uint;
pub const SLUICE_MATMUL_TRANSPOSE_B: _bindgen_ty_12 = 0;
pub const SLUICE_MATMUL_A_ZERO: _bindgen_ty_12 = 1;
pub const SLUICE_MATMUL_B_ZERO: _bindgen_ty_12 = 2;
pub const SLUICE_MATMUL_OUTPUT_ZERO: _bindgen_ty_12 = 3;
pub const SLUICE_MATMUL_MULTIPLIER: _bindgen_ty_12 = 4;
pub const SLUICE_MATMUL_SHIFT: _bindgen_ty_12 = 5;
pub const SLUICE_MATMUL_ACT_MIN: _bindgen_ty_12 = 6;
pub const SLUICE_MATMUL_ACT_MAX: _bindgen_ty_12 = 7;
pub const SLUICE_MATMUL_ATTRIBUTES: _bindgen_ty_12 = 8;
pub type _bindgen_ty_12 = ::std::os::raw::c_uint;
pub const SLUICE_POOL_WINDOW_H: _bindgen_ty_13 = 0;
pub const SLUICE_POOL_WINDOW_W: _bindgen_ty_13 = 1;
pub const SLUICE_POOL_STRIDE_H: _bindgen_ty_13 = 2;
pub const SLUICE_POOL_STRIDE_W: _bindgen_ty_13 = 3;
pub const SLUICE_POOL_PAD_TOP: _bindgen_ty_13 = 4;
pub const SLUICE_POOL_PAD_LEFT: _bindgen_ty_13 = 5;
pub const SLUICE_POOL_PAD_BOTTOM: _bindgen_ty_13 = 6;
pub const SLUICE_POOL_PAD_RIGHT: _bindgen_ty_13 = 7;
pub const SLUICE_POOL_ACT_MIN: _bindgen_ty_13 = 8;
pub const SLUICE_POOL_ACT_MAX: _bindgen_ty_13 = 9;
pub const SLUICE_POOL_ATTRIBUTES: _bindgen_ty_13 = 10;
pub const SLUICE_POOL_ERROR_ZERO: _bindgen_ty_13 = 10;
pub const SLUICE_MAX_POOL_GRADIENT_ATTRIBUTES: _bindgen_ty_13 = 11;
pub type _bindgen_ty_13 = ::std::os::raw::c_uint;
pub const SLUICE_BINARY_LEFT_SHIFT: _bindgen_ty_14 = 0;
pub const SLUICE_BINARY_ZERO0: _bindgen_ty_14 = 1;
pub const SLUICE_BINARY_MULTIPLIER0: _bindgen_ty_14 = 2;
pub const SLUICE_BINARY_SHIFT0: _bindgen_ty_14 = 3;
pub const SLUICE_BINARY_ZERO1: _bindgen_ty_14 = 4;
pub const SLUICE_BINARY_MULTIPLIER1: _bindgen_ty_14 = 5;
pub const SLUICE_BINARY_SHIFT1: _bindgen_ty_14 = 6;
pub const SLUICE_BINARY_OUTPUT_ZERO: _bindgen_ty_14 = 7;
pub const SLUICE_BINARY_OUT_MULTIPLIER: _bindgen_ty_14 = 8;
pub const SLUICE_BINARY_OUT_SHIFT: _bindgen_ty_14 = 9;
pub const SLUICE_BINARY_ACT_MIN: _bindgen_ty_14 = 10;
pub const SLUICE_BINARY_ACT_MAX: _bindgen_ty_14 = 11;
pub const SLUICE_BINARY_ATTRIBUTES: _bindgen_ty_14 = 12;
pub type _bindgen_ty_14 = ::std::os::raw::c_uint;
pub const SLUICE_REQUANTIZE_INPUT_ZERO: _bindgen_ty_15 = 0;
pub const SLUICE_REQUANTIZE_MULTIPLIER: _bindgen_ty_15 = 1;
pub const SLUICE_REQUANTIZE_SHIFT: _bindgen_ty_15 = 2;
pub const SLUICE_REQUANTIZE_OUTPUT_ZERO: _bindgen_ty_15 = 3;
pub const SLUICE_REQUANTIZE_ACT_MIN: _bindgen_ty_15 = 4;
pub const SLUICE_REQUANTIZE_ACT_MAX: _bindgen_ty_15 = 5;
pub const SLUICE_REQUANTIZE_ATTRIBUTES: _bindgen_ty_15 = 6;
pub type _bindgen_ty_15 = ::std::os::raw::c_uint;
pub const SLUICE_HARD_SWISH_INPUT_ZERO: _bindgen_ty_16 = 0;
pub const SLUICE_HARD_SWISH_OUTPUT_ZERO: _bindgen_ty_16 = 1;
pub const SLUICE_HARD_SWISH_MULTIPLIER: _bindgen_ty_16 = 2;
pub const SLUICE_HARD_SWISH_SHIFT: _bindgen_ty_16 = 3;
pub const SLUICE_HARD_SWISH_GATE_MULTIPLIER: _bindgen_ty_16 = 4;
pub const SLUICE_HARD_SWISH_GATE_SHIFT: _bindgen_ty_16 = 5;
pub const SLUICE_HARD_SWISH_ATTRIBUTES: _bindgen_ty_16 = 6;
pub type _bindgen_ty_16 = ::std::os::raw::c_uint;
pub const SLUICE_PRELU_INPUT_ZERO: _bindgen_ty_17 = 0;
pub const SLUICE_PRELU_SLOPE_ZERO: _bindgen_ty_17 = 1;
pub const SLUICE_PRELU_OUTPUT_ZERO: _bindgen_ty_17 = 2;
pub const SLUICE_PRELU_MULTIPLIER: _bindgen_ty_17 = 3;
pub const SLUICE_PRELU_SHIFT: _bindgen_ty_17 = 4;
pub const SLUICE_PRELU_SLOPE_MULTIPLIER: _bindgen_ty_17 = 5;
pub const SLUICE_PRELU_SLOPE_SHIFT: _bindgen_ty_17 = 6;
pub const SLUICE_PRELU_ACT_MIN: _bindgen_ty_17 = 7;
pub const SLUICE_PRELU_ACT_MAX: _bindgen_ty_17 = 8;
pub const SLUICE_PRELU_ATTRIBUTES: _bindgen_ty_17 = 9;
pub type _bindgen_ty_17 = ::std::os::raw::c_uint;
pub const SLUICE_SOFTMAX_MULTIPLIER: _bindgen_ty_18 = 0;
pub const SLUICE_SOFTMAX_SHIFT: _bindgen_ty_18 = 1;
pub const SLUICE_SOFTMAX_DIFF_MIN: _bindgen_ty_18 = 2;
pub const SLUICE_SOFTMAX_ATTRIBUTES: _bindgen_ty_18 = 3;
pub type _bindgen_ty_18 = ::std::os::raw::c_uint;
pub const SLUICE_NORM_INPUT_ZERO: _bindgen_ty_19 = 0;
pub const SLUICE_NORM_EPSILON: _bindgen_ty_19 = 1;
pub const SLUICE_NORM_OUTPUT_ZERO: _bindgen_ty_19 = 2;
pub const SLUICE_NORM_ACT_MIN: _bindgen_ty_19 = 3;
pub const SLUICE_NORM_ACT_MAX: _bindgen_ty_19 = 4;
pub const SLUICE_NORM_ATTRIBUTES: _bindgen_ty_19 = 5;
pub type _bindgen_ty_19 = ::std::os::raw::c_uint;
pub const SLUICE_REDUCE_AXES: _bindgen_ty_20 = 0;
pub const SLUICE_REDUCE_KIND: _bindgen_ty_20 = 1;
pub const SLUICE_REDUCE_INPUT_ZERO: _bindgen_ty_20 = 2;
pub const SLUICE_REDUCE_OUTPUT_ZERO: _bindgen_ty_20 = 3;
pub const SLUICE_REDUCE_MULTIPLIER: _bindgen_ty_20 = 4;
pub const SLUICE_REDUCE_SHIFT: _bindgen_ty_20 = 5;
pub const SLUICE_REDUCE_ACT_MIN: _bindgen_ty_20 = 6;
pub const SLUICE_REDUCE_ACT_MAX: _bindgen_ty_20 = 7;
pub const SLUICE_REDUCE_ATTRIBUTES: _bindgen_ty_20 = 8;
pub type _bindgen_ty_20 = ::std::os::raw::c_uint;
pub const SLUICE_REDUCE_KIND_SUM: _bindgen_ty_21 = 0;
pub const SLUICE_REDUCE_KIND_MAX: _bindgen_ty_21 = 1;
pub type _bindgen_ty_21 = ::std::os::raw::c_uint;
pub const SLUICE_CONCAT_AXIS: _bindgen_ty_22 = 0;
pub const SLUICE_CONCAT_ATTRIBUTES: _bindgen_ty_22 = 1;
pub type _bindgen_ty_22 = ::std::os::raw::c_uint;
pub const SLUICE_SLICE_BEGIN_N: _bindgen_ty_23 = 0;
pub const SLUICE_SLICE_BEGIN_H: _bindgen_ty_23 = 1;
pub const SLUICE_SLICE_BEGIN_W: _bindgen_ty_23 = 2;
pub const SLUICE_SLICE_BEGIN_C: _bindgen_ty_23 = 3;
pub const SLUICE_SLICE_ATTRIBUTES: _bindgen_ty_23 = 4;
pub type _bindgen_ty_23 = ::std::os::raw::c_uint;
pub const SLUICE_PAD_BEFORE_N: _bindgen_ty_24 = 0;
pub const SLUICE_PAD_BEFORE_H: _bindgen_ty_24 = 1;
pub const SLUICE_PAD_BEFORE_W: _bindgen_ty_24 = 2;
pub const SLUICE_PAD_BEFORE_C: _bindgen_ty_24 = 3;
pub const SLUICE_PAD_VALUE: _bindgen_ty_24 = 4;
pub const SLUICE_PAD_ATTRIBUTES: _bindgen_ty_24 = 5;
pub type _bindgen_ty_24 = ::std::os::raw::c_uint;
pub const SLUICE_TRANSPOSE_PERM0: _bindgen_ty_25 = 0;
pub const SLUICE_TRANSPOSE_PERM1: _bindgen_ty_25 = 1;
pub const SLUICE_TRANSPOSE_PERM2: _bindgen_ty_25 = 2;
pub const SLUICE_TRANSPOSE_PERM3: _bindgen_ty_25 = 3;
pub const SLUICE_TRANSPOSE_ATTRIBUTES: _bindgen_ty_25 = 4;
pub type _bindgen_ty_25 = ::std::os::raw::c_uint;
pub const SLUICE_RESIZE_ALIGN_CORNERS: _bindgen_ty_26 = 0;
pub const SLUICE_RESIZE_HALF_PIXEL_CENTERS: _bindgen_ty_26 = 1;
pub const SLUICE_RESIZE_ATTRIBUTES: _bindgen_ty_26 = 2;
pub type _bindgen_ty_26 = ::std::os::raw::c_uint;
pub const SLUICE_APPEND_AXIS: _bindgen_ty_27 = 0;
pub const SLUICE_APPEND_PARAMETER: _bindgen_ty_27 = 1;
pub const SLUICE_APPEND_ATTRIBUTES: _bindgen_ty_27 = 2;
pub type _bindgen_ty_27 = ::std::os::raw::c_uint;
pub const SLUICE_OPAQUE_CYCLES_LO: _bindgen_ty_28 = 0;
pub const SLUICE_OPAQUE_CYCLES_HI: _bindgen_ty_28 = 1;
pub const SLUICE_OPAQUE_NAME: _bindgen_ty_28 = 2;
pub const SLUICE_OPAQUE_ATTRIBUTES: _bindgen_ty_28 = 3;
pub type _bindgen_ty_28 = ::std::os::raw::c_uint;
pub type sluice_status_t = i32;
pub const SLUICE_OK: _bindgen_ty_29 = 0;
pub const SLUICE_INFEASIBLE: _bindgen_ty_29 = 1;
pub const SLUICE_STOPPED: _bindgen_ty_29 = 2;
pub const SLUICE_REJECTED: _bindgen_ty_29 = 3;
pub const SLUICE_BAD_ARGUMENT: _bindgen_ty_29 = -1;
pub const SLUICE_BAD_INPUT: _bindgen_ty_29 = -2;
pub const SLUICE_UNSUPPORTED: _bindgen_ty_29 = -3;
pub const SLUICE_OUT_OF_MEMORY: _bindgen_ty_29 = -4;
pub const SLUICE_BUFFER_TOO_SMALL: _bindgen_ty_29 = -5;
pub const SLUICE_INTERNAL: _bindgen_ty_29 = -6;
pub type _bindgen_ty_29 = ::std::os::raw::c_int;
pub const SLUICE_STOP_COMPLETE: _bindgen_ty_30 = 0;
pub const SLUICE_STOP_DEADLINE: _bindgen_ty_30 = 1;
pub const SLUICE_STOP_ITERATIONS: _bindgen_ty_30 = 2;
pub const SLUICE_STOP_CANCELLED: _bindgen_ty_30 = 3;
pub const SLUICE_STOP_PROVED: _bindgen_ty_30 = 4;
pub type _bindgen_ty_30 = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sluice_diagnostic {
    pub struct_size: u32,
    pub status: sluice_status_t,
    pub layer: u32,
    pub tensor: u32,
    pub instruction: u32,
    pub model: u32,
    pub required_bytes: u64,
    pub available_bytes: u64,
    pub smallest_scratchpad_bytes: u64,
    pub stage: [::std::os::raw::c_char; 16usize],
    pub rule: [::std::os::raw::c_char; 32usize],
    pub message: [::std::os::raw::c_char; 256usize],
}
impl Default for sluice_diagnostic {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type sluice_diagnostic_t = sluice_diagnostic;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sluice_allocator {
    pub struct_size: u32,
    pub reserved: u32,
    pub user: *mut ::core::ffi::c_void,
    pub allocate: ::core::option::Option<
        unsafe extern "C" fn(
            user: *mut ::core::ffi::c_void,
            bytes: usize,
            alignment: usize,
        ) -> *mut ::core::ffi::c_void,
    >,
    pub release: ::core::option::Option<
        unsafe extern "C" fn(
            user: *mut ::core::ffi::c_void,
            pointer: *mut ::core::ffi::c_void,
            bytes: usize,
            alignment: usize,
        ),
    >,
}
impl Default for sluice_allocator {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type sluice_allocator_t = sluice_allocator;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sluice_context_options {
    pub struct_size: u32,
    pub reserved: u32,
    pub allocator: *const sluice_allocator_t,
    pub block: *mut ::core::ffi::c_void,
    pub block_bytes: u64,
    pub max_bytes: u64,
    pub now_ns: ::core::option::Option<
        unsafe extern "C" fn(user: *mut ::core::ffi::c_void) -> u64,
    >,
    pub clock_user: *mut ::core::ffi::c_void,
}
impl Default for sluice_context_options {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type sluice_context_options_t = sluice_context_options;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sluice_context {
    _unused: [u8; 0],
}
pub type sluice_context_t = sluice_context;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sluice_graph {
    _unused: [u8; 0],
}
pub type sluice_graph_t = sluice_graph;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sluice_hardware {
    _unused: [u8; 0],
}
pub type sluice_hardware_t = sluice_hardware;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sluice_plan {
    _unused: [u8; 0],
}
pub type sluice_plan_t = sluice_plan;
extern "C" {
    pub fn sluice_version() -> *const ::std::os::raw::c_char;
}
pub const SLUICE_COMPONENT_MESH: _bindgen_ty_31 = 1;
pub const SLUICE_COMPONENT_MAPPERS: _bindgen_ty_31 = 2;
pub const SLUICE_COMPONENT_OPERATORS: _bindgen_ty_31 = 4;
pub const SLUICE_COMPONENT_COSCHEDULE: _bindgen_ty_31 = 8;
pub const SLUICE_COMPONENT_TOKENS: _bindgen_ty_31 = 16;
pub const SLUICE_COMPONENT_FUSION: _bindgen_ty_31 = 32;
pub const SLUICE_COMPONENT_REPEATS: _bindgen_ty_31 = 64;
pub type _bindgen_ty_31 = ::std::os::raw::c_uint;
extern "C" {
    pub fn sluice_components() -> u32;
}
extern "C" {
    pub fn sluice_status_name(status: sluice_status_t) -> *const ::std::os::raw::c_char;
}
extern "C" {
    pub fn sluice_context_create(
        options: *const sluice_context_options_t,
        out_context: *mut *mut sluice_context_t,
        diagnostic: *mut sluice_diagnostic_t,
    ) -> sluice_status_t;
}
extern "C" {
    pub fn sluice_context_destroy(context: *mut sluice_context_t);
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_memory_stats {
    pub struct_size: u32,
    pub reserved: u32,
    pub live_bytes: u64,
    pub peak_bytes: u64,
    pub allocations: u64,
}
pub type sluice_memory_stats_t = sluice_memory_stats;
extern "C" {
    pub fn sluice_context_memory(
        context: *const sluice_context_t,
        out_stats: *mut sluice_memory_stats_t,
    ) -> sluice_status_t;
}
extern "C" {
    pub fn sluice_graph_create(
        context: *mut sluice_context_t,
        bytes: *const ::core::ffi::c_void,
        size: usize,
        out_graph: *mut *mut sluice_graph_t,
        diagnostic: *mut sluice_diagnostic_t,
    ) -> sluice_status_t;
}
extern "C" {
    pub fn sluice_graph_destroy(graph: *mut sluice_graph_t);
}
extern "C" {
    pub fn sluice_hardware_create(
        context: *mut sluice_context_t,
        bytes: *const ::core::ffi::c_void,
        size: usize,
        out_hardware: *mut *mut sluice_hardware_t,
        diagnostic: *mut sluice_diagnostic_t,
    ) -> sluice_status_t;
}
extern "C" {
    pub fn sluice_hardware_destroy(hardware: *mut sluice_hardware_t);
}
pub const SLUICE_TENSOR_INTERMEDIATE: _bindgen_ty_32 = 0;
pub const SLUICE_TENSOR_INPUT: _bindgen_ty_32 = 1;
pub const SLUICE_TENSOR_OUTPUT: _bindgen_ty_32 = 2;
pub const SLUICE_TENSOR_CONSTANT: _bindgen_ty_32 = 3;
pub const SLUICE_TENSOR_STATE: _bindgen_ty_32 = 4;
pub type _bindgen_ty_32 = ::std::os::raw::c_uint;
pub const SLUICE_SOURCE_NONE: _bindgen_ty_33 = 0;
pub const SLUICE_SOURCE_INLINE: _bindgen_ty_33 = 1;
pub const SLUICE_SOURCE_EXTERNAL: _bindgen_ty_33 = 2;
pub const SLUICE_SOURCE_SEEDED: _bindgen_ty_33 = 3;
pub type _bindgen_ty_33 = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_graph_counts {
    pub struct_size: u32,
    pub tensors: u32,
    pub layers: u32,
    pub parameters: u32,
}
pub type sluice_graph_counts_t = sluice_graph_counts;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sluice_tensor_info {
    pub struct_size: u32,
    pub kind: u32,
    pub dtype: u32,
    pub rank: u32,
    pub extent: [i32; 4usize],
    pub bytes: u64,
    pub source: u32,
    pub name_size: u32,
    pub file_size: u32,
    pub reserved: u32,
    pub source_offset: u64,
    pub name: *const ::std::os::raw::c_char,
    pub file: *const ::std::os::raw::c_char,
}
impl Default for sluice_tensor_info {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type sluice_tensor_info_t = sluice_tensor_info;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sluice_layer_info {
    pub struct_size: u32,
    pub op: u32,
    pub input_count: u32,
    pub output_count: u32,
    pub attribute_count: u32,
    pub name_size: u32,
    pub inputs: *const u32,
    pub outputs: *const u32,
    pub attributes: *const i32,
    pub name: *const ::std::os::raw::c_char,
}
impl Default for sluice_layer_info {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type sluice_layer_info_t = sluice_layer_info;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sluice_parameter_info {
    pub struct_size: u32,
    pub min: i32,
    pub max: i32,
    pub name_size: u32,
    pub name: *const ::std::os::raw::c_char,
}
impl Default for sluice_parameter_info {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type sluice_parameter_info_t = sluice_parameter_info;
extern "C" {
    pub fn sluice_graph_count(
        graph: *const sluice_graph_t,
        out_counts: *mut sluice_graph_counts_t,
    ) -> sluice_status_t;
}
extern "C" {
    pub fn sluice_graph_tensor(
        graph: *const sluice_graph_t,
        index: u32,
        out_tensor: *mut sluice_tensor_info_t,
    ) -> sluice_status_t;
}
extern "C" {
    pub fn sluice_graph_layer(
        graph: *const sluice_graph_t,
        index: u32,
        out_layer: *mut sluice_layer_info_t,
    ) -> sluice_status_t;
}
extern "C" {
    pub fn sluice_graph_parameter(
        graph: *const sluice_graph_t,
        index: u32,
        out_parameter: *mut sluice_parameter_info_t,
    ) -> sluice_status_t;
}
pub const SLUICE_SOLVER_DEFAULT: _bindgen_ty_34 = 0;
pub const SLUICE_SOLVER_BASELINE: _bindgen_ty_34 = 1;
pub const SLUICE_SOLVER_FUSION: _bindgen_ty_34 = 2;
pub const SLUICE_SOLVER_COCCO: _bindgen_ty_34 = 3;
pub const SLUICE_SOLVER_SOMA: _bindgen_ty_34 = 4;
pub type _bindgen_ty_34 = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_tile_cost {
    pub cycles: i64,
    pub energy_pj: f64,
    pub scratchpad_pj: f64,
}
pub type sluice_tile_cost_t = sluice_tile_cost;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_tile_row {
    pub layer: u32,
    pub extent: [i32; 4usize],
    pub channels: i32,
    pub cost: sluice_tile_cost_t,
}
pub type sluice_tile_row_t = sluice_tile_row;
pub type sluice_tile_cost_fn = ::core::option::Option<
    unsafe extern "C" fn(
        user: *mut ::core::ffi::c_void,
        layer: u32,
        extent: *const i32,
        channels: i32,
        out: *mut sluice_tile_cost_t,
    ) -> i32,
>;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sluice_runner {
    pub struct_size: u32,
    pub reserved: u32,
    pub user: *mut ::core::ffi::c_void,
    pub run: ::core::option::Option<
        unsafe extern "C" fn(
            user: *mut ::core::ffi::c_void,
            job: ::core::option::Option<
                unsafe extern "C" fn(argument: *mut ::core::ffi::c_void, index: u32),
            >,
            argument: *mut ::core::ffi::c_void,
            jobs: u32,
        ),
    >,
}
impl Default for sluice_runner {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type sluice_runner_t = sluice_runner;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sluice_schedule_options {
    pub struct_size: u32,
    pub solver: u32,
    pub scratchpad_bytes: u64,
    pub deadline_ns: u64,
    pub max_iterations: u64,
    pub seed: u64,
    pub cancel: *const u32,
    pub progress: ::core::option::Option<
        unsafe extern "C" fn(user: *mut ::core::ffi::c_void, iterations: u64, cost: f64) -> i32,
    >,
    pub progress_user: *mut ::core::ffi::c_void,
    pub energy_exponent: u32,
    pub delay_exponent: u32,
    pub tile_rows: *const sluice_tile_row_t,
    pub tile_row_count: u64,
    pub tile_cost: sluice_tile_cost_fn,
    pub tile_cost_user: *mut ::core::ffi::c_void,
    pub granularity: u32,
    pub reserved: u32,
    pub max_block_cycles: u64,
    pub resume: *const sluice_plan_t,
    pub runner: *const sluice_runner_t,
    pub tile_bound: sluice_tile_cost_fn,
}
impl Default for sluice_schedule_options {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type sluice_schedule_options_t = sluice_schedule_options;
pub const SLUICE_GRANULARITY_TILE: _bindgen_ty_35 = 0;
pub const SLUICE_GRANULARITY_OPERATOR: _bindgen_ty_35 = 1;
pub const SLUICE_GRANULARITY_RECOMPUTE: _bindgen_ty_35 = 2;
pub type _bindgen_ty_35 = ::std::os::raw::c_uint;
extern "C" {
    pub fn sluice_schedule(
        context: *mut sluice_context_t,
        graph: *const sluice_graph_t,
        hardware: *const sluice_hardware_t,
        options: *const sluice_schedule_options_t,
        out_plan: *mut *mut sluice_plan_t,
        diagnostic: *mut sluice_diagnostic_t,
    ) -> sluice_status_t;
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_change {
    pub struct_size: u32,
    pub changed: u32,
    pub from_scratch: u32,
    pub layers_kept: u32,
    pub layers_changed: u32,
    pub layers_inserted: u32,
    pub layers_removed: u32,
    pub blocks: u32,
    pub blocks_changed: u32,
    pub reserved: u32,
    pub stream_bytes: u64,
    pub patch_bytes: u64,
}
pub type sluice_change_t = sluice_change;
pub const SLUICE_CHANGED_GRAPH: _bindgen_ty_36 = 1;
pub const SLUICE_CHANGED_HARDWARE: _bindgen_ty_36 = 2;
pub const SLUICE_CHANGED_SCRATCHPAD: _bindgen_ty_36 = 4;
pub type _bindgen_ty_36 = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sluice_reschedule_options {
    pub struct_size: u32,
    pub minimise_changes: u32,
    pub previous: *const sluice_plan_t,
    pub schedule: *const sluice_schedule_options_t,
    pub change: *mut sluice_change_t,
}
impl Default for sluice_reschedule_options {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type sluice_reschedule_options_t = sluice_reschedule_options;
extern "C" {
    pub fn sluice_reschedule(
        context: *mut sluice_context_t,
        graph: *const sluice_graph_t,
        hardware: *const sluice_hardware_t,
        options: *const sluice_reschedule_options_t,
        out_plan: *mut *mut sluice_plan_t,
        diagnostic: *mut sluice_diagnostic_t,
    ) -> sluice_status_t;
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_patch_range {
    pub offset: u64,
    pub bytes: u64,
}
pub type sluice_patch_range_t = sluice_patch_range;
extern "C" {
    pub fn sluice_plan_patch(
        before: *const sluice_plan_t,
        after: *const sluice_plan_t,
        gap_bytes: u64,
        ranges: *mut sluice_patch_range_t,
        count: *mut usize,
    ) -> sluice_status_t;
}
extern "C" {
    pub fn sluice_graph_hash(graph: *const sluice_graph_t) -> u64;
}
extern "C" {
    pub fn sluice_hardware_hash(hardware: *const sluice_hardware_t) -> u64;
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_plan_hashes {
    pub struct_size: u32,
    pub reserved: u32,
    pub plan: u64,
    pub made_for_graph: u64,
    pub made_for_hardware: u64,
    pub scratchpad_bytes: u64,
}
pub type sluice_plan_hashes_t = sluice_plan_hashes;
extern "C" {
    pub fn sluice_plan_hash(
        plan: *const sluice_plan_t,
        out_hashes: *mut sluice_plan_hashes_t,
    ) -> sluice_status_t;
}
extern "C" {
    pub fn sluice_schedule_memory_bound(
        context: *mut sluice_context_t,
        graph: *const sluice_graph_t,
        hardware: *const sluice_hardware_t,
        options: *const sluice_schedule_options_t,
        out_bytes: *mut u64,
        diagnostic: *mut sluice_diagnostic_t,
    ) -> sluice_status_t;
}
extern "C" {
    pub fn sluice_plan_create(
        context: *mut sluice_context_t,
        bytes: *const ::core::ffi::c_void,
        size: usize,
        out_plan: *mut *mut sluice_plan_t,
        diagnostic: *mut sluice_diagnostic_t,
    ) -> sluice_status_t;
}
extern "C" {
    pub fn sluice_plan_destroy(plan: *mut sluice_plan_t);
}
extern "C" {
    pub fn sluice_plan_bytes(
        plan: *const sluice_plan_t,
        out_bytes: *mut *const ::core::ffi::c_void,
        out_size: *mut usize,
    ) -> sluice_status_t;
}
extern "C" {
    pub fn sluice_plan_stream(
        plan: *const sluice_plan_t,
        out_stream: *mut *const ::core::ffi::c_void,
        out_size: *mut usize,
    ) -> sluice_status_t;
}
extern "C" {
    pub fn sluice_plan_write(
        plan: *const sluice_plan_t,
        buffer: *mut ::core::ffi::c_void,
        size: *mut usize,
    ) -> sluice_status_t;
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_tensor_place {
    pub struct_size: u32,
    pub region: u32,
    pub offset: u64,
    pub stride: [u32; 4usize],
}
pub type sluice_tensor_place_t = sluice_tensor_place;
extern "C" {
    pub fn sluice_plan_tensor(
        plan: *const sluice_plan_t,
        index: u32,
        out_place: *mut sluice_tensor_place_t,
    ) -> sluice_status_t;
}
pub const SLUICE_PHASE_READ: _bindgen_ty_37 = 0;
pub const SLUICE_PHASE_LOWER: _bindgen_ty_37 = 1;
pub const SLUICE_PHASE_SCHEDULE: _bindgen_ty_37 = 2;
pub const SLUICE_PHASE_PLACE: _bindgen_ty_37 = 3;
pub const SLUICE_PHASE_EMIT: _bindgen_ty_37 = 4;
pub const SLUICE_PHASE_VERIFY: _bindgen_ty_37 = 5;
pub const SLUICE_PHASE_COUNT: _bindgen_ty_37 = 6;
pub type _bindgen_ty_37 = ::std::os::raw::c_uint;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_report {
    pub struct_size: u32,
    pub stop_reason: u32,
    pub latency_cycles: u64,
    pub energy_pj: f64,
    pub energy_dram_pj: f64,
    pub energy_scratchpad_pj: f64,
    pub energy_compute_pj: f64,
    pub energy_leakage_pj: f64,
    pub dram_read_bytes: u64,
    pub dram_write_bytes: u64,
    pub spill_bytes: u64,
    pub peak_buffer_bytes: u64,
    pub bound_latency_cycles: u64,
    pub bound_energy_pj: f64,
    pub macs: u64,
    pub vector_ops: u64,
    pub iterations: u64,
    pub layers: u32,
    pub groups: u32,
    pub tiles: u32,
    pub instructions: u32,
    pub phase_peak_bytes: [u64; 8usize],
    pub energy_noc_pj: f64,
    pub missing_components: u32,
    pub host_layers: u32,
    pub host_macs: u64,
    pub host_bytes: u64,
    pub energy_host_pj: f64,
}
pub type sluice_report_t = sluice_report;
extern "C" {
    pub fn sluice_plan_report(
        plan: *const sluice_plan_t,
        out_report: *mut sluice_report_t,
    ) -> sluice_status_t;
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct sluice_layer_least {
    pub cycles: u64,
    pub constant_bytes: u64,
    pub loaded_bytes: u64,
    pub stored_bytes: u64,
    pub energy_pj: f64,
}
pub type sluice_layer_least_t = sluice_layer_least;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct sluice_certificate {
    pub struct_size: u32,
    pub count: u32,
    pub layers: *const sluice_layer_least_t,
    pub all: sluice_layer_least_t,
    pub host_cycles: u64,
    pub compute_cycles: u64,
    pub port_cycles: u64,
    pub room_cycles: u64,
    pub again_pj: f64,
    pub caller_cycles: u64,
    pub caller_pj: f64,
}
impl Default for sluice_certificate {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
pub type sluice_certificate_t = sluice_certificate;
extern "C" {
    pub fn sluice_plan_certificate(
        plan: *const sluice_plan_t,
        out_certificate: *mut sluice_certificate_t,
    ) -> sluice_status_t;
}
extern "C" {
    pub fn sluice_verify(
        context: *mut sluice_context_t,
        graph: *const sluice_graph_t,
        hardware: *const sluice_hardware_t,
        plan: *const sluice_plan_t,
        diagnostic: *mut sluice_diagnostic_t,
    ) -> sluice_status_t;
}
