//! `tail`: follows all recorders.

use tapewright_fleet::announce::Access;
use tapewright_fleet::clock;
use tapewright_fleet::tail::{Next, Tail, Wanted};

use super::{Exit, Failure, Signals, environment};
use crate::{cli, report};

pub(super) async fn run(arguments: cli::Tail) -> Result<Exit, Failure> {
    let since = arguments.since;
    let since = since.map(|since| clock::wall().checked_sub(since));
    let since = since.map(|time| time.unwrap_or(std::time::UNIX_EPOCH));
    let wanted = Wanted {
        gateway: arguments.gateway,
        tool: arguments.tool,
        outcome: arguments.outcome,
    };
    let mut signals = Signals::new()?;
    let mut tail = Tail::new(arguments.announce, Access::of(environment()), since);
    tail.open().await?;
    let mut left = arguments.count.unwrap_or(u64::MAX);
    let exit = loop {
        if left == 0 {
            break Exit::Pass;
        }
        let next = tokio::select! {
            biased;
            exit = signals.wait() => break exit,
            next = tail.next() => next,
        };
        if let Next::New(announcement) = &next {
            if !wanted.is(announcement) {
                continue;
            }
            left -= 1;
        }
        report::tail::next(&next, &wanted, arguments.json)?;
    };
    report::tail::counts(tail.counts(), arguments.json)?;
    Ok(exit)
}
