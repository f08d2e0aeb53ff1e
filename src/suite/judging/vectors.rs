//! The embeddings of references, which many tests share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tapewright_judges::Model;

/// How many are kept.
const MOST: usize = 128;

/// The model that made a vector, and the text.
type Key = (Model, String);

/// Vectors by the model that made them, and the text.
#[derive(Debug, Default)]
pub(super) struct Vectors(Mutex<HashMap<Key, Arc<[f64]>>>);

impl Vectors {
    pub(super) fn get(&self, model: &Model, text: &str) -> Option<Arc<[f64]>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&(model.clone(), text.to_owned())).cloned()
    }

    /// Keeps a vector if there is room, and returns it.
    pub(super) fn put(&self, model: &Model, text: &str, vector: Vec<f64>) -> Arc<[f64]> {
        let vector: Arc<[f64]> = vector.into();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST {
            known.insert((model.clone(), text.to_owned()), Arc::clone(&vector));
        }
        vector
    }
}
