//! Metrics of an agent's run: fixed questions about its transcript.

use tapewright_models::agent_cassette::Trace;

use crate::rubric::{Criterion, Form, Rubric};
use crate::transcript;

/// A metric of a run, with our own wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Did the run accomplish the task?
    TaskCompletion,
    /// The right tools with the right arguments?
    Use,
    /// Were the arguments correct?
    ArgumentCorrectness,
    /// Was the sequence of calls sensible?
    PlanQuality,
    /// [`Metric::Use`], averaged over the user's turns.
    MultiTurnUse,
}

impl Metric {
    /// All metrics, in the order of the documentation.
    pub const ALL: [Self; 5] = [
        Self::TaskCompletion,
        Self::Use,
        Self::ArgumentCorrectness,
        Self::PlanQuality,
        Self::MultiTurnUse,
    ];

    /// Its key in a suite.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TaskCompletion => "mcp_task_completion",
            Self::Use => "mcp_use",
            Self::ArgumentCorrectness => "argument_correctness",
            Self::PlanQuality => "plan_quality",
            Self::MultiTurnUse => "multi_turn_mcp_use",
        }
    }

    /// The judge's question about a transcript.
    fn question(self) -> &'static str {
        match self {
            Self::TaskCompletion => {
                "The text is the transcript of an agent that worked for a user with tools. Did the run accomplish everything that the user asked for? Judge by what the tools returned and by the last reply, not by what the agent promises. 1: all of it was done and reported truthfully. 0: nothing was done, or the reply claims what did not happen."
            }
            Self::Use | Self::MultiTurnUse => {
                "The text is the transcript of an agent that worked for a user with tools. Did it call the right tools for the request, with the right arguments, and no others? 1: every call was needed, and every needed call was made with fitting arguments; where no tool was needed, none was called. 0: the wrong tools, or none where one was needed."
            }
            Self::ArgumentCorrectness => {
                "The text is the transcript of an agent that worked for a user with tools. Were the arguments of its tool calls correct: do they say what the user asked for and what earlier results told, without inventing or losing anything? Judge the arguments alone, not the choice of tools. 1: all are correct, or no tool was called. 0: none is."
            }
            Self::PlanQuality => {
                "The text is the transcript of an agent that worked for a user with tools. Was its sequence of calls a sensible plan: in a good order, each step building upon what was known, without detours, repetitions or missing steps? 1: as a skilled person would have done it. 0: aimless."
            }
        }
    }

    /// The rubric of this metric for a run.
    #[must_use]
    pub fn rubric(self, trace: &Trace, threshold: f64, strict: bool) -> Rubric {
        let question = self.question();
        let turns = trace.conversation.per_turn.iter().enumerate();
        let turns: Vec<Criterion> = turns
            .map(|(at, turn)| Criterion {
                name: format!("turn {}", at + 1),
                description: question.to_owned(),
                weight: 1.0,
                about: Some(transcript::of_turn(turn)),
            })
            .collect();
        let form = if self == Self::MultiTurnUse && !turns.is_empty() {
            Form::Criteria(turns)
        } else {
            Form::Text(question.to_owned())
        };
        Rubric {
            form,
            threshold,
            strict,
        }
    }
}
