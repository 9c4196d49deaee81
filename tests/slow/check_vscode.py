"""VS Code in a browser, with petal's extension: what it shows of calyx-examples/matmul.futil, and what it does.

usage: check_vscode.py CHROMIUM ADDRESS DIR [PICTURE]

The server is at ADDRESS; DIR has the design, and is opened there. PICTURE is the file for what docs/editors.md shows. Exits with 1 at the
first difference.
"""

import json
import re
import sys
import time
from pathlib import Path

from playwright.sync_api import TimeoutError, expect, sync_playwright

from checks import check, chromium

HINT = "464 cycles · 75.8 % · +128 overhead"
# How long to wait for what has been asked for once, and for what may be asked for again, in ms.
LONG = 60_000
SHORT = 10_000
TRIES = 6


def words(text):
    """A text on the page, where other spaces stand for its own."""
    return re.compile(r"\s+".join(re.escape(word) for word in text.split()))


def insist(act, seen):
    """Acts until what it leads to is seen: VS Code drops keys and clicks while it is busy, and what comes late moves what is clicked on."""
    for left in reversed(range(TRIES)):
        try:
            act()
            seen()
            return
        except (TimeoutError, AssertionError):
            if not left:
                raise


class Window:
    """The window of VS Code, in which all of the design is in sight."""

    def __init__(self, chromium, address, folder):
        self.page = chromium.new_page(viewport={"width": 1500, "height": 2300})
        self.page.set_default_timeout(SHORT)
        expect.set_options(timeout=SHORT)
        self.page.goto(f"{address}/?folder={folder}", timeout=LONG)
        trust = self.page.get_by_role("button", name="Yes, I trust")
        trust.wait_for(timeout=LONG)
        insist(trust.click, expect(trust).to_be_hidden)

    def open(self, name):
        insist(
            self.page.get_by_role("treeitem", name=name, exact=True).dblclick,
            self.page.locator(".editor-instance .view-lines").wait_for,
        )

    def command(self, name):
        """Calls a command as one who looks for it in the palette, until it is there: extensions come after the window."""
        palette = self.page.locator(".quick-input-widget")
        option = palette.get_by_role("option", name=re.compile(rf"^{re.escape(name)}(,|$)"))

        def call():
            self.page.keyboard.press("Escape")
            self.page.keyboard.press("F1")
            palette.locator("input").first.fill(f">{name}")
            option.click()

        insist(call, expect(palette).to_be_hidden)

    def told(self, text):
        """Waits until a message has this text. It leaves after some seconds, but not from the list of all messages."""
        message = self.page.locator(".notification-list-item").filter(has_text=text).first
        try:
            message.wait_for()
        except TimeoutError:
            self.command("Notifications: Show Notifications")
            message.wait_for(timeout=LONG)
            # Not by its command: where any other key has hidden the list already, the palette has no such command.
            insist(lambda: self.page.keyboard.press("Escape"), expect(self.page.locator(".notifications-center")).to_be_hidden)

    def line(self, text):
        """The line of the editor with this text."""
        return self.page.locator(".view-lines > .view-line").filter(has_text=words(text)).first

    def click(self, text, seen):
        """Clicks on the line with this text, elsewhere each time, since a click where the cursor is already tells nobody anything."""
        places = iter(range(5, 100, 8))
        insist(lambda: self.line(text).click(position={"x": next(places), "y": 5}), seen)

    def at(self, line):
        """Waits until the cursor is on this line."""
        expect(self.page.locator(".margin-view-overlays .active-line-number")).to_have_text(str(line))

    def photograph(self, path):
        """What is around the cursor, with the report, in a window of the usual size."""
        whole = self.page.viewport_size
        self.command("View: Toggle Primary Side Bar Visibility")
        self.command("Notifications: Clear All Notifications")
        self.page.set_viewport_size({"width": 1400, "height": 800})
        self.command("petal: Go to the next hotspot")
        self.page.mouse.move(400, 795)
        # Nothing tells when the page has found its new layout.
        time.sleep(3)
        self.page.screenshot(path=path)
        self.page.set_viewport_size(whole)
        self.command("View: Toggle Primary Side Bar Visibility")

    @property
    def report(self):
        return self.page.frame_locator("iframe.webview").frame_locator("#active-frame")

    def colours(self):
        """The colours in the ruler beside the scroll bar."""
        return self.page.evaluate(
            """() => {
              const all = [...document.querySelectorAll("canvas.decorationsOverviewRuler")].flatMap((ruler) => {
                const { data } = ruler.getContext("2d").getImageData(0, 0, ruler.width, ruler.height);
                return Array.from({ length: data.length / 4 }, (_, at) => [...data.slice(4 * at, 4 * at + 3)].join(","));
              });
              return [...new Set(all)];
            }"""
        )


def costs(window, lines):
    """What costs is beside the text, and in the ruler."""
    window.command("petal: Profile this design")
    window.told("612 cycles, 55.2 % useful, 274 overhead")
    inner = lines.index(next(line for line in lines if "while k_lt.out" in line)) + 1
    expect(window.line("while k_lt.out")).to_contain_text(words(HINT), timeout=LONG)
    window.page.get_by_role("button", name="main: 612 cycles").wait_for(timeout=LONG)
    levels = {"214,40,40", "247,127,0", "252,191,73"}
    # The ruler is drawn when the editor has time for it.
    end = time.monotonic() + LONG / 1000
    while missing := levels - set(window.colours()):
        check(time.monotonic() < end, "nothing is of these colours in the ruler:", missing)
        time.sleep(0.1)
    return inner


def linked(window, inner):
    """A click in the text shows the line in the report, and one there the line in the text."""
    selection = window.report.locator("#selection")

    def chosen(line):
        return lambda: expect(selection).to_contain_text(f"line {line}")

    def at(line):
        return lambda: window.at(line)

    window.click("while k_lt.out", at(inner))
    insist(lambda: window.command("petal: Open the report here"), chosen(inner))
    window.click("while j_lt.out", chosen(inner - 3))
    insist(window.report.locator(f'tr[data-line="0:{inner}"] button').click, at(inner))
    insist(window.report.get_by_role("treeitem", name="while@L81").first.click, at(inner - 6))


def advice(window, path, inner):
    """Advice is an action of its line."""
    window.command("petal: Find advice for this design")
    window.told("612 cycles become 185")
    action = window.page.locator(".action-widget .action.focused").filter(has_text="`more_terms` continuous")
    window.click("while k_lt.out", lambda: window.at(inner))
    insist(lambda: window.command("Quick Fix..."), action.wait_for)
    window.page.keyboard.press("Enter")
    expect(window.line("while k_lt.out")).not_to_contain_text("more_terms", timeout=LONG)

    def saved():
        end = time.monotonic() + SHORT / 1000
        while "with more_terms" in path.read_text():
            assert time.monotonic() < end, "the advice is not in the file"
            time.sleep(0.05)

    insist(lambda: window.command("File: Save"), saved)
    window.command("petal: Profile this design")
    window.told("452 cycles")
    expect(window.report.locator("#figures")).to_contain_text("452", timeout=LONG)


def debug(window):
    """The debugger opens the profile, and goes forward and back."""
    window.command("Debug: Start Debugging")
    frames = window.page.locator(".debug-call-stack").get_by_role("row")
    tools = window.page.locator(".debug-toolbar")
    # `first_row` in `seq@L79` in `main`, then only the other two: an update of the FSM.
    expect(frames).to_have_count(3, timeout=LONG)
    tools.get_by_role("button", name="Step Into").click()
    expect(frames).to_have_count(2, timeout=LONG)
    tools.get_by_role("button", name="Step Back").click()
    expect(frames).to_have_count(3, timeout=LONG)
    tools.get_by_role("button", name="Stop").click()
    expect(tools).to_be_hidden(timeout=LONG)


def wrong(window):
    """A race is a problem of its line."""
    window.command("petal: Check this design")
    window.told("1 race in 708 cycles")
    window.command("Problems: Focus on Problems View")
    race = window.page.get_by_role("treeitem", name=re.compile("main.j: read by store"))
    race.first.wait_for(timeout=LONG)
    window.command("View: Toggle Panel Visibility")


def missing(window, settings):
    """Where the program is not, a message says what to do."""
    settings.write_text(json.dumps({"petal.command": str(settings.with_name("no-petal"))}))
    window.page.reload(timeout=LONG)
    window.told("petal does not start")
    window.told("petal.command")


def main(path, address, folder, picture=None):
    design = Path(folder) / "matmul.futil"
    with sync_playwright() as playwright:
        browser = chromium(playwright, path)
        window = Window(browser, address, folder)
        try:
            window.open("matmul.futil")
            inner = costs(window, design.read_text().splitlines())
            wrong(window)
            linked(window, inner)
            if picture:
                window.photograph(picture)
            advice(window, design, inner)
            debug(window)
            missing(window, Path(folder).parent / "data/data/Machine/settings.json")
        except BaseException:
            print(*window.page.locator(".notification-list-item").all_inner_texts(), sep="\n", file=sys.stderr)
            window.page.screenshot(path=f"{folder}/vscode.png")
            raise
        browser.close()


main(*sys.argv[1:])
