// SPDX-License-Identifier: Apache-2.0
//! Finds the library, or builds it.
//!
//! 1. SLUICE_LIB_DIR: a folder with libsluice; for the features SLUICE_DEVICE_LIB_DIR,
//!    SLUICE_IMPORT_LIB_DIR and SLUICE_CACHE_LIB_DIR, with libsluice_device,
//!    libsluice_import and libsluice_cache.a. A static archive is preferred: programs
//!    that use this crate then need not find a shared library at run time, a path that
//!    a dependency's build script cannot set for them.
//! 2. pkg-config: an installed sluice.
//! 3. The source tree this crate lies in, built with CMake and linked statically.
use std::env;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-env-changed=SLUICE_LIB_DIR");
    if let Ok(folder) = env::var("SLUICE_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
        if Path::new(&folder).join("libsluice.a").exists() {
            // The crate contains the archive: a new one must be taken in.
            println!("cargo:rerun-if-changed={folder}/libsluice.a");
            println!("cargo:rustc-link-lib=static=sluice");
        } else {
            println!("cargo:rustc-link-lib=dylib=sluice");
            println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
        }
    } else if pkg_config::Config::new().atleast_version("0.1").probe("sluice").is_err() {
        build();
    }
    if env::var_os("CARGO_FEATURE_DEVICE").is_some() {
        link("SLUICE_DEVICE_LIB_DIR", "sluice_device");
    }
    if env::var_os("CARGO_FEATURE_CACHE").is_some() {
        println!("cargo:rerun-if-env-changed=SLUICE_CACHE_LIB_DIR");
        if let Ok(folder) = env::var("SLUICE_CACHE_LIB_DIR") {
            println!("cargo:rustc-link-search=native={folder}");
            println!("cargo:rerun-if-changed={folder}/libsluice_cache.a");
        }
        println!("cargo:rustc-link-lib=static=sluice_cache");
    }
    if env::var_os("CARGO_FEATURE_IMPORT").is_some() {
        link("SLUICE_IMPORT_LIB_DIR", "sluice_import");
    }
}

/// Links a library from the folder that the variable names, or from the linker's search
/// path.
fn link(variable: &str, library: &str) {
    println!("cargo:rerun-if-env-changed={variable}");
    if let Ok(folder) = env::var(variable) {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
    println!("cargo:rustc-link-lib=dylib={library}");
}

fn build() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !root.join("include/sluice/sluice.h").exists() {
        panic!("no installed sluice (pkg-config), no SLUICE_LIB_DIR, no source tree around the crate");
    }
    println!("cargo:rerun-if-changed={}", root.join("src").display());
    println!("cargo:rerun-if-changed={}", root.join("include").display());
    let out = cmake::Config::new(&root)
        .define("SLUICE_BUILD_CLI", "OFF")
        .define("SLUICE_BUILD_TESTS", "OFF")
        .profile("Release")
        .build_target("sluice_archive")
        .build();
    println!("cargo:rustc-link-search=native={}", out.join("build/src").display());
    println!("cargo:rustc-link-lib=static=sluice");
}
