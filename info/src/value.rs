// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! What a command has to say: printed as indented text, or as JSON.

use serde::{Serialize, Serializer};
use std::fmt::{self, Write};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Number(i64),
    Real(f64),
    Flag(bool),
    /// What cannot be known.
    Nothing,
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
    Table(Table),
    /// A name with its state, and what belongs to it.
    Finding(Finding),
}

/// As text its name is the first key, as JSON each has the same keys.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub(crate) name: &'static str,
    pub(crate) state: &'static str,
    pub(crate) more: Vec<(String, Value)>,
}

/// Rows of values: as text in columns, as JSON a map for each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<Value>>,
    /// Rows that are printed as text; JSON has all.
    pub(crate) shown: usize,
}

impl From<Table> for Value {
    fn from(table: Table) -> Value {
        Value::Table(table)
    }
}

impl From<Finding> for Value {
    fn from(finding: Finding) -> Value {
        Value::Finding(finding)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Number(number)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Value {
        Value::Number(number.into())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Value {
        Value::Number(number.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Real(number)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

impl From<Vec<Value>> for Value {
    fn from(list: Vec<Value>) -> Value {
        Value::List(list)
    }
}

/// A map that grows in order.
#[derive(Debug, Default)]
pub(crate) struct Map(Vec<(String, Value)>);

impl Map {
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Map {
        self.0.push((key.to_owned(), value.into()));
        self
    }

    pub(crate) fn entries(self) -> Vec<(String, Value)> {
        self.0
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Value {
        Value::Map(map.0)
    }
}

impl Table {
    fn maps(&self) -> Value {
        let map = |row: &Vec<Value>| {
            let names = self.columns.iter().map(|name| (*name).to_owned());
            Value::Map(names.zip(row.iter().cloned()).collect())
        };
        Value::List(self.rows.iter().map(map).collect())
    }

    /// Numbers stand at the right of their column.
    fn text(&self, indent: usize, out: &mut String) -> fmt::Result {
        let head = self.columns.iter().map(|name| (*name).to_owned()).collect();
        let cell = |value: &Value| value.render(false).trim_end().to_owned();
        let rows = self.rows.iter().take(self.shown);
        let lines: Vec<Vec<String>> =
            core::iter::once(head).chain(rows.map(|row| row.iter().map(cell).collect())).collect();
        let is_number = |column: usize| {
            self.rows.iter().all(|row| !matches!(row.get(column), Some(Value::Text(_))))
        };
        if !out.is_empty() && !out.ends_with('\n') {
            writeln!(out)?;
        }
        for line in &lines {
            write!(out, "{:indent$}", "")?;
            for (column, text) in line.iter().enumerate() {
                let cells = lines.iter().filter_map(|line| line.get(column));
                let width = cells.map(|text| text.chars().count()).max().unwrap_or(0);
                match is_number(column) {
                    true => write!(out, "{text:>width$}  ")?,
                    false => write!(out, "{text:width$}  ")?,
                }
            }
            writeln!(out)?;
        }
        match self.rows.len().saturating_sub(self.shown) {
            0 => Ok(()),
            more => writeln!(out, "{:indent$}and {more} more (--json has all)", ""),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Text(text) => to.serialize_str(text),
            Value::Number(number) => to.serialize_i64(*number),
            Value::Real(number) => to.serialize_f64(*number),
            Value::Flag(flag) => to.serialize_bool(*flag),
            Value::List(list) => to.collect_seq(list),
            Value::Map(map) => to.collect_map(map.iter().map(|(key, value)| (key, value))),
            Value::Table(table) => table.maps().serialize(to),
            Value::Nothing => to.serialize_unit(),
            Value::Finding(finding) => {
                let named = [("check", finding.name), ("state", finding.state)];
                let named = named.map(|(key, text)| (key.to_owned(), Value::from(text)));
                let all = named.iter().chain(&finding.more);
                to.collect_map(all.map(|(key, value)| (key, value)))
            }
        }
    }
}

impl Value {
    fn text(&self, indent: usize, out: &mut String) -> fmt::Result {
        match self {
            Value::Text(text) => writeln!(out, "{text}"),
            Value::Number(number) => writeln!(out, "{number}"),
            Value::Real(number) => writeln!(out, "{number:.2}"),
            Value::Flag(true) => writeln!(out, "yes"),
            Value::Flag(false) => writeln!(out, "no"),
            Value::List(list) if list.is_empty() => writeln!(out, "none"),
            Value::List(list) => {
                if !out.is_empty() {
                    writeln!(out)?;
                }
                for value in list {
                    write!(out, "{:indent$}- ", "")?;
                    value.text(indent + 2, out)?;
                }
                Ok(())
            }
            Value::Map(map) => {
                // After "- " the first entry stands in the same line.
                let mut begins = !out.ends_with("- ");
                if begins && !out.is_empty() && !out.ends_with('\n') {
                    writeln!(out)?;
                }
                for (key, value) in map {
                    let before = if begins { indent } else { 0 };
                    begins = true;
                    write!(out, "{:before$}{key}: ", "")?;
                    value.text(indent + 2, out)?;
                }
                Ok(())
            }
            Value::Table(table) if table.rows.is_empty() => writeln!(out, "none"),
            Value::Table(table) => table.text(indent, out),
            Value::Nothing => writeln!(out, "-"),
            Value::Finding(finding) => {
                let mut map = vec![(finding.name.to_owned(), finding.state.into())];
                map.extend(finding.more.iter().cloned());
                Value::Map(map).text(indent, out)
            }
        }
    }

    /// As the user asked for it, with a line feed at the end.
    pub(crate) fn render(&self, as_json: bool) -> String {
        if as_json {
            // Every key is text, and a number that is none becomes null.
            return serde_json::to_string(self).unwrap_or_default() + "\n";
        }
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = self.text(0, &mut out);
        let mut lines: String = out.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        if lines.is_empty() {
            lines.push('\n');
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Value {
        let ports = vec![Map::default().with("port", 1).with("state", "active \"now\"\n").into()];
        Map::default()
            .with("name", "rxe0")
            .with("ports", ports)
            .with("usable", true)
            .with("none", Vec::new())
            .with("limits", Map::default().with("memory", 64_i64))
            .into()
    }

    #[test]
    fn text_is_indented() {
        assert_eq!(
            sample().render(false),
            "name: rxe0\nports:\n  - port: 1\n    state: active \"now\"\n\nusable: yes\nnone: none\n\
             limits:\n  memory: 64\n"
        );
    }

    #[test]
    fn tables_have_columns_and_say_what_is_not_shown() {
        let row = |name: &str, count: i64| vec![Value::from(name), Value::from(count)];
        let rows = vec![row("a", 100), row("longer", 5), row("c", 1)];
        let table = Table { columns: vec!["name", "count"], rows, shown: 2 };
        let value: Value = Map::default().with("all", table).into();
        assert_eq!(
            value.render(false),
            "all:\n  name    count\n  a         100\n  longer      5\n  and 1 more (--json has all)\n"
        );
        assert_eq!(
            value.render(true),
            "{\"all\":[{\"name\":\"a\",\"count\":100},{\"name\":\"longer\",\"count\":5},\
             {\"name\":\"c\",\"count\":1}]}\n"
        );
    }

    #[test]
    fn findings_have_the_same_keys_in_json() {
        let more = Map::default().with("found", "rxe0").entries();
        let finding = Value::from(Finding { name: "devices", state: "ok", more });
        assert_eq!(finding.render(false), "devices: ok\nfound: rxe0\n");
        let json = "{\"check\":\"devices\",\"state\":\"ok\",\"found\":\"rxe0\"}\n";
        assert_eq!(finding.render(true), json);
    }

    #[test]
    fn json_is_quoted() {
        assert_eq!(
            sample().render(true),
            "{\"name\":\"rxe0\",\"ports\":[{\"port\":1,\"state\":\"active \\\"now\\\"\\n\"}],\
             \"usable\":true,\"none\":[],\"limits\":{\"memory\":64}}\n"
        );
        assert_eq!(Value::Real(f64::NAN).render(true), "null\n");
    }
}
