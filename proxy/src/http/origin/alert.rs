//! TLS alerts from a server that refuses the connection.
//!
//! Up to TLS 1.2 a server refuses during the handshake. In TLS 1.3 the client's side of the
//! handshake is finished before the server has checked the client's certificate, so the alert
//! arrives with the first read, and often after a write has failed (RFC 8446 §4.4.2.4, §6.2).

use std::error::Error;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use rustls::{AlertDescription, CertificateError, InvalidMessage};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The alert with which the server ended a connection, if any.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusal(Arc<OnceLock<AlertDescription>>);

impl Refusal {
    /// The name of the alert.
    pub(super) fn alert(&self) -> Option<String> {
        self.0.get().copied().map(name)
    }

    fn learn(&self, error: &io::Error) {
        if let Some(alert) = alert_in(error) {
            // The first alert ends the connection.
            self.0.set(alert).ok();
        }
    }
}

/// The peer's alert that caused an error.
pub(super) fn alert_in(error: &io::Error) -> Option<AlertDescription> {
    match tls_in(error) {
        Some(rustls::Error::AlertReceived(alert)) => Some(*alert),
        _ => None,
    }
}

/// Whether an error was caused by an answer that is not TLS.
pub(super) fn is_no_tls(error: &io::Error) -> bool {
    let not_tls = rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType);
    tls_in(error) == Some(&not_tls)
}

/// The name of the peer's alert that caused an error.
pub(crate) fn alert_of(error: &io::Error) -> Option<String> {
    alert_in(error).map(name)
}

/// Why a server's certificate is not accepted, if the library only has a name for it.
pub(super) fn certificate_fault(error: &io::Error) -> Option<&'static str> {
    let Some(rustls::Error::InvalidCertificate(why)) = tls_in(error) else {
        return None;
    };
    // Its other reasons are sentences, or names that are plain.
    let CertificateError::Other(other) = why else {
        return None;
    };
    match format!("{other:?}") {
        name if name.contains("CaUsedAsEndEntity") => Some(
            "the server uses the certificate of a certificate authority (CA:TRUE); give it one that \
             the authority has issued for its name (CA:FALSE)",
        ),
        name if name.contains("UnsupportedCertVersion") => {
            Some("the server's certificate is not of version 3 of X.509")
        }
        _ => None,
    }
}

/// The TLS error that caused an error.
fn tls_in(error: &io::Error) -> Option<&rustls::Error> {
    let mut cause = error.get_ref().map(|cause| cause as &(dyn Error + 'static));
    while let Some(error) = cause {
        let found: Option<&rustls::Error> = error.downcast_ref();
        if found.is_some() {
            return found;
        }
        cause = error.source();
    }
    None
}

/// The name of an alert as in RFC 8446 §6, or its number.
pub(super) fn name(alert: AlertDescription) -> String {
    let camel = match alert {
        AlertDescription::UnrecognisedName => "UnrecognizedName".to_owned(),
        AlertDescription::Unknown(number) => return number.to_string(),
        known => format!("{known:?}"),
    };
    let mut name = String::with_capacity(camel.len() + 4);
    let mut before = '_';
    let mut letters = camel.chars().peekable();
    while let Some(letter) = letters.next() {
        let begins_word = letters.peek().is_some_and(char::is_ascii_lowercase);
        if letter.is_ascii_uppercase()
            && before != '_'
            && (before.is_ascii_lowercase() || begins_word)
        {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
        before = letter;
    }
    name
}

/// A TLS connection that remembers the alert with which the server ended it.
pub(super) struct AlertStream<S> {
    stream: S,
    refusal: Refusal,
    // Why writing fails, while an alert may have been received before.
    failed: Option<io::Error>,
}

impl<S> AlertStream<S> {
    pub(super) fn new(stream: S, refusal: Refusal) -> Self {
        Self {
            stream,
            refusal,
            failed: None,
        }
    }
}

impl<S: AsyncRead + Unpin> AlertStream<S> {
    /// Looks for an alert that was received before a write failed. Other received data is dropped.
    fn poll_look(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut scratch = [0; 1_024];
        for _ in 0..LOOKS {
            let mut buffer = ReadBuf::new(&mut scratch);
            match ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                Ok(()) => break,
                Err(error) => {
                    self.refusal.learn(&error);
                    break;
                }
            }
        }
        Poll::Ready(())
    }

    /// Reports a failed write, after it is known whether there was an alert.
    fn poll_failed(&mut self, context: &mut Context<'_>) -> Option<Poll<io::Error>> {
        self.failed.as_ref()?;
        if self.poll_look(context).is_pending() {
            return Some(Poll::Pending);
        }
        self.failed.take().map(Poll::Ready)
    }

    fn noted<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let Poll::Ready(Err(error)) = written else {
            return written;
        };
        self.refusal.learn(&error);
        // The peer is gone: reading ends soon as well.
        let is_gone = matches!(
            error.kind(),
            io::ErrorKind::BrokenPipe
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::ConnectionReset
        );
        if !is_gone || self.refusal.0.get().is_some() {
            return Poll::Ready(Err(error));
        }
        self.failed = Some(error);
        match self.poll_failed(context) {
            Some(Poll::Ready(error)) => Poll::Ready(Err(error)),
            _ => Poll::Pending,
        }
    }
}

/// The maximum number of reads that search for an alert after other data.
const LOOKS: usize = 64;

impl<S: AsyncRead + Unpin> AsyncRead for AlertStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        if let Err(error) = &read {
            self.refusal.learn(error);
        }
        Poll::Ready(read)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for AlertStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(failed) = self.poll_failed(context) {
            return failed.map(Err);
        }
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.noted(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(failed) = self.poll_failed(context) {
            return failed.map(Err);
        }
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.noted(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(failed) = self.poll_failed(context) {
            return failed.map(Err);
        }
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.noted(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alerts_have_the_names_of_the_standard() {
        for (number, wanted) in [
            (40, "handshake_failure"),
            (42, "bad_certificate"),
            (48, "unknown_ca"),
            (49, "access_denied"),
            (70, "protocol_version"),
            (80, "internal_error"),
            (112, "unrecognized_name"),
            (115, "unknown_psk_identity"),
            (116, "certificate_required"),
            (120, "no_application_protocol"),
            (201, "201"),
        ] {
            assert_eq!(name(AlertDescription::from(number)), wanted);
        }
    }
}
