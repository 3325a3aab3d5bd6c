// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

//! rdmacm-info: what librdmacm finds on this machine, and why something does not work.
//!
//! | file | what |
//! |---|---|
//! | `check` | the doctor |
//! | `ping` | echoing server and client |
//! | `remedy` | what to do where a call of `ping` or `serve` fails |
//! | `route` | which device would carry a connection |
//! | `top` | the counters of a running process |
//! | `trace` | where the time of connections went, of a trace |
//! | `overview` | libraries, kernel, devices, addresses, limits, settings |
//! | `device` | devices, ports, GIDs |
//! | `library` | librdmacm and libibverbs, opened at run time |
//! | `page` | counters of other processes |
//! | `address` | socket addresses, interfaces |
//! | `value` | text and JSON |

mod address;
mod check;
mod device;
mod library;
mod overview;
mod page;
mod ping;
mod remedy;
mod route;
mod top;
mod trace;
mod value;

use clap::builder::RangedU64ValueParser;
use clap::{Parser, Subcommand, value_parser};
use library::Libraries;
use std::io::Write;
use std::process::ExitCode;
use value::Value;

/// What librdmacm finds on this machine, and why something does not work. Without a command:
/// libraries, kernel, devices, addresses that can be bound, limits.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Variables and files: default, present value, meaning
    #[arg(short, long)]
    config: bool,
    /// Port of route, ping and serve
    #[arg(short, long, global = true, default_value_t = 7471, value_parser = value_parser!(u16).range(1..))]
    port: u16,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// What is missing on this machine, each with the remedy; 1 where something is
    Check,
    /// Which device, port and GID would carry a connection, and why not
    Route { address: String },
    /// Connect time, latency and throughput to `rdmacm-info serve` there
    Ping { address: String },
    /// Echo for ping, over rsockets on the port and over ids on the next one
    Serve { address: Option<String> },
    /// What a process counts that runs with RDMACM_STATS=1; without a number, which ones do
    Top {
        /// Number of the process
        #[arg(value_name = "PID")]
        process: Option<u32>,
        /// One table, without rates
        #[arg(long)]
        once: bool,
    },
    /// Where the time of connections went, of files that RDMACM_TRACE has made: a table, and a
    /// timeline as SVG
    Trace {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<String>,
        /// Where the timeline goes; without it, beside the first file
        #[arg(short, long, value_name = "SVG")]
        output: Option<String>,
        /// At most so many lanes in it
        #[arg(short = 'n', long, value_name = "N", default_value_t = trace::LANES,
              value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
        lanes: usize,
    },
}

/// What a command says, and whether all is well; `top` prints by itself.
fn run(options: &Options) -> Result<(Option<Value>, bool), String> {
    let said = |value: Value| Ok((Some(value), true));
    if let Some(Command::Top { process, once }) = options.command {
        let shape = top::Shape { once, as_json: options.json };
        return top::top(process, shape).map(|()| (None, true));
    }
    if let Some(Command::Trace { files, output, lanes }) = &options.command {
        return said(trace::trace(files, output.as_deref(), *lanes)?);
    }
    let libraries = Libraries::open();
    let checked = |(value, is_fine)| Ok((Some(value), is_fine));
    match &options.command {
        Some(Command::Check) => checked(check::check(&libraries)),
        Some(Command::Route { address }) => {
            checked(route::route(&libraries?, address, options.port))
        }
        Some(Command::Ping { address }) => checked(ping::ping(&libraries?, address, options.port)),
        Some(Command::Serve { address }) => {
            // Its threads use them until the program ends.
            let libraries: &'static Libraries = Box::leak(Box::new(libraries?));
            ping::serve(libraries, address.as_deref(), options.port)?;
            Ok((None, true))
        }
        _ if options.config => said(overview::configuration()),
        _ => said(overview::overview(&libraries)),
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok((value, is_fine)) => {
            if let Some(value) = value {
                // Whoever reads may have gone.
                let _ = std::io::stdout().write_all(value.render(options.json).as_bytes());
            }
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

    fn parsed(line: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(format!("rdmacm-info {line}").split_whitespace())
    }

    #[test]
    fn command_lines() {
        let of = |line| parsed(line).map(|options| (options.port, options.json)).ok();
        assert_eq!(of("--json"), Some((7471, true)));
        assert_eq!(of("ping 10.0.0.1 -p 9"), Some((9, false)));
        assert_eq!(of("top 7 --json"), Some((7471, true)));
        assert!(parsed("-c").is_ok_and(|all| all.config));
        let command = |line| parsed(line).ok().and_then(|options| options.command);
        assert!(matches!(command("serve"), Some(Command::Serve { address: None })));
        assert!(matches!(
            command("top 7 --once"),
            Some(Command::Top { process: Some(7), once: true })
        ));
        let traced = command("trace a.json b.json -o c.svg -n 5");
        assert!(matches!(traced, Some(Command::Trace { lanes: 5, output: Some(_), .. })));
        for wrong in [
            "trace",
            "trace a -n 0",
            "trace a -o",
            "top x",
            "top 1 2",
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
