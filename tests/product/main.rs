//! Whole-product tests: the real binary between real processes.
//!
//! One program, so that it links once. A new test goes into the module of its subject.

#[path = "../support/mod.rs"]
mod support;

mod endings;
mod files;
mod kill;
mod law;
mod manners;
mod rmcp;
