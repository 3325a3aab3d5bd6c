// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Writes prototypes with their comments between the marks of a header.

use crate::Result;
use crate::fragment::Fragments;
use crate::function::{self, Function};
use crate::markdown::{Block, wrap};
use std::path::Path;

const WIDTH: usize = 96;

/// Returns the generated text of the header and the functions that it declares. `helpers` are those that a
/// header defines inline unless it is asked for the symbols.
pub fn fill(
    current: &str,
    name: &str,
    root: &Path,
    fragments: &Fragments,
    helpers: &[&str],
) -> Result<(String, Vec<Function>)> {
    let mut text = String::new();
    let mut declared = Vec::new();
    let mut inside: Option<String> = None;
    for line in current.lines() {
        if let Some(source) = &inside {
            if line != format!("/* end of {source} */") {
                continue;
            }
            inside = None;
        }
        text.push_str(line);
        text.push('\n');
        let marked = line.strip_prefix("/* made from ").and_then(|rest| rest.strip_suffix(" */"));
        if let Some(source) = marked {
            let functions = function::read(root, source, name, fragments)?;
            for function in &functions {
                text.push('\n');
                text.push_str(&declaration(function, helpers.contains(&function.name.as_str())));
            }
            text.push('\n');
            declared.extend(functions);
            inside = Some(source.to_owned());
        }
    }
    match inside {
        None => Ok((text, declared)),
        Some(source) => Err(format!("{name}: no end of {source}").into()),
    }
}

/// The comment in full, except for errors and examples: the header only names the errors, the manual page
/// explains them and has the examples.
fn declaration(function: &Function, helper: bool) -> String {
    let mut lines = vec![plain(&function.summary)];
    for section in function.sections.iter().filter(|section| section.title != "Examples") {
        lines.push(String::new());
        lines.push(format!("{}:", section.title));
        if section.title == "Errors" {
            let names = function::terms(&section.blocks).join(", ");
            lines.extend(indented(&format!("{names}; see {}(3).", function.name)));
            continue;
        }
        for (place, block) in section.blocks.iter().enumerate() {
            match block {
                Block::Paragraph(text) => {
                    if place > 0 {
                        lines.push(String::new());
                    }
                    lines.extend(indented(text));
                }
                Block::Item(term, text) => {
                    let item = if term.is_empty() {
                        format!("- {text}")
                    } else {
                        format!("{term}: {text}")
                    };
                    let broken = wrap(&plain(&item), WIDTH - 4);
                    let (first, rest) = broken.split_first().unwrap_or((&item, &[]));
                    lines.push(format!("  {first}"));
                    lines.extend(rest.iter().map(|line| format!("      {line}")));
                }
                Block::Code(code) => lines.extend(code.iter().map(|line| format!("    {line}"))),
                Block::Heading(_, text) => lines.push(format!("  {text}")),
            }
        }
    }
    let mut text = String::from("/**\n");
    for line in lines {
        text.push_str(format!(" * {line}").trim_end());
        text.push('\n');
    }
    text.push_str(" */\n");
    if helper {
        text.push_str("RDMACM_HELPER\n");
    }
    text.push_str(&function.prototype);
    text.push('\n');
    text
}

fn indented(text: &str) -> Vec<String> {
    wrap(&plain(text), WIDTH).into_iter().map(|line| format!("  {line}")).collect()
}

/// C comments have no mark-up, and must not end early.
fn plain(text: &str) -> String {
    text.replace('`', "").replace("*/", "* /")
}
