"""Answers queries by ClickHouse (chdb) over files of rows, for a test that compares the answers with ours.

Reads a line of JSON: `tables`, the files or URLs of each; `access`, the key and the secret of a bucket; `queries`, each with `sql` and
`parameters`. Prints a line of JSON for each query: its rows as lists of values.
"""

import json
import sys

from chdb import session

TYPES = {"since": "DateTime64(6, 'UTC')", "until": "DateTime64(6, 'UTC')"}


def text(value):
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def source(place, access):
    if place.startswith("http"):
        return f"s3({text(place)}, {text(access[0])}, {text(access[1])}, 'Parquet')"
    return f"file({text(place)}, 'Parquet')"


def main():
    told = json.loads(sys.stdin.readline())
    asked = session.Session()
    asked.query("create database rows engine = Atomic")
    asked.query("use rows")
    for table, places in told["tables"].items():
        parts = (f"select * from {source(place, told['access'])}" for place in places)
        asked.query(f"create view {table} as " + " union all ".join(parts))
    for query in told["queries"]:
        sql = query["sql"]
        for name, value in query["parameters"].items():
            asked.query(f"set param_{name} = {text(value)}")
            sql = sql.replace(f"${name}", f"{{{name}:{TYPES.get(name, 'String')}}}")
        answer = asked.query(sql + " settings join_use_nulls = 1", "JSONCompactEachRow")
        rows = [json.loads(line) for line in str(answer).splitlines() if line]
        print(json.dumps(rows), flush=True)


main()
