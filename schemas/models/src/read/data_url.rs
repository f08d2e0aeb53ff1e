//! `data:` URLs (RFC 2397), which two wires carry images in.

use crate::conversation::{Media, MediaKind, Source};

/// The medium that a URL refers to.
pub(crate) fn of_data_url(url: String, kind: MediaKind) -> Media {
    let inline = url.strip_prefix("data:").and_then(|rest| {
        let (head, data) = rest.split_once(',')?;
        let mime = head.strip_suffix(";base64")?;
        let mime = (!mime.is_empty()).then(|| mime.to_owned());
        Some((mime, data.to_owned()))
    });
    match inline {
        Some((mime, data)) => Media {
            kind,
            mime,
            source: Source::Base64(data),
        },
        None => Media {
            kind,
            mime: None,
            source: Source::Url(url),
        },
    }
}

/// The URL of a medium; `None` for a file of a provider.
pub(crate) fn data_url(media: &Media) -> Option<String> {
    match &media.source {
        Source::Base64(data) => {
            let mime = media.mime.as_deref().unwrap_or_default();
            Some(format!("data:{mime};base64,{data}"))
        }
        Source::Url(url) => Some(url.clone()),
        Source::Text(_) | Source::File(_) => None,
    }
}
