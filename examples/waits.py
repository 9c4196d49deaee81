"""How long each site of a run waits between two of its activations: a subscriber in Python.

petal run design.futil -q --events - | python3 examples/waits.py
"""

import json
import sys

stream = map(json.loads, sys.stdin)
first = next(stream)
if first.get("events") != 1:
    sys.exit("these are no events of version 1")

sites, ended, waits = {}, {}, {}
cycles = None
for event in stream:
    if "begin" in event and event["begin"] in ended:
        wait = event["cycle"] - ended[event["begin"]]
        waits[event["begin"]] = max(wait, waits.get(event["begin"], 0))
    elif "end" in event:
        ended[event["end"]] = event["cycle"]
    elif "kind" in event:
        sites[event["site"]] = event
    elif "cycles" in event:
        cycles = event["cycles"]
if cycles is None:
    sys.exit("the run was cut off")

print(f"{first['design']}: {cycles} cycles")
longest = sorted(waits, key=lambda site: (-waits[site], sites[site]["path"]))
for site in [site for site in longest if sites[site]["kind"] == "group"][:5]:
    print(f"{waits[site]:>12}  {site}  {sites[site]['path']}")
