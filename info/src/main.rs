// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! rdmacm-info: what librdmacm finds on this machine, and why something does not work.
//!
//! | file | what |
//! |---|---|
//! | `check` | the doctor |
//! | `route` | which device would carry a connection |
//! | `ping` | echoing server and client |
//! | `trace` | where the time of connections went, of a trace |
//! | `overview` | libraries, kernel, devices, addresses, limits, settings |
//! | `device` | devices, ports, GIDs |
//! | `library` | librdmacm and libibverbs, opened at run time |
//! | `address` | socket addresses, interfaces |
//! | `value` | text and JSON |

mod address;
mod check;
mod device;
mod library;
mod overview;
mod ping;
mod route;
mod trace;
mod value;

use library::Libraries;
use std::io::Write;
use std::process::ExitCode;
use value::Value;

const DEFAULT_PORT: u16 = 7471;
const USAGE: &str = "usage: rdmacm-info [--json] [COMMAND]

  (none)             libraries, kernel, devices, addresses that can be bound, limits
  -c, --config       variables and files: default, present value, meaning
  check              what is missing on this machine, each with the remedy; 1 where something is
  route ADDRESS      which device, port and GID would carry a connection, and why not
  ping ADDRESS       connect time, latency and throughput to `rdmacm-info serve` there
  serve [ADDRESS]    echo for ping, over rsockets on the port and over ids on the next one
  trace FILE...      where the time of connections went, of files that RDMACM_TRACE has made: a table, and
                     a timeline as SVG

  -p, --port PORT    for route, ping and serve (7471)
  -o, --output SVG   for trace, where the timeline goes (beside the first file)
  -n, --lanes N      for trace, at most so many lanes in it (60)
  --json             print JSON
  -h, --help; -V, --version
";

enum Command {
    Overview,
    Config,
    Check,
    Route(String),
    Ping(String),
    Serve(Option<String>),
    Trace(Vec<String>),
    Help,
    Version,
}

struct Options {
    command: Command,
    port: u16,
    output: Option<String>,
    lanes: usize,
    as_json: bool,
}

/// What the command line asks for, or what is wrong with it.
fn parse(words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        command: Command::Overview,
        port: DEFAULT_PORT,
        output: None,
        lanes: trace::LANES,
        as_json: false,
    };
    let mut plain = Vec::new();
    let mut words = words;
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => options.as_json = true,
            "-c" | "--config" => options.command = Command::Config,
            "-h" | "--help" => options.command = Command::Help,
            "-V" | "--version" => options.command = Command::Version,
            "-p" | "--port" => {
                let port = words.next().and_then(|port| port.parse().ok()).filter(|port| *port > 0);
                options.port = port.ok_or("--port needs a number from 1 to 65535")?;
            }
            "-o" | "--output" => {
                options.output = Some(words.next().ok_or("--output needs a file")?);
            }
            "-n" | "--lanes" => {
                let lanes = words.next().and_then(|lanes| lanes.parse().ok());
                options.lanes = lanes.filter(|lanes| *lanes > 0).ok_or("--lanes needs a number")?;
            }
            option if option.starts_with('-') => return Err(format!("unknown option {option}")),
            _ => plain.push(word),
        }
    }
    let mut plain = plain.into_iter();
    if let Some(command) = plain.next() {
        if command == "trace" {
            let files: Vec<String> = plain.collect();
            if files.is_empty() {
                return Err("trace needs a file".to_owned());
            }
            return Ok(Options { command: Command::Trace(files), ..options });
        }
        let argument = plain.next();
        options.command = match (command.as_str(), argument) {
            ("check", None) => Command::Check,
            ("route", Some(address)) => Command::Route(address),
            ("ping", Some(address)) => Command::Ping(address),
            ("serve", address) => Command::Serve(address),
            ("route" | "ping", None) => return Err(format!("{command} needs an address")),
            ("check", Some(more)) => return Err(format!("{more}: check takes no argument")),
            _ => return Err(format!("unknown command {command}")),
        };
    }
    match plain.next() {
        Some(more) => Err(format!("{more}: one argument too many")),
        None => Ok(options),
    }
}

fn run(options: &Options) -> Result<(Value, bool), String> {
    let libraries = Libraries::open();
    Ok(match &options.command {
        Command::Help => (USAGE.trim_end().into(), true),
        Command::Version => (format!("rdmacm-info {}", env!("CARGO_PKG_VERSION")).into(), true),
        Command::Overview => (overview::overview(&libraries), true),
        Command::Config => (overview::configuration(), true),
        Command::Trace(files) => {
            (trace::trace(files, options.output.as_deref(), options.lanes)?, true)
        }
        Command::Check => check::check(&libraries),
        Command::Route(address) => route::route(&libraries?, address, options.port),
        Command::Ping(address) => ping::ping(&libraries?, address, options.port),
        Command::Serve(address) => {
            // Its threads use them until the program ends.
            let libraries: &'static Libraries = Box::leak(Box::new(libraries?));
            ping::serve(libraries, address.as_deref(), options.port)?;
            (Value::from(true), true)
        }
    })
}

fn main() -> ExitCode {
    let options = match parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprint!("rdmacm-info: {problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok((value, is_fine)) => {
            // Whoever reads may have gone.
            let _ = std::io::stdout().write_all(value.render(options.as_json).as_bytes());
            if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(problem) => {
            eprintln!("rdmacm-info: {problem}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn command_lines() {
        let of = |line| parsed(line).map(|options| (options.port, options.as_json));
        assert_eq!(of("--json"), Ok((7471, true)));
        assert_eq!(of("ping 10.0.0.1 -p 9"), Ok((9, false)));
        assert!(matches!(parsed("-c").map(|all| all.command), Ok(Command::Config)));
        assert!(matches!(parsed("serve").map(|all| all.command), Ok(Command::Serve(None))));
        let traced = parsed("trace a.json b.json -o c.svg -n 5");
        assert!(traced.is_ok_and(|all| all.lanes == 5 && all.output.as_deref() == Some("c.svg")));
        for wrong in [
            "trace",
            "trace a -n 0",
            "trace a -o",
            "route",
            "ping",
            "check 1",
            "ping a b",
            "-p",
            "-p 0 check",
            "--no",
            "dance",
        ] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
