// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Lists every struct of rdma-sys that C has under the same name, for tests/layout.rs.

use std::fmt::Write as _;
use std::path::Path;

fn main() {
    let mut list = String::from("[\n");
    for name in ["bindings.rs", "types.rs"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rdma-sys/src").join(name);
        println!("cargo:rerun-if-changed={}", path.display());
        add_layouts(&std::fs::read_to_string(&path).unwrap_or_default(), &mut list);
    }
    list.push(']');
    let out = std::env::var_os("OUT_DIR").unwrap_or_default();
    if let Err(error) = std::fs::write(Path::new(&out).join("layouts.rs"), list) {
        println!("cargo::error={error}");
    }
}

/// `("struct NAME", SIZE, &[("FIELD", OFFSET), …]),` for each of a source.
fn add_layouts(source: &str, list: &mut String) {
    let mut current = None;
    for line in source.lines() {
        if let Some((kind, name)) = line
            .strip_suffix(" {")
            .and_then(|rest| rest.strip_prefix("pub "))
            .and_then(|rest| rest.split_once(' '))
        {
            current = (matches!(kind, "struct" | "union") && is_c(name)).then_some(name);
            if current.is_some() {
                let _ = writeln!(list, "(\"{kind} {name}\", size_of::<rdma_sys::{name}>(), &[");
            }
        } else if let (Some(name), Some(rest)) = (current, line.strip_prefix("    pub "))
            && let Some((field, _)) = rest.split_once(':')
            && !(field.ends_with("_union") || field.starts_with('_'))
        {
            let _ = writeln!(list, "(\"{field}\", offset_of!(rdma_sys::{name}, {field})),");
        } else if line == "}" && current.take().is_some() {
            list.push_str("]),\n");
        }
    }
}

/// Not a name that C's anonymous structs and unions were given in Rust.
fn is_c(name: &str) -> bool {
    ["ibv_", "verbs_", "rdma_"].iter().any(|start| name.starts_with(start))
        && !(name.ends_with("_t") || name.contains("__bindgen_"))
}
