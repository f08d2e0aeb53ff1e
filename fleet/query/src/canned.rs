//! Common questions, in SQL that `ClickHouse` understands as well.

/// The outcomes that are hangs: there was no answer, and no fault held it back. Clients give up on
/// hangs by cancelling them.
pub const HANG_OUTCOMES: [&str; 5] = [
    "cancelled",
    "client_gone",
    "no_response",
    "peer_gone",
    "still_pending",
];

/// A question with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canned {
    /// Which tools hang, at which server version, since when.
    Hangs,
    /// How long tools take.
    Slow,
    /// What changed between versions of a server, and which tools have another definition.
    Drift,
    /// Which findings there are, and where.
    Findings,
    /// What model calls cost.
    Cost,
}

/// A condition set by the user, with a parameter of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// At this time or later.
    Since,
    /// Before this time.
    Until,
    /// Only this gateway.
    Gateway,
    /// Only this tool.
    Tool,
    /// Only this server.
    Server,
}

impl Condition {
    /// The name of its parameter.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Since => "since",
            Self::Until => "until",
            Self::Gateway => "gateway",
            Self::Tool => "tool",
            Self::Server => "server",
        }
    }

    fn sql(self) -> &'static str {
        match self {
            Self::Since => "at >= $since",
            Self::Until => "at < $until",
            Self::Gateway => "gateway = $gateway",
            Self::Tool => "tool = $tool",
            Self::Server => "server = $server",
        }
    }
}

impl Canned {
    /// Whether its rows have this column: model calls have no MCP server and no tool.
    #[must_use]
    pub fn takes(self, condition: Condition) -> bool {
        self != Self::Cost || !matches!(condition, Condition::Server | Condition::Tool)
    }

    /// The query, with these conditions. It consists of constant text; values are parameters.
    #[must_use]
    pub fn sql(self, conditions: &[Condition]) -> String {
        let body = match self {
            Self::Hangs => HANGS,
            Self::Slow => SLOW,
            Self::Drift => DRIFT,
            Self::Findings => FINDINGS,
            Self::Cost => COST,
        };
        let mut and = String::new();
        for condition in conditions {
            and.push_str(" and ");
            and.push_str(condition.sql());
        }
        let hangs = HANG_OUTCOMES.map(|outcome| format!("'{outcome}'"));
        body.replace(" {and}", &and)
            .replace("{hangs}", &hangs.join(", "))
    }
}

const HANGS: &str = "\
with seen as (
  select server, server_version, tool, method, at, tape, outcome,
    case when outcome in ({hangs}) then 1 else 0 end as hung
  from exchanges
  where sender = 'client' {and}
)
select server, server_version, coalesce(tool, method) as what,
  sum(hung) as hangs,
  sum(case when outcome = 'cancelled' then 1 else 0 end) as given_up,
  count(*) as calls,
  min(case when hung = 1 then at end) as hangs_since,
  max(case when hung = 1 then at end) as last_hang,
  max(case when hung = 1 then tape end) as last_tape
from seen
group by server, server_version, coalesce(tool, method)
having sum(hung) > 0
order by hangs desc, calls desc, what, server, server_version";

const SLOW: &str = "\
with ranked as (
  select server, server_version, coalesce(tool, method) as what, answered_ms,
    row_number() over (partition by server, server_version, coalesce(tool, method)
      order by answered_ms) as place,
    count(*) over (partition by server, server_version, coalesce(tool, method)) as among
  from exchanges
  where sender = 'client' and answered_ms is not null {and}
)
select server, server_version, what,
  count(*) as calls,
  min(case when place * 2 >= among then answered_ms end) as median_ms,
  min(case when place * 100 >= among * 95 then answered_ms end) as p95_ms,
  max(answered_ms) as max_ms
from ranked
group by server, server_version, what
order by p95_ms desc, what, server, server_version";

const DRIFT: &str = "\
with ranked as (
  select server, tool, coalesce(server_version, '') as version, at, answered_ms, tape,
    case when outcome = 'answered' and not tool_error then 0 else 1 end as bad,
    row_number() over (partition by server, tool, coalesce(server_version, '')
      order by answered_ms) as place,
    count(answered_ms) over (partition by server, tool, coalesce(server_version, '')) as among
  from exchanges
  where sender = 'client' and tool is not null and server is not null {and}
),
versions as (
  select server, tool, version,
    min(at) as first_at,
    min(tape) as first_tape,
    count(*) as calls,
    100.0 * sum(bad) / count(*) as bad_percent,
    min(case when place * 2 >= among then answered_ms end) as median_ms
  from ranked
  group by server, tool, version
),
ordered as (
  select server, tool, version, first_at, first_tape, calls, bad_percent, median_ms,
    row_number() over (partition by server, tool order by first_at, version) as turn
  from versions
),
listed as (
  select server, tool, coalesce(server_version, '') as version, definition,
    min(at) as first_at, min(tape) as first_tape
  from tools
  where server is not null {and}
  group by server, tool, coalesce(server_version, ''), definition
),
defined as (
  select server, tool, version, definition, first_at, first_tape,
    row_number() over (partition by server, tool order by first_at, version, definition) as turn
  from listed
),
changes as (
  select 'calls' as what, late.server as server, late.tool as tool,
    early.version as old_version, late.version as new_version,
    late.first_at as since,
    early.calls as old_calls, late.calls as new_calls,
    early.bad_percent as old_bad_percent, late.bad_percent as new_bad_percent,
    early.median_ms as old_median_ms, late.median_ms as new_median_ms,
    nullif('', '') as old_definition, nullif('', '') as new_definition,
    early.first_tape as old_tape, late.first_tape as first_tape
  from ordered late
  join ordered early on early.server = late.server and early.tool = late.tool and early.turn + 1 = late.turn
  where abs(late.bad_percent - early.bad_percent) >= 5
    or late.median_ms >= 1.5 * early.median_ms
    or early.median_ms >= 1.5 * late.median_ms
  union all
  select 'definition' as what, late.server as server, late.tool as tool,
    early.version as old_version, late.version as new_version,
    late.first_at as since,
    nullif(0, 0) as old_calls, nullif(0, 0) as new_calls,
    nullif(0.0, 0.0) as old_bad_percent, nullif(0.0, 0.0) as new_bad_percent,
    nullif(0.0, 0.0) as old_median_ms, nullif(0.0, 0.0) as new_median_ms,
    early.definition as old_definition, late.definition as new_definition,
    early.first_tape as old_tape, late.first_tape as first_tape
  from defined late
  join defined early on early.server = late.server and early.tool = late.tool and early.turn + 1 = late.turn
  where late.definition <> early.definition
)
select what, server, tool, old_version, new_version, since, old_calls, new_calls,
  old_bad_percent, new_bad_percent, old_median_ms, new_median_ms,
  old_definition, new_definition, old_tape, first_tape
from changes
order by since desc, what, server, tool, new_version, new_definition";

const FINDINGS: &str = "\
select code, severity, side, server, server_version, tool,
  count(*) as times,
  count(distinct tape) as tapes,
  min(at) as first_at,
  max(at) as last_at,
  max(tape) as last_tape
from findings
where status <> 'closed' {and}
group by code, severity, side, server, server_version, tool
order by times desc, code, severity, side, server, server_version, tool";

// An unknown cost is not zero: such calls are counted separately.
const COST: &str = "\
select date_trunc('day', at) as day, provider, model,
  count(*) as calls,
  sum(input_tokens) as input,
  sum(output_tokens) as output,
  sum(cache_read_tokens) as cache_read,
  sum(cache_write_tokens) as cache_write,
  sum(cost_usd_microcents) / 100000000.0 as usd,
  sum(case when cost_usd_microcents is null then 1 else 0 end) as without_price
from model_calls
where 1 = 1 {and}
group by date_trunc('day', at), provider, model
order by day desc, coalesce(sum(cost_usd_microcents), 0) desc, provider, model";
