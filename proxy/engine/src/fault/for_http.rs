//! What cannot be done where HTTP is spoken.

use tapewright_schemas::event::Direction;

use super::act::Call;
use super::dice::Dice;
use super::kinds::On;
use super::rejected::Rejected;
use super::spec::Fault;

impl Fault {
    /// Refuses what would never happen to an exchange over HTTP.
    pub(super) fn check_for_http(&self) -> Result<(), Rejected> {
        if self.selector.dir == Some(Direction::ToClient) {
            return Err(Rejected::ToClient);
        }
        // What it does to a message tells what it would do to a request.
        let act = (self.kind.act)(&Call {
            kind: self.kind,
            values: &self.values,
            dice: Dice::new(0, self.kind.name, 0),
            text: b"",
            end: b"",
            id: None,
        });
        if self.on == On::Request && !act.leaves_content() {
            return Err(Rejected::OnRequest {
                kind: self.kind.name,
            });
        }
        Ok(())
    }
}
