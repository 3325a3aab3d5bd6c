// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Manual pages in the man(7) language.

use crate::Result;
use crate::function::{Function, Section};
use crate::markdown::{self, Block, spans, wrap};
use std::path::Path;

/// When the pages as a whole were last looked over; shown at their foot.
const DATE: &str = "2026-12-01";
const SOURCE: &str = "librdmacm";
const WIDTH: usize = 78;

pub struct Page {
    /// "name.section"
    pub file: String,
    pub text: String,
    /// "name(section)" of other pages.
    references: Vec<String>,
}

/// The page of one function.
pub fn page(function: &Function) -> Page {
    let mut out = head(&function.name, "3");
    out.push_str(".SH NAME\n");
    // Readers of this section join its lines.
    let name = format!("{} \\- {}", function.name, subject(&function.summary));
    for line in wrap(&name, WIDTH) {
        out.push_str(&line);
        out.push('\n');
    }
    out.push_str(".SH SYNOPSIS\n.nf\n");
    out.push_str(&format!(".B #include <{}>\n.PP\n", function.header));
    out.push_str(&synopsis(function));
    out.push_str(".fi\n");
    let mut references = Vec::new();
    for section in &function.sections {
        match section.title.as_str() {
            // Part of the return value.
            "Errors" => out.push_str(&errors(section, &function.parameters)),
            "See also" => {
                references = references_of(&section.blocks);
                out.push_str(".SH SEE ALSO\n");
                out.push_str(&links(&references));
            }
            title => {
                out.push_str(&format!(".SH {}\n", title.to_uppercase()));
                out.push_str(&blocks(&section.blocks, &function.parameters));
            }
        }
    }
    Page { file: format!("{}.3", function.name), text: out, references }
}

/// A page written by hand as docs/man/NAME.7.md.
pub fn overview(path: &Path, text: &str) -> Result<Page> {
    let strange = || format!("{}: the name is not NAME.SECTION.md", path.display());
    let file = path.file_stem().and_then(|stem| stem.to_str()).ok_or_else(strange)?.to_owned();
    let (name, section) = file.rsplit_once('.').ok_or_else(strange)?;
    let mut out = head(name, section);
    let mut references = Vec::new();
    let mut rest = markdown::parse(text);
    if let Some(place) =
        rest.iter().position(|block| *block == Block::Heading(1, "SEE ALSO".to_owned()))
    {
        references = references_of(&rest.split_off(place)[1..]);
    }
    out.push_str(&blocks(&rest, &[]));
    out.push_str(".SH SEE ALSO\n");
    out.push_str(&links(&references));
    Ok(Page { file, text: out, references })
}

/// Every page that a page sends its reader to and that should be ours is there.
pub fn check_references(pages: &[Page]) -> Result<()> {
    for page in pages {
        for reference in &page.references {
            let ours = reference.starts_with("rdma_") || reference.starts_with("rsocket");
            let file = reference.replace('(', ".").replace(')', "");
            if ours && !pages.iter().any(|other| other.file == file) {
                return Err(
                    format!("{} sends to {reference}, which is not there", page.file).into()
                );
            }
        }
    }
    Ok(())
}

fn head(name: &str, section: &str) -> String {
    format!(
        ".\\\" SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only\n\
         .\\\" Made by `make headers`.\n\
         .TH {} {section} {DATE} {SOURCE}\n",
        name.to_uppercase()
    )
}

/// A summary as the NAME section wants it: no full stop, no capital.
fn subject(summary: &str) -> String {
    let text = summary.trim_end_matches('.');
    let mut letters = text.chars();
    let lowered: String = match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    };
    lowered.replace('`', "").replace('-', "\\-")
}

/// The prototype in bold with its parameters in italics.
fn synopsis(function: &Function) -> String {
    let mut out = String::new();
    let mut names = function.parameters.iter().peekable();
    for line in function.prototype.lines() {
        // Pieces alternate between the two fonts.
        let mut pieces = vec![String::new()];
        let mut rest = line;
        while let Some(name) = names.peek() {
            let Some(at) = position(rest, name) else { break };
            if let Some(last) = pieces.last_mut() {
                last.push_str(&rest[..at]);
            }
            pieces.push((*name).clone());
            pieces.push(String::new());
            rest = &rest[at + name.len()..];
            names.next();
        }
        if let Some(last) = pieces.last_mut() {
            last.push_str(rest);
        }
        out.push_str(".BI");
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            out.push_str(&format!(" \"{piece}\""));
        }
        out.push('\n');
    }
    out
}

/// Where a parameter's name stands in a line: before a comma, a bracket or the end of a comment.
fn position(line: &str, name: &str) -> Option<usize> {
    line.match_indices(name).map(|(at, _)| at).find(|at| {
        let before = line[..*at].chars().next_back();
        let after = line[at + name.len()..].chars().next();
        before.is_some_and(|c| " *".contains(c)) && after.is_some_and(|c| ",) ".contains(c))
    })
}

fn errors(section: &Section, parameters: &[String]) -> String {
    format!(".PP\nThe error numbers:\n{}", blocks(&section.blocks, parameters))
}

fn blocks(blocks: &[Block], parameters: &[String]) -> String {
    let mut out = String::new();
    let mut after_heading = true;
    for block in blocks {
        match block {
            Block::Heading(1, text) => out.push_str(&format!(".SH {}\n", text.to_uppercase())),
            Block::Heading(_, text) => out.push_str(&format!(".SS {}\n", marked(text, parameters))),
            Block::Paragraph(text) => {
                if !after_heading {
                    out.push_str(".PP\n");
                }
                out.push_str(&lines(text, parameters));
            }
            Block::Item(term, text) if term.is_empty() => {
                out.push_str(".IP \\(bu 2\n");
                out.push_str(&lines(text, parameters));
            }
            Block::Item(term, text) => {
                let font = if parameters.contains(term) { "I" } else { "B" };
                out.push_str(&format!(".TP\n.{font} {}\n", escaped(term)));
                out.push_str(&lines(text, parameters));
            }
            Block::Code(code) => {
                out.push_str(if after_heading { ".RS 4\n.nf\n" } else { ".PP\n.RS 4\n.nf\n" });
                for line in code {
                    out.push_str(&guarded(&escaped(line)));
                    out.push('\n');
                }
                out.push_str(".fi\n.RE\n");
            }
        }
        after_heading = matches!(block, Block::Heading(..));
    }
    out
}

fn lines(text: &str, parameters: &[String]) -> String {
    let mut out = String::new();
    for line in wrap(&marked(text, parameters), WIDTH) {
        out.push_str(&guarded(&line));
        out.push('\n');
    }
    out
}

/// Code in fonts: parameters in italics, all else in bold. A font does not cross a line's end.
fn marked(text: &str, parameters: &[String]) -> String {
    spans(text)
        .map(|(is_code, piece)| {
            if !is_code {
                return escaped(piece);
            }
            let font = if parameters.iter().any(|name| name == piece) { 'I' } else { 'B' };
            let words: Vec<_> =
                piece.split(' ').map(|word| format!("\\f{font}{}\\fP", escaped(word))).collect();
            words.join(" ")
        })
        .collect()
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}

/// A line that starts with a control character would be read as a request.
fn guarded(line: &str) -> String {
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_owned() }
}

fn references_of(blocks: &[Block]) -> Vec<String> {
    let text: Vec<_> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Paragraph(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    text.join(" ").split([',', ' ']).filter(|word| word.contains('(')).map(str::to_owned).collect()
}

fn links(references: &[String]) -> String {
    let mut out = String::new();
    for (place, reference) in references.iter().enumerate() {
        let (name, section) = reference.split_once('(').unwrap_or((reference, ""));
        let comma = if place + 1 < references.len() { "," } else { "" };
        out.push_str(&format!(".BR {name} ({section}{comma}\n"));
    }
    out
}
