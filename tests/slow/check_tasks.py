"""Does what people open a profile for: from the first screen of the report in at most three clicks, or by one command.

usage: check_tasks.py CHROMIUM PETAL DIR

Profiles of the designs below are in DIR, by their names. Exits with 1 at the first difference.
"""

import subprocess
import sys

from playwright.sync_api import sync_playwright

from checks import check, chromium

# What is to be found out. `first` is the cycle in which the statement that costs most first does so; `shared` are the cells that
# are others in hardware; `waits` is how many cycles the arms of each `par` wait, and for which.
DESIGNS = {
    "switch-case-par": {
        "statement": "main.seq@L116",
        "source": "seq {",
        "why": "moves from step to step: 3 cycles each time",
        "first": 1,
        "shared": [],
        "waits": [["2", "main.par@L118", "its arms wait for if@L119: 2 cycles each time"]],
    },
    "distances": {
        "statement": "main.while@L85",
        "source": "while i_lt.out with more {",
        "why": "checks its condition in cycles of its own, 5 times; enters its body and goes round: 0.50 cycles each iteration",
        "first": 1,
        "shared": ["dx in xx", "y_mult in x_mult", "y_sub in x_sub", "yy in dy"],
        "waits": [],
    },
    "neural-layer": {
        "statement": "main.while@L102",
        "source": "while row_lt.out with more_rows {",
        "why": "enters its body and goes round: 2 cycles each iteration; checks its condition in cycles of its own, 4 times",
        "first": 6,
        "shared": [],
        "waits": [],
    },
    "variance": {
        "statement": "main.while@L77",
        "source": "cb.while_with(",
        "why": "enters its body and goes round: 2 cycles each iteration; checks its condition in cycles of its own, 13 times",
        "first": 1,
        "shared": [],
        "waits": [["48", "main.par@L80", "its arms wait for seq@L82: 4 cycles each time"]],
    },
}

# A version of each with its cycles, those of the other version, and the statement that makes most of the difference.
VERSIONS = [
    ("switch-case-par", "9", "switch-case-if", "6", "main.if@L118"),
    ("distances", "51", "distances-unshared", "39", "main.while@L85"),
    ("neural-layer", "40", "neural-layer-in-a-row", "64", "main.seq@L104"),
    ("variance", "137", "variance_fast", "90", "main.while@L74"),
]


def same(what, found, expected):
    check(found == expected, f"{what}: {found!r} is not {expected!r}")


class Report:
    """A report, and how often somebody has clicked since it was opened."""

    def __init__(self, browser, root, name):
        self.page = browser.new_page(viewport={"width": 1400, "height": 900})
        self.page.goto(f"file://{root}/{name}/report.html")
        self.page.wait_for_selector("#window:not(:empty)", state="attached")
        self.clicks = 0

    def click(self, what):
        self.clicks += 1
        check(self.clicks <= 3, "more than three clicks")
        what.click()
        # What a change of the address leads to comes after it.
        self.page.evaluate("new Promise((done) => setTimeout(done, 50))")

    def ranks(self, title):
        """The rows of a list beside the views."""
        heading = self.page.get_by_role("heading", name=title)
        lists = self.page.get_by_role("complementary", name="What costs").locator("section")
        return lists.filter(has=heading).locator(".rank")

    def most_expensive(self):
        row = self.ranks("What costs").first
        check(self.is_in_sight(row), "what costs most is not on the first screen")
        return row

    def is_in_sight(self, what):
        box = what.bounding_box()
        return 0 <= box["y"] and box["y"] + box["height"] <= 900 and 0 <= box["x"] and box["x"] < 1400


def find_the_most_expensive_statement(report, expected):
    row = report.most_expensive()
    same("what costs most", row.locator(".name").inner_text(), expected["statement"])
    report.click(row)
    line = report.page.get_by_role("region", name="Source").locator("tr[aria-current]:visible").first
    check(report.is_in_sight(line), "its source is not in sight")
    check(expected["source"] in line.inner_text(), f"{line.inner_text()!r} is not its source")


def find_why(report, expected):
    same("why", report.most_expensive().locator(".why").inner_text(), expected["why"])


def find_what_waits(report, expected):
    rows = report.ranks("Longest waits in par").all()
    parts = [".share", ".name", ".why"]
    told = [[row.locator(part).inner_text() for part in parts] for row in rows]
    same("waits", told, [[f"{cycles} cycles", *more] for cycles, *more in expected["waits"]])


def find_its_first_cycle(report, expected):
    report.click(report.most_expensive())
    report.click(report.page.get_by_role("button", name="First overhead"))
    same("cycle", report.page.get_by_role("spinbutton", name="Cycle").input_value(), str(expected["first"]))
    charge = f"of {expected['statement'].removeprefix('main.')}"
    tree = report.page.locator("#tree")
    check(charge in tree.inner_text(), f"{charge!r} is not in {tree.inner_text()!r}")


def find_what_shares(report, expected):
    report.click(report.page.get_by_role("tab", name="Tables"))
    report.click(report.page.get_by_role("tab", name="groups"))
    rows = report.page.get_by_role("tabpanel", name="Tables").get_by_role("row").filter(has_text="shares")
    texts = ", ".join(row.inner_text() for row in rows.all())
    found = [part.split("shares ")[1].split("\t")[0].strip() for part in texts.split(",") if "shares " in part]
    same("shared", sorted(found), expected["shared"])


def find_the_better_version(text, before, after, statement):
    lines = [line.split() for line in text.splitlines()]
    cycles = next(line for line in lines if line[:1] == ["cycles"])
    same("cycles", cycles[1:3], [before, after])
    table = next(at for at, line in enumerate(lines) if line[:1] == ["statement"])
    same("where", lines[table + 1][0], statement)


def main(path, petal, root):
    def command(*arguments):
        return subprocess.run([petal, *arguments], check=True, capture_output=True, text=True, cwd=root).stdout

    in_the_report = [
        find_the_most_expensive_statement,
        find_why,
        find_its_first_cycle,
        find_what_shares,
        find_what_waits,
    ]
    with sync_playwright() as playwright:
        browser = chromium(playwright, path)
        for name, expected in DESIGNS.items():
            for task in in_the_report:
                report = Report(browser, root, name)
                try:
                    task(report, expected)
                except SystemExit as problem:
                    raise SystemExit(f"{name}, {task.__name__}: {problem}")
                report.page.close()
        browser.close()
    for name, before, other, after, statement in VERSIONS:
        find_the_better_version(command("compare", name, other), before, after, statement)


main(*sys.argv[1:])
