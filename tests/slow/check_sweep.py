"""Reads sweep.html in a browser, as a user does.

usage: check_sweep.py CHROMIUM DIR

DIR has a sweep in `out`, of a loop with 1 to 7 iterations (`times`), by two pipelines, and a design that fails. Exits with 1 at the first difference.
"""

import json
import re
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from checks import check, chromium


def same(what, found, expected):
    check(found == expected, f"{what}: {found!r} is not {expected!r}")


def opened(browser, url, **options):
    page = browser.new_page(**options)
    wrong = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(f"dialog {dialog.message}"))
    page.on("request", lambda request: request.url.split("#")[0] == url or wrong.append(request.url))
    page.wrong = wrong
    page.goto(url)
    return page


def column(page, name):
    """The cells of a column of the table."""
    heads = page.locator("#table thead th").all_inner_texts()
    at = [head.rstrip(" ▲▼") for head in heads].index(name) + 1
    return page.locator(f"#table tbody td:nth-child({at})").all_inner_texts()


def check_sweep(browser, root):
    rows = [json.loads(path.read_text()) for path in (root / "out/rows").rglob("row.json")]
    same("rows", len(rows), 15)
    done = [row for row in rows if "error" not in row]
    page = opened(browser, f"file://{root}/out/sweep.html")
    same("points", page.locator("#picture .mark").count() - page.locator(".legend .mark").count(), len(done))
    same("cycles", column(page, "cycles")[: len(done)], [f"{row:,}" for row in sorted(row["figures"]["cycles"] for row in done)])
    # No point lies on another, whatever runs have the same figures.
    places = page.locator("#picture > svg .mark").evaluate_all("marks => marks.map((mark) => { const { x, y, width, height } = mark.getBBox(); return [x + width / 2, y + height / 2]; })")
    near = [(a, b) for at, a in enumerate(places) for b in places[:at] if abs(a[0] - b[0]) + abs(a[1] - b[1]) < 2]
    same("hidden points", near, [])
    check(page.locator("#picture .name").count() >= 1, "no point has a name")
    # Designs by pipelines, with how much less or more they take than with the one that is chosen; the same as a factor.
    figures = {(row["design"], row["passes"]): row["figures"]["cycles"] for row in done}
    pipelines = sorted({passes for _, passes in figures})
    for base in pipelines:
        page.locator("#base").select_option(base)
        heads = [head.strip().removesuffix(" (=)") for head in page.locator("#matrix thead th").all_inner_texts()]
        for line in page.locator("#matrix tbody tr").all():
            design = line.locator("th").inner_text()
            cells = dict(zip(heads[1:], line.locator("td").all_inner_texts()))
            for passes in pipelines:
                if (design, passes) not in figures:
                    continue
                cycles, was = figures[design, passes], figures[design, base]
                percent = f"{abs(cycles - was) * 100 / was:.1f} %"
                change = "" if cycles == was else f"{'+' if cycles > was else '−'}{percent}"
                same(f"{design} by {passes} against {base}", cells[passes].split(), f"{cycles:,} {change}".split())
        expected = [f"{figures[design, base] / figures[design, passes]:.2f} ×" for design, passes in zip(column(page, "design"), column(page, "passes")) if (design, passes) in figures]
        same("speed-up", column(page, "speed-up")[: len(done)], expected)
    # Sorted the other way round, what failed is last all the same.
    page.locator("#table th button", has_text=re.compile("^cycles$")).click()
    same("descending", column(page, "cycles")[0], f"{max(row['figures']['cycles'] for row in done):,}")
    same("failed", column(page, "cycles")[-1], "")
    check(column(page, "error")[-1] != "", "the error is not shown")
    # The filter is for table and picture alike.
    page.locator("#filter").fill("passes=all times>=5")
    same("filtered", column(page, "times"), ["7", "6", "5"])
    same("told", page.locator("#points").inner_text(), "3 of 15 runs")
    page.locator("#filter").fill("no such run")
    check("no run has both figures" in page.locator("#picture").inner_text(), "an empty picture")
    page.locator("#filter").fill("img")
    same("hostile", set(column(page, "design")), {"</script><img src=x onerror=alert(1)>"})
    page.locator("#filter").fill("")
    # Any two figures, in any colour, on any axis.
    page.locator("#x").select_option("times")
    page.locator("#y").select_option("useful_cycles")
    page.locator("#color").select_option("times")
    page.locator("#log").uncheck()
    same("legend", page.locator(".legend li").count(), 7)
    # Of those with as many iterations, the shortest is on the front; one point at least.
    check(page.locator("#picture .best").count() >= 1, "there is no front")
    # A point, and a row, open the report.
    links = page.locator("#picture > svg a").evaluate_all("links => links.map((link) => decodeURI(link.getAttribute('href')))")
    same("links", len(links), len(done))
    for link in links + page.locator("#table a").evaluate_all("links => links.map((link) => decodeURI(link.getAttribute('href')))"):
        check((root / "out" / link).is_file(), f"{link} leads nowhere")
    with page.context.expect_page() as popup:
        page.wrong.clear()
        page.locator("#table a").first.click()
    popup.value.wait_for_selector("#window:not(:empty)", state="attached")
    check("loop" in popup.value.title(), popup.value.title())
    same("wrong", [line for line in page.wrong if "/profiles/" not in line], [])
    # In the dark, by the button and by the system.
    page.locator("#theme").click()
    same("theme", page.evaluate("getComputedStyle(document.documentElement).colorScheme"), "dark")
    page = opened(browser, f"file://{root}/out/sweep.html", color_scheme="dark", viewport={"width": 420, "height": 800})
    same("button", page.locator("#theme").inner_text(), "Light")
    check(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than a small window")
    same("wrong", page.wrong, [])


def main():
    executable, root = sys.argv[1], Path(sys.argv[2]).resolve()
    with sync_playwright() as playwright:
        browser = chromium(playwright, executable)
        check_sweep(browser, root)


main()
