//! Models: the provider of each, the costs, and the caps. Shared by agents and judges.

pub(crate) mod costs;
mod provider;
mod test_budget;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tapewright_proxy::http::origin::{OriginSettings, TlsSettings, client_config};
use tapewright_proxy::provider::{Cause, Endpoint, Provider};

pub(crate) use self::provider::{Choice, choose, default_keys, default_model, keys};
pub(crate) use self::test_budget::{Money, TestBudget};
use crate::report;

/// Time limit for connecting to a provider.
const CONNECT: Duration = Duration::from_secs(10);

/// Connects to providers.
#[derive(Debug, Default)]
pub(crate) struct Connector {
    // Made once, and only if a provider is asked.
    tls: OnceLock<Result<Arc<rustls::ClientConfig>, String>>,
}

impl Connector {
    /// The provider at an endpoint; `stop` ends every wait.
    pub(crate) fn provider(
        &self,
        endpoint: Endpoint,
        stop: &Arc<AtomicBool>,
    ) -> Result<Provider, String> {
        let settings = OriginSettings {
            tls: self.tls()?,
            connect_timeout: CONNECT,
            http2_prior_knowledge: false,
            destinations: None,
        };
        let name = endpoint.name.clone();
        let told = |cause: Cause| format!("provider `{name}`: {}", report::causes(&cause));
        Provider::new(endpoint, settings, Arc::clone(stop)).map_err(told)
    }

    fn tls(&self) -> Result<Arc<rustls::ClientConfig>, String> {
        let made = self.tls.get_or_init(|| {
            let settings = TlsSettings {
                ca_bundle: None,
                skip_verify: false,
                only_1_3: false,
            };
            client_config(&settings).map_err(|error| report::causes(&error))
        });
        made.clone()
    }
}
