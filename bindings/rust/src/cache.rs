// SPDX-License-Identifier: Apache-2.0
//! Plans on disk, with hashes of their inputs as keys (feature `cache`): the library of
//! `bindings/cache`, so programs in other languages find the same files.
//!
//! Verify a plan from the cache before use: its checksum detects accidental damage, not
//! forgery.
use crate::{sys, Graph, Hardware, Plan};
use std::ffi::{c_char, c_int, c_void, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

/// Hashes of all inputs that a plan depends on; independent of the weights' values.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    graph: u64,
    hardware: u64,
    options: u64,
}

extern "C" {
    fn plan_cache_hash(hash: u64, bytes: *const c_void, size: usize) -> u64;
    fn plan_cache_get(folder: *const c_char, key: *const Key, out: *mut *mut c_void, out_size: *mut usize) -> c_int;
    fn plan_cache_put(folder: *const c_char, key: *const Key, plan: *const c_void, size: usize) -> c_int;
    fn free(pointer: *mut c_void);
}

impl Key {
    /// `options`: bytes that encode the options of the plan.
    pub fn new(graph: &Graph<'_>, hardware: &Hardware<'_>, options: &[u8]) -> Key {
        // SAFETY: live objects; the bytes are as many as they say.
        unsafe {
            Key {
                graph: sys::sluice_graph_hash(graph.raw),
                hardware: sys::sluice_hardware_hash(hardware.raw),
                options: plan_cache_hash(0xcbf29ce484222325, options.as_ptr().cast(), options.len()),
            }
        }
    }
}

/// A folder of plans that processes may share.
pub struct Cache {
    folder: CString,
}

impl Cache {
    /// None: the path contains a NUL byte. A missing folder only makes `put` fail.
    pub fn new(folder: &Path) -> Option<Cache> {
        Some(Cache { folder: CString::new(folder.as_os_str().as_bytes()).ok()? })
    }

    /// The bytes of a plan. None: there is none, or its file is damaged or not a plan.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let (mut out, mut size) = (ptr::null_mut(), 0);
        // SAFETY: `out` has `size` bytes from malloc if there is a plan, and is ours then.
        unsafe {
            if plan_cache_get(self.folder.as_ptr(), key, &mut out, &mut size) == 0 {
                return None;
            }
            let bytes = std::slice::from_raw_parts(out.cast::<u8>(), size).to_vec();
            free(out);
            Some(bytes)
        }
    }

    /// Stores a plan. False: it could not be written.
    pub fn put(&self, key: &Key, plan: &Plan<'_>) -> bool {
        let bytes = plan.bytes();
        // SAFETY: the bytes live as long as the plan.
        unsafe { plan_cache_put(self.folder.as_ptr(), key, bytes.as_ptr().cast(), bytes.len()) != 0 }
    }
}
