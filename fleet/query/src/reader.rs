//! Reads Parquet files from a source.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use datafusion::common::Result;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::ParquetFileReaderFactory;
use datafusion::parquet::arrow::arrow_reader::ArrowReaderOptions;
use datafusion::parquet::arrow::async_reader::AsyncFileReader;
use datafusion::parquet::errors::{ParquetError, Result as ParquetResult};
use datafusion::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::source::{Counts, Source};

/// A file up to this length is read in one request, which costs less than several for its parts.
const WHOLE: u64 = 512 << 10;
/// How much of the end of a longer file is read first: it has the file's metadata.
const TAIL: usize = 64 << 10;

/// Opens files for the engine.
#[derive(Debug)]
pub(crate) struct Readers {
    source: Arc<dyn Source>,
    counts: Arc<Counts>,
    recent: Arc<Recent>,
}

impl Readers {
    pub(crate) fn new(source: &Arc<dyn Source>, counts: &Arc<Counts>) -> Self {
        Self {
            source: Arc::clone(source),
            counts: Arc::clone(counts),
            recent: Arc::default(),
        }
    }
}

/// The files that were read last: the engine opens a file once for its metadata and again for its
/// rows.
#[derive(Default)]
struct Recent(Mutex<Held>);

#[derive(Default)]
struct Held {
    files: VecDeque<(String, Bytes)>,
    opened: HashSet<String>,
}

/// How many files are kept.
const HELD: usize = 16;

impl fmt::Debug for Recent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Recent")
    }
}

impl Recent {
    fn with<T>(&self, work: impl FnOnce(&mut Held) -> T) -> T {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut held)
    }

    fn get(&self, path: &str) -> Option<Bytes> {
        self.with(|held| {
            let file = held.files.iter().find(|(held, _)| held == path);
            file.map(|(_, bytes)| bytes.clone())
        })
    }

    fn keep(&self, path: &str, bytes: &Bytes) {
        self.with(|held| {
            if held.files.len() >= HELD {
                held.files.pop_front();
            }
            held.files.push_back((path.to_owned(), bytes.clone()));
        });
    }

    /// Whether the file is opened for the first time.
    fn is_new(&self, path: &str) -> bool {
        self.with(|held| held.opened.insert(path.to_owned()))
    }
}

impl ParquetFileReaderFactory for Readers {
    fn create_reader(
        &self,
        _partition: usize,
        file: PartitionedFile,
        _hint: Option<usize>,
        _metrics: &ExecutionPlanMetricsSet,
    ) -> Result<Box<dyn AsyncFileReader + Send>> {
        Ok(Box::new(FileReader {
            source: Arc::clone(&self.source),
            counts: Arc::clone(&self.counts),
            recent: Arc::clone(&self.recent),
            path: file.object_meta.location.to_string(),
            len: file.object_meta.size,
            whole: None,
        }))
    }
}

/// One file.
struct FileReader {
    source: Arc<dyn Source>,
    counts: Arc<Counts>,
    recent: Arc<Recent>,
    path: String,
    len: u64,
    whole: Option<Bytes>,
}

impl fmt::Debug for FileReader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("FileReader").field(&self.path).finish()
    }
}

impl FileReader {
    async fn bytes(&mut self, range: Range<u64>) -> ParquetResult<Bytes> {
        // Offsets come from the file, and may have any value.
        if range.start > range.end || range.end > self.len {
            return Err(ParquetError::General(
                "a part lies outside of it".to_owned(),
            ));
        }
        if self.len > WHOLE {
            return self.fetch(range).await;
        }
        let held = self.whole.take().or_else(|| self.recent.get(&self.path));
        let whole = if let Some(whole) = held {
            whole
        } else {
            let whole = self.fetch(0..self.len).await?;
            self.recent.keep(&self.path, &whole);
            whole
        };
        let whole = self.whole.insert(whole);
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let (start, end) = (place(range.start), place(range.end));
        if end > whole.len() {
            return Err(ParquetError::EOF(
                "it is shorter than its entry says".to_owned(),
            ));
        }
        Ok(whole.slice(start..end))
    }

    async fn fetch(&mut self, range: Range<u64>) -> ParquetResult<Bytes> {
        if self.recent.is_new(&self.path) {
            self.counts.add_opened();
        }
        let bytes = self.source.read(&self.path, range).await;
        let bytes = bytes.map_err(|error| ParquetError::External(Box::new(error)))?;
        self.counts.add_bytes(bytes.len());
        Ok(bytes)
    }
}

impl AsyncFileReader for FileReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, ParquetResult<Bytes>> {
        self.bytes(range).boxed()
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, ParquetResult<Arc<ParquetMetaData>>> {
        async move {
            let mut reader = ParquetMetaDataReader::new()
                .with_metadata_options(options.map(|options| options.metadata_options().clone()))
                .with_prefetch_hint(Some(TAIL));
            if let Some(options) = options {
                reader = reader
                    .with_column_index_policy(options.column_index_policy())
                    .with_offset_index_policy(options.offset_index_policy());
            }
            let (path, len) = (self.path.clone(), self.len);
            let told = reader.load_and_finish(self, len).await;
            told.map(Arc::new).map_err(|error| match error {
                error @ ParquetError::External(_) => error,
                error => ParquetError::General(format!("`{path}` cannot be read: {error}")),
            })
        }
        .boxed()
    }
}
