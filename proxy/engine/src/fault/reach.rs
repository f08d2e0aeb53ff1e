//! Which messages a fault can be done to, by what is spoken.

use tapewright_schemas::event::Direction;

use super::act::{Act, Call, Until};
use super::kinds::{ActsOn, FaultTarget, TransportSupport};
use super::methods::ExpectedMessage;
use super::random::Random;
use super::spec::Fault;

impl Fault {
    /// Whether it has anything to do to such messages, where this is spoken.
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

    /// Over HTTP what a client sends can come later, or never; all that a server says can
    /// become anything.
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

    /// Whether it may act on what clients send over HTTP: then that is passed on when it is
    /// whole.
    pub(super) fn meets_posts(&self) -> bool {
        let to_server = self.on == FaultTarget::Request || !self.selector.is_of_client_requests();
        to_server && self.act_on_nothing().leaves_content()
    }

    /// What it does to one message, which tells what it does to any.
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
    /// Whether what the message says stays as it is: it comes later, or never.
    #[must_use]
    pub fn leaves_content(&self) -> bool {
        matches!(
            self,
            Self::Delay { .. } | Self::Drop | Self::Hold(Until::Removed)
        )
    }
}
