// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The exported functions of one file: prototype from cbindgen, comment in sections.

use crate::Result;
use crate::fragment::Fragments;
use crate::markdown::{self, Block};
use std::cmp::Ordering;
use std::path::Path;

/// Sections of a comment, in order, and whether they are required.
const SECTIONS: [(&str, bool); 8] = [
    ("Arguments", false),
    ("Description", true),
    ("Return value", true),
    ("Errors", false),
    ("Notes", false),
    ("Thread safety", true),
    ("Examples", false),
    ("See also", true),
];

/// Differences between the C prototype and the Rust signature.
const SPELLINGS: [(&str, &str); 3] = [
    // Only sizes that may be negative are signed here.
    ("ptrdiff_t ", "ssize_t "),
    // `type` is a keyword in Rust.
    ("int type_", "int type"),
    // See rfcntl.
    ("int rfcntl(int socket, int cmd, long arg)", "int rfcntl(int socket, int cmd, ... /* arg */)"),
];

pub struct Function {
    pub name: String,
    /// Under <rdma/…>.
    pub header: String,
    /// One C declaration, with its semicolon.
    pub prototype: String,
    pub parameters: Vec<String>,
    pub summary: String,
    pub sections: Vec<Section>,
}

pub struct Section {
    pub title: String,
    pub blocks: Vec<Block>,
}

impl Function {
    pub fn section(&self, title: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.title == title)
    }
}

/// All functions of a file, in order.
pub fn read(
    root: &Path,
    source: &str,
    header: &str,
    fragments: &Fragments,
) -> Result<Vec<Function>> {
    let config = cbindgen::Config::from_root_or_default(root);
    let mut output = Vec::new();
    cbindgen::Builder::new()
        .with_config(config)
        .with_src(root.join(source))
        .generate()
        .map_err(|error| format!("{source}: {error}"))?
        .write(&mut output);
    let mut text = String::from_utf8(output)?;
    for (rust, c) in SPELLINGS {
        text = text.replace(rust, c);
    }
    let mut functions = Vec::new();
    for (comment, prototype) in declarations(&text) {
        let function = fragments
            .expand(&comment)
            .and_then(|comment| one(&comment, prototype, header))
            .map_err(|error| format!("{source}: {error}"))?;
        functions.push(function);
    }
    Ok(functions)
}

/// Splits cbindgen's output into comments and the declarations after them.
fn declarations(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut comment = String::new();
    let mut declaration = String::new();
    let mut in_comment = false;
    for line in text.lines() {
        match line {
            "/*" => {
                in_comment = true;
                comment.clear();
            }
            " */" if in_comment => in_comment = false,
            _ if in_comment => {
                comment.push_str(line.strip_prefix(' ').unwrap_or(line));
                comment.push('\n');
            }
            _ if line.starts_with('#') || (line.is_empty() && declaration.is_empty()) => {}
            _ => {
                declaration.push_str(line);
                if line.ends_with(';') {
                    found.push((std::mem::take(&mut comment), std::mem::take(&mut declaration)));
                } else {
                    declaration.push('\n');
                }
            }
        }
    }
    found
}

fn one(comment: &str, prototype: String, header: &str) -> Result<Function> {
    let (name, parameters) = parts(&prototype)?;
    let fail = |what: String| -> Result<Function> { Err(format!("{name}: {what}").into()) };
    let mut blocks = markdown::parse(comment).into_iter();
    let Some(Block::Paragraph(summary)) = blocks.next() else {
        return fail("the comment does not start with a summary".into());
    };
    if !summary.ends_with('.') || summary.len() > 90 {
        return fail("the summary is not one short sentence".into());
    }
    let mut sections: Vec<Section> = Vec::new();
    for block in blocks {
        match (block, sections.last_mut()) {
            (Block::Heading(1, title), _) => sections.push(Section { title, blocks: Vec::new() }),
            (block, Some(section)) => section.blocks.push(block),
            (_, None) => return fail("text between the summary and the first heading".into()),
        }
    }
    let mut order = SECTIONS.iter();
    for section in &sections {
        if !order.any(|(title, _)| *title == section.title) {
            return fail(format!("heading {:?} is unknown or out of order", section.title));
        }
    }
    let has = |wanted: &str| sections.iter().any(|section| section.title == wanted);
    for (title, required) in SECTIONS {
        let required = required || (title == "Arguments" && !parameters.is_empty());
        if required && !has(title) {
            return fail(format!("no {title:?}"));
        }
    }
    if let Some(errors) = sections.iter_mut().find(|section| section.title == "Errors") {
        sort_errors(&mut errors.blocks).map_err(|error| format!("{name}: {error}"))?;
    }
    let function = Function {
        name: name.clone(),
        header: header.into(),
        prototype,
        parameters,
        summary,
        sections,
    };
    let described: Vec<&str> =
        function.section("Arguments").map(|section| terms(&section.blocks)).unwrap_or_default();
    if described != function.parameters {
        return fail(format!("describes {described:?} but has {:?}", function.parameters));
    }
    Ok(function)
}

/// Sorts the error numbers alphabetically, ahead of the text that concerns all of them.
fn sort_errors(blocks: &mut [Block]) -> Result<()> {
    blocks.sort_by(|one, other| match (one, other) {
        (Block::Item(one, _), Block::Item(other, _)) => one.cmp(other),
        (Block::Item(..), _) => Ordering::Less,
        (_, Block::Item(..)) => Ordering::Greater,
        _ => Ordering::Equal,
    });
    let errors = terms(blocks);
    if let Some(wrong) = errors.iter().find(|error| !error.starts_with('E')) {
        return Err(format!("{wrong} is no error number").into());
    }
    if let Some(twice) = errors.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("{} is described twice", twice[0]).into());
    }
    Ok(())
}

/// The terms of a section's list.
pub fn terms(blocks: &[Block]) -> Vec<&str> {
    blocks
        .iter()
        .filter_map(|block| match block {
            Block::Item(term, _) => Some(term.as_str()),
            _ => None,
        })
        .collect()
}

/// Name and parameter names of a declaration.
fn parts(prototype: &str) -> Result<(String, Vec<String>)> {
    let strange = || format!("cannot read {prototype:?}");
    let (head, rest) = prototype.split_once('(').ok_or_else(strange)?;
    let (list, _) = rest.rsplit_once(')').ok_or_else(strange)?;
    let last_word = |text: &str| {
        let text = text.trim_end_matches(|c: char| "*/ ".contains(c)).trim_end();
        text.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .next()
            .unwrap_or("")
            .to_owned()
    };
    let parameters =
        list.split(',').map(str::trim).filter(|one| *one != "void").map(last_word).collect();
    Ok((last_word(head), parameters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_sorted_and_named_once() {
        let mut blocks = markdown::parse("text\n\n- `EPERM`: b\n- `EBADF`: a\n");
        sort_errors(&mut blocks).unwrap();
        assert_eq!(terms(&blocks), ["EBADF", "EPERM"]);
        assert_eq!(blocks.last(), Some(&Block::Paragraph("text".into())));
        assert!(sort_errors(&mut markdown::parse("- `EBADF`: a\n- `EBADF`: b\n")).is_err());
        assert!(sort_errors(&mut markdown::parse("- `Bad`: a\n")).is_err());
    }

    #[test]
    fn names_are_read_from_declarations() {
        let read = |text| parts(text).unwrap();
        assert_eq!(read("struct a *f(void);"), ("f".into(), vec![]));
        assert_eq!(
            read("int g(struct a **id,\n      enum b c, ... /* arg */);"),
            ("g".into(), vec!["id".into(), "c".into(), "arg".into()])
        );
    }
}
