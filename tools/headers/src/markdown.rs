// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The little Markdown that the comments and docs/man use: headings, paragraphs, lists of terms, code.

#[derive(Debug, PartialEq, Eq)]
pub enum Block {
    /// Level and text.
    Heading(usize, String),
    Paragraph(String),
    /// "- `term`: text"
    Item(String, String),
    /// Lines between fences.
    Code(Vec<String>),
}

pub fn parse(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open = false;
    let mut code: Option<Vec<String>> = None;
    for line in text.lines() {
        if line.starts_with("```") {
            match code.take() {
                Some(lines) => blocks.push(Block::Code(lines)),
                None => code = Some(Vec::new()),
            }
            open = false;
            continue;
        }
        if let Some(lines) = &mut code {
            lines.push(line.to_owned());
            continue;
        }
        let level = line.chars().take_while(|c| *c == '#').count();
        if level > 0 {
            blocks.push(Block::Heading(level, line[level..].trim().to_owned()));
            open = false;
        } else if line.trim().is_empty() {
            open = false;
        } else if let Some(item) = line.strip_prefix("- ") {
            blocks.push(term(item));
            open = true;
        } else if open {
            if let Some(Block::Paragraph(text) | Block::Item(_, text)) = blocks.last_mut() {
                text.push(' ');
                text.push_str(line.trim());
            }
        } else {
            blocks.push(Block::Paragraph(line.trim().to_owned()));
            open = true;
        }
    }
    blocks
}

/// A list entry without a term has an empty one.
fn term(item: &str) -> Block {
    let named = item.strip_prefix('`').and_then(|rest| rest.split_once("`: "));
    match named {
        Some((term, text)) => Block::Item(term.to_owned(), text.to_owned()),
        None => Block::Item(String::new(), item.to_owned()),
    }
}

/// Alternating plain and code pieces of a line, plain first.
pub fn spans(text: &str) -> impl Iterator<Item = (bool, &str)> {
    text.split('`').enumerate().map(|(place, piece)| (place % 2 == 1, piece))
}

/// Breaks text at spaces so that no line is longer than `width`, unless a word is.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.len() + 1 + word.len() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_told_apart() {
        let blocks =
            parse("Sum\nmary.\n\n# Errors\n- `EINVAL`: one\n  two\n- plain\n\n```\n a\n```\n");
        assert_eq!(
            blocks,
            [
                Block::Paragraph("Sum mary.".into()),
                Block::Heading(1, "Errors".into()),
                Block::Item("EINVAL".into(), "one two".into()),
                Block::Item(String::new(), "plain".into()),
                Block::Code(vec![" a".into()]),
            ]
        );
    }

    #[test]
    fn long_lines_are_broken() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("longword b", 3), ["longword", "b"]);
    }
}
