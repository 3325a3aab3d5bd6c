// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Generates the prototypes of the public headers and the manual pages from the exported functions and their
//! comments.
//!
//! `make headers` writes the files; `make headers CHECK=--check` compares them and fails on a difference.
//!
//! `function` reads src/export with cbindgen, `fragment` expands shared text, `example` cuts code out of
//! programs, `markdown` parses comments, `header` and `man` write the two formats.

mod example;
mod fragment;
mod function;
mod header;
mod man;
mod markdown;

use fragment::Fragments;
use function::Function;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const HEADERS: [&str; 3] = ["rdma/rdma_cma.h", "rdma/rdma_verbs.h", "rdma/rsocket.h"];
const FRAGMENTS: &str = "src/export/fragments";
const EXAMPLES: &str = "examples";
const OVERVIEWS: &str = "docs/man";
const PAGES: &str = "man";
const MAP: &str = "src/export/librdmacm.map";
/// Where, besides in HEADERS, functions are defined that the C library has as inline code only.
const INLINE: &str = "rdma/rdma_verbs_inline.h";

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
        Ok(0) => ExitCode::SUCCESS,
        Ok(differing) => {
            eprintln!("{differing} files differ: run `make headers` and commit");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes or compares all files. Returns the number of differing ones if it only compares.
fn run(check_only: bool) -> Result<usize> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let fragments = Fragments::read(&root.join(FRAGMENTS), &root.join(EXAMPLES))?;
    let mut wanted = BTreeMap::new();
    let mut functions = Vec::new();
    let include = root.join("include");
    let mut definitions = std::fs::read_to_string(include.join(INLINE))?;
    let mut headers = Vec::new();
    for name in HEADERS {
        let current = std::fs::read_to_string(include.join(name))?;
        definitions.push_str(&current);
        headers.push((name, current));
    }
    let helpers = helpers(&definitions);
    for (name, current) in headers {
        let path = include.join(name);
        let (text, mut found) = header::fill(&current, name, &root, &fragments, &helpers)?;
        wanted.insert(path, text);
        functions.append(&mut found);
    }
    check_exports(&std::fs::read_to_string(root.join(MAP))?, &functions)?;
    let mut pages: Vec<_> = functions.iter().map(man::page).collect();
    for overview in sorted_files(&root.join(OVERVIEWS))? {
        let text = fragments.expand(&std::fs::read_to_string(&overview)?);
        let text = text.map_err(|error| format!("{}: {error}", overview.display()))?;
        pages.push(man::overview(&overview, &text)?);
    }
    fragments.check_used()?;
    man::check_references(&pages)?;
    for page in pages {
        wanted.insert(root.join(PAGES).join(&page.file), page.text);
    }
    let mut differing = 0;
    for (path, text) in &wanted {
        if std::fs::read_to_string(path).ok().as_deref() == Some(text) {
            continue;
        }
        differing += 1;
        if check_only {
            eprintln!("differs: {}", path.display());
        } else {
            std::fs::create_dir_all(path.parent().unwrap_or(&root))?;
            std::fs::write(path, text)?;
        }
    }
    for stale in sorted_files(&root.join(PAGES))? {
        if !wanted.contains_key(&stale) {
            differing += 1;
            eprintln!("stale: {}", stale.display());
            if !check_only {
                std::fs::remove_file(&stale)?;
            }
        }
    }
    Ok(if check_only { differing } else { 0 })
}

fn sorted_files(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}

/// The functions that headers define inline: those of lines `RDMACM_HELPER type name(`.
fn helpers(text: &str) -> Vec<&str> {
    text.lines()
        .filter_map(|line| line.strip_prefix("RDMACM_HELPER ")?.split('(').next())
        .filter_map(|head| head.rsplit([' ', '*']).next())
        .collect()
}

/// The headers declare what the shared library exports, no more and no less.
fn check_exports(map: &str, functions: &[Function]) -> Result<()> {
    let mut exported: Vec<&str> = map
        .lines()
        .filter_map(|line| line.trim().strip_suffix(';'))
        .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .collect();
    exported.sort_unstable();
    let mut declared: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
    declared.sort_unstable();
    let missing: Vec<_> = exported.iter().filter(|name| !declared.contains(name)).collect();
    let surplus: Vec<_> = declared.iter().filter(|name| !exported.contains(name)).collect();
    if missing.is_empty() && surplus.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "{MAP} and the headers differ: {missing:?} have no prototype, {surplus:?} no symbol"
        )
        .into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_definitions_are_found() {
        let text = "RDMACM_HELPER\nint one(int a);\n\nRDMACM_HELPER int two(void (*f)(int))\n{\n}\n\
            RDMACM_HELPER struct a *three(struct a *b,\n\t\t\tint c)\n#define RDMACM_HELPER extern\n";
        assert_eq!(helpers(text), ["two", "three"]);
    }
}
