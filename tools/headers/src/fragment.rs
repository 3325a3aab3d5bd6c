// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! Fragments: text that several comments share, from src/export/fragments.
//!
//! The first line of each file there is the heading of a section ("# Errors"); its chapters ("## name") are
//! fragments. A line `{Errors: name}` in a comment, or in another fragment, is replaced by the text of the
//! fragment; it starts the section unless the comment is already in it. `{Errors: name | text}` replaces `$1`
//! in the fragment by the text.
//!
//! A line `{Code: name.c}` is replaced by that program of examples/, `{Code: name.c | one, two}` by those
//! functions of it.

use crate::Result;
use crate::example::Examples;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;

/// Limit of nested fragments; a deeper nesting is a cycle.
const DEEPEST: usize = 8;

pub struct Fragments {
    /// By section and name.
    texts: BTreeMap<(String, String), Fragment>,
    examples: Examples,
}

struct Fragment {
    text: String,
    used: Cell<bool>,
}

/// `{Section: name}` or `{Section: name | argument}`, alone on a line.
struct Mark<'a> {
    section: &'a str,
    name: &'a str,
    argument: Option<&'a str>,
}

impl Fragments {
    pub fn read(folder: &Path, examples: &Path) -> Result<Fragments> {
        let examples = Examples::read(examples)?;
        let mut fragments = Fragments { texts: BTreeMap::new(), examples };
        for file in crate::sorted_files(folder)? {
            fragments
                .add(&std::fs::read_to_string(&file)?)
                .map_err(|error| format!("{}: {error}", file.display()))?;
        }
        Ok(fragments)
    }

    fn add(&mut self, text: &str) -> Result<()> {
        let (first, chapters) = text.split_once('\n').unwrap_or((text, ""));
        let section = first.strip_prefix("# ").ok_or("the first line is no heading")?;
        let mut chapters =
            format!("\n{chapters}").split("\n## ").map(str::to_owned).collect::<Vec<_>>();
        // Text before the first chapter is a comment.
        chapters.remove(0);
        for chapter in chapters {
            let (name, text) = chapter.split_once('\n').ok_or("a chapter without text")?;
            let fragment = Fragment { text: text.trim().to_owned(), used: Cell::new(false) };
            if self.texts.insert((section.to_owned(), name.to_owned()), fragment).is_some() {
                return Err(format!("{name:?} is there twice").into());
            }
        }
        Ok(())
    }

    /// Replaces the marks of a comment by their fragments.
    pub fn expand(&self, comment: &str) -> Result<String> {
        let mut out = String::new();
        let mut section = String::new();
        self.expand_into(&mut out, &mut section, comment, 0)?;
        Ok(out)
    }

    fn expand_into(
        &self,
        out: &mut String,
        section: &mut String,
        text: &str,
        depth: usize,
    ) -> Result<()> {
        if depth > DEEPEST {
            return Err("fragments name each other in a circle".into());
        }
        for line in text.lines() {
            if let Some(title) = line.strip_prefix("# ") {
                title.clone_into(section);
            }
            let Some(mark) = mark(line) else {
                out.push_str(line);
                out.push('\n');
                continue;
            };
            if mark.section == "Code" {
                let code = self.examples.code(mark.name, mark.argument);
                let code = code.map_err(|error| format!("{line}: {error}"))?;
                out.push_str(&format!("\n```\n{code}```\n"));
                continue;
            }
            if mark.section != section {
                out.push_str(&format!("\n# {}\n", mark.section));
                mark.section.clone_into(section);
            }
            out.push('\n');
            let text = self.text(&mark).map_err(|error| format!("{line}: {error}"))?;
            self.expand_into(out, section, &text, depth + 1)?;
        }
        Ok(())
    }

    fn text(&self, mark: &Mark) -> Result<String> {
        let key = (mark.section.to_owned(), mark.name.to_owned());
        let fragment = self.texts.get(&key).ok_or("there is no such fragment")?;
        fragment.used.set(true);
        match (mark.argument, fragment.text.contains("$1")) {
            (None, false) => Ok(fragment.text.clone()),
            (Some(argument), true) => Ok(fragment.text.replace("$1", argument)),
            (None, true) => Err("the fragment needs a text for $1".into()),
            (Some(_), false) => Err("the fragment has no $1".into()),
        }
    }

    /// Fails if a fragment is not used by any comment, or a program by no page.
    pub fn check_used(&self) -> Result<()> {
        let unused: Vec<_> =
            self.texts.iter().filter(|(_, one)| !one.used.get()).map(|(key, _)| key).collect();
        if unused.is_empty() {
            self.examples.check_used()
        } else {
            Err(format!("no comment uses the fragments {unused:?}").into())
        }
    }
}

fn mark(line: &str) -> Option<Mark<'_>> {
    let (section, rest) = line.strip_prefix('{')?.strip_suffix('}')?.split_once(": ")?;
    Some(match rest.split_once(" | ") {
        Some((name, argument)) => Mark { section, name, argument: Some(argument) },
        None => Mark { section, name: rest, argument: None },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> Fragments {
        Fragments { texts: BTreeMap::new(), examples: Examples::default() }
    }

    fn fragments() -> Fragments {
        let mut fragments = empty();
        fragments
            .add("# Errors\n\nAbout them.\n\n## one\n\n- `EINVAL`: $1.\n\n## both\n\n{Errors: one | a}\nend\n")
            .unwrap();
        fragments.add("# Notes\n## loop\n{Notes: loop}\n").unwrap();
        fragments
    }

    #[test]
    fn marks_are_replaced_and_open_their_section() {
        let expanded = fragments().expand("Sum.\n{Errors: both}\n").unwrap();
        assert_eq!(expanded, "Sum.\n\n# Errors\n\n\n- `EINVAL`: a.\nend\n");
        let expanded = fragments().expand("# Errors\n- `EBADF`: x.\n{Errors: one | y}\n").unwrap();
        assert_eq!(expanded, "# Errors\n- `EBADF`: x.\n\n- `EINVAL`: y.\n");
    }

    #[test]
    fn wrong_marks_are_refused() {
        for wrong in [
            "{Errors: two}",
            "{Notes: one | a}",
            "{Errors: one}",
            "{Errors: both | a}",
            "{Notes: loop}",
        ] {
            assert!(fragments().expand(wrong).is_err(), "{wrong}");
        }
        assert_eq!(fragments().expand("{ not a mark }\n").unwrap(), "{ not a mark }\n");
    }

    #[test]
    fn unused_fragments_are_refused() {
        let mut fragments = empty();
        fragments.add("# Errors\n## one\na\n").unwrap();
        assert!(fragments.check_used().is_err());
        fragments.expand("{Errors: one}").unwrap();
        assert!(fragments.check_used().is_ok());
        assert!(fragments.add("# Errors\n## one\nb\n").is_err());
    }
}
