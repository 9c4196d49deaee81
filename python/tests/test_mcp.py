"""The server for agents with the protocol's own client, in both versions: it holds each result against the schema that its tool declares."""

import shutil
import sys

import pytest
from conftest import EXAMPLES

pytest.importorskip("mcp")

import anyio
from jsonschema import Draft202012Validator
from mcp import MCPError
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

# How a client begins, and what it comes to.
MODES = {"auto": "2026-07-28", "2026-07-28": "2026-07-28", "legacy": "2025-11-25"}


@pytest.fixture
def folder(tmp_path):
    for name in ["matmul.futil", "matmul.futil.data"]:
        shutil.copy(EXAMPLES / name, tmp_path)
    return tmp_path


def serve(folder, mode, act):
    """Does `act` with a client of a server in the folder."""
    petal = StdioServerParameters(command=sys.executable, args=["-m", "petal", "mcp"], cwd=folder)

    async def main():
        async with Client(stdio_client(petal), mode=mode) as client:
            assert client.protocol_version == MODES[mode]
            return await act(client)

    return anyio.run(main)


@pytest.mark.parametrize("mode", MODES)
def test_tools_declare_what_they_take_and_give(folder, mode):
    async def act(client):
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in serve(folder, mode, act)}
    reading = ["check", "hotspots", "annotate", "stats", "trace", "compare", "explain"]
    writing = ["run", "advise", "whatif", "synth"]
    assert sorted(tools) == sorted(f"petal_{name}" for name in reading + writing)
    for name, tool in tools.items():
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)
        assert tool.annotations.read_only_hint == (name.removeprefix("petal_") in reading)
        assert tool.annotations.open_world_hint is False
        assert tool.description and tool.title


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_results_are_as_declared(folder, mode):
    calls = [
        ("petal_run", {"design": "matmul.futil", "never": ["main.clear"], "latency": ["main.multiply"]}),
        ("petal_run", {"design": "matmul.futil", "out": "unoptimised", "passes": "no-opt"}),
        ("petal_run", {"design": "matmul.futil", "out": "early", "cycle-limit": 99, "partial": True}),
        ("petal_hotspots", {"dir": "petal-out/matmul"}),
        ("petal_annotate", {"dir": "petal-out/matmul"}),
        *(("petal_stats", {"dir": "petal-out/matmul", "table": table}) for table in ["cells", "groups", "control", "loops"]),
        ("petal_trace", {"dir": "petal-out/matmul", "cycles": "10..50"}),
        ("petal_compare", {"base": "unoptimised", "new": "petal-out/matmul"}),
        ("petal_whatif", {"design": "matmul.futil", "budget": "3s"}),
        ("petal_whatif", {"design": "matmul.futil", "primitive": ["std_mult_pipe=1..3"]}),
        ("petal_advise", {"design": "matmul.futil", "budget": "5s"}),
        ("petal_check", {"design": "matmul.futil"}),
        ("petal_explain", {}),
        ("petal_explain", {"term": "useful"}),
    ]
    if shutil.which("yosys") and shutil.which("nextpnr-ice40"):
        calls.append(("petal_synth", {"design": "matmul.futil", "seeds": 1}))

    async def act(client):
        await client.list_tools()
        results = []
        for name, arguments in calls:
            # It fails if the structured content is not as the tool declares.
            result = await client.call_tool(name, {**arguments, "top": 3})
            assert not result.is_error, (name, result)
            results.append((name, result))
        return results

    for name, result in serve(folder, mode, act):
        text, *links = result.content
        assert text.type == "text" and text.text
        for link in links:
            assert link.type == "resource_link"
            assert link.uri.startswith(folder.resolve().as_uri())
        assert name in ("petal_check", "petal_explain") or any(link.name == "report.html" for link in links), name
        for cut in result.structured_content["cut"]:
            assert cut["shown"] == 3 < cut["of"]
            assert f"3 of {cut['of']} {cut['list']}" in text.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_what_goes_wrong_is_told(folder, mode):
    async def act(client):
        outside = await client.call_tool("petal_run", {"design": "../matmul.futil"})
        assert outside.is_error and "outside" in outside.content[0].text
        mistyped = await client.call_tool("petal_run", {"desing": "matmul.futil"})
        assert mistyped.is_error and "is it `design`?" in mistyped.content[0].text
        missing = await client.call_tool("petal_hotspots", {"dir": "nothing"})
        assert missing.is_error
        with pytest.raises(MCPError, match="there is no tool `petal_nothing`"):
            await client.call_tool("petal_nothing", {})
        assert not (await client.call_tool("petal_explain", {"term": "useful"})).is_error

    serve(folder, mode, act)


# A counter keeps its state from repeating, so nobody can prove that it never ends.
ENDLESS = """import "primitives/core.futil";
component main() -> () {
  cells { on = std_reg(1); n = std_reg(64); plus = std_add(64); }
  wires {
    group set { on.in = 1'd1; on.write_en = 1'd1; set[done] = on.done; }
    plus.left = n.out; plus.right = 64'd1; n.in = plus.out; n.write_en = 1'd1;
  }
  control { seq { set; while on.out { set; } } }
}
"""


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_call_is_followed_and_cancelled(folder, mode):
    (folder / "endless.futil").write_text(ENDLESS)

    async def act(client):
        told = []

        async def tell(progress, total, message):
            told.append(progress)

        with anyio.move_on_after(3.5) as waiting:
            arguments = {"design": "endless.futil", "cycle-limit": 10**18}
            await client.call_tool("petal_run", arguments, progress_callback=tell)
        assert waiting.cancelled_caught
        assert told[:2] == [1, 2]
        assert not (await client.call_tool("petal_explain", {"term": "useful"})).is_error

    serve(folder, mode, act)
    assert not (folder / "petal-out").exists()
