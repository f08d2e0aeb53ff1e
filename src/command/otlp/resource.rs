//! The resource that spans are about.

use tapewright_schemas::tape::Header;

use crate::report::otlp::Attributes;

/// The user's settings for the resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// The name of the service.
    pub(super) service: Option<String>,
    /// Names and values.
    pub(super) attributes: Vec<(String, String)>,
}

impl Named {
    /// The resource of a tape.
    pub(crate) fn resource(&self, header: &Header) -> Attributes {
        let given = |name: &str| {
            let mut all = self.attributes.iter();
            all.find(|(given, _)| given == name)
        };
        let service = given("service.name").map(|(_, value)| value.as_str());
        let service = self.service.as_deref().or(service);
        let mut resource = Attributes::default();
        resource.text("service.name", service.unwrap_or("tapewright"));
        let mut plain = vec![("service.version", env!("CARGO_PKG_VERSION"))];
        if !header.label.is_empty() {
            plain.push(("tapewright.label", header.label.as_str()));
        }
        for (name, value) in plain {
            if given(name).is_none() {
                resource.text(name, value);
            }
        }
        for (name, value) in &self.attributes {
            if name != "service.name" {
                resource.text(name, value.as_str());
            }
        }
        resource
    }
}
