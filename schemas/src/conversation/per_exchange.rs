//! Notes about exchanges that are followed elsewhere.

use super::Handle;

/// Values attached to exchanges, by the handles that a [`Conversation`](super::Conversation) or a
/// [`Pairing`](super::Pairing) gives them.
///
/// # Bounded memory
///
/// There is one place for each exchange that they follow at once: inserting a value for a new
/// exchange returns the value of an older one in the same place, which is no longer followed.
#[derive(Debug)]
pub struct PerExchange<T> {
    places: Vec<Option<(Handle, T)>>,
    count: usize,
}

impl<T> Default for PerExchange<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            count: 0,
        }
    }
}

impl<T> PerExchange<T> {
    /// Sets the value of an exchange; returns the earlier value in its place.
    pub fn insert(&mut self, handle: Handle, value: T) -> Option<T> {
        let place = handle.place as usize;
        if place >= self.places.len() {
            self.places.resize_with(place + 1, || None);
        }
        let place = self.places.get_mut(place)?;
        if place.is_none() {
            self.count += 1;
            *place = Some((handle, value));
            return None;
        }
        place.replace((handle, value)).map(|(_, value)| value)
    }

    /// The value of an exchange.
    #[must_use]
    pub fn get(&self, handle: Handle) -> Option<&T> {
        let (known, value) = self.places.get(handle.place as usize)?.as_ref()?;
        (*known == handle).then_some(value)
    }

    /// The value of an exchange.
    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut T> {
        let (known, value) = self.places.get_mut(handle.place as usize)?.as_mut()?;
        (*known == handle).then_some(value)
    }

    /// Removes the value of an exchange.
    pub fn remove(&mut self, handle: Handle) -> Option<T> {
        let place = self.places.get_mut(handle.place as usize)?;
        let (_, value) = place.take_if(|(known, _)| *known == handle)?;
        self.count -= 1;
        Some(value)
    }

    /// The number of exchanges with a value.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether no exchange has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Removes everything, in the order in which the exchanges began.
    pub fn drain(&mut self) -> impl Iterator<Item = (Handle, T)> + use<T> {
        let places = std::mem::take(&mut self.places);
        self.count = 0;
        let mut all: Vec<_> = places.into_iter().flatten().collect();
        all.sort_unstable_by_key(|(handle, _)| *handle);
        all.into_iter()
    }
}
