"""Prints a data file with other values of the same kind: those of each memory in another order.

usage: data.py FILE SEED
"""

import json
import random
import sys

file, seed = sys.argv[1:]


def flat(values):
    return [value for part in values for value in flat(part)] if isinstance(values, list) else [values]


def shaped(values, like):
    return [shaped(values, part) for part in like] if isinstance(like, list) else next(values)


with open(file, encoding="utf-8") as text:
    memories = json.load(text)
source = random.Random(int(seed))
for memory in memories.values():
    values = flat(memory["data"])
    source.shuffle(values)
    memory["data"] = shaped(iter(values), memory["data"])
json.dump(memories, sys.stdout)
