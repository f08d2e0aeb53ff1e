//! A store that fails at a chosen request, before or after carrying it out: like a broken
//! connection, or a killed process.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::{BoxStream, StreamExt as _};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use super::Store;

/// A store in memory that counts its requests, and fails all from some number on.
#[derive(Debug)]
pub(crate) struct Failing {
    inner: Arc<InMemory>,
    requests: AtomicU64,
    /// How many requests succeed.
    allowed: AtomicU64,
    /// Whether the first failing request is carried out, and only its answer is lost.
    is_done: bool,
}

impl Failing {
    /// Wraps the contents of a store; the first `allowed` requests succeed.
    pub(crate) fn over(inner: &Arc<InMemory>, allowed: u64, is_done: bool) -> Arc<Self> {
        Arc::new(Self {
            inner: Arc::clone(inner),
            requests: AtomicU64::new(0),
            allowed: AtomicU64::new(allowed),
            is_done,
        })
    }

    /// A store whose requests all succeed.
    pub(crate) fn well(inner: &Arc<InMemory>) -> Store {
        Self::over(inner, u64::MAX, false).store()
    }

    pub(crate) fn store(self: &Arc<Self>) -> Store {
        Store::over(
            Arc::clone(self) as Arc<dyn ObjectStore>,
            Duration::from_secs(60),
        )
    }

    /// How many requests there were.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Whether this request fails, and how.
    fn fails(&self) -> Option<bool> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let allowed = self.allowed.load(Ordering::Relaxed);
        (number >= allowed).then_some(self.is_done && number == allowed)
    }

    async fn ask<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        // Others may run in between, as with a remote store.
        tokio::task::yield_now().await;
        match self.fails() {
            None => work.await,
            Some(is_done) => {
                if is_done {
                    drop(work.await);
                }
                Err(broken())
            }
        }
    }
}

fn broken() -> Error {
    Error::Generic {
        store: "failing",
        source: "connection reset".into(),
    }
}

impl fmt::Display for Failing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("failing")
    }
}

#[async_trait]
impl ObjectStore for Failing {
    async fn put_opts(&self, at: &Path, payload: PutPayload, how: PutOptions) -> Result<PutResult> {
        self.ask(self.inner.put_opts(at, payload, how)).await
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        how: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.ask(self.inner.put_multipart_opts(at, how)).await
    }

    async fn get_opts(&self, at: &Path, how: GetOptions) -> Result<GetResult> {
        self.ask(self.inner.get_opts(at, how)).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        match self.fails() {
            None => self.inner.delete_stream(locations),
            Some(true) => {
                let deleted = self.inner.delete_stream(locations);
                deleted.map(|_| Err(broken())).boxed()
            }
            Some(false) => locations.map(|_| Err(broken())).boxed(),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        if self.fails().is_some() {
            return futures_util::stream::iter([Err(broken())]).boxed();
        }
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.ask(self.inner.list_with_delimiter(prefix)).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, how: CopyOptions) -> Result<()> {
        self.ask(self.inner.copy_opts(from, to, how)).await
    }
}
