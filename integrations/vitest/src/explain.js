// What is wrong with how a cassette was played, for people.

const SHOWN = 5 // of many misses or unused requests
const REASONS = {
  never_recorded: 'was never recorded with these parameters',
  used_up: 'was recorded, and asked for more often than recorded',
  out_of_order: 'was asked for out of the recorded order',
}

/** What has to fail the test, as lines; none when all was played as recorded. */
export function wrong({ cassette, unused }, reports, used) {
  const missed = reports.reduce((sum, report) => sum + report.missed, 0)
  if (missed) {
    const misses = reports.flatMap((report) => report.misses)
    return [
      `${count(missed, 'request')} not in ${cassette}:`,
      ...misses.slice(0, SHOWN).flatMap(miss).map((line) => `  ${line}`),
      ...(missed > SHOWN ? [`  and ${missed - SHOWN} more`] : []),
      'record what is new with TAPEWRIGHT_MODE=new-episodes, or everything anew with TAPEWRIGHT_MODE=all',
    ]
  }
  if (unused === 'ignore') return []
  if (!used) return [`no client used the server of ${cassette}`]
  const times = (place) => reports.flatMap((report) => report.requests).filter((one) => one.place === place && one.times).length
  const left = (reports[0]?.requests ?? []).filter((one) => !times(one.place))
  if (!left.length) return []
  return [
    `${count(left.length, 'recorded request')} of ${cassette} never asked for:`,
    ...left.slice(0, SHOWN).map((one) => `  ${one.place}  ${one.method}`),
    ...(left.length > SHOWN ? [`  and ${left.length - SHOWN} more`] : []),
    "record it anew with TAPEWRIGHT_MODE=all, or allow them with `unused: 'ignore'`",
  ]
}

function miss({ method, target, reason, nearest = [] }) {
  const near = nearest[0]
  const differences = (near?.differences ?? []).slice(0, SHOWN)
  return [
    `${method}${target ? ` \`${target}\`` : ''} ${REASONS[reason] ?? reason.replaceAll('_', ' ')}`,
    ...differences.map(({ path, recorded = 'nothing', live = 'nothing' }) => `  ${near.place} differs at ${path}: recorded ${recorded}, now ${live}`),
  ]
}

function count(number, what) {
  return number === 1 ? `1 ${what}` : `${number} ${what}s`
}
