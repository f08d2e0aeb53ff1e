//! What the recorder says, and when it says nothing.
