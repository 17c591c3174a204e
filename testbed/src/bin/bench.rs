//! `cargo xtask bench sched` starts it: prints the table of speeds, row by row as they are measured.
//!
//! usage: bench PROFILE [ROW…]     PROFILE is what it was built with, to be printed; rows are P1 to P7, all by default

use std::process::ExitCode;

use rehome_testbed::bench::figures::Row;
use rehome_testbed::bench::openb::Trace;
use rehome_testbed::bench::{
    BenchError, objects, p1_openb, p2_shapes, p3_drainable, p4_rehearsal, p5_loss, p6_growth, p6_load, p7_same_bytes,
    table, whole,
};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program: stdout is the result, stderr is progress")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [p6_load::CHILD, file] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        let said = p6_load::load(file.as_ref()).map_err(|error| error.to_string());
        return match said.and_then(|said| serde_json::to_string(&said).map_err(|error| error.to_string())) {
            Ok(said) => {
                println!("{said}");
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let (profile, rows) = arguments.split_first().map_or(("unknown", &[][..]), |(first, rest)| (first.as_str(), rest));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown");
    println!("{cores} cores, load {load}, one thread, profile {profile}; medians of 5\n\n{}", table::header());
    let wanted = |name: &str| rows.is_empty() || rows.iter().any(|row| row.eq_ignore_ascii_case(name));
    let mut missed = 0;
    let mut print = |row: Row| {
        println!("{}", table::text(&row));
        missed += usize::from(row.met() == Some(false));
    };
    match measure(&wanted, &mut print) {
        Ok(()) => {
            println!("\n{missed} of the targets not met");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(wanted: &dyn Fn(&str) -> bool, print: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    if wanted("P1") {
        p1_openb::rows(&Trace::read()?, wanted("peer") || std::env::args().len() < 3)?
            .into_iter()
            .for_each(&mut *print);
    }
    if wanted("P2") {
        p2_shapes::rows(&mut *print)?;
    }
    if wanted("P3") {
        print(p3_drainable::row(&objects::view(&whole::objects(whole::Size::FULL))?)?);
    }
    if wanted("P4") {
        print(p4_rehearsal::row(whole::Size::HALF)?);
    }
    if wanted("P5") {
        print(p5_loss::row(&Trace::read()?)?);
    }
    if wanted("P6") {
        p6_load::rows(&mut *print)?;
        print(p6_growth::row()?);
    }
    if wanted("P7") {
        print(p7_same_bytes::row()?);
    }
    Ok(())
}
