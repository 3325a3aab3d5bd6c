// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! `rdmacm-info trace FILE…`: where the time of connections went, of the files that `RDMACM_TRACE` has made.
//!
//! | file | what |
//! |---|---|
//! | `svg` | the timeline |
//! | `summary` | the table |
//! | `lanes` | records become lanes with phases |
//! | `read` | a file, whole or cut off |

mod lanes;
mod read;
mod summary;
mod svg;

use crate::value::Value;
use lanes::Trace;
use std::path::{Path, PathBuf};

/// Lanes in the picture, unless the command line says another number.
pub(crate) const LANES: usize = 60;

/// Where the picture goes: beside the first file, unless the command line names a place.
fn place_of(first: &Path, given: Option<&str>) -> PathBuf {
    given.map_or_else(|| first.with_extension("svg"), PathBuf::from)
}

/// Reads the files, writes the picture, and gives the summary.
pub(crate) fn trace(files: &[String], svg: Option<&str>, lanes: usize) -> Result<Value, String> {
    let mut trace = Trace::default();
    let mut known = Vec::new();
    for file in files {
        // Given twice it would count twice.
        let place = Path::new(file).canonicalize().unwrap_or_else(|_| file.into());
        if known.contains(&place) {
            continue;
        }
        known.push(place);
        read::read(Path::new(file), &mut trace).map_err(|problem| format!("{file}: {problem}"))?;
    }
    trace.settle();
    if trace.lanes.is_empty() {
        return Err(format!("{}: no id and no rsocket is in it", files.join(", ")));
    }
    let place = place_of(Path::new(files.first().map_or("trace", |file| file)), svg);
    if files.iter().any(|file| Path::new(file) == place) {
        return Err(format!("{}: is a trace, name another place (-o)", place.display()));
    }
    let picture = svg::draw(&trace, lanes);
    std::fs::write(&place, picture).map_err(|error| format!("{}: {error}", place.display()))?;
    Ok(summary::summary(&trace, &place))
}

/// A time in microseconds, as people read it.
fn shown(micros: f64) -> String {
    match micros {
        time if time < 1e3 => format!("{time:.0} us"),
        time if time < 1e6 => format!("{:.2} ms", time / 1e3),
        time => format!("{:.2} s", time / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_stand_beside_their_traces() {
        assert_eq!(place_of(Path::new("/tmp/a.json"), None), Path::new("/tmp/a.svg"));
        assert_eq!(place_of(Path::new("/tmp/a.json"), Some("b.svg")), Path::new("b.svg"));
        assert_eq!(
            (shown(12.4), shown(1234.0), shown(2.5e6)),
            ("12 us".into(), "1.23 ms".into(), "2.50 s".into())
        );
    }
}
