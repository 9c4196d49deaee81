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
    popup.value.wait_for_selector("#window:not(:empty)")
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
