//! A future that is seldom woken, next to one that often is.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use atomic_waker::AtomicWaker;

/// Polls a future only after it was woken itself. All futures of a task have the same waker, so
/// that each piece of traffic would also poll those that wait for a shutdown.
pub(super) struct Aside<'f, F> {
    future: Pin<&'f mut F>,
    woken: Arc<Woken>,
    waker: Waker,
}

struct Woken {
    is: AtomicBool,
    task: AtomicWaker,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is.store(true, Ordering::Release);
        self.task.wake();
    }
}

impl<'f, F> Aside<'f, F> {
    pub(super) fn new(future: Pin<&'f mut F>) -> Self {
        let woken = Arc::new(Woken {
            is: AtomicBool::new(true),
            task: AtomicWaker::new(),
        });
        Self {
            future,
            waker: Waker::from(Arc::clone(&woken)),
            woken,
        }
    }
}

impl<F: Future> Future for Aside<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self {
            future,
            woken,
            waker,
        } = &mut *self;
        // First, so that a wake from here on reaches this task.
        woken.task.register(context.waker());
        // Before the poll, so that being woken during it counts.
        if !woken.is.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        future.as_mut().poll(&mut Context::from_waker(waker))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Default)]
    struct Task(AtomicUsize);

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn it_is_polled_when_it_was_woken_and_wakes_the_task_that_polled_last() {
        let (polls, inside) = (Cell::new(0), Cell::new(None));
        let future = pin!(poll_fn(|context| {
            inside.set(Some(context.waker().clone()));
            polls.set(polls.get() + 1);
            if polls.get() < 3 {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        }));
        let mut aside = Aside::new(future);
        let (first, last) = (Arc::new(Task::default()), Arc::new(Task::default()));
        let mut poll = |task: &Arc<Task>| {
            let waker = Waker::from(Arc::clone(task));
            Pin::new(&mut aside).poll(&mut Context::from_waker(&waker))
        };
        for task in [&first, &first, &last, &last] {
            assert!(poll(task).is_pending());
            assert_eq!(polls.get(), 1);
        }
        inside.take().unwrap().wake();
        assert_eq!(first.0.load(Ordering::Relaxed), 0);
        assert_eq!(last.0.load(Ordering::Relaxed), 1);
        assert!(poll(&last).is_pending());
        assert!(poll(&last).is_pending());
        assert_eq!(polls.get(), 2);
        // Woken before another task takes over.
        inside.take().unwrap().wake();
        assert!(poll(&first).is_ready());
    }

    #[test]
    fn one_that_wakes_itself_is_polled_again() {
        let polls = Cell::new(0);
        let future = pin!(poll_fn(|context| {
            polls.set(polls.get() + 1);
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        }));
        let mut aside = Aside::new(future);
        for _ in 0..3 {
            let context = &mut Context::from_waker(Waker::noop());
            assert!(Pin::new(&mut aside).poll(context).is_pending());
        }
        assert_eq!(polls.get(), 3);
    }
}
