//! Differences between the captures themselves.

use crate::file::Baseline;

/// Something about a capture that is another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityChange {
    /// The property.
    pub field: Field,
    /// Its value in the baseline.
    pub before: String,
    /// Its value in the candidate.
    pub after: String,
}

/// A property of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The model.
    ModelId,
    /// The model as its provider names it.
    ModelVersion,
    /// The program that captured it.
    McptestVersion,
    /// The server.
    ServerVersion,
    /// The configuration of the server; if it differs, nothing can be compared.
    ServerConfigHash,
    /// The fields that must stay the same.
    Invariants,
    /// The fields that may vary.
    Variances,
    /// The baseline's declarations differ from the candidate's. The baseline's are used.
    Declared,
}

impl Field {
    /// Its name in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ModelId => "model_id",
            Self::ModelVersion => "model_version",
            Self::McptestVersion => "mcptest_version",
            Self::ServerVersion => "server_version",
            Self::ServerConfigHash => "server_config_hash",
            Self::Invariants => "config_fingerprint.invariants",
            Self::Variances => "config_fingerprint.variances",
            Self::Declared => "invariants",
        }
    }
}

pub(super) fn changes(baseline: &Baseline, candidate: &Baseline) -> Vec<IdentityChange> {
    let (before, after) = (&baseline.identity, &candidate.identity);
    let listed = |names: &[String]| names.join(", ");
    let declared = |all: &Baseline| {
        let names = all.invariants.iter().map(|one| one.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let mut changes = Vec::new();
    let mut tell = |field, before: &str, after: &str| {
        if before != after {
            changes.push(IdentityChange {
                field,
                before: before.to_owned(),
                after: after.to_owned(),
            });
        }
    };
    let hashes = (&before.server_config_hash, &after.server_config_hash);
    tell(Field::ServerConfigHash, hashes.0, hashes.1);
    tell(Field::ModelId, &before.model_id, &after.model_id);
    tell(
        Field::ModelVersion,
        &before.model_version,
        &after.model_version,
    );
    tell(
        Field::ServerVersion,
        &before.server_version,
        &after.server_version,
    );
    tell(
        Field::McptestVersion,
        &before.mcptest_version,
        &after.mcptest_version,
    );
    let (old, new) = (&baseline.rules, &candidate.rules);
    tell(
        Field::Invariants,
        &listed(&old.invariants),
        &listed(&new.invariants),
    );
    tell(
        Field::Variances,
        &listed(&old.variances),
        &listed(&new.variances),
    );
    if !candidate.invariants.is_empty() && baseline.invariants != candidate.invariants {
        let (before, after) = (declared(baseline), declared(candidate));
        changes.push(IdentityChange {
            field: Field::Declared,
            before,
            after,
        });
    }
    changes
}
