"""Reads report.html in a browser, as a user does: by clicks, and by keys alone.

usage: check_report.py CHROMIUM PETAL DIR SWITCH_CASE_PAR [OTHER...]

The folders are profiles below DIR; the first is of calyx-examples/switch-case-par.futil. Exits with 1 at the
first difference.
"""

import json
import re
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
            page.wait_for_selector("#window:not(:empty)", state="attached")
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


def view(page, name):
    """Opens a view that takes turns with others."""
    page.get_by_role("tablist", name="Views").get_by_role("tab", name=name).click()


def table(page, name):
    """Opens a table."""
    view(page, "Tables")
    page.get_by_role("tablist", name="Tables").get_by_role("tab", name=name).click()


def chosen_frames(page):
    view(page, "Flame graph")
    return sorted(texts(page, "#frames [aria-selected=true]"))


def chosen_rows(page, name):
    """The names of the rows that are chosen."""
    table(page, name)
    rows = page.locator(f"[data-table={name}] tr[aria-current] th").all_text_contents()
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
    view(page, "Timeline")
    check(in_sight(page, "body", "#rows") and row_of_timeline(page), what, "does not show its row of the timeline")
    view(page, "Flame graph")
    check(in_sight(page, "#frames-box", "#frames [aria-selected=true]"), what, "does not show its frame")


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
        table(page, "control")
        row = page.locator("[data-table=control] tbody tr", has_text=statement).first
        row.locator("th").click()
        check_shown(page, f"a row {sight}", hottest)
        # What matters is there without scrolling, and the name stays.
        table(page, "control")
        rows = "[data-table=control]"
        page.locator(f"{rows} tbody th").nth(2).scroll_into_view_if_needed()
        titles = page.locator(f"{rows} thead th").all_text_contents()
        same("columns", titles[:4], ["statement", "cycles", "overhead", "overhead, % of run"])
        for nth in range(1, 5):
            check(in_sight(page, f"{rows} .box", f"{rows} thead th:nth-child({nth})"), titles[nth - 1], "is not in sight", sight)
        scroll_sideways(page, f"{rows} .box")
        check(in_sight(page, f"{rows} .box", f"{rows} tbody th"), "the names of rows scroll away", sight)
        page.locator("#files").scroll_into_view_if_needed()
        scroll_sideways(page, "#files")
        check(in_sight(page, "#files", f"#files tr[data-line='{hottest}'] th"), "line numbers scroll away", sight)
        view(page, "Flame graph")
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
    pale = "[...document.querySelectorAll('#frames .frame:not(.match)')].every((frame) => Number(getComputedStyle(frame).opacity) < 0.5)"
    check(page.evaluate(pale), "what does not match is as strong as what does")
    page.locator("#frames .match").hover()
    told = page.locator("#frame-detail").inner_text()
    for part in ["if@L119 (control, line 119)", "active in 3 cycles", "entered 1 time", "if eq_1.out { run_s1; }"]:
        check(part in told, part, "is not in", told)
    page.locator("#search").fill("")
    check("FSM update" in texts(page, "#frames .frame"), "overhead does not begin with its kind")
    # A picture of its own, by inferno: zoom and search work with what was put into it.
    page.goto(f"file://{browser.root}/{name}/flame.svg?s=if%20eq_1.out")
    page.wait_for_function("document.querySelector('#matched').textContent.startsWith('Matched')")
    same("found in flame.svg", page.locator("#matched").text_content(), "Matched: 33.3%")
    title = page.locator("#frames g", has_text="if@L119 eq_1.out").first.locator("title").text_content()
    same("title", title, "if@L119 eq_1.out (3 cycles of the run, 33.3 %; active in 3 cycles, entered 1 times; if eq_1.out)")
    tops = [page.locator("#frames g", has_text=name).first.locator("rect").first.bounding_box()["y"] for name in ["seq@L116", "run_s1"]]
    check(tops[0] < tops[1], "flame.svg grows upwards, and the report's flame graph downwards")
    page.locator("#frames g", has_text="run_s1").first.click()
    check(page.locator("#frames g.hide").count() > 0, "flame.svg does not zoom")
    page.emulate_media(color_scheme="dark")
    same("ground of flame.svg in the dark", page.evaluate("getComputedStyle(document.querySelector('rect[fill*=background]')).fill"), "rgb(22, 24, 28)")
    page.close()


def check_drags(browser, name):
    """The mouse does in the timeline what it does in Perfetto."""
    page = browser.open(name, viewport={"width": 1400, "height": 900})
    view(page, "Timeline")
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
    same("frames of line 119", chosen_frames(page), ["FSM update", "if@L119 eq_1.out", "run_s1"])
    same("statements of line 119", chosen_rows(page, "control"), ["main.if@L119", "main.run_s1"])
    same("groups of line 119", chosen_rows(page, "groups"), ["main.run_s1"])
    view(page, "Flame graph")
    page.locator("#frames .frame", has_text="par@L118").click()
    same("lines of par@L118", page.locator("#files tr[aria-current]").get_attribute("data-line"), "0:118")
    same("statements of par@L118", chosen_rows(page, "control"), ["main.par@L118"])
    view(page, "Flame graph")
    check(page.locator("#frames .frame", has_text="read").count() == 0, "the flame graph did not zoom")
    page.locator("#unzoom").click()
    table(page, "groups")
    page.locator("[data-table=groups] tr", has_text="write").first.click()
    same("frames of write", chosen_frames(page), ["write"])
    # A link shows the same to somebody else.
    address = page.evaluate("location.hash")
    page.goto("about:blank")
    page.goto(f"file://{browser.root}/{name}/report.html{address}")
    page.wait_for_selector("#window:not(:empty)", state="attached")
    same("frames of the link", chosen_frames(page), ["write"])
    page.locator("#search").fill("run_s1")
    check("matched: 1 cycle, 11.1 %" == page.locator("#matches").inner_text(), "search found", page.locator("#matches").inner_text())
    table(page, "control")
    first = page.locator("[data-table=control] tbody tr").first
    same("first row without a click", first.locator("th").inner_text(), "main.seq@L116")
    overhead = page.locator("[data-table=control] th button", has_text="overhead").first
    overhead.click()
    same("most overhead", first.locator("th").inner_text(), "main.seq@L116")
    same("order", overhead.locator("..").get_attribute("aria-sort"), "descending")
    overhead.click()
    same("order", overhead.locator("..").get_attribute("aria-sort"), "ascending")
    table(page, "groups")
    page.locator("[data-table=groups] label", has_text="Filter").locator("input").fill("go_")
    # The other two never ran.
    same("filtered groups", texts(page, "[data-table=groups] tbody tr:not([hidden]) th"), ["sub_one.go_one"])
    check("of zeros left out" in page.locator("[data-table=groups] output").inner_text(), "rows of zeros are left out silently")
    view(page, "Timeline")
    page.locator("#next-overhead").click()
    same("first overhead", page.evaluate("location.hash").split("&")[-1], "cycle=1")
    same("wrong on the page", page.wrong, [])
    page.close()


def check_sites(browser, profile):
    """An address with the number of a site shows the row that is about it alone."""
    page = browser.open(profile)
    for kind in ["cells", "groups"]:
        command = [browser.petal, "stats", f"{browser.root}/{profile}", kind, "--all", "--format", "json"]
        rows = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        rows = [row for row in rows if row["site"]]
        check(rows, "no", kind, "with a site")
        for row in rows:
            page.evaluate("site => { location.hash = `site=${site}`; }", row["site"])
            name = row["cell"] if kind == "cells" else f"{row['component']}.{row['group']}"
            same(f"rows of {row['site']}", chosen_rows(page, kind), [name])
    page.evaluate("location.hash = 'site=0123456789abcdef'")
    same("rows of no site", chosen_rows(page, "groups"), [])
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
    page.keyboard.press("1")
    tab_to("#frames .frame")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press(" ")
    same("frames by keys", chosen_frames(page), ["par@L118"])
    page.keyboard.press("2")
    tab_to("#tracks")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    same("cycle by keys", page.evaluate("location.hash").split("&")[-1], "cycle=2")
    page.keyboard.press("+")
    check("of 9" in page.locator("#window").inner_text(), "no window")
    check("0 to 8" not in page.locator("#window").inner_text(), "+ does not zoom")
    page.keyboard.press("0")
    check("0 to 8" in page.locator("#window").inner_text(), "0 does not show the run")
    page.keyboard.press("3")
    tab_to("#tables [role=tab]")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    tab_to("[data-table=groups] tbody tr")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    same("groups by keys", page.locator("[data-table=groups] tr[aria-current]").count(), 1)
    page.keyboard.press("/")
    same("focus of /", page.evaluate("document.activeElement.id"), "search")
    page.keyboard.type("read")
    check(page.locator("#frames .match").count() == 1, "search by keys")
    page.keyboard.press("Escape")
    same("address after Escape", page.evaluate("location.hash"), "")
    same("wrong on the page", page.wrong, [])
    page.close()


def check_layout(browser, name):
    """The first screen has the bar, the flame graph, the source and what costs; views are enlarged, and keep their sizes."""
    for width, height in [(1280, 720), (900, 700)]:
        page = browser.open(name, viewport={"width": width, "height": height})
        box = lambda what: page.locator(what).first.bounding_box()
        for what, least in {"#share": 10, "#frames-box": 180, "#files": 150, ".rank": 30}.items():
            found = box(what)
            seen = found["y"] >= 0 and found["y"] + found["height"] <= height and found["x"] + found["width"] <= width
            check(seen and found["height"] >= least, what, "at", width, "x", height, "is", found)
        check(page.evaluate("document.documentElement.scrollHeight <= innerHeight"), "the page scrolls at", width)
        lower = box("#files")["height"]
        page.get_by_role("separator", name="Height of the source").focus()
        page.keyboard.press("ArrowUp")
        check(box("#files")["height"] > lower + 10, "arrows do not move the splitter")
        handle = page.get_by_role("separator", name="Width of the lists").bounding_box()
        side = box("#ranks")["width"]
        page.mouse.move(handle["x"] + 4, handle["y"] + 50)
        page.mouse.down()
        page.mouse.move(handle["x"] - 76, handle["y"] + 50)
        page.mouse.up()
        check(abs(box("#ranks")["width"] - side - 80) < 5, "the splitter is not where it was dragged:", side, box("#ranks"))
        sizes = [box(what)["height" if what == "#files" else "width"] for what in ["#files", "#ranks"]]
        page.keyboard.press("2")
        page.reload()
        page.wait_for_selector("#timeline:not([hidden]) #window:not(:empty)")
        again = [box(what)["height" if what == "#files" else "width"] for what in ["#files", "#ranks"]]
        check(all(abs(a - b) < 2 for a, b in zip(sizes, again)), "sizes are forgotten:", sizes, again)
        page.keyboard.press("1")
        page.keyboard.press("e")
        pane = box("#upper")
        same("enlarged", [pane["width"], pane["height"]], [width, height])
        page.keyboard.press("Escape")
        check(box("#upper")["height"] < height, "Escape does not give the view its place again")
        page.locator("#source .enlarge").click()
        same("enlarged source", box("#source")["height"], height)
        page.locator("#source .enlarge").click()
        check(box("#source")["height"] < height, "the button does not give the source its place again")
        same("wrong on the page", page.wrong, [])
        page.close()


def check_long(browser, name):
    """A chosen cycle of a long run is zoomed to, and what is innermost in it is in sight, its call tree beside."""
    page = browser.open(name, viewport={"width": 1280, "height": 720})
    view(page, "Timeline")
    cycle = json.loads(page.locator("#data").text_content())["cycles"] // 2
    page.locator("#cycle").fill(str(cycle))
    page.keyboard.press("Enter")
    first, last = [int(number.replace(",", "")) for number in re.findall(r"[\d,]+", page.locator("#window").inner_text())[:2]]
    check(first <= cycle <= last and last - first < 200, "shows", first, "to", last)
    tree, rows = [page.locator(what).bounding_box() for what in ["#tree", "#rows"]]
    check(tree["x"] >= rows["x"] + rows["width"] and abs(tree["y"] - rows["y"]) < 2, "the call tree is not beside:", tree, rows)
    # What is dark under the cycle's mark is active in it.
    active = page.evaluate(
        """() => {
            const [canvas, box] = ["tracks", "rows"].map((id) => document.getElementById(id));
            const ratio = canvas.width / canvas.clientWidth;
            const gutter = Math.min(260, Math.floor(box.clientWidth * 0.35));
            const x = Math.round((gutter + (box.clientWidth - gutter) / 2 + 1.5) * ratio);
            const [top, height] = [Math.round(box.scrollTop * ratio), Math.floor(box.clientHeight * ratio)];
            const bounded = Math.min(height, canvas.height - top);
            const pixels = canvas.getContext("2d").getImageData(x, top, 1, bounded).data;
            let colored = 0;
            for (let at = 0; at < pixels.length; at += 4) if (pixels[at + 3] > 200 && Math.max(...pixels.slice(at, at + 3)) - Math.min(...pixels.slice(at, at + 3)) > 30) colored++;
            return colored;
        }"""
    )
    check(active > 5, "nothing that is in sight is active in the cycle:", active)
    check("without activity" in page.locator("#timeline-note").inner_text(), "rows are folded silently")
    same("wrong on the page", page.wrong, [])
    page.close()


def stacks_of(text):
    """Folded stacks: the cycles of each path, with all below it."""
    sums = {}
    for line in text.splitlines():
        stack, weight = line.rsplit(" ", 1)
        path = tuple(stack.split(";"))
        for depth in range(1, len(path) + 1):
            sums[path[:depth]] = sums.get(path[:depth], 0) + float(weight)
    return sums


def check_front(browser, name):
    """The lines of the front end: in source, flame graph and tables, as the profile's other files have them."""
    page = browser.open(name, viewport={"width": 1800, "height": 900})
    page.get_by_label("Show").select_option("front")
    names = page.get_by_role("tablist", name="Files").get_by_role("tab").all_inner_texts()
    shown = page.locator("#files table:visible thead th").all_inner_texts()[-1]
    check(shown.endswith(".py") and all(name.endswith(".py") for name in names), "files are", shown, names)
    frames = page.evaluate("[...document.querySelectorAll('#frames .frame')].map((box) => [Number(box.getAttribute('aria-level')), box.getAttribute('aria-label')])")
    found, path = {}, []
    for level, label in frames:
        label, kind, weight = re.fullmatch(r"(.*), (line|overhead), ([\d.,]+) cycles?, .*", label).groups()
        # A box of overhead has its kind on it.
        label = f"(overhead: {label})" if kind == "overhead" else label
        # Behind a colon is the text of the line.
        label = label if label.startswith("(") else re.sub(r"^(\S+:\d+ [^:]*): .*", r"\1", label)
        path = path[: level - 1] + [label.replace(";", "_")]
        found[tuple(path)] = found.get(tuple(path), 0) + float(weight.replace(",", ""))
    with open(f"{browser.root}/{name}/flame-adl.folded", encoding="utf-8") as file:
        expected = stacks_of(file.read())
    same("stacks of lines", sorted(found), sorted(expected))
    wrong = {path: (found[path], expected[path]) for path in found if abs(found[path] - expected[path]) > 0.02}
    same("cycles of lines", wrong, {})
    view(page, "Tables")
    tables = page.get_by_role("tablist", name="Tables").get_by_role("tab")
    same("tables of the front end", tables.all_inner_texts(), ["hotspots", "lines"])
    table(page, "lines")
    own = page.locator("[data-table=lines] tbody td:nth-child(2)").all_inner_texts()
    cycles = json.loads(page.locator("#data").text_content())["cycles"]
    same("own cycles of all lines", round(sum(float(text.replace(",", "")) for text in own), 2), float(cycles))
    check([float(text.replace(",", "")) for text in own] == sorted((float(text.replace(",", "")) for text in own), reverse=True), "lines are not sorted by cost")
    page.locator("[data-table=lines] tbody tr").first.click()
    line = page.locator("#files tr[aria-current]:visible th").inner_text()
    same("line of the row", page.locator("[data-table=lines] tbody tr[aria-current] th").first.inner_text().split(":")[1], line)
    page.get_by_label("Show").select_option("both")
    view(page, "Flame graph")
    check(any("{" in text for text in texts(page, "#frames .frame")), "frames have no lines behind their names")
    same("wrong on the page", page.wrong, [])
    page.close()


def check_advice(browser, name):
    """Advice leads from what it saves, is as wide as its view, in colours, and can be copied."""
    page = browser.open(name, viewport={"width": 1280, "height": 720})
    page.locator(".badge").first.click()
    opened = page.locator("#advice details[open]")
    same("opened", opened.count(), 1)
    check(opened.bounding_box()["width"] > 0.9 * page.locator("#advice").bounding_box()["width"], "advice is squeezed")
    check("`" not in page.locator("#advice").inner_text(), "backticks are shown")
    check(opened.locator(".plus").count() > 0 and opened.locator(".minus").count() > 0, "a patch has no colours")
    page.keyboard.press("e")
    opened.get_by_role("button", name="Copy").click()
    opened.get_by_role("button", name="Copied").wait_for()
    same("wrong on the page", page.wrong, [])
    page.close()


def check_what_if(browser, name):
    """What `petal whatif` found is a view: the run, advice and what is left first, then what saves most."""
    page = browser.open(name, viewport={"width": 1280, "height": 720})
    found = json.loads(page.locator("#data").text_content())["what_if"]
    view(page, "What if")
    lists = page.locator("#whatif .ranked")
    names = lists.nth(0).locator(".name").all_inner_texts()
    same("first", names[:2], ["the run as it is", "with all advice"])
    same("left", names[2:], [bound["if only this took time"] for bound in found["bounds"]])
    saving = [answer["what if"] for answer in found["answers"] if (answer["saves"] or answer.get("at most") or 0) > 0]
    parts = [part["loop or cell"] for part in found["parts"][:10]]
    same("parts", lists.nth(1).locator(".name").all_inner_texts(), parts)
    same("saving", lists.nth(2).locator(".name").all_inner_texts(), saving)
    (curve,) = found["curves"]
    points = [f"{curve['name']}={point['cycles']}" for point in curve["points"]]
    same("curve", lists.nth(3).locator(".name").all_inner_texts(), points)
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
        page.wait_for_function(f"document.querySelector('#tree h2')?.textContent.startsWith('Cycle {run['start']:,}')")
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
    for name in ["hotspots", "control", "groups", "cells"]:
        table(page, name)
    where = "#figures dt abbr, #legend abbr, #ranks h2 abbr, .panel thead button, .source thead th:not(:last-child)"
    titles = page.evaluate("where => [...document.querySelectorAll(where)].map((e) => [e.textContent, e.title])", where)
    check(len(titles) > 30, "only", len(titles), "terms")
    same("terms without a meaning", [word for word, title in titles if not title], [])
    for word, title in titles:
        said = subprocess.run([browser.petal, "explain", word.split(",")[0]], check=True, capture_output=True, text=True).stdout
        check(title.startswith(said.splitlines()[1].strip()), word, "means", title, "and", said)
    # The focus is seen after a key alone.
    page.keyboard.press("Tab")
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
    table(page, "control")
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


def check_in_editor(browser, name):
    """What a report and the editor around it tell each other. The script stands for the editor, which check_vscode.py has."""
    editor = browser.chromium.new_context()
    editor.add_init_script("window.told = []; window.acquireVsCodeApi = () => ({ postMessage: (message) => told.push(message) });")
    page = Browser(editor, browser.petal, browser.root).open(name)
    told = lambda: page.evaluate("told")
    same("the first message", told(), [{}])
    page.evaluate("postMessage({ choose: 'L87' }, '*')")
    same("what the editor asks for", texts(page, "#selection strong"), ["line 87"])
    page.locator("tr[data-line='0:84'] button").click()
    page.locator("#frames [role=treeitem]").filter(has_text="while@L81").first.click()
    # A cycle of the same.
    page.evaluate("location.hash += '&cycle=3'")
    texts(page, "#selection")
    # The editor asks for what it has not heard of.
    page.evaluate("postMessage({ choose: 'L99999' }, '*')")
    page.locator("#selection").wait_for(state="hidden")
    page.locator("tr[data-line='0:81'] button").click()
    same("what the editor hears", told(), [{}, {"chosen": "L84"}, {"chosen": "L81"}, {"chosen": "L81"}])
    check(not page.wrong, page.wrong)


def hottest(browser, name):
    """The line and the name of the statement that costs most."""
    page = browser.open(name)
    data = json.loads(page.locator("#data").text_content())
    hotspots = next(table for table in data["tables"] if table["name"] == "hotspots")
    column = [title for title, _ in hotspots["columns"]].index
    rows = [(row[column("cost")], -at) for at, row in enumerate(hotspots["rows"]) if row[column("kind")] == "cost"]
    _, at = max(rows)
    file, line = hotspots["places"][-at][0]
    page.close()
    return f"{file}:{line}", hotspots["rows"][-at][column("statement")]


def main(path, petal, root, first, *others):
    with sync_playwright() as playwright:
        chrome = chromium(playwright, path)
        browser = Browser(chrome, petal, root)
        check_clicks(browser, first)
        check_keys(browser, first)
        check_frames(browser, first)
        check_drags(browser, first)
        check_terms(browser, first)
        check_sites(browser, "matmul")
        check_sites(browser, "invoke-ref")
        check_layout(browser, "matmul")
        check_long(browser, "long")
        check_front(browser, "variance")
        check_advice(browser, "advised")
        check_what_if(browser, "advised")
        check_places(browser, first, "0:116", "main.seq@L116")
        check_in_editor(browser, "matmul")
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
