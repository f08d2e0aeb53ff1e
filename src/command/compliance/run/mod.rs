//! `tapewright compliance run`: runs the rules of a revision and grades the outcome.

mod arguments;
mod baseline;
mod from_suite;
mod gates;
mod results;
mod scored;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tapewright_corpus::plan::{self, Plan};
use tapewright_proxy::client::{FIRST_STATELESS, Revision};

pub(crate) use self::arguments::Arguments;
use self::arguments::Format;
pub(crate) use self::scored::{Gate, Judged, Other, Scored};
use crate::command::record::config::label;
use crate::command::redaction;
use crate::corpus::captured::{self, Question};
use crate::corpus::live::{AskOptions, Asker, Target};
use crate::corpus::versions::Versions;
use crate::exit::Exit;
use crate::files::NewFile;
use crate::files::output::{self, Overwrite};
use crate::report::formats::{Reportable as _, github, html, junit, markdown};
use crate::report::{self, Mistake};

/// The capabilities of servers that revisions of MCP define, whether rules need them or not.
const CAPABILITIES: [&str; 8] = [
    "completions",
    "experimental",
    "extensions",
    "logging",
    "prompts",
    "resources",
    "tasks",
    "tools",
];

/// Time limit for all requests together.
const LIMIT: Duration = Duration::from_secs(300);

impl Arguments {
    /// Runs the rules, and reports.
    pub(super) fn run(&self) -> anyhow::Result<Exit> {
        self.check_output()?;
        let versions = Versions::open(self.choice.registry.as_deref())?;
        self.check_capabilities(&versions)?;
        let captured = !self.capture.is_empty();
        let mut scored = match (captured, &self.results_from, &self.from_suite) {
            (true, ..) => self.captured(&versions)?,
            (_, Some(path), _) => self.results(path, &versions)?,
            (.., Some(path)) => self.suite(path, &versions)?,
            (false, None, None) => self.live(&versions)?,
        };
        if let Some(label) = &self.output.server_label {
            scored.server.clone_from(label);
        }
        let known = self
            .output
            .baseline
            .clone()
            .or_else(|| scored.known.clone());
        if let Some(path) = known {
            baseline::apply(&path, self.output.update_baseline, &mut scored)?;
        }
        self.tell(&scored)?;
        Ok(scored.exit())
    }

    /// Refuses a scorecard that would replace an input, before anything is sent.
    fn check_output(&self) -> anyhow::Result<()> {
        let Some(path) = &self.output.save_scorecard else {
            return Ok(());
        };
        let named = [
            &self.from_suite,
            &self.results_from,
            &self.choice.registry,
            &self.output.baseline,
        ];
        let inputs = self.capture.iter().chain(named.into_iter().flatten());
        output::not_among(path, inputs.map(PathBuf::as_path))?;
        output::check_ahead(path, Overwrite::Report)
    }

    /// Refuses a capability that neither MCP nor the registry knows: no rule would apply by it.
    fn check_capabilities(&self, versions: &Versions) -> anyhow::Result<()> {
        let rules = versions.registry().rules.iter();
        let mut known: Vec<&str> = rules
            .filter_map(|rule| rule.applicability.as_deref())
            .filter(|name| plan::is_capability(name))
            .chain(CAPABILITIES)
            .collect();
        known.sort_unstable();
        known.dedup();
        let mut named = self.choice.capabilities.iter().flatten();
        let Some(wrong) = named.find(|name| !known.contains(&name.as_str())) else {
            return Ok(());
        };
        let what = format!("unknown capability `{}`", report::safe(wrong));
        let hint = format!("expected one or more of {}", known.join(", "));
        Err(Mistake::new(what, hint).into())
    }

    /// Grades results from other tools.
    fn results(&self, path: &Path, versions: &Versions) -> anyhow::Result<Scored> {
        let rows = results::read(path)?;
        let named = self.choice.capabilities.clone();
        let server = "server".to_owned();
        Ok(results::score(server, versions.registry(), rows, named))
    }

    /// Judges recordings.
    fn captured(&self, versions: &Versions) -> anyhow::Result<Scored> {
        let paths = captured::recordings(&self.capture)?;
        let asked = self.choice.spec_version.as_deref();
        let version = asked.map(|text| versions.named(text)).transpose()?;
        let revision = match version
            .as_deref()
            .and_then(|version| version.strip_prefix('v'))
        {
            Some(revision) => revision.to_owned(),
            None => captured::revision(&paths)?,
        };
        let version = match version {
            Some(version) => version,
            None => versions.of_revision(&revision)?,
        };
        let plan = Plan::new(versions.registry(), &versions.corpus(&version)?);
        let question = Question {
            plan,
            revision,
            named: self.choice.capabilities.clone(),
        };
        let run = captured::run(&paths, question)?;
        let label = paths.first().map(|path| captured::label(path));
        let mut scored = Scored::of(label.transpose()?.unwrap_or_default(), run);
        let shown = paths.iter().map(|path| path.display().to_string());
        scored.recordings = shown.collect();
        Ok(scored)
    }

    /// Tests a server.
    fn live(&self, versions: &Versions) -> anyhow::Result<Scored> {
        let asked = self.choice.spec_version.as_deref();
        let version = asked.map(|text| versions.named(text)).transpose()?;
        let mut settings = self.redaction.settings();
        settings.values.extend(self.server.secrets()?);
        let manner = AskOptions {
            rules: Arc::new(redaction::rules(&settings)?),
            timeout: self.choice.timeout,
            limit: LIMIT,
        };
        let target = Target::of(&self.server, &self.command, manner)?;
        let server = match self.server.url()? {
            Some(url) => url.host.clone(),
            None => label(&self.command),
        };
        let mut conversation = Asker::open(target, &opening(version.as_deref()))?;
        let wanted = version
            .as_deref()
            .and_then(|version| version.strip_prefix('v'));
        let mut notes = Vec::new();
        if let Some(wanted) = wanted
            && wanted != conversation.revision
        {
            let spoken = report::safe(&conversation.revision);
            notes.push(format!(
                "the server negotiated {spoken}, but is tested against {wanted}"
            ));
        }
        let version = match version {
            Some(version) => version,
            None => versions.of_revision(&conversation.revision)?,
        };
        let plan = Plan::new(versions.registry(), &versions.corpus(&version)?);
        conversation.name_capabilities(self.choice.capabilities.clone());
        let mut scored = Scored::of(server, conversation.run(plan));
        scored.notes.extend(notes);
        self.ask_official(&mut scored)?;
        Ok(scored)
    }

    /// If requested, runs the official suite against the same server.
    fn ask_official(&self, scored: &mut Scored) -> anyhow::Result<()> {
        let (true, Some(url)) = (self.official.official, self.server.url()?) else {
            return Ok(());
        };
        let url = format!("{}{}", url.origin(), url.path);
        let revision = scored.revision.clone().unwrap_or_default();
        let ours = scored.as_rules();
        scored.official = Some(self.official.beside(&url, &revision, &ours)?);
        Ok(())
    }

    /// Prints the report.
    fn tell(&self, scored: &Scored) -> anyhow::Result<()> {
        if let Some(path) = &self.output.save_scorecard {
            let mut file = NewFile::create(path)?;
            file.writer().write_all(scored.json()?.as_bytes())?;
            file.commit(std::fs::metadata(path).ok().map(|data| data.permissions()))?;
        }
        let told = || scored.report();
        let format = self.output.format();
        report::out(&match format {
            Format::Pretty => scored.pretty(),
            Format::Json => scored.json()?,
            Format::Markdown => markdown::text(&told()),
            Format::Html => html::text(&told()),
            Format::Junit => junit::text(&told())?,
            Format::Sarif => report::corpus::sarif(scored)?,
            Format::Github => github::text(&told()),
        })?;
        if format == Format::Github {
            super::arguments::summarize(&markdown::text(&told()))?;
        }
        if !matches!(format, Format::Pretty | Format::Markdown | Format::Html) {
            for note in &scored.notes {
                report::note(&report::safe(note));
            }
        }
        Ok(())
    }
}

/// The revision to request for a version; without a version and for the draft, the server chooses.
fn opening(version: Option<&str>) -> Revision {
    match version.and_then(|version| version.strip_prefix('v')) {
        None => Revision::Auto,
        Some(version) if version >= FIRST_STATELESS => Revision::Stateless {
            version: version.to_owned(),
            discover: true,
        },
        Some(version) => Revision::Handshake(version.to_owned()),
    }
}
