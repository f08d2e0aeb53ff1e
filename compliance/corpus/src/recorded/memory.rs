//! What was judged before, so that it is not judged again: the same question puts the same assertions to the test, and an
//! answer that says the same to them has the same verdicts.
//!
//! "The same" is what assertions look into ([`Look`]), written down from the source text. A verdict that is known is
//! merged with itself, which changes nothing: only the time that an answer took is new.
//!
//! # Bounded memory
//!
//! At most 4,096 questions, and as many answers, of at most 8 kB each; when there are more, all are forgotten.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use foldhash::quality::RandomState;

use super::about::RequestSubject;
use crate::placeholder::PlaceholderFit;
use crate::plan::{AssertionIndex, Plan};

/// What is known of a request by what it says.
#[derive(Debug)]
pub(super) struct Question {
    /// What it puts to the test.
    pub(super) about: Rc<RequestSubject>,
    /// The revision that it names.
    pub(super) revision: Option<String>,
    /// It asks to be told of its progress.
    pub(super) has_token: bool,
    /// It gives what the answer before asked for.
    pub(super) is_again: bool,
}

/// Questions and answers that were judged.
#[derive(Debug)]
pub(super) struct Memory {
    // How many questions, and how many answers, there may be.
    room: usize,
    questions: HashMap<Box<[u8]>, Rc<Question>, RandomState>,
    answers: HashMap<Box<[u8]>, Rc<[AssertionIndex]>, RandomState>,
    // Results that taught us what the server has, behind their methods.
    lessons: HashSet<Box<[u8]>, RandomState>,
    lesson_bytes: usize,
    abouts: HashMap<Vec<(AssertionIndex, PlaceholderFit)>, Rc<RequestSubject>, RandomState>,
    next: usize,
}

/// How many questions, and how many answers, are remembered.
const MOST: usize = 4_096;
/// How much is remembered of results that taught us something, in bytes.
const LESSON_BYTES: usize = 4 << 20;

impl Default for Memory {
    fn default() -> Self {
        Self::of(MOST)
    }
}

impl Memory {
    /// One of so many questions and answers.
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

    /// The assertions that an answer put to the test.
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

    /// Whether an answer says what one to the same method said before, as far as it fits into the memory.
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

    /// What tests these assertions.
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

    /// The server told something new, by which the same question may be another.
    pub(super) fn forget_questions(&mut self) {
        self.questions.clear();
    }

    /// How many questions and answers are known.
    #[cfg(test)]
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.questions.len(), self.answers.len())
    }
}
