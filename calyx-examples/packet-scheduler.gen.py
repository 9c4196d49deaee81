#!/usr/bin/env python3
"""Writes the data of packet-scheduler.futil, and the memories that it should end with.

The generator models the scheduler packet by packet in plain Python; the cycles in the expectation
come from a run of the design without probes (CONTRIBUTING.md) and are kept.
"""

import json
import pathlib
import random

PACKETS = 20_000
ROOM = 16
WEIGHTS = [4, 2, 1, 1]

random.seed(1)
packets = []
for _ in range(PACKETS):
    flow = random.choices(range(4), weights=[45, 25, 20, 10])[0]
    length = random.randrange(16)
    payload = random.randrange(1 << 26)
    packets.append(payload << 6 | flow << 4 | length)


def checksum(packet):
    total = 0
    for _ in range(packet & 15):
        total += packet & 255
        packet >>= 4
    return total


queues = [[] for _ in WEIGHTS]
sent = [0] * len(WEIGHTS)
dropped = [0] * len(WEIGHTS)
sums = [0] * len(WEIGHTS)
turns = [flow for flow, weight in enumerate(WEIGHTS) for _ in range(weight)]
for number, packet in enumerate(packets):
    flow = packet >> 4 & 3
    if len(queues[flow]) < ROOM:
        queues[flow].append(packet)
    else:
        dropped[flow] += 1
    chosen = turns[number % len(turns)]
    if queues[chosen]:
        packet = queues[chosen].pop(0)
        sent[chosen] += 1
        sums[chosen] += checksum(packet)


def memory(data):
    return {
        "data": data,
        "format": {"numeric_type": "bitnum", "is_signed": False, "width": 32},
    }


here = pathlib.Path(__file__).parent
empty = [0] * len(WEIGHTS)
data = {"packets": packets, "sent": empty, "dropped": empty, "sums": empty}
(here / "packet-scheduler.futil.data").write_text(
    json.dumps({name: memory(values) for name, values in data.items()}) + "\n"
)
expect = here / "packet-scheduler.futil.expect"
cycles = json.loads(expect.read_text())["cycles"] if expect.exists() else {}
memories = {"sent": sent, "dropped": dropped, "sums": sums}
expect.write_text(json.dumps({"cycles": cycles, "memories": memories}, indent=2) + "\n")
