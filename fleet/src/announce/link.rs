//! The connection to NATS: reads the last announcement of a tape, and publishes the next one.

use std::time::{Duration, SystemTime};

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::context::{CreateStreamErrorKind, GetStreamErrorKind, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, Info, LastRawMessageErrorKind, RetentionPolicy, Stream,
};
use async_nats::jetstream::{self, Context};

use super::address::{Access, Address};
use super::message::LIMIT;

/// How long announcements are kept.
const AGE: Duration = Duration::from_secs(24 * 3_600);
/// The size limit of the stream, in bytes.
const BYTES: i64 = 256 << 20;
/// For how long the server recognizes repeated message ids.
const WINDOW: Duration = Duration::from_secs(120);
/// Time limit for one request.
const PATIENCE: Duration = Duration::from_secs(5);
/// Room for the headers of an announcement.
const HEADERS: usize = 1 << 10;
/// The interval of the server's heartbeats while there are no messages.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// For how long the server keeps the position of a silent reader.
const SILENT: Duration = Duration::from_secs(60);

/// Why announcements cannot be published or received.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct LinkError {
    /// The kind of problem.
    pub problem: Problem,
    text: String,
}

/// A kind of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The server could not be reached, or reported an error.
    Away,
    /// The stream does not exist.
    Nothing,
    /// The stream has another purpose.
    Other,
}

/// The result of publishing an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// It was published, with this number in the stream.
    At {
        /// The number.
        seq: u64,
        /// Whether it had been published before.
        is_repeat: bool,
    },
    /// Another message is the last one of the tape.
    Behind,
}

/// A stream of announcements.
pub struct Link {
    context: Context,
    stream: Stream<Info>,
    access: Access,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The client's debug output may contain credentials.
        out.debug_struct("Link").finish_non_exhaustive()
    }
}

impl Link {
    /// Connects to a server. The stream is created if `may_create`.
    pub async fn open(
        address: &Address,
        access: &Access,
        may_create: bool,
    ) -> Result<Self, LinkError> {
        let away = |error: &dyn std::error::Error| LinkError::new(Problem::Away, access, error);
        let options = access.options(address).map_err(|error| away(&error))?;
        let options = options
            .name("tapewright-fleet")
            .connection_timeout(PATIENCE)
            .request_timeout(Some(PATIENCE))
            // Do not connect to other servers that this one names.
            .ignore_discovered_servers();
        let client = options.connect(address.server.as_str());
        let client = within(client).await?.map_err(|error| away(&error))?;
        let mut context = jetstream::new(client);
        context.set_timeout(PATIENCE);
        let stream = match context.get_stream(&address.name).await {
            Ok(stream) => stream,
            Err(error) => match error.kind() {
                GetStreamErrorKind::JetStream(inner) if inner.code() == 404 => {
                    if !may_create {
                        return Err(LinkError::nothing(&address.name));
                    }
                    create(&context, address).await.map_err(|error| {
                        let problem = match error.kind() {
                            CreateStreamErrorKind::JetStream(_) => Problem::Other,
                            _ => Problem::Away,
                        };
                        LinkError::new(problem, access, &error)
                    })?
                }
                _ => return Err(away(&error)),
            },
        };
        fits(&stream.cached_info().config, address)?;
        Ok(Self {
            context,
            stream,
            access: access.clone(),
        })
    }

    /// How long the stream keeps messages.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.stream.cached_info().config.max_age
    }

    /// The number of the last message in the stream, when it was opened.
    #[must_use]
    pub fn last_seq(&self) -> u64 {
        self.stream.cached_info().state.last_sequence
    }

    /// When the stream was created, in nanoseconds since 1970.
    #[must_use]
    pub fn created(&self) -> i128 {
        self.stream.cached_info().created.unix_timestamp_nanos()
    }

    /// The last message of a subject, with its number.
    pub async fn last(&self, subject: &str) -> Result<Option<(u64, Vec<u8>)>, LinkError> {
        match within(self.stream.get_last_raw_message_by_subject(subject)).await? {
            Ok(message) => Ok(Some((message.sequence, message.payload.to_vec()))),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(self.away(&error)),
        }
    }

    /// Publishes a message if the last one of its subject has this number; 0 if there is none.
    pub async fn publish(
        &self,
        subject: String,
        id: &str,
        after: u64,
        payload: Vec<u8>,
    ) -> Result<Published, LinkError> {
        let message = PublishMessage::build()
            .payload(payload.into())
            .message_id(id)
            .expected_last_subject_sequence(after);
        let sent = within(self.context.send_publish(subject, message)).await?;
        let sent = sent.map_err(|error| self.away(&error))?;
        match within(async { sent.await }).await? {
            Ok(ack) => Ok(Published::At {
                seq: ack.sequence,
                is_repeat: ack.duplicate,
            }),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {
                Ok(Published::Behind)
            }
            Err(error) => Err(self.away(&error)),
        }
    }

    /// The messages after a number, or since a time.
    pub async fn messages(&self, from: From) -> Result<pull::Stream, LinkError> {
        let deliver_policy = match from {
            From::Behind(seq) => DeliverPolicy::ByStartSequence {
                start_sequence: seq.saturating_add(1),
            },
            From::Since(time) => DeliverPolicy::ByStartTime {
                start_time: time.into(),
            },
        };
        // Each tail has an ephemeral consumer: the position is kept here, and nothing is delivered
        // twice.
        let config = pull::Config {
            deliver_policy,
            ack_policy: AckPolicy::None,
            inactive_threshold: SILENT,
            memory_storage: true,
            num_replicas: 1,
            ..pull::Config::default()
        };
        let consumer = within(self.stream.create_consumer(config)).await?;
        let consumer = consumer.map_err(|error| self.away(&error))?;
        let messages = consumer
            .stream()
            .heartbeat(HEARTBEAT)
            .expires(HEARTBEAT * 5)
            .max_messages_per_batch(256)
            .messages();
        within(messages).await?.map_err(|error| self.away(&error))
    }

    /// The error if the server did not carry out a request.
    pub fn away(&self, error: &dyn std::error::Error) -> LinkError {
        LinkError::new(Problem::Away, &self.access, error)
    }
}

/// Where to start reading a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// After the message with this number.
    Behind(u64),
    /// With messages of this time and later.
    Since(SystemTime),
}

async fn within<T>(work: impl Future<Output = T>) -> Result<T, LinkError> {
    let done = tokio::time::timeout(PATIENCE, work).await;
    done.map_err(|_| LinkError {
        problem: Problem::Away,
        text: format!("no answer within {} s", PATIENCE.as_secs()),
    })
}

async fn create(
    context: &Context,
    address: &Address,
) -> Result<Stream<Info>, jetstream::context::CreateStreamError> {
    let config = Config {
        name: address.name.clone(),
        description: Some("what tapewright-fleet shipped".to_owned()),
        subjects: vec![subjects(address)],
        max_age: AGE,
        max_bytes: BYTES,
        max_messages: -1,
        max_messages_per_subject: -1,
        max_message_size: i32::try_from(LIMIT + HEADERS).unwrap_or(i32::MAX),
        duplicate_window: WINDOW,
        discard: DiscardPolicy::Old,
        retention: RetentionPolicy::Limits,
        num_replicas: 1,
        ..Config::default()
    };
    // Another shipper may do the same; repeating it is not an error.
    context.create_stream(config).await
}

fn subjects(address: &Address) -> String {
    format!("{}.*.*", address.name)
}

/// Whether a stream is for announcements, and bounded. Its owner may have chosen other bounds.
fn fits(config: &Config, address: &Address) -> Result<(), LinkError> {
    let is_long = i32::try_from(LIMIT + HEADERS).unwrap_or(i32::MAX);
    let wrong = if config.subjects != [subjects(address)] {
        format!("its subjects are not `{}`", subjects(address))
    } else if config.max_age.is_zero() || config.max_bytes <= 0 {
        "its age or its size has no bound".to_owned()
    } else if config.retention != RetentionPolicy::Limits || config.discard != DiscardPolicy::Old {
        "it does not drop what is oldest".to_owned()
    } else if config.max_message_size > 0 && config.max_message_size < is_long {
        format!("its messages are shorter than {is_long} bytes")
    } else {
        return Ok(());
    };
    Err(LinkError {
        problem: Problem::Other,
        text: format!(
            "the stream `{}` is there and is none for announcements: {wrong}",
            address.name
        ),
    })
}

impl LinkError {
    fn new(problem: Problem, access: &Access, error: &dyn std::error::Error) -> Self {
        Self {
            problem,
            text: access.secrets.told(error),
        }
    }

    fn nothing(name: &str) -> Self {
        Self {
            problem: Problem::Nothing,
            text: format!("no stream `{name}` yet; a shipper creates it"),
        }
    }
}
