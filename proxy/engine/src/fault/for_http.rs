//! What can be done where HTTP is spoken, and what cannot.

use tapewright_schemas::event::Direction;

use super::act::Call;
use super::dice::Dice;
use super::kinds::On;
use super::rejected::Rejected;
use super::spec::Fault;

impl Fault {
    /// Refuses what would never happen to an exchange over HTTP.
    pub(super) fn check_for_http(&self) -> Result<(), Rejected> {
        if self.leaves_content() {
            return Ok(());
        }
        let kind = self.kind.name;
        if self.on == On::Request {
            return Err(Rejected::OnRequest { kind });
        }
        if self.selector.dir == Some(Direction::ToClient) && self.kind.is_about_answers() {
            return Err(Rejected::ToClient { kind });
        }
        Ok(())
    }

    /// Whether it may act on what clients send: then that is passed on when it is whole.
    pub(super) fn meets_posts(&self) -> bool {
        let to_server = self.on == On::Request || !self.selector.is_of_client_requests();
        to_server && self.leaves_content()
    }

    /// Whether what a message says stays as it is: it comes later, or never.
    fn leaves_content(&self) -> bool {
        // What it does to one message tells what it does to any.
        let act = (self.kind.act)(&Call {
            kind: self.kind,
            values: &self.values,
            dice: Dice::new(0, self.kind.name, 0),
            text: b"",
            end: b"",
            id: None,
        });
        act.leaves_content()
    }
}
