//! Which messages a fault can act on, by transport.

use tapewright_schemas::event::Direction;

use super::act::{Act, Call, Until};
use super::kinds::{ActsOn, FaultTarget, TransportSupport};
use super::methods::ExpectedMessage;
use super::random::Random;
use super::spec::Fault;

impl Fault {
    /// Whether it can act on messages of this kind, on a transport.
    pub(super) fn can_act(&self, reach: TransportSupport, sort: ExpectedMessage) -> bool {
        let is_answer = self.on == FaultTarget::Answer && sort.is_request;
        let fits = match self.kind.acts_on {
            ActsOn::Answers => is_answer,
            ActsOn::Messages => true,
            ActsOn::Responses => {
                let has_response =
                    is_answer || reach == TransportSupport::Http && self.on == FaultTarget::Answer;
                sort.dir == Direction::ToServer && has_response
            }
        };
        fits && self.kind.is_for(reach)
            && (reach != TransportSupport::Http || self.can_act_over_http(sort))
    }

    /// Over HTTP a client's messages can only be delayed or dropped; a server's can also be
    /// changed.
    fn can_act_over_http(&self, sort: ExpectedMessage) -> bool {
        let act = self.act_on_nothing();
        if act.leaves_content() {
            return true;
        }
        let from_client = sort.dir == Direction::ToServer;
        match self.on {
            FaultTarget::Request => false,
            FaultTarget::Answer if sort.is_request => from_client,
            // The response to a notification has no body.
            FaultTarget::Answer if from_client => {
                self.kind.acts_on == ActsOn::Responses || matches!(act, Act::HoldAll { .. })
            }
            FaultTarget::Answer => true,
        }
    }

    /// Whether it may act on what clients send over HTTP: their messages are then only forwarded
    /// when complete.
    pub(super) fn meets_posts(&self) -> bool {
        let to_server = self.on == FaultTarget::Request || !self.selector.is_of_client_requests();
        to_server && self.act_on_nothing().leaves_content()
    }

    /// What it does to an empty message, which shows what it does to any.
    fn act_on_nothing(&self) -> Act {
        (self.kind.act)(&Call {
            kind: self.kind,
            values: &self.values,
            random: Random::new(0, self.kind.name, 0),
            text: b"",
            end: b"",
            id: None,
        })
    }
}

impl Act {
    /// Whether the content of the message is unchanged: it is delayed or dropped.
    #[must_use]
    pub fn leaves_content(&self) -> bool {
        matches!(
            self,
            Self::Delay { .. } | Self::Drop | Self::Hold(Until::Removed)
        )
    }
}
