"""Holds native timelines against timeline.json, trace.petal and the tables of the same profile.

usage: check_timeline.py PETAL DIR...

Decodes with Perfetto's own protocol buffers (PyPI: perfetto). Exits with 1 at the first difference.
"""

import collections
import csv
import json
import subprocess
import sys
import zlib

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

from checks import check

BEGIN, END, COUNTER = (
    proto.TrackEvent.TYPE_SLICE_BEGIN,
    proto.TrackEvent.TYPE_SLICE_END,
    proto.TrackEvent.TYPE_COUNTER,
)
CLEARED = proto.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
NEEDS = proto.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
BOOTTIME = 6


def packets(path):
    trace = proto.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    for packet in trace.packet:
        check(packet.HasField("compressed_packets"), path, "holds a packet that is not compressed")
        inner = proto.Trace()
        inner.ParseFromString(zlib.decompress(packet.compressed_packets))
        yield from inner.packet


class Sequence:
    """What a packet sequence has interned, and its clock."""

    def __init__(self):
        self.valid = False
        self.clock = None
        self.unit = None
        self.now = None
        self.tables = collections.defaultdict(dict)

    def take(self, packet):
        if packet.sequence_flags & CLEARED:
            self.__init__()
            self.valid = True
            self.clock = packet.trace_packet_defaults.timestamp_clock_id
        if packet.HasField("clock_snapshot"):
            clocks = {clock.clock_id: clock for clock in packet.clock_snapshot.clocks}
            own = clocks[self.clock]
            check(own.is_incremental and clocks[BOOTTIME].timestamp == 0, "an odd clock", own)
            self.unit = own.unit_multiplier_ns
            self.now = own.timestamp
        if packet.HasField("interned_data"):
            check(self.valid, "interned data without a beginning")
            for kind, values in packet.interned_data.ListFields():
                for value in values:
                    text = value.str.decode() if kind.name.endswith("values") else value.name
                    table = self.tables[kind.name]
                    check(table.setdefault(value.iid, text) == text, "interned twice", text)
        if packet.HasField("timestamp"):
            check(packet.sequence_flags & NEEDS, "an event that needs no state")
            self.now += packet.timestamp * self.unit

    def details(self, event):
        found = {}
        for detail in event.debug_annotations:
            name = self.tables["debug_annotation_names"][detail.name_iid]
            check(name not in found, "the detail", name, "is there twice")
            if detail.HasField("uint_value"):
                found[name] = detail.uint_value
            else:
                texts = self.tables["debug_annotation_string_values"]
                found[name] = texts[detail.string_value_iid]
        return found


class Native:
    """A decoded native timeline."""

    def __init__(self, path):
        self.tracks = {}
        self.slices = []
        self.counters = collections.defaultdict(list)
        self.flows = collections.defaultdict(list)
        sequences = collections.defaultdict(Sequence)
        events = []
        for packet in packets(path):
            sequence = sequences[packet.trusted_packet_sequence_id]
            sequence.take(packet)
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                parent = track.parent_uuid
                # Otherwise viewers make one row of two with the same name.
                apart = track.SiblingMergeBehavior.SIBLING_MERGE_BEHAVIOR_NONE
                check(track.sibling_merge_behavior == apart, "a track may be merged", track)
                check(not parent or parent in self.tracks, "a track before its parent", track)
                check(track.uuid not in self.tracks, "a track twice", track)
                self.tracks[track.uuid] = track
            if packet.HasField("track_event"):
                event = packet.track_event
                check(event.track_uuid in self.tracks, "an event before its track", event)
                check(sequence.now % 1000 == 0, "a time between cycles", sequence.now)
                text = sequence.tables
                name = text["event_names"][event.name_iid] if event.name_iid else None
                kinds = [text["event_categories"][kind] for kind in event.category_iids]
                events.append((sequence.now // 1000, event, name, kinds, sequence.details(event)))
        # As a viewer does: by time, and in the order of the file at the same time.
        events.sort(key=lambda event: event[0])
        open_slices = collections.defaultdict(list)
        for at, event, name, kinds, details in events:
            track = event.track_uuid
            if event.type == BEGIN:
                entry = [track, name, kinds, at, None, details, len(open_slices[track])]
                open_slices[track].append(entry)
                self.slices.append(entry)
                for flow in [*event.flow_ids, *event.terminating_flow_ids]:
                    self.flows[flow].append((entry, flow in event.terminating_flow_ids))
            elif event.type == END:
                check(open_slices[track], "an end without a beginning on", self.tracks[track])
                entry = open_slices[track].pop()
                entry[4] = at
                entry[5].update(details)
            else:
                check(event.type == COUNTER, "an unknown event", event)
                self.counters[self.tracks[track].name].append((at, event.counter_value))
        # Those without slices, which hold the tracks of a front end's lines.
        self.files = {
            self.tracks[track].parent_uuid for track, _, kinds, *_ in self.slices if kinds == ["line"]
        }
        left = [slices for slices in open_slices.values() if slices]
        check(not left, "slices that do not end:", left)


def check_slices(native, timeline):
    """Both timelines have the same slices on the same rows, at the same depths."""
    names = {}
    processes = {}
    theirs = collections.Counter()
    slices = [event for event in timeline["traceEvents"] if event["ph"] == "X"]
    ends = collections.defaultdict(list)
    # As viewers do: by time, the longest first, and in the order of the file.
    for event in sorted(slices, key=lambda event: (event["ts"], -event["dur"])):
        around = ends[event["tid"]]
        while around and around[-1] <= event["ts"]:
            around.pop()
        details = json.dumps(event["args"], sort_keys=True)
        times = event["ts"], event["ts"] + event["dur"]
        theirs[event["tid"], event["name"], event["cat"], *times, details, len(around)] += 1
        around.append(times[1])
    for event in timeline["traceEvents"]:
        if event["name"] == "thread_name":
            names[event["tid"]] = event["args"]["name"]
        elif event["name"] == "process_name":
            processes[event["pid"]] = event["args"]["name"]
    ours = collections.Counter()
    for track, name, kinds, start, end, details, depth in native.slices:
        check(len(kinds) == 1, name, "has the categories", kinds)
        text = json.dumps(details, sort_keys=True)
        ours[track, name, kinds[0], start, end, text, depth] += 1
    for slice, count in (ours - theirs).items():
        check(False, "only in the native timeline:", slice, count)
    for slice, count in (theirs - ours).items():
        check(False, "only in timeline.json:", slice, count)
    for uuid, track in native.tracks.items():
        if track.HasField("counter") or uuid in native.files:
            continue
        cell = uuid if names[uuid] == "cell" else track.parent_uuid
        check(uuid == cell or names[uuid] == track.name, "a row is called", track.name)
        path = []
        while cell:
            path.append(native.tracks[cell].name)
            cell = native.tracks[cell].parent_uuid
        # The components of the cells around it are left out in JSON.
        path = [part.split(" [")[0] for part in path[:0:-1]] + path[:1]
        check(".".join(path) in processes.values(), "no process is called", ".".join(path))
    return sum(ours.values())


def check_counters(native, petal, folder):
    """The counters say for each cycle what `petal trace` does."""
    expected = collections.defaultdict(list)
    trace = subprocess.run([petal, "trace", folder, "--json"], check=True, capture_output=True)
    end = 0
    for line in trace.stdout.splitlines():
        run = json.loads(line)
        # What is below two groups at once is active once.
        active = collections.defaultdict(set)
        split = False
        path = []
        for node in run["tree"]:
            kind, label = node["kind"], node["label"]
            del path[node["depth"] :]
            cells = tuple(label for kind, label in path if kind == "cell")
            called = bool(path) and path[-1][0] == "group"
            place = () if kind == "primitive" or called else tuple(path)
            # Continuous assignments stand where groups would.
            if label != "continuous assignments":
                active[kind].add((cells, label, place))
            split |= kind == "group" and called
            path.append((kind, label))
        expected["active primitives"].append((run["start"], run["end"], len(active["primitive"])))
        # A part of a group and the whole are one; the tree does not tell them from calls.
        if not split:
            expected["active groups"].append((run["start"], run["end"], len(active["group"])))
        end = run["end"]
    for name, runs in expected.items():
        samples = native.counters[name]
        at = 0
        for start, stop, value in runs:
            while at + 1 < len(samples) and samples[at + 1][0] <= start:
                at += 1
            check(samples[at][0] <= start and samples[at][1] == value, name, "in cycle", start, "is", samples[at], "not", value)
            check(at + 1 == len(samples) or samples[at + 1][0] >= stop, name, "changes in", start, stop)
        check(samples[-1][1] == 0 and samples[-1][0] <= end, name, "does not end at 0:", samples[-1])
    with open(f"{folder}/summary.json") as file:
        summary = json.load(file)
    samples = native.counters["overhead"]
    total = sum(value * (after[0] - at) for (at, value), after in zip(samples, samples[1:]))
    check(total == sum(summary["overhead"].values()), "overhead adds up to", total)


def check_flows(native):
    """Every arrow leads from a group to a cell that its component holds, while both are active. A cell that
    is handed over as a `ref` cell may live further out."""
    arrived = 0
    for flow, ends in native.flows.items():
        sources = [entry for entry, terminates in ends if not terminates]
        targets = [entry for entry, terminates in ends if terminates]
        check(len(sources) == 1 and len(targets) <= 1, "flow", flow, "has the ends", ends)
        for target in targets:
            source = sources[0]
            check(source[2] == ["group"] and target[2] == ["cell"], "flow", flow, "links", source, target)
            check(source[3] <= target[3] < source[4], "flow", flow, "comes late", source, target)
            around = [native.tracks[source[0]].parent_uuid]
            while around[-1] in native.tracks:
                around.append(native.tracks[around[-1]].parent_uuid)
            check(native.tracks[target[0]].parent_uuid in around, "flow", flow, "leaves its cell")
            arrived += 1
    return arrived


def check_activations(native, folder):
    """The last activation of each group and cell has the number that the tables have."""
    last = collections.Counter()
    for track, name, kinds, _, _, details, _ in native.slices:
        if kinds[0] == "cell":
            number = details["activation"] + details.get("activations", 1) - 1
            last[track] = max(last[track], number)
    with open(f"{folder}/stats/cells.csv", newline="") as file:
        table = sorted(int(row["times active"]) for row in csv.DictReader(file))
    check(sorted(last.values()) == table, "activations of cells:", last, table)


def check_lines(native, folder):
    """The track of a front end's line has the cycles and the times that the table has. The name of the line
    begins with its file and number."""
    cycles, times = collections.Counter(), collections.Counter()
    for track, name, kinds, start, end, details, _ in native.slices:
        if kinds == ["line"]:
            line = name.split(" ")[0]
            check(native.tracks[track].name == name, "a line on the track of another:", name)
            check(line.startswith(native.tracks[native.tracks[track].parent_uuid].name), "another file:", name)
            cycles[line] += end - start
            times[line] += 1
            check(details == {"activation": times[line]}, "entry", times[line], "of", name, "is", details)
    try:
        with open(f"{folder}/stats/lines.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["line"]]
    except FileNotFoundError:
        rows = []
    for sums, column in (cycles, "cycles"), (times, "times entered"):
        table = {f"{row['file']}:{row['line']}": int(row[column]) for row in rows}
        check(sums == {line: sum for line, sum in table.items() if sum}, column, "of lines:", sums, table)
    return len(cycles)


def cut(details, start, stop, first, last):
    """The details of the part of a slice that is within a section: they tell the whole. Which
    activations those are is left out where the slice does not tell their latency."""
    several = details.get("activations", 1)
    if first <= start and stop <= last:
        return details
    details = details | {"cut: starts in cycle": start, "cut: cycles in all": stop - start}
    if several == 1:
        return details
    latency, rest = divmod(stop - start, several)
    if rest:
        del details["activation"], details["activations"]
        return details
    over = (max(start, first) - start) // latency
    count = -(-(min(stop, last) - start) // latency) - over
    details["activation"] += over
    details["activations"] = count
    if count == 1:
        del details["activations"]
    return details


def without_sites(timeline):
    """The first slice of a site tells its number, and that is another one in a section."""
    for *_, details, _ in timeline.slices:
        details.pop("site", None)


def check_section(whole, petal, folder):
    """A section has what the whole timeline has in these cycles."""
    end = max(entry[4] for entry in whole.slices)
    first, last = end // 3, end - end // 3
    if first == last:
        return
    command = [petal, "timeline", folder, "--cycles", f"{first}..{last}"]
    subprocess.run(command, check=True, capture_output=True)
    native = Native(f"{folder}/timeline.pftrace")
    with open(f"{folder}/timeline.json") as file:
        check_slices(native, json.load(file))
    check_flows(native)
    names = {uuid: track.name for uuid, track in whole.tracks.items()}
    expected = collections.Counter()
    # Slices of which the section tells activations that the whole timeline does not tell.
    untold = set()
    without_sites(whole)
    without_sites(native)
    for track, name, _, start, stop, details, _ in whole.slices:
        if start < last and stop > first:
            inside = cut(details, start, stop, first, last)
            slice = names[track], name, max(start, first), min(stop, last)
            if "activation" in details and "activation" not in inside:
                untold.add(slice)
            expected[(*slice, json.dumps(inside, sort_keys=True))] += 1
    for track, name, _, start, stop, details, _ in native.slices:
        slice = native.tracks[track].name, name, start, stop
        if slice in untold:
            details = {k: v for k, v in details.items() if not k.startswith("activation")}
        expected[(*slice, json.dumps(details, sort_keys=True))] -= 1
    for slice, count in expected.items():
        # Where two rows of a track are free, a section may use the other one.
        check(count == 0 or "(" in slice[0], "in the section:", -count, "more of", slice)
    part = f"{folder}-part.pftrace"
    command = [petal, "view", folder, "--cycles", f"{first}..{last}", "--out", part]
    subprocess.run(command, check=True, capture_output=True)
    part = Native(part)
    without_sites(part)
    slices = [
        sorted(str((of.tracks[slice[0]].name, *slice[1:])) for slice in of.slices if slice[2] != ["section"])
        for of in (native, part)
    ]
    check(slices[0] == slices[1], "`petal view` has other slices than the section")
    for name, samples in native.counters.items():
        inside = [sample for sample in whole.counters[name] if first < sample[0] < last]
        check(samples[0][0] >= first and samples[-1][0] <= last, name, "leaves the section")
        check([sample for sample in samples if first < sample[0] < last] == inside, name, "differs")


def main(petal, *folders):
    total = arrows = lines = 0
    for folder in folders:
        try:
            native = Native(f"{folder}/timeline.pftrace")
            with open(f"{folder}/timeline.json") as file:
                total += check_slices(native, json.load(file))
            check_counters(native, petal, folder)
            arrows += check_flows(native)
            check_activations(native, folder)
            lines += check_lines(native, folder)
            check_section(native, petal, folder)
        except SystemExit as problem:
            raise SystemExit(f"{folder}: {problem}")
    print(f"{total} slices, {arrows} arrows, {lines} lines")


main(*sys.argv[1:])
