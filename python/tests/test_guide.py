"""The pages of the guide about tables and Python do what they show. `UPDATE_EXPECT=1` writes what they show."""

import contextlib
import io
import os
import re

import petal
import pytest
from conftest import EXAMPLES, ROOT

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
#: What a statement of SQL gives stands behind it, as a table.
SQL = re.compile(r"(^```sql\n(.*?)^```\n)(?:\n(?:\|[^\n]*\n)+)?", re.MULTILINE | re.DOTALL)
#: What a block of Python prints.
PYTHON = re.compile(r"(^```python\n(.*?)^```\n)(?:\n(^```output\n(.*?)^```\n))?", re.MULTILINE | re.DOTALL)


def table(relation):
    """Rows as a table in Markdown."""
    rows = [["NULL" if value is None else str(value) for value in row] for row in relation.fetchall()]
    numbers = [re.match("(BIG|HUGE)?INT|DOUBLE|DECIMAL", str(of)) for of in relation.types]
    lines = [relation.columns, ["---:" if number else "---" for number in numbers], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def check(name, text, expected):
    page = ROOT / "docs" / "guide" / name
    if os.environ.get("UPDATE_EXPECT"):
        page.write_text(expected)
    assert text == expected, f"{page} shows something else: UPDATE_EXPECT=1 writes what it should"


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    (tmp_path / "calyx-examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)


def test_the_questions_have_these_answers(workshop):
    text = (ROOT / "docs" / "guide" / "tables.md").read_text()
    [(_, run)] = [block for block in BLOCK.findall(text) if block[0] == "sh"]
    petal._petal.call(run.split()[1:], "")
    names = {}
    for _, block in [block for block in BLOCK.findall(text) if block[0] == "python"]:
        exec(block, names)
    questions = 0

    def answer(found):
        nonlocal questions
        questions += 1
        return f"{found[1]}\n{table(names['db'].sql(found[2]))}"

    check("tables.md", text, SQL.sub(answer, text))
    assert questions == 10


def test_the_page_about_python_prints_what_it_shows(workshop):
    text = (ROOT / "docs" / "guide" / "python.md").read_text()
    names = {}

    def answer(found):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(found[2], names)
        output = printed.getvalue()
        return found[1] + (f"\n```output\n{output}```\n" if output else "")

    check("python.md", text, PYTHON.sub(answer, text))
    assert "petal" in names
