// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The programs of examples/, as manual pages show them: whole, or some of their functions.

use crate::Result;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;

/// Of a line in a page, as it fits a terminal beside the page's margins.
const WIDTH: usize = 69;

#[derive(Default)]
pub struct Examples {
    /// By the name of the file: its text, and whether a page shows all of it.
    programs: BTreeMap<String, (String, Cell<bool>)>,
}

impl Examples {
    pub fn read(folder: &Path) -> Result<Examples> {
        let mut programs = BTreeMap::new();
        for file in crate::sorted_files(folder)? {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.ends_with(".c") {
                let text = std::fs::read_to_string(&file)?;
                // The licence is of the file, not of the page.
                let text = match text.split_once('\n') {
                    Some((first, rest)) if first.contains("SPDX") => rest.to_owned(),
                    _ => text,
                };
                programs.insert(name.to_owned(), (text, Cell::new(false)));
            }
        }
        Ok(Examples { programs })
    }

    /// The text of a program, or of those of its functions that `names` lists.
    pub fn code(&self, program: &str, names: Option<&str>) -> Result<String> {
        let (text, shown) = self.programs.get(program).ok_or("there is no such program")?;
        let Some(names) = names else {
            shown.set(true);
            return narrow(text);
        };
        let functions: Result<Vec<_>> =
            names.split(", ").map(|name| function(text, name)).collect();
        narrow(&functions?.join("\n"))
    }

    /// Fails if no page shows a program.
    pub fn check_used(&self) -> Result<()> {
        let unused: Vec<_> =
            self.programs.iter().filter(|(_, one)| !one.1.get()).map(|(name, _)| name).collect();
        if unused.is_empty() {
            Ok(())
        } else {
            Err(format!("no page shows the examples {unused:?}").into())
        }
    }
}

/// A function with the comment before it: from the blank line above its head to its last bracket.
fn function(text: &str, name: &str) -> Result<String> {
    let call = format!("{name}(");
    let is_head = |line: &str| {
        let before = line.split(&call).next().unwrap_or_default();
        line.contains(&call)
            && before.ends_with([' ', '*'])
            && !line.starts_with(['\t', ' ', '}'])
            && !line.ends_with(';')
    };
    let lines: Vec<&str> = text.lines().collect();
    let head = lines.iter().position(|line| is_head(line)).ok_or(format!("no function {name}"))?;
    let start = lines[..head].iter().rposition(|line| line.is_empty()).map_or(0, |at| at + 1);
    let length =
        lines[head..].iter().position(|line| *line == "}").ok_or(format!("{name} has no end"))?;
    Ok(lines[start..=head + length].iter().map(|line| format!("{line}\n")).collect())
}

/// Tabs as four columns; refuses lines that are too long.
fn narrow(text: &str) -> Result<String> {
    let text = text.replace('\t', "    ");
    match text.lines().find(|line| line.chars().count() > WIDTH || !line.is_ascii()) {
        None => Ok(text),
        Some(line) => Err(format!("longer than {WIDTH} columns, or not ASCII: {line:?}").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "#include <a.h>\n\nint twice(int);\n\n/* Doubles. */\nint twice(int a)\n{\n\treturn 2 * a;\n}\n\n\
        static void *main_(int x)\n{\n\ttwice(x);\n\tif (x) {\n\t}\n}\n";

    fn examples() -> Examples {
        let program = (PROGRAM.to_owned(), Cell::new(false));
        Examples { programs: BTreeMap::from([("p.c".to_owned(), program)]) }
    }

    #[test]
    fn functions_are_cut_out_with_their_comments() {
        let examples = examples();
        let twice = "/* Doubles. */\nint twice(int a)\n{\n    return 2 * a;\n}\n";
        assert_eq!(examples.code("p.c", Some("twice")).unwrap(), twice);
        let both = examples.code("p.c", Some("main_, twice")).unwrap();
        assert!(both.starts_with("static void *main_") && both.ends_with(twice));
        for wrong in ["thrice", "a", "in_"] {
            assert!(examples.code("p.c", Some(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn whole_programs_must_be_shown() {
        let examples = examples();
        assert!(examples.check_used().is_err());
        assert!(examples.code("q.c", None).is_err());
        assert!(examples.code("p.c", None).unwrap().contains("    twice(x);"));
        assert!(examples.check_used().is_ok());
    }

    #[test]
    fn long_lines_are_refused() {
        assert!(narrow(&"x".repeat(WIDTH)).is_ok());
        assert!(narrow(&"x".repeat(WIDTH + 1)).is_err());
        assert!(narrow("\u{2026}").is_err());
    }
}
