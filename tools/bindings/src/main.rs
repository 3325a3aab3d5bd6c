// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Makes `rdma-sys/src/bindings.rs` from the installed headers of libibverbs, by bindgen and libclang.
//!
//! `make bindings` writes. With `--check` it only compares, where the installed headers are of the
//! release that the bindings were made from; `tests/layout.rs` holds them against the headers of any release.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Enumerations whose values are or'ed: a struct with operators each.
const FLAGS: &str = "ibv_.*_(flags|flags2|mask|bits|fields|caps|size)|ib_uverbs_access_flags|rdma_cm_.*_(mask|flags)";
/// All other enumerations are integers with constants in a module of their own, except this.
const ENUM: &str = "ibv_event_type";
/// What src/types.rs and the crate libc have.
const BY_HAND: &str = "(ibv_(ah_attr|async_event|flow_spec|gid|global_route|mw_bind_info|ops_wr|send_wr|wc)\
    |rdma_(addr|cm_event|ib_addr|ud_param)|in6?_.*|sa_family_t|sockaddr.*|timespec|(__)?pthread_.*|__atomic_wide_counter)\
    (__bindgen_ty_.*)?";

fn main() -> ExitCode {
    let check_only = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--check") => true,
        Some(other) => {
            eprintln!("unknown argument {other}: there is only --check");
            return ExitCode::from(2);
        }
    };
    match run(check_only) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(check_only: bool) -> Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rdma-sys").canonicalize()?;
    let path = root.join("src/bindings.rs");
    let release = installed_release()?;
    let head = format!("// Made by `make bindings` from the headers of libibverbs {release}.");
    if check_only {
        let current = std::fs::read_to_string(&path)?;
        let made_from = current.lines().next().unwrap_or_default();
        if made_from != head {
            println!("not compared: {release} is installed, and the file says \"{made_from}\"");
            return Ok(ExitCode::SUCCESS);
        }
        if current != generate(&root, &head)? {
            eprintln!("{} differs: run `make bindings` and commit", path.display());
            return Ok(ExitCode::FAILURE);
        }
    } else {
        std::fs::write(&path, generate(&root, &head)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The release of the installed headers, as pkg-config says it.
fn installed_release() -> Result<String> {
    let output = Command::new("pkg-config").args(["--modversion", "libibverbs"]).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn generate(root: &Path, head: &str) -> Result<String> {
    let rustfmt: PathBuf = root.join("../rustfmt.toml").canonicalize()?;
    let bindings = bindgen::Builder::default()
        .header(root.join("src/bindings.h").to_string_lossy())
        .raw_line(head)
        .raw_line("use crate::*;")
        .rust_target(bindgen::RustTarget::stable(87, 0).map_err(|error| error.to_string())?)
        .rust_edition(bindgen::RustEdition::Edition2021)
        .use_core()
        .ctypes_prefix("::core::ffi")
        .disable_header_comment()
        // Never the functions of librdmacm: they are this library.
        .allowlist_function("ibv_.*")
        .allowlist_type("ibv_.*|verbs_.*|rdma_.*|ib_uverbs_access_flags")
        .blocklist_type(BY_HAND)
        .bitfield_enum(FLAGS)
        .rustified_enum(ENUM)
        .default_enum_style(bindgen::EnumVariation::ModuleConsts)
        .prepend_enum_name(false)
        .derive_debug(false)
        .generate_comments(false)
        // Sizes differ between machines; tests/layout.rs asks the machine's compiler.
        .layout_tests(false)
        .rustfmt_configuration_file(Some(rustfmt))
        .generate()?;
    Ok(bindings.to_string())
}
