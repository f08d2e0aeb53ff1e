"""What the agents are asked to do, and what has to come of it."""

PROMPT = "What is 2 + 3? Then say so, and add 5 to it."
TEXT = "It is 5, and then 10."
CALLS = [("get-sum", {"a": 2, "b": 3}), ("echo", {"message": "five"}), ("get-sum", {"a": 5, "b": 5})]
ANSWERS = ["The sum of 2 and 3 is 5.", "Echo: five", "The sum of 5 and 5 is 10."]


def asks(*calls):
    return {"tools": [{"name": name, "arguments": arguments} for name, arguments in calls]}


# Two calls at once, whose results some agents tell as they come, and one after them.
TURNS = [asks(*CALLS[:2]), asks(CALLS[2]), {"text": TEXT, "usage": {"input": 1000, "output": 30}}]


def same(title, found, wanted):
    return f"{title}: {found!r}, not {wanted!r}" if found != wanted else None
