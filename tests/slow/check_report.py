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


def chosen_rows(page, table, column=2):
    return sorted(texts(page, f"[data-table={table}] tr[aria-current] td:nth-child({column})"))


def check_clicks(browser, name):
    """Source line → its frames → its rows, and back."""
    page = browser.open(name)
    page.locator("#files tr[data-line='0:119'] th").click()
    same("address", page.evaluate("location.hash"), "#L119")
    same("frames of line 119", chosen_frames(page), ["if@L119", "run_s1"])
    same("statements of line 119", chosen_rows(page, "control"), ["if@L119", "run_s1"])
    same("groups of line 119", chosen_rows(page, "groups"), ["run_s1"])
    page.locator("#frames .frame", has_text="par@L118").click()
    same("lines of par@L118", page.locator("#files tr[aria-current]").get_attribute("data-line"), "0:118")
    same("statements of par@L118", chosen_rows(page, "control"), ["par@L118"])
    check(page.locator("#frames .frame", has_text="read").count() == 0, "the flame graph did not zoom")
    page.locator("#unzoom").click()
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
    overhead = page.locator("[data-table=control] th button", has_text="overhead").first
    overhead.click()
    first = page.locator("[data-table=control] tbody tr").first
    same("most overhead", first.locator("td").nth(1).inner_text(), "seq@L116")
    same("order", overhead.locator("..").get_attribute("aria-sort"), "descending")
    overhead.click()
    same("order", overhead.locator("..").get_attribute("aria-sort"), "ascending")
    page.locator("label", has_text="Filter").nth(1).locator("input").fill("go_")
    same("filtered groups", sorted(texts(page, "[data-table=groups] tbody tr:not([hidden]) td:nth-child(2)")), ["go_one", "go_three", "go_two"])
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


def main(path, petal, root, first, *others):
    with sync_playwright() as playwright:
        chrome = chromium(playwright, path)
        browser = Browser(chrome, petal, root)
        check_clicks(browser, first)
        check_keys(browser, first)
        for name in [first, *others]:
            try:
                check_cycles(browser, name)
                check_looks(browser, name)
            except SystemExit as problem:
                raise SystemExit(f"{name}: {problem}")
        check_hostile(browser, "hostile")
        chrome.close()


main(*sys.argv[1:])
