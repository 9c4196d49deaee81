"""Reads the pages of comparisons and graphs in a browser, as a user does.

usage: check_pages.py CHROMIUM PETAL DIR

DIR has the profiles `before`, `after` and `large`, `change.html` and `change.json` of the first two, `hostile.html`, which compares two
versions of a source that wants to be more than text, and `graph.html` and `critical.html`, of `before` and of `large`. Exits with 1 at the
first difference.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from checks import check, chromium


def same(what, found, expected):
    check(found == expected, f"{what}: {found!r} is not {expected!r}")


def opened(browser, path, **options):
    page = browser.new_page(**options)
    url = f"file://{path}"
    wrong = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(f"dialog {dialog.message}"))
    page.on("request", lambda request: request.url.split("#")[0] == url or wrong.append(request.url))
    page.wrong = wrong
    page.goto(url)
    return page


def number(text):
    """A number as pages write it, with its sign."""
    return float(text.replace("−", "-").replace("+", "").replace(",", ""))


def check_head(page, comparison):
    cycles = comparison["cycles"]
    head = page.locator("#figures dd").inner_text()
    check(head.startswith(f"{cycles['before']:,} → {cycles['after']:,}"), "the head is", head)
    # What changed by itself is the whole change, and at its causes.
    rows = page.locator(".change .delta").all_inner_texts()
    same("sum of what changed", sum(map(number, rows)), float(cycles["delta"]))
    overhead = {row["name"]: row["overhead"]["delta"] for row in comparison["statements"]}
    for name, delta, why in zip(page.locator(".change .name").all_inner_texts(), rows, page.locator(".change .why").all_inner_texts()):
        if "conditions" not in why and name in overhead:
            same(f"change of {name}", number(delta), float(overhead[name]))


def check_flames(page, comparison):
    """Both on one scale, the same frame at the same depth, with the cycles of both runs."""
    width = lambda side: page.locator(f"#{side} .frame").first.bounding_box()["width"]
    ratio = comparison["cycles"]["after"] / comparison["cycles"]["before"]
    check(abs(width("after") / width("before") - ratio) < 0.01, "the roots are", width("before"), "and", width("after"))
    for row in comparison["statements"]:
        label = row["name"].split(".", 1)[1]
        told = page.locator(f"#before .frame[aria-label^='{label}:']")
        if told.count() != 1:
            continue
        before, after = re.search(r": ([\d,.]+) → ([\d,.]+) cycles", told.get_attribute("aria-label")).groups()
        # A frame has the share of the run, which is no more than the cycles in which it was active.
        check(number(before) <= row["cycles"]["before"] and number(after) <= row["cycles"]["after"], label, before, after)
    grey = "getComputedStyle(document.querySelector(`#before .frame[aria-label*='(0)']`)).backgroundColor"
    check("244" in page.evaluate(grey) or "0.95" in page.evaluate(grey), "what did not change has a colour:", page.evaluate(grey))
    page.locator("#search").fill("while@")
    check(page.locator(".flame.searched .match").count() >= 1, "nothing is found")
    page.keyboard.press("Escape")
    page.locator("#before .frame", has_text="while@").first.click()
    check(page.locator("#unzoom").is_enabled(), "a click does not zoom")
    check(page.locator("#files tr[aria-current]").count() == 1, "a frame does not lead to its line")
    page.locator("#unzoom").click()


def check_source(page, before, after):
    """Cycles before and after beside each line: those of the listings of both runs."""
    rows = page.locator("#files tbody tr").evaluate_all("rows => rows.map((row) => [row.dataset.before, row.dataset.after, ...[...row.children].map((cell) => cell.textContent)])")
    costs = {"before": {}, "after": {}}
    for line_before, line_after, was, now, *_ in rows:
        if was:
            costs["before"][int(line_before)] = int(was.replace(",", ""))
        if now:
            costs["after"][int(line_after)] = int(now.replace(",", ""))
    for side, statements in (("before", before), ("after", after)):
        expected = {}
        for row in statements:
            line = int(row["line"])
            expected[line] = max(expected.get(line, 0), row["cycles"])
        same(f"cycles of the lines {side}", costs[side], expected)


def check_change(browser, root, petal):
    comparison = json.loads((root / "change.json").read_text())
    statements = lambda name: json.loads(subprocess.run([petal, "stats", str(root / name), "control", "--format", "json"], check=True, capture_output=True).stdout)
    for width, height in [(1280, 720), (900, 700), (420, 800)]:
        page = opened(browser, root / "change.html", viewport={"width": width, "height": height})
        check(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than", width)
        if width > 500:
            check(page.evaluate("document.documentElement.scrollHeight <= innerHeight"), "the page scrolls at", width)
            for what in ["#bars", "#frames-box", "#files", ".change"]:
                box = page.locator(what).first.bounding_box()
                check(box["height"] > 15 and box["y"] + box["height"] <= height + 1, what, "is not on the first screen of", width)
        check_head(page, comparison)
        check_source(page, statements("before"), statements("after"))
        check_flames(page, comparison)
        same("wrong", page.wrong, [])
        page.close()
    page = opened(browser, root / "change.html", color_scheme="dark")
    same("button", page.locator("#theme").inner_text(), "Light")
    # By keys alone.
    page.keyboard.press("2")
    page.get_by_role("tablist", name="Tables").get_by_role("tab", name="statements").click()
    shown = page.locator("#table tbody tr").count()
    same("statements", shown, len(comparison["statements"]))
    first = page.locator("#table tbody tr").first.locator("td").nth(2).inner_text()
    most = max(abs(row["cycles"]["delta"]) for row in comparison["statements"])
    same("what changed most", abs(number(first)), float(most))
    page.keyboard.press("Escape")
    page.locator("body").click(position={"x": 2, "y": 2})
    last = page.get_by_role("tablist", name="Views").get_by_role("tab").last
    last.click()
    same("view", last.inner_text(), "Compiled differently")
    told = page.locator("#compiled").inner_text()
    for row in comparison["groups"]:
        for effect in row["now"]:
            check(f"now {effect}" in told and row["name"] in told, effect, "of", row["name"], "is not in", told)
    observed = page.get_by_role("tablist", name="Views").get_by_role("tab", name="Observations")
    observed.click()
    latencies = comparison["observations"]["latencies"]
    bars = sum(1 for row in latencies for counts in row["histogram"].values() for count in counts if count)
    same("bars", page.locator("#observations rect").count(), bars)
    page.keyboard.press("e")
    same("enlarged", page.locator("#upper").bounding_box()["height"], page.viewport_size["height"])
    page.keyboard.press("Escape")
    same("wrong", page.wrong, [])
    page.close()
    page = opened(browser, root / "hostile.html")
    same("images", page.locator("img").count(), 0)
    check("onerror" in page.locator("#files").inner_text(), "the source is not shown")
    same("wrong", page.wrong, [])
    page.close()


def check_graph(browser, root):
    page = opened(browser, root / "graph.html", viewport={"width": 1280, "height": 720})
    view = lambda: [float(part) for part in page.locator("#graph > svg").get_attribute("viewBox").split(" ")]
    panels, ends = page.locator("#graph .panel").count(), page.locator("#graph circle").count()
    same("ends of the cells with control", ends, panels)
    check(page.locator("#only").is_hidden(), "a small graph has parts that are hidden")
    page.locator("#graph").focus()
    size = lambda: page.locator("#graph .step").first.bounding_box()["width"]
    start, small = view(), size()
    page.keyboard.press("+")
    check(size() > small, "+ does not zoom")
    page.keyboard.press("ArrowRight")
    check(view()[0] > start[0], "an arrow does not move the graph")
    page.keyboard.press("0")
    whole = view()
    box = page.locator("#graph").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] - 50, middle[1], steps=4)
    page.mouse.up()
    check(view()[0] > whole[0] and view()[2] == whole[2], "a drag does not move the graph:", whole, view())
    small = size()
    page.mouse.wheel(0, -100)
    page.wait_for_timeout(100)
    check(size() > small, "the wheel does not zoom")
    page.keyboard.press("/")
    page.keyboard.type("while")
    found, all_steps = page.locator("#graph .match").count(), page.locator("#graph .step").count()
    same("found", page.locator("#matches").inner_text(), f"{found} of {all_steps}")
    page.keyboard.press("Enter")
    check("while" in page.locator("#detail").inner_text(), "Enter does not go to what was found")
    opacity = page.evaluate("getComputedStyle(document.querySelector('#graph .step:not(.match)')).opacity")
    check(float(opacity) < 0.5, "what does not match is as strong as what does")
    page.keyboard.press("Escape")
    page.locator("#theme").click()
    same("wrong", page.wrong, [])
    page.close()
    page = opened(browser, root / "critical.html")
    # Of a large design the critical path alone, with all of the cycles; the rest when asked for.
    critical = lambda: sum(number(cycles) for cycles in re.findall(r"on the critical path: ([\d,]+) cycles", "\n".join(page.locator("#graph .step title").all_text_contents())))
    whole = int(re.search(r"([\d,]+) cycles", page.locator("h1").inner_text()).group(1).replace(",", ""))
    few = page.locator("#graph .step").count()
    same("cycles of the critical path", critical(), float(whole))
    page.locator("#alone").uncheck()
    check(page.locator("#graph .step").count() > few, "no more is shown")
    same("wrong", page.wrong, [])
    page.close()


def main(path, petal, root):
    with sync_playwright() as playwright:
        browser = chromium(playwright, path)
        check_change(browser, Path(root).resolve(), petal)
        check_graph(browser, Path(root).resolve())
        browser.close()


main(*sys.argv[1:])
