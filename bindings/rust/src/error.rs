// SPDX-License-Identifier: Apache-2.0
//! Errors, with the library's messages and numbers.
use crate::sys;
use std::fmt;

/// What went wrong and where. Indices and byte counts are there when they apply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diagnostic {
    /// One English sentence.
    pub message: String,
    /// "graph", "hardware", "lowering", "baseline", "verify", ...
    pub stage: String,
    /// The violated rule of a rejected stream: "order", "bounds", ...
    pub rule: String,
    pub layer: Option<u32>,
    pub tensor: Option<u32>,
    pub instruction: Option<u32>,
    pub required_bytes: Option<u64>,
    pub available_bytes: Option<u64>,
    /// The smallest scratchpad that has a plan, of [`Error::Infeasible`].
    pub smallest_scratchpad_bytes: Option<u64>,
}

/// Every status but success. Boxed, so that results stay small.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Proved: no legal plan exists.
    Infeasible(Box<Diagnostic>),
    /// A limit was reached before any legal plan existed.
    Stopped(Box<Diagnostic>),
    /// Verification found the plan wrong.
    Rejected(Box<Diagnostic>),
    BadArgument(Box<Diagnostic>),
    /// The buffer is not a valid graph, hardware or plan.
    BadInput(Box<Diagnostic>),
    /// Valid, but this version or build does not support it.
    Unsupported(Box<Diagnostic>),
    /// The allocator refused, or the cap would be exceeded.
    OutOfMemory(Box<Diagnostic>),
    /// A defect of the library.
    Internal(Box<Diagnostic>),
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn diagnostic(&self) -> &Diagnostic {
        match self {
            Error::Infeasible(d)
            | Error::Stopped(d)
            | Error::Rejected(d)
            | Error::BadArgument(d)
            | Error::BadInput(d)
            | Error::Unsupported(d)
            | Error::OutOfMemory(d)
            | Error::Internal(d) => d,
        }
    }

    pub(crate) fn from_c(status: sys::sluice_status_t, d: &sys::sluice_diagnostic_t) -> Error {
        let diagnostic = Box::new(Diagnostic {
            message: text(&d.message),
            stage: text(&d.stage),
            rule: text(&d.rule),
            layer: index(d.layer),
            tensor: index(d.tensor),
            instruction: index(d.instruction),
            required_bytes: nonzero(d.required_bytes),
            available_bytes: nonzero(d.required_bytes).map(|_| d.available_bytes),
            smallest_scratchpad_bytes: nonzero(d.smallest_scratchpad_bytes),
        });
        match status {
            sys::SLUICE_INFEASIBLE => Error::Infeasible(diagnostic),
            sys::SLUICE_STOPPED => Error::Stopped(diagnostic),
            sys::SLUICE_REJECTED => Error::Rejected(diagnostic),
            sys::SLUICE_BAD_INPUT => Error::BadInput(diagnostic),
            sys::SLUICE_UNSUPPORTED => Error::Unsupported(diagnostic),
            sys::SLUICE_OUT_OF_MEMORY => Error::OutOfMemory(diagnostic),
            sys::SLUICE_INTERNAL => Error::Internal(diagnostic),
            _ => Error::BadArgument(diagnostic),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Error::Infeasible(_) => "infeasible",
            Error::Stopped(_) => "stopped",
            Error::Rejected(_) => "rejected",
            Error::BadArgument(_) => "bad argument",
            Error::BadInput(_) => "bad input",
            Error::Unsupported(_) => "unsupported",
            Error::OutOfMemory(_) => "out of memory",
            Error::Internal(_) => "internal error",
        };
        write!(f, "{kind}: {}", self.diagnostic().message)
    }
}

impl std::error::Error for Error {}

fn text(chars: &[std::os::raw::c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().map(|c| *c as u8).take_while(|b| *b != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn index(value: u32) -> Option<u32> {
    (value != sys::SLUICE_NO_INDEX).then_some(value)
}

fn nonzero(value: u64) -> Option<u64> {
    (value != 0).then_some(value)
}

/// Calls a C function with a diagnostic and turns its status into a Result.
pub(crate) fn call(f: impl FnOnce(*mut sys::sluice_diagnostic_t) -> sys::sluice_status_t) -> Result<()> {
    let mut diagnostic = sys::sluice_diagnostic_t {
        struct_size: std::mem::size_of::<sys::sluice_diagnostic_t>() as u32,
        ..Default::default()
    };
    match f(&mut diagnostic) {
        sys::SLUICE_OK => Ok(()),
        status => Err(Error::from_c(status, &diagnostic)),
    }
}
