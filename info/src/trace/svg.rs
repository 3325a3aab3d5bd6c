// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! The timeline: a lane for each id and each rsocket. On the left its life, on the right how it was set up,
//! from its own beginning: that takes microseconds of lives that take minutes.

use super::lanes::{Lane, Phase, Trace};
use super::shown;
use super::summary::slowness;
use std::fmt::Write;

const ROW: f64 = 22.0;
const BAR: f64 = 13.0;
const LABELS: f64 = 300.0;
const LIFE: f64 = 600.0;
const GAP: f64 = 40.0;
const SET_UP: f64 = 340.0;
const NUMBERS: f64 = 240.0;
const TOP: f64 = 92.0;
/// As narrow as a bar may become.
const LEAST: f64 = 0.8;
/// Letters of a label; what is longer is in its tooltip.
const LETTERS: usize = 46;
const OUTCOME_LETTERS: usize = 32;

/// Colours by phase, as the legend has them.
const COLOURS: [(&str, &str); 8] = [
    ("resolve address", "#e6a532"),
    ("resolve route", "#c9733a"),
    ("connect", "#4a7fc1"),
    ("accept", "#7a5fb5"),
    ("established", "#86c28b"),
    ("listen", "#d5d9de"),
    ("disconnect", "#b07aa1"),
    ("close", "#8c6d62"),
];
const WAIT: &str = "#2f6b3a";
const FAILED: &str = "#cc2936";

fn colour(name: &str) -> &'static str {
    COLOURS.iter().find(|(known, _)| *known == name).map_or("#777777", |(_, colour)| colour)
}

/// Text inside an element or an attribute.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // No character of XML.
            other if other.is_control() || matches!(other, '\u{FFFE}' | '\u{FFFF}') => {
                out.push('?')
            }
            other => out.push(other),
        }
    }
    out
}

/// A scale of times to places.
#[derive(Clone, Copy)]
struct Axis {
    from: f64,
    to: f64,
    left: f64,
    width: f64,
}

impl Axis {
    fn new(from: f64, to: f64, left: f64, width: f64) -> Axis {
        // Something has to be there that can be divided by.
        Axis { from, to: to.max(from + 1.0), left, width }
    }

    fn place(&self, time: f64) -> f64 {
        let part = (time - self.from) / (self.to - self.from);
        self.left + part.clamp(0.0, 1.0) * self.width
    }

    /// Places of a bar: left end and width.
    fn bar(&self, begin: f64, end: f64) -> (f64, f64) {
        let (left, right) = (self.place(begin), self.place(end));
        (left, (right - left).max(LEAST))
    }

    /// Between two lines: 1, 2 or 5 of a power of ten, with at most eight lines.
    fn step(&self) -> f64 {
        let least = (self.to - self.from) / 8.0;
        let power = 10_f64.powf(least.log10().floor());
        [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * power)
            .into_iter()
            .find(|step| *step >= least)
            .unwrap_or(least)
    }

    fn draw(&self, title: &str, bottom: f64, out: &mut String) {
        let text = format!("{}: {title}", shown(self.to - self.from));
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" class=\"head\">{}</text>",
            self.left,
            TOP - 24.0,
            escaped(&text)
        );
        let step = self.step();
        let mut line = 0.0;
        while line <= self.to - self.from {
            let x = self.place(self.from + line);
            let _ = writeln!(
                out,
                "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{bottom:.1}\" class=\"grid\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" class=\"tick\">{}</text>",
                TOP - 6.0,
                TOP - 9.0,
                if line == 0.0 { "0".to_owned() } else { shown(line).replace(".00 ", " ") }
            );
            line += step;
        }
    }
}

/// The lanes that are drawn, in the order of their beginning.
fn chosen(trace: &Trace, most: usize) -> Vec<&Lane> {
    let mut lanes: Vec<&Lane> = trace.lanes.iter().collect();
    lanes.sort_by(|one, other| slowness(other).total_cmp(&slowness(one)));
    lanes.truncate(most);
    lanes.sort_by(|one, other| one.begin.total_cmp(&other.begin));
    lanes
}

/// Intervals as bars that do not overlap: never more than there are places for.
fn merged(waits: &[(f64, f64)], axis: Axis) -> Vec<(f64, f64)> {
    let mut bars: Vec<(f64, f64)> = waits
        .iter()
        .map(|(begin, end)| {
            let (left, width) = axis.bar(*begin, *end);
            (left, left + width)
        })
        .collect();
    bars.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut out: Vec<(f64, f64)> = Vec::new();
    for (left, right) in bars {
        match out.last_mut() {
            Some(last) if left <= last.1 + 0.5 => last.1 = last.1.max(right),
            _ => out.push((left, right)),
        }
    }
    out
}

fn draw_phase(phase: &Phase, axis: Axis, (y, end): (f64, f64), out: &mut String) {
    let until = phase.end.unwrap_or(end);
    let (x, width) = axis.bar(phase.begin, until);
    let mut title = format!("{}, {}", phase.name, shown(until - phase.begin));
    if let Some(failure) = &phase.failure {
        let _ = write!(title, ": {failure}");
    }
    let edge = if phase.failure.is_some() { FAILED } else { "none" };
    let _ = writeln!(
        out,
        "<rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{BAR}\" fill=\"{}\" \
         stroke=\"{edge}\"><title>{}</title></rect>",
        colour(&phase.name),
        escaped(&title)
    );
}

/// So many letters at most; the whole is in a tooltip.
fn cut(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text.to_owned(),
    }
}

fn draw_lane(lane: &Lane, trace: &Trace, (life, set_up): (Axis, Axis), y: f64, out: &mut String) {
    let end = lane.last(trace);
    let title = lane.title();
    // Two processes may have lanes of one name.
    let short = match trace.processes.len() {
        0 | 1 => cut(&title, LETTERS),
        _ => cut(&format!("{}: {title}", lane.process), LETTERS),
    };
    let _ = writeln!(
        out,
        "<g class=\"lane\"><text x=\"8\" y=\"{:.1}\" class=\"label\">{}<title>{}, process {} {}</title></text>",
        y + BAR - 2.0,
        escaped(&short),
        escaped(&title),
        lane.process,
        escaped(trace.processes.get(&lane.process).map_or("", String::as_str))
    );
    let (x, width) = life.bar(lane.begin, end);
    let middle = y + BAR / 2.0;
    let _ = writeln!(
        out,
        "<line x1=\"{x:.2}\" x2=\"{:.2}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\" class=\"life\"/>",
        x + width
    );
    lane.phases.iter().for_each(|phase| draw_phase(phase, life, (y, end), out));
    for (left, right) in merged(&lane.waits, life) {
        let _ = writeln!(
            out,
            "<rect x=\"{left:.2}\" y=\"{:.1}\" width=\"{:.2}\" height=\"4\" fill=\"{WAIT}\"/>",
            y + BAR - 4.0,
            right - left
        );
    }
    for mark in lane.marks.iter().filter(|mark| mark.status != 0 || mark.name == "lost") {
        let x = life.place(mark.at);
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.2}\" cy=\"{middle:.1}\" r=\"3\" fill=\"{FAILED}\"><title>{}</title></circle>",
            escaped(&mark.name)
        );
    }
    let steps =
        lane.phases.iter().filter(|phase| !matches!(phase.name.as_str(), "established" | "listen"));
    for phase in steps.filter(|phase| phase.begin - lane.begin <= set_up.to) {
        let own = Phase {
            begin: phase.begin - lane.begin,
            end: Some(phase.end.unwrap_or(end) - lane.begin),
            ..phase.clone()
        };
        if lane.set_up().is_none_or(|there| own.begin < there) {
            draw_phase(&own, set_up, (y, set_up.to), out);
        }
    }
    let outcome = match lane.set_up() {
        Some(time) => shown(time),
        None => lane.outcome(),
    };
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" class=\"label\">{}<title>{}</title></text></g>",
        set_up.left + set_up.width + 8.0,
        y + BAR - 2.0,
        escaped(&cut(&outcome, OUTCOME_LETTERS)),
        escaped(&outcome)
    );
}

fn draw_legend(out: &mut String) {
    let mut x = 8.0;
    let extra = [("waits", WAIT), ("failed", FAILED)];
    for (name, colour) in COLOURS.iter().chain(&extra) {
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"34\" width=\"12\" height=\"12\" fill=\"{colour}\"/>\
             <text x=\"{:.1}\" y=\"44\" class=\"label\">{name}</text>",
            x + 16.0
        );
        x += 34.0 + 7.0 * name.len() as f64;
    }
}

/// The picture, with at most so many lanes.
pub(super) fn draw(trace: &Trace, most: usize) -> String {
    let lanes = chosen(trace, most.max(1));
    let width = LABELS + LIFE + GAP + SET_UP + NUMBERS;
    let bottom = TOP + ROW * lanes.len() as f64;
    let left_out = trace.lanes.len() - lanes.len();
    let height = bottom + 30.0;
    let life = Axis::new(trace.begin, trace.end, LABELS, LIFE);
    let longest =
        lanes.iter().filter_map(|lane| lane.set_up().or(lane.failed())).fold(0.0, f64::max);
    let set_up = Axis::new(0.0, longest, LABELS + LIFE + GAP, SET_UP);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <style>.grid{{stroke:#e3e6ea}}.life{{stroke:#9aa3ad}}.tick{{fill:#59636e;font-size:10px;\
         text-anchor:middle}}.label{{fill:#1f2328}}.head{{fill:#1f2328;font-size:12px}}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    let names: Vec<String> =
        trace.processes.iter().map(|(number, name)| format!("{name} ({number})")).collect();
    let names = match names.get(..4) {
        Some(some) if names.len() > 4 => {
            format!("{} and {} more", some.join(", "), names.len() - 4)
        }
        _ => names.join(", "),
    };
    let _ = writeln!(
        out,
        "<text x=\"8\" y=\"20\" font-size=\"14\" class=\"label\">Connections of {}</text>",
        escaped(&names)
    );
    draw_legend(&mut out);
    life.draw("lives", bottom, &mut out);
    set_up.draw("until established, from the beginning of each", bottom, &mut out);
    for (index, lane) in lanes.iter().enumerate() {
        draw_lane(lane, trace, (life, set_up), TOP + ROW * index as f64 + 4.0, &mut out);
    }
    let mut note = match left_out {
        0 => format!("{} lanes", lanes.len()),
        _ => format!(
            "{} lanes, the slowest to connect; {left_out} of {} are left out",
            lanes.len(),
            trace.lanes.len()
        ),
    };
    if trace.lost > 0 {
        let _ = write!(note, "; {} records were lost", trace.lost);
    }
    let _ = writeln!(
        out,
        "<text x=\"8\" y=\"{:.1}\" class=\"label\">{note}</text>\n</svg>",
        bottom + 20.0
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_at_round_times() {
        for (span, step) in [(100.0, 20.0), (7.9, 1.0), (16_001.0, 5000.0), (4e6, 5e5)] {
            assert!((Axis::new(0.0, span, 0.0, 100.0).step() - step).abs() < 1e-9, "{span}");
        }
    }

    #[test]
    fn waits_become_few_bars() {
        let axis = Axis::new(0.0, 1e6, 0.0, 100.0);
        let waits: Vec<(f64, f64)> =
            (0..100_000).map(|n| (f64::from(n) * 10.0, f64::from(n) * 10.0 + 5.0)).collect();
        assert!(merged(&waits, axis).len() <= 100);
        assert_eq!(merged(&[(0.0, 1e5), (5e5, 6e5)], axis), [(0.0, 10.0), (50.0, 60.0)]);
    }

    #[test]
    fn what_could_end_an_element_is_escaped() {
        assert_eq!(escaped("a<b>&\"\u{1}"), "a&lt;b&gt;&amp;&quot;?");
    }

    #[test]
    fn lanes_are_bounded_and_the_rest_is_said() {
        let lane =
            |n: u32| Lane { begin: f64::from(n), end: Some(f64::from(2 * n)), ..Lane::default() };
        let mut trace = Trace::default();
        trace.lanes.extend((0..1000).map(lane));
        trace.end = 2000.0;
        let picture = draw(&trace, 60);
        assert_eq!(picture.matches("class=\"lane\"").count(), 60);
        assert!(picture.contains("940 of 1000 are left out"));
    }
}
