//! The `forerun` program.

// All output goes through `print`: `println!` panics if the reader has closed it.
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod demo;
mod doctor;
mod explain;
mod generate;
mod lab;
mod log;
mod memory;
mod mount;
mod mounts;
mod nbd;
mod new_file;
mod prefetch;
mod print;
mod profile;
mod progress;
mod replay;
mod run;
mod scratch;
mod serve;
mod servers;
mod status;
mod trace;
mod units;

use std::error::Error;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Read slow storage fast
///
/// Forerun stands between programs and slow storage. It watches how each program reads, and fetches
/// the next bytes just before they are requested. It never exceeds its memory budget.
#[derive(Debug, Parser)]
#[command(name = "forerun", version, arg_required_else_help = true, after_long_help = status::help())]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Mount(mount::MountCommand),
    Run(run::RunCommand),
    Nbd(nbd::NbdCommand),
    Serve(serve::ServeCommand),
    List(mounts::ListCommand),
    Unmount(mounts::UnmountCommand),
    Explain(explain::ExplainCommand),
    Prefetch(prefetch::PrefetchCommand),
    Profile(profile::ProfileCommand),
    Doctor(doctor::DoctorCommand),
    Demo(demo::DemoCommand),
    Trace(trace::TraceCommand),
    Lab(lab::LabCommand),
    Replay(replay::ReplayCommand),
    #[command(hide = true)]
    Bench(demo::BenchCommand),
    #[command(hide = true)]
    DemoStore(demo::StoreCommand),
    #[command(hide = true)]
    BenchClient(demo::BenchClientCommand),
    #[command(hide = true)]
    BenchKernel(lab::BenchKernelCommand),
    #[command(hide = true)]
    BenchKernelReader(lab::ReaderCommand),
    #[command(hide = true)]
    Generate(generate::GenerateCommand),
}

/// Ends with a status of [`status`]. `mount` gets the statuses that it knows.
fn main() -> ExitCode {
    let given = arguments::given();
    let code = if mount::helper::is_called(given) {
        mount::helper::run(given)
    } else {
        let done =
            mount::Remount::from_arguments(given).map_or_else(|| command().run(), |remount| remount.run());
        done.unwrap_or_else(|error| {
            mount::daemon::say(&error.to_string());
            status::FAILED.into()
        })
    };
    log::end();
    code
}

/// The command that the arguments give. The program ends here if they make no sense.
fn command() -> Command {
    // An error about arguments repeats them, so it comes from those without secrets.
    let parsed =
        Cli::try_parse_from(arguments::given()).unwrap_or_else(|_| Cli::parse_from(arguments::shown()));
    parsed.command
}

impl Command {
    fn run(self) -> Result<ExitCode, Box<dyn Error>> {
        match self {
            Command::Mount(mount) => mount.run(),
            Command::Run(run) => run.run(),
            Command::Nbd(nbd) => nbd.run(),
            Command::Serve(serve) => serve.run(),
            Command::List(list) => list.run(),
            Command::Unmount(unmount) => unmount.run(),
            Command::Explain(explain) => explain.run(),
            Command::Prefetch(prefetch) => prefetch.run(),
            Command::Profile(profile) => profile.run(),
            Command::Doctor(doctor) => doctor.run(),
            Command::Demo(demo) => demo.run(),
            Command::Trace(trace) => trace.run(),
            Command::Lab(lab) => lab.run(),
            Command::Replay(replay) => replay.run(),
            Command::Bench(bench) => bench.run(),
            Command::DemoStore(store) => store.run(),
            Command::BenchClient(client) => client.run(),
            Command::BenchKernel(bench) => bench.run(),
            Command::BenchKernelReader(reader) => reader.run(),
            Command::Generate(generate) => generate.run(Cli::command()),
        }
    }
}
