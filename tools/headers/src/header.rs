//! Puts prototypes with their comments between the marks of a header.

use crate::Result;
use crate::function::{self, Function};
use crate::markdown::{Block, wrap};
use std::path::Path;

const WIDTH: usize = 96;

/// The header's text as it should be, and the functions that it declares.
pub fn fill(current: &str, name: &str, root: &Path) -> Result<(String, Vec<Function>)> {
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
            let functions = function::read(root, source, name)?;
            for function in &functions {
                text.push('\n');
                text.push_str(&declaration(function));
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

fn declaration(function: &Function) -> String {
    let mut lines = Vec::new();
    lines.push(plain(&function.summary));
    for section in &function.sections {
        lines.push(String::new());
        lines.push(format!("{}:", section.title));
        for block in &section.blocks {
            match block {
                Block::Paragraph(text) => {
                    lines.extend(
                        wrap(&plain(text), WIDTH).into_iter().map(|line| format!("  {line}")),
                    );
                }
                Block::Item(term, text) => {
                    let item = if term.is_empty() {
                        format!("- {text}")
                    } else {
                        format!("{term}: {text}")
                    };
                    let broken = wrap(&plain(&item), WIDTH - 4);
                    for (place, line) in broken.iter().enumerate() {
                        let indent = if place == 0 { "  " } else { "      " };
                        lines.push(format!("{indent}{line}"));
                    }
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
    text.push_str(&function.prototype);
    text.push('\n');
    text
}

/// C comments have no mark-up, and must not end early.
fn plain(text: &str) -> String {
    text.replace('`', "").replace("*/", "* /")
}
