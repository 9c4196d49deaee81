"""Reads report.html in a browser, as a user does: by clicks, and by keys alone.

usage: check_report.py CHROMIUM PETAL DIR SWITCH_CASE_PAR [OTHER...]

The folders are profiles below DIR; the first is of calyx-examples/switch-case-par.futil. Exits with 1 at the
first difference.
"""

import json
import subprocess
import sys

from playwright.sync_api import sync_playwright

from checks import check, chromium


KINDS = {
    "fsm-update": "FSM update",
    "par-done": "par-done update",
    "fsm-and-par-done": "FSM and par-done update",
    "static-wait": "static wait",
    "barrier": "barrier",
    "start-finish": "start/finish",
    "other": "other",
}


def same(what, found, expected):
    check(found == expected, f"{what}: {found!r} is not {expected!r}")


class Browser:
    """Opens reports, and holds against them whatever goes wrong on the page."""

    def __init__(self, chromium, petal, root):
        self.chromium, self.petal, self.root = chromium, petal, root

    def open(self, name, **options):
        page = self.chromium.new_page(**options)
        url = f"file://{self.root}/{name}/report.html"
        wrong = []
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: request.url.split("#")[0] == url or wrong.append(request.url))
        page.wrong = wrong
        page.goto(url)
        if options.get("java_script_enabled", True):
            page.wait_for_selector("#window:not(:empty)")
        return page

    def trace(self, name):
        """The runs of equal cycles, by `petal trace`."""
        command = [self.petal, "trace", f"{self.root}/{name}", "--json"]
        lines = subprocess.run(command, check=True, capture_output=True).stdout.splitlines()
        return [json.loads(line) for line in lines]


def texts(page, selector):
    # What a change of the address leads to comes after it.
    page.evaluate("new Promise((done) => setTimeout(done, 20))")
    return [text.strip() for text in page.locator(selector).all_inner_texts()]


def chosen_frames(page):
    return sorted(texts(page, "#frames [aria-selected=true]"))


def chosen_rows(page, table):
    """The names of the rows, also those of a table that is not in sight."""
    rows = page.locator(f"[data-table={table}] tr[aria-current] th").all_text_contents()
    return sorted(rows)


def in_sight(page, box, inner):
    """Whether a part of the page is in the window, and where its box scrolled to."""
    page.evaluate("new Promise((done) => setTimeout(done, 50))")
    return page.evaluate(
        """([box, inner]) => {
            const [outer, part] = [box, inner].map((selector) => document.querySelector(selector)?.getBoundingClientRect());
            if (!part) return false;
            const room = [outer, { top: 0, bottom: innerHeight, left: 0, right: innerWidth }];
            return room.every(({ top, bottom, left, right }) =>
                part.bottom > top + 5 && part.top < bottom - 5 && part.right > left && part.left < right);
        }""",
        [box, inner],
    )


def row_of_timeline(page):
    """Whether a row of what is chosen is in the timeline's box."""
    # Rows of a canvas are no elements; what is chosen has a background of its own.
    return page.evaluate(
        """() => {
            const [canvas, box] = ["tracks", "rows"].map((id) => document.getElementById(id));
            const chosen = document.createElement("p");
            chosen.style.color = "var(--chosen)";
            document.body.append(chosen);
            const [red, green, blue] = getComputedStyle(chosen).color.match(/\\d+/g).map(Number);
            chosen.remove();
            const ratio = canvas.width / canvas.clientWidth;
            const top = Math.round(box.scrollTop * ratio);
            const height = Math.min(Math.round(box.clientHeight * ratio), canvas.height - top);
            const copy = new OffscreenCanvas(1, height).getContext("2d", { willReadFrequently: true });
            copy.drawImage(canvas, 1, top, 1, height, 0, 0, 1, height);
            const pixels = copy.getImageData(0, 0, 1, height).data;
            for (let at = 0; at < pixels.length; at += 4)
                if (pixels[at] === red && pixels[at + 1] === green && pixels[at + 2] === blue) return true;
            return false;
        }"""
    )


def check_shown(page, what, line):
    """Source, flame graph and timeline are scrolled to what is chosen, and in the window."""
    check(in_sight(page, "#files", f"#files tr[data-line='{line}']"), what, "does not show its line")
    check(in_sight(page, "#frames-box", "#frames [aria-selected=true]"), what, "does not show its frame")
    check(in_sight(page, "body", "#rows") and row_of_timeline(page), what, "does not show its row of the timeline")


def check_places(browser, name, hottest, statement):
    """A click goes there, at any size of the window."""
    for width, height in [(800, 900), (1400, 900), (2200, 1000)]:
        page = browser.open(name, viewport={"width": width, "height": height})
        sight = f"at {width} pixels"
        same(f"scrolls sideways {sight}", page.evaluate("document.documentElement.scrollWidth <= innerWidth"), True)
        check(page.evaluate(
            """line => {
                const box = document.querySelector("#files");
                const row = box.querySelector(`tr[data-line="${line}"]`).getBoundingClientRect();
                return row.top >= box.getBoundingClientRect().top && row.bottom <= box.getBoundingClientRect().bottom;
            }""", hottest), "the source does not open at its hottest line", sight)
        page.locator("#ranks button", has_text=statement).first.click()
        check_shown(page, f"a hotspot {sight}", hottest)
        page.keyboard.press("Escape")
        row = page.locator("[data-table=control] tbody tr", has_text=statement).first
        row.locator("th").click()
        check_shown(page, f"a row {sight}", hottest)
        # What matters is there without scrolling, and the name stays.
        table = "[data-table=control]"
        page.locator(f"{table} tbody th").nth(2).scroll_into_view_if_needed()
        titles = page.locator(f"{table} thead th").all_text_contents()
        same("columns", titles[:4], ["statement", "cycles", "overhead", "% of run"])
        for nth in range(1, 5):
            check(in_sight(page, f"{table} .box", f"{table} thead th:nth-child({nth})"), titles[nth - 1], "is not in sight", sight)
        scroll_sideways(page, f"{table} .box")
        check(in_sight(page, f"{table} .box", f"{table} tbody th"), "the names of rows scroll away", sight)
        page.locator("#files").scroll_into_view_if_needed()
        scroll_sideways(page, "#files")
        check(in_sight(page, "#files", f"#files tr[data-line='{hottest}'] th"), "line numbers scroll away", sight)
        page.locator("#frames [aria-selected=true]").first.click()
        check_shown(page, f"a frame {sight}", hottest)
        same("wrong on the page", page.wrong, [])
        page.close()


def scroll_sideways(page, box):
    """Scrolls a box to its right end, and waits until that is seen."""
    frame = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    page.evaluate(f"document.querySelector('{box}').scrollLeft = 10000")
    page.evaluate(frame)


def check_frames(browser, name):
    """Frames say what they are, and overhead is as wide as the run's."""
    page = browser.open(name)
    data = json.loads(page.locator("#data").text_content())
    overhead = sum(cycles for _, cycles in data["classes"][2:])
    page.locator("#search").fill("(overhead")
    page.wait_for_function("document.querySelector('#matches').textContent.startsWith('matched')")
    share = f"{overhead * 100 / data['cycles']:.1f} %"
    same("overhead in the flame graph", page.locator("#matches").inner_text(), f"matched: {overhead} cycles, {share}")
    page.locator("#search").fill("if eq_1.out")
    same("frames of a source text", texts(page, "#frames .match"), ["if@L119 eq_1.out"])
    page.locator("#frames .match").hover()
    told = page.locator("#frame-detail").inner_text()
    for part in ["if@L119 (control, line 119)", "active in 3 cycles", "entered 1 time", "if eq_1.out { run_s1; }"]:
        check(part in told, part, "is not in", told)
    # A picture of its own, by inferno: zoom and search work with what was put into it.
    page.goto(f"file://{browser.root}/{name}/flame.svg?s=if%20eq_1.out")
    page.wait_for_function("document.querySelector('#matched').textContent.startsWith('Matched')")
    same("found in flame.svg", page.locator("#matched").text_content(), "Matched: 33.3%")
    title = page.locator("#frames g", has_text="if@L119 eq_1.out").first.locator("title").text_content()
    same("title", title, "if@L119 eq_1.out (3 cycles of the run, 33.33 %; active in 3 cycles, entered 1 times; if eq_1.out)")
    page.locator("#frames g", has_text="run_s1").first.click()
    check(page.locator("#frames g.hide").count() > 0, "flame.svg does not zoom")
    page.close()


def check_drags(browser, name):
    """The mouse does in the timeline what it does in Perfetto."""
    page = browser.open(name, viewport={"width": 1400, "height": 900})
    page.locator("nav a", has_text="Timeline").click()
    window = lambda: page.locator("#window").inner_text()
    box = page.locator("#tracks").bounding_box()
    x = lambda share: box["x"] + 260 + (box["width"] - 260) * share
    y = box["y"] + 60
    page.mouse.move(x(0.25), y)
    page.mouse.down()
    page.mouse.move(x(0.5), y, steps=4)
    page.mouse.up()
    area = page.locator("#area").inner_text()
    check(area.startswith("cycles 2 to 4: 3 cycles; "), "area", area)
    same("address after a drag", page.evaluate("location.hash"), "")
    page.keyboard.press("f")
    same("F", window(), "cycles 2 to 4 of 9")
    page.keyboard.press("0")
    page.keyboard.down("Control")
    page.mouse.move(x(0.05), y)
    for _ in range(4):
        page.mouse.wheel(0, -100)
        page.evaluate("new Promise((done) => setTimeout(done, 30))")
    page.keyboard.up("Control")
    check(window().startswith("cycles 0 to ") and "0 to 8" not in window(), "Ctrl+wheel zooms elsewhere:", window())
    before = window()
    page.keyboard.press("d")
    check(window() != before, "D does not move what is shown")
    page.keyboard.press("0")
    page.keyboard.press("w")
    check("0 to 8" not in window(), "W does not zoom")
    page.mouse.click(x(0.5), y)
    check("cycle=" in page.evaluate("location.hash"), "a click chooses no cycle")
    page.keyboard.press("?")
    check(page.locator("#keys").is_visible() and "selects an area" in page.locator("#keys").inner_text(), "? lists no keys")
    page.keyboard.press("Escape")
    check(not page.locator("#keys").is_visible(), "Escape does not close the list")
    same("wrong on the page", page.wrong, [])
    page.close()


def check_clicks(browser, name):
    """Source line → its frames → its rows, and back."""
    page = browser.open(name)
    page.locator("#files tr[data-line='0:119'] th").click()
    same("address", page.evaluate("location.hash"), "#L119")
    same("frames of line 119", chosen_frames(page), ["(overhead: FSM update)", "if@L119 eq_1.out", "run_s1"])
    same("statements of line 119", chosen_rows(page, "control"), ["main.if@L119", "main.run_s1"])
    same("groups of line 119", chosen_rows(page, "groups"), ["main.run_s1"])
    page.locator("#frames .frame", has_text="par@L118").click()
    same("lines of par@L118", page.locator("#files tr[aria-current]").get_attribute("data-line"), "0:118")
    same("statements of par@L118", chosen_rows(page, "control"), ["main.par@L118"])
    check(page.locator("#frames .frame", has_text="read").count() == 0, "the flame graph did not zoom")
    page.locator("#unzoom").click()
    tables = page.get_by_role("tablist", name="Tables")
    tables.get_by_role("tab", name="groups").click()
    page.locator("[data-table=groups] tr", has_text="write").first.click()
    same("frames of write", chosen_frames(page), ["write"])
    # A link shows the same to somebody else.
    address = page.evaluate("location.hash")
    page.goto("about:blank")
    page.goto(f"file://{browser.root}/{name}/report.html{address}")
    page.wait_for_selector("#window:not(:empty)")
    same("frames of the link", chosen_frames(page), ["write"])
    page.locator("#search").fill("run_s1")
    check("matched: 1 cycle, 11.1 %" == page.locator("#matches").inner_text(), "search found", page.locator("#matches").inner_text())
    tables.get_by_role("tab", name="control").click()
    overhead = page.locator("[data-table=control] th button", has_text="overhead").first
    overhead.click()
    first = page.locator("[data-table=control] tbody tr").first
    same("most overhead", first.locator("th").inner_text(), "main.seq@L116")
    same("order", overhead.locator("..").get_attribute("aria-sort"), "descending")
    overhead.click()
    same("order", overhead.locator("..").get_attribute("aria-sort"), "ascending")
    tables.get_by_role("tab", name="groups").click()
    page.locator("[data-table=groups] label", has_text="Filter").locator("input").fill("go_")
    # The other two never ran.
    same("filtered groups", texts(page, "[data-table=groups] tbody tr:not([hidden]) th"), ["sub_one.go_one"])
    check("of zeros left out" in page.locator("[data-table=groups] output").inner_text(), "rows of zeros are left out silently")
    page.locator("#next-overhead").click()
    same("first overhead", page.evaluate("location.hash").split("&")[-1], "cycle=1")
    same("wrong on the page", page.wrong, [])
    page.close()


def check_keys(browser, name):
    """All of it without a mouse."""
    page = browser.open(name)

    def tab_to(what):
        for _ in range(300):
            page.keyboard.press("Tab")
            if page.evaluate("selector => document.activeElement.matches(selector)", what):
                return
        check(False, "Tab never comes to", what)

    tab_to("#files button")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    check(page.evaluate("location.hash").startswith("#L"), "Enter on a line chooses nothing")
    page.keyboard.press("Escape")
    tab_to("#frames .frame")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press(" ")
    same("frames by keys", chosen_frames(page), ["par@L118"])
    tab_to("#tracks")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    same("cycle by keys", page.evaluate("location.hash").split("&")[-1], "cycle=2")
    page.keyboard.press("+")
    check("of 9" in page.locator("#window").inner_text(), "no window")
    check("0 to 8" not in page.locator("#window").inner_text(), "+ does not zoom")
    page.keyboard.press("0")
    check("0 to 8" in page.locator("#window").inner_text(), "0 does not show the run")
    tab_to("#tables [role=tab]")
    page.keyboard.press("ArrowRight")
    tab_to("[data-table=groups] tbody tr")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    same("groups by keys", len(chosen_rows(page, "groups")), 1)
    page.keyboard.press("/")
    same("focus of /", page.evaluate("document.activeElement.id"), "search")
    page.keyboard.type("read")
    check(page.locator("#frames .match").count() == 1, "search by keys")
    page.keyboard.press("Escape")
    same("address after Escape", page.evaluate("location.hash"), "")
    same("wrong on the page", page.wrong, [])
    page.close()


def check_cycles(browser, name):
    """The page shows the tree and the charge of a cycle that `petal trace` tells."""
    page = browser.open(name)
    runs = browser.trace(name)
    data = json.loads(page.locator("#data").text_content())
    same("cycles", data["cycles"], runs[-1]["end"])
    same("sum of the classes", sum(cycles for _, cycles in data["classes"]), data["cycles"])
    for run in runs[:: max(1, len(runs) // 40)]:
        page.evaluate(f"location.hash = '#cycle={run['start']}'")
        page.wait_for_function(f"document.querySelector('#tree h3')?.textContent.startsWith('Cycle {run['start']:,}')")
        expected = []
        for node in run["tree"]:
            charge = ""
            for word in ("overhead", "control"):
                if word in node:
                    charge = f"{word}: {KINDS[node[word]]}" + (f" of {node['statement']}" if node["statement"] else "")
            actual = f" = {node['actual']}" if "actual" in node else ""
            expected.append((node["depth"], node["label"] + actual, charge))
        found = page.evaluate(
            """() => [...document.querySelectorAll("#tree li")].map((line) => [
                Number(line.style.getPropertyValue("--depth")),
                line.querySelector("button").textContent,
                line.querySelectorAll("button")[1]?.textContent ?? "",
            ])"""
        )
        same(f"tree of cycle {run['start']}", [tuple(line) for line in found], expected)
    same("wrong on the page", page.wrong, [])
    page.close()


def check_terms(browser, name):
    """Whatever is a term of petal's says what it means, as `petal explain` does."""
    page = browser.open(name)
    where = "#figures dt abbr, #legend abbr, #ranks h2 abbr, .panel thead button, .source thead th:not(:last-child)"
    titles = page.evaluate("where => [...document.querySelectorAll(where)].map((e) => [e.textContent, e.title])", where)
    check(len(titles) > 30, "only", len(titles), "terms")
    same("terms without a meaning", [word for word, title in titles if not title], [])
    for word, title in titles:
        said = subprocess.run([browser.petal, "explain", word], check=True, capture_output=True, text=True).stdout
        check(title.startswith(said.splitlines()[1].strip()), word, "means", title, "and", said)
    page.locator("#figures abbr", has_text="overhead").focus()
    shown = "getComputedStyle(document.activeElement, '::after').content"
    check("control" in page.evaluate(shown), "a term does not tell what it means to keys:", page.evaluate(shown))
    same("wrong on the page", page.wrong, [])
    page.close()


def check_looks(browser, name):
    """Light and dark, narrow, and without scripts."""
    background = "getComputedStyle(document.documentElement).backgroundColor"
    page = browser.open(name, color_scheme="light")
    light = page.evaluate(background)
    page.locator("#theme").click()
    check(page.evaluate(background) != light, "the button does not darken")
    page.close()
    page = browser.open(name, color_scheme="dark")
    check(page.evaluate(background) != light, "dark is as light as light")
    page.close()
    page = browser.open(name, viewport={"width": 400, "height": 800})
    same("width of the page", page.evaluate("document.documentElement.scrollWidth"), 400)
    page.close()
    page = browser.open(name, java_script_enabled=False)
    check("overhead" in page.locator("noscript").inner_text(), "nothing without scripts")
    page.close()


def check_hostile(browser, name):
    """What stands in a source is text."""
    page = browser.open(name)
    same("images", page.locator("img").count(), 0)
    check(any("onerror" in text for text in texts(page, "#files .code")), "the source is not shown")
    same("wrong on the page", page.wrong, [])
    page.close()


def check_many_rows(browser, name):
    """Of a large table the first rows are there, what is chosen or wanted, and all when asked for."""
    page = browser.open(name)
    rows = page.locator("[data-table=control] tbody tr")
    note = page.locator("[data-table=control] output")
    check(rows.count() == 300 and "the first 300 of 401 rows" in note.inner_text(), "the note is", note.inner_text())
    page.evaluate("location.hash = '#control=400'")
    page.wait_for_selector("[data-table=control] tr[data-row='400'][aria-current]")
    check(rows.count() == 301, "rows are", rows.count())
    wanted = page.locator("[data-table=control] label", has_text="Filter").locator("input")
    wanted.fill("g377")
    same("filtered statements", texts(page, "[data-table=control] tbody th"), ["main.g377"])
    wanted.fill("")
    check(rows.count() == 301, "rows are", rows.count())
    page.locator("[data-table=control] button", has_text="Show all").click()
    check(rows.count() == 401 and "the first" not in note.inner_text(), "the note is", note.inner_text())
    page.locator("[data-table=control] thead button", has_text="statement").first.click()
    same("first by name", texts(page, "[data-table=control] tbody th")[0], "main.g0")
    same("wrong on the page", page.wrong, [])
    page.close()


def hottest(browser, name):
    """The line and the name of the statement with the most overhead."""
    page = browser.open(name)
    data = json.loads(page.locator("#data").text_content())
    table = next(table for table in data["tables"] if table["name"] == "control")
    column = [title for title, _ in table["columns"]].index
    _, row = max((row[column("overhead")], -at) for at, row in enumerate(table["rows"]))
    file, line = table["places"][-row]
    page.close()
    values = table["rows"][-row]
    return f"{file}:{line}", f"{values[column('component')]}.{values[column('statement')]}"


def main(path, petal, root, first, *others):
    with sync_playwright() as playwright:
        chrome = chromium(playwright, path)
        browser = Browser(chrome, petal, root)
        check_clicks(browser, first)
        check_keys(browser, first)
        check_frames(browser, first)
        check_drags(browser, first)
        check_terms(browser, first)
        check_places(browser, first, "0:116", "main.seq@L116")
        check_places(browser, "matmul", *hottest(browser, "matmul"))
        for name in [first, *others]:
            try:
                check_cycles(browser, name)
                check_looks(browser, name)
            except SystemExit as problem:
                raise SystemExit(f"{name}: {problem}")
        check_hostile(browser, "hostile")
        check_many_rows(browser, "large")
        chrome.close()


main(*sys.argv[1:])
