//! Remembers what was already judged, so that it is not judged again: the same question tests the
//! same assertions, and an answer with the same relevant parts has the same verdicts.
//!
//! "The same" refers to the parts that assertions examine ([`Look`]), taken from the source text.
//! Merging a verdict with itself changes nothing: only the duration of an answer is new.
//!
//! # Bounded memory
//!
//! At most 4,096 questions, and as many answers, of at most 8 kB each; beyond that, all are
//! forgotten.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use foldhash::quality::RandomState;

use super::about::RequestSubject;
use crate::placeholder::PlaceholderFit;
use crate::plan::{AssertionIndex, Plan};

/// What is known of a request by its contents.
#[derive(Debug)]
pub(super) struct Question {
    /// The assertions that it tests.
    pub(super) about: Rc<RequestSubject>,
    /// The revision that it names.
    pub(super) revision: Option<String>,
    /// It asks for progress notifications.
    pub(super) has_token: bool,
    /// It provides what the previous answer asked for.
    pub(super) is_again: bool,
}

/// Questions and answers that were judged.
#[derive(Debug)]
pub(super) struct Memory {
    // The maximum number of questions, and of answers.
    room: usize,
    questions: HashMap<Box<[u8]>, Rc<Question>, RandomState>,
    answers: HashMap<Box<[u8]>, Rc<[AssertionIndex]>, RandomState>,
    // Results with information about the server, by their methods.
    lessons: HashSet<Box<[u8]>, RandomState>,
    lesson_bytes: usize,
    abouts: HashMap<Vec<(AssertionIndex, PlaceholderFit)>, Rc<RequestSubject>, RandomState>,
    next: usize,
}

/// The maximum number of questions, and of answers.
const MOST: usize = 4_096;
/// The maximum size of remembered results with new information, in bytes.
const LESSON_BYTES: usize = 4 << 20;

impl Default for Memory {
    fn default() -> Self {
        Self::of(MOST)
    }
}

impl Memory {
    /// A memory for this many questions and answers.
    pub(super) fn of(room: usize) -> Self {
        Self {
            room,
            questions: HashMap::default(),
            answers: HashMap::default(),
            lessons: HashSet::default(),
            lesson_bytes: 0,
            abouts: HashMap::default(),
            next: 0,
        }
    }

    pub(super) fn question(&self, key: &[u8]) -> Option<&Rc<Question>> {
        self.questions.get(key)
    }

    pub(super) fn keep_question(&mut self, key: &[u8], question: &Rc<Question>) {
        if self.questions.len() >= self.room {
            self.questions.clear();
        }
        if self.room > 0 {
            self.questions.insert(key.into(), Rc::clone(question));
        }
    }

    /// The assertions that an answer tested.
    pub(super) fn answer(&self, key: &[u8]) -> Option<&Rc<[AssertionIndex]>> {
        self.answers.get(key)
    }

    pub(super) fn keep_answer(&mut self, key: &[u8], tested: Vec<AssertionIndex>) {
        if self.answers.len() >= self.room {
            self.answers.clear();
        }
        if self.room > 0 {
            self.answers.insert(key.into(), tested.into());
        }
    }

    /// Whether an answer equals an earlier one to the same method, as far as it fits into the
    /// memory.
    pub(super) fn is_known_lesson(&mut self, method: &str, result: &[u8]) -> bool {
        if self.room == 0 || method.len() + result.len() > LESSON_BYTES / 4 {
            return false;
        }
        let lesson = [method.as_bytes(), b"\xff", result].concat();
        if self.lessons.contains(lesson.as_slice()) {
            return true;
        }
        if self.lesson_bytes + lesson.len() > LESSON_BYTES {
            self.lessons.clear();
            self.lesson_bytes = 0;
        }
        self.lesson_bytes += lesson.len();
        self.lessons.insert(lesson.into());
        false
    }

    /// The shared subject for these assertions.
    pub(super) fn about(
        &mut self,
        plan: &Plan,
        tested: Vec<(AssertionIndex, PlaceholderFit)>,
    ) -> Rc<RequestSubject> {
        if let Some(known) = self.abouts.get(&tested) {
            return Rc::clone(known);
        }
        if self.abouts.len() >= MOST {
            self.abouts.clear();
        }
        self.next += 1;
        let about = Rc::new(RequestSubject::new(plan, tested.clone(), self.next));
        self.abouts.insert(tested, Rc::clone(&about));
        about
    }

    /// The server reported something new, so that the same question may test other assertions.
    pub(super) fn forget_questions(&mut self) {
        self.questions.clear();
    }

    /// The number of remembered questions and answers.
    #[cfg(test)]
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.questions.len(), self.answers.len())
    }
}
