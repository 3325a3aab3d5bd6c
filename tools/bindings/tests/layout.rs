// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The machine's C compiler confirms every size, offset and constant of rdma-sys with the installed headers,
//! of whatever release and architecture they are.

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::mem::{offset_of, size_of};
use std::process::{Command, Stdio};

const HEAD: &str =
    "#include <stddef.h>\n#include <infiniband/verbs.h>\n#include <rdma/rdma_cma.h>\n";
/// A release adds members in front, so that places count from the end.
const GROWS_IN_FRONT: &str = "struct verbs_context";
/// Releases add members at the end. libibverbs makes the queue pair, and the exported ibv_query_port fills in what its
/// first release had.
const GROW_AT_THE_END: [&str; 2] = ["struct ibv_port_attr", "struct ibv_qp_ex"];

/// Structs with their sizes, and the offsets of their fields.
type Layouts = [(&'static str, usize, &'static [(&'static str, usize)])];
const LAYOUTS: &Layouts = &include!(concat!(env!("OUT_DIR"), "/layouts.rs"));

/// What C is to confirm, a line each.
fn statements() -> String {
    let mut text = String::new();
    // What C only names has no fields.
    for &(name, size, fields) in LAYOUTS.iter().filter(|layout| !layout.2.is_empty()) {
        let grows_in_front = name == GROWS_IN_FRONT;
        if !grows_in_front {
            let relation = if GROW_AT_THE_END.contains(&name) { ">=" } else { "==" };
            state(&mut text, &format!("sizeof({name}) {relation} {size}"));
        }
        for &(field, offset) in fields {
            // Words of Rust have an underscore at their end.
            let place = format!("offsetof({name}, {})", field.trim_end_matches('_'));
            state(
                &mut text,
                &if grows_in_front {
                    format!("sizeof({name}) - {place} == {}", size - offset)
                } else {
                    format!("{place} == {offset}")
                },
            );
        }
    }
    for line in include_str!("../../../rdma-sys/src/bindings.rs").lines() {
        if let Some((name, value)) = constant(line.trim_start()) {
            state(&mut text, &format!("{name} == {value}"));
        }
    }
    text
}

fn state(text: &mut String, condition: &str) {
    let _ = writeln!(text, "_Static_assert({condition}, \"{condition}\");");
}

/// `pub const IBV_NAME: Type = VALUE;` or `… = ibv_name(VALUE);`
fn constant(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.strip_prefix("pub const ")?.split_once(" = ")?;
    let name = name.split(':').next()?;
    let value = value.trim_end_matches([')', ';']).rsplit('(').next()?;
    (name.starts_with("IBV_") || name.starts_with("RDMA_")).then_some((name, value))
}

/// What the compiler says against it.
fn complaints(statements: &str) -> Result<String, Box<dyn Error>> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut child = Command::new(compiler)
        .args(["-std=gnu11", "-fsyntax-only", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    child.stdin.take().ok_or("no pipe")?.write_all(format!("{HEAD}{statements}").as_bytes())?;
    Ok(String::from_utf8_lossy(&child.wait_with_output()?.stderr).into_owned())
}

#[test]
fn the_headers_agree() -> Result<(), Box<dyn Error>> {
    let statements = statements();
    for part in
        ["sizeof(struct ibv_wc) ==", "offsetof(struct ibv_qp, qp_num) ==", "IBV_QPT_RC == 2"]
    {
        assert!(statements.contains(part), "nothing says {part}");
    }
    println!("{} statements", statements.lines().count());
    assert_eq!(complaints(&statements)?, "");
    Ok(())
}

#[test]
fn a_wrong_size_is_seen() -> Result<(), Box<dyn Error>> {
    let mut wrong = String::new();
    state(&mut wrong, "sizeof(struct ibv_wc) == 7");
    assert!(complaints(&wrong)?.contains("sizeof(struct ibv_wc) == 7"));
    Ok(())
}
