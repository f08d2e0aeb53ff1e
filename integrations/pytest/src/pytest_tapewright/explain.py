"""What is wrong with how a cassette was played, for people."""

SHOWN = 5
"""How many misses or unused requests are shown of many."""

REASONS = {
    "never_recorded": "was never recorded with these parameters",
    "used_up": "was recorded, and asked for more often than recorded",
    "out_of_order": "was asked for out of the recorded order",
}


def wrong(settings, reports, used):
    """What has to fail the test, as lines; none when all was played as recorded."""
    lines = []
    misses = [miss for report in reports for miss in report["misses"]]
    missed = sum(report["missed"] for report in reports)
    if missed:
        lines.append(f"{_count(missed, 'request')} not in {settings.cassette}:")
        for miss in misses[:SHOWN]:
            lines.extend("  " + line for line in _miss(miss))
        if missed > SHOWN:
            lines.append(f"  and {missed - SHOWN} more")
        lines.append("record what is new with `--tapewright-mode=new-episodes`, or everything anew with `all`")
    if settings.unused == "fail" and not missed:
        lines.extend(_unused(settings, reports, used))
    return lines


def _unused(settings, reports, used):
    if not used:
        return [f"no client used the server of {settings.cassette}"]
    if not reports:
        return []
    left = [one for one in reports[0]["requests"] if _times(one["place"], reports) == 0]
    if not left:
        return []
    lines = [f"{_count(len(left), 'recorded request')} of {settings.cassette} never requested:"]
    lines.extend(f"  {one['place']}  {one['method']}" for one in left[:SHOWN])
    if len(left) > SHOWN:
        lines.append(f"  and {len(left) - SHOWN} more")
    lines.append("record it anew with `--tapewright-mode=all`, or allow them with `unused=\"ignore\"`")
    return lines


def _times(place, reports):
    """How often a recorded request was asked for, by all clients of a test."""
    return sum(one["times"] for report in reports for one in report["requests"] if one["place"] == place)


def _miss(miss):
    target = f" `{miss['target']}`" if miss.get("target") else ""
    reason = REASONS.get(miss["reason"], miss["reason"].replace("_", " "))
    yield f"{miss['method']}{target} {reason}"
    for near in miss.get("nearest", [])[:1]:
        for difference in near.get("differences", [])[:SHOWN]:
            recorded, live = difference.get("recorded", "nothing"), difference.get("live", "nothing")
            yield f"  {near['place']} differs at {difference['path']}: recorded {recorded}, now {live}"


def _count(number, what):
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
