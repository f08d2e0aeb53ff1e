//! Opening what a user names.
