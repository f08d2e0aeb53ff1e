//! Requests in flight, by age.

use std::num::NonZeroU64;

use super::IdKey;
use crate::event::{Direction, Scope};

/// Identifies one request of a [`Pairing`](super::Pairing), even if its id is reused. Ordered by
/// when they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle {
    number: NonZeroU64,
    pub(super) place: u32,
}

/// A request in flight.
#[derive(Debug)]
pub(super) struct Request<T> {
    pub(super) scope: Scope,
    pub(super) dir: Direction,
    pub(super) id: IdKey,
    pub(super) token: Option<IdKey>,
    pub(super) cancelled: bool,
    /// It can be found by its id.
    pub(super) listed: bool,
    pub(super) value: T,
}

/// All requests in flight. Each is in the order of all requests, and while it is not cancelled in
/// the order of its side.
#[derive(Debug)]
pub(super) struct Flight<T> {
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    all: Ends,
    next: NonZeroU64,
    counts: [usize; 2],
    /// Whether the order of each side is kept as well.
    pub(super) by_side: bool,
}

#[derive(Debug)]
struct Slot<T> {
    number: NonZeroU64,
    request: Option<Request<T>>,
    links: [Link; 2],
}

/// The neighbours in an order.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    older: Option<u32>,
    newer: Option<u32>,
}

/// The ends of an order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ends {
    oldest: Option<u32>,
    newest: Option<u32>,
}

/// The index of each order.
const ALL: usize = 0;
const SIDE: usize = 1;

impl<T> Default for Flight<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            all: Ends::default(),
            next: NonZeroU64::MIN,
            counts: [0; 2],
            by_side: true,
        }
    }
}

impl<T> Flight<T> {
    /// Adds a request; `side` is the order of its side.
    #[inline]
    pub(super) fn push(&mut self, request: Request<T>, side: &mut Ends) -> Handle {
        let number = self.next;
        self.next = number.saturating_add(1);
        if let Some(count) = self.counts.get_mut(request.dir as usize) {
            *count += 1;
        }
        let named = request.id != IdKey::Null;
        let slot = Slot {
            number,
            request: Some(request),
            links: Default::default(),
        };
        let place = if let Some(place) = self.free.pop() {
            if let Some(free) = self.slots.get_mut(place as usize) {
                *free = slot;
            }
            place
        } else {
            self.slots.push(slot);
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        };
        let mut all = self.all;
        self.append(ALL, &mut all, place);
        self.all = all;
        // A request that names no session is not the latest of any.
        if named && self.by_side {
            self.append(SIDE, side, place);
        }
        Handle { number, place }
    }

    /// Takes a request out.
    pub(super) fn remove(&mut self, place: u32, side: &mut Ends) -> Option<Request<T>> {
        let slot = self.slots.get_mut(place as usize)?;
        let request = slot.request.take()?;
        self.release(place, request.dir, side);
        Some(request)
    }

    /// Removes a request and drops it; returns its handle.
    pub(super) fn discard(&mut self, place: u32, side: &mut Ends) -> Option<Handle> {
        let slot = self.slots.get_mut(place as usize)?;
        let number = slot.number;
        let dir = slot.request.as_ref()?.dir;
        slot.request = None;
        self.release(place, dir, side);
        Some(Handle { number, place })
    }

    /// Frees the slot of a request that was removed.
    #[inline]
    fn release(&mut self, place: u32, dir: Direction, side: &mut Ends) {
        if let Some(count) = self.counts.get_mut(dir as usize) {
            *count -= 1;
        }
        let mut all = self.all;
        self.unlink(ALL, &mut all, place);
        self.all = all;
        self.withdraw(place, side);
        self.free.push(place);
    }

    /// Removes a request from the order of its side.
    pub(super) fn withdraw(&mut self, place: u32, side: &mut Ends) {
        if self.by_side {
            self.unlink(SIDE, side, place);
        }
    }

    pub(super) fn handle(&self, place: u32) -> Option<Handle> {
        let number = self.slots.get(place as usize)?.number;
        Some(Handle { number, place })
    }

    /// The place of a request that is still in flight.
    pub(super) fn place(&self, handle: Handle) -> Option<u32> {
        let slot = self.slots.get(handle.place as usize)?;
        (slot.number == handle.number && slot.request.is_some()).then_some(handle.place)
    }

    pub(super) fn get(&self, place: u32) -> Option<&Request<T>> {
        self.slots.get(place as usize)?.request.as_ref()
    }

    pub(super) fn get_mut(&mut self, place: u32) -> Option<&mut Request<T>> {
        self.slots.get_mut(place as usize)?.request.as_mut()
    }

    pub(super) fn oldest(&self) -> Option<u32> {
        self.all.oldest
    }

    /// The number of requests in flight in this direction.
    pub(super) fn count(&self, dir: Direction) -> usize {
        let [to_server, to_client] = self.counts;
        match dir {
            Direction::ToServer => to_server,
            Direction::ToClient => to_client,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The requests in flight, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Handle, &Request<T>)> {
        let slot = |place: u32| Some((place, self.slots.get(place as usize)?));
        let first = self.all.oldest.and_then(slot);
        let next = move |(_, known): &(u32, &Slot<T>)| {
            let [all, _] = &known.links;
            all.newer.and_then(slot)
        };
        std::iter::successors(first, next).filter_map(|(place, known)| {
            let number = known.number;
            Some((Handle { number, place }, known.request.as_ref()?))
        })
    }

    fn append(&mut self, order: usize, ends: &mut Ends, place: u32) {
        let last = ends.newest.replace(place);
        if let Some(link) = self.link(order, Some(place)) {
            link.older = last;
        }
        match self.link(order, last) {
            Some(last) => last.newer = Some(place),
            None => ends.oldest = Some(place),
        }
    }

    fn unlink(&mut self, order: usize, ends: &mut Ends, place: u32) {
        let Some(link) = self.link(order, Some(place)).map(std::mem::take) else {
            return;
        };
        match self.link(order, link.older) {
            Some(before) => before.newer = link.newer,
            None if ends.oldest == Some(place) => ends.oldest = link.newer,
            None => {}
        }
        match self.link(order, link.newer) {
            Some(behind) => behind.older = link.older,
            None if ends.newest == Some(place) => ends.newest = link.older,
            None => {}
        }
    }

    fn link(&mut self, order: usize, place: Option<u32>) -> Option<&mut Link> {
        self.slots.get_mut(place? as usize)?.links.get_mut(order)
    }
}

impl Ends {
    pub(super) fn newest(self) -> Option<u32> {
        self.newest
    }
}
