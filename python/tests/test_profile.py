"""Runs from Python: the same results and messages as the command, on several threads, and one after the other."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import petal
import pytest
from conftest import EXAMPLES, ROOT

DESIGNS = ["switch-case-par", "while-comb", "dot-product", "matmul", "shared-component", "static", "invoke-ref"]


def expected(name, passes="all"):
    return json.loads((EXAMPLES / f"{name}.futil.expect").read_text())["cycles"][passes]


def test_a_design_is_a_path_a_text_or_what_makes_one():
    path = EXAMPLES / "while-comb.futil"
    text = path.read_text()
    data = json.loads((EXAMPLES / "while-comb.futil.data").read_text()) if (EXAMPLES / "while-comb.futil.data").exists() else None

    class Program:
        def doc(self):
            return text

    class Builder:
        program = Program()

    for design in [path, str(path)]:
        assert petal.run(design).cycles == expected("while-comb")
    for design in [text, Program(), Builder()]:
        profile = petal.run(design, data=data, name="while-comb")
        assert (profile.cycles, profile.design) == (expected("while-comb"), "while-comb")
    with pytest.raises(TypeError, match="int"):
        petal.run(5)


def test_options_are_those_of_the_command(tmp_path):
    path = EXAMPLES / "distances.futil"
    assert petal.run(path, passes="no-opt").cycles == expected("distances", "no-opt")
    alone = petal.run(path, disable_pass=["cell-share"], out=tmp_path / "mine", name="alone")
    assert alone.cycles == 39
    assert alone.design == "alone"
    assert petal.open(tmp_path / "mine").cycles == 39
    with pytest.raises(petal.Error, match="cycle limit|after 3 cycles"):
        petal.run(path, cycle_limit=3)
    assert petal.run(path, cycle_limit=3, partial=True).summary["stopped"]


def test_a_period_makes_time_of_cycles(tmp_path):
    path = EXAMPLES / "while-comb.futil"
    profile = petal.run(path, period="4ns", out=tmp_path / "timed")
    assert profile.time_us == pytest.approx(profile.cycles * 4 / 1000)
    assert petal.open(tmp_path / "timed").time_us == profile.time_us
    assert petal.run(path).time_us is None


def test_what_a_run_would_take_with_less():
    path = EXAMPLES / "matmul.futil"
    found = petal.whatif(path)
    answers = {answer["what if"]: answer for answer in found["answers"]}
    assert answers["no control"]["saves"] == petal.run(path).summary["overhead_cycles"]
    assert max(bound["cycles"] for bound in found["bounds"]) < found["cycles"]
    (both,) = petal.whatif(path, cycles={"main.multiply": 1}, overhead="main.while@L87")["answers"]
    assert both["saves"] == 192
    (slow,) = petal.whatif(path, primitive={"std_mult_pipe": 10})["answers"]
    assert (slow["what if"], slow["saves"], slow["how"]) == ("std_mult_pipe=10", -512, "simulated")
    with pytest.raises(petal.Error, match="is it `std_mult_pipe`"):
        petal.whatif(path, primitive={"std_mul_pipe": 1})


def test_a_profile_tells_what_it_would_take_with_less(tmp_path, monkeypatch):
    monkeypatch.chdir(EXAMPLES)
    profile = petal.run("matmul.futil", out=tmp_path / "kept")
    monkeypatch.chdir(tmp_path)
    again = pickle.loads(pickle.dumps(profile))
    assert again.bounds() == profile.bounds() == petal.whatif(EXAMPLES / "matmul.futil")["bounds"]
    (shorter,) = profile.whatif(cycles={"main.multiply": 1})["answers"]
    assert shorter["saves"] == 64
    opened = petal.open(tmp_path / "kept")
    with pytest.raises(petal.Error, match="ask `petal.whatif"):
        opened.bounds()
    asked = ["whatif", "--quiet", f"--out={tmp_path / 'kept'}", str(EXAMPLES / "matmul.futil")]
    petal._petal.call(asked, "")
    assert petal.open(tmp_path / "kept").bounds() == profile.bounds()


def test_errors_have_the_messages_and_codes_of_the_command(tmp_path):
    with pytest.raises(petal.Error, match="missing.futil") as error:
        petal.run(tmp_path / "missing.futil")
    assert error.value.code == 1
    with pytest.raises(petal.Error, match="<stdin>"):
        petal.run("component main {")
    with pytest.raises(petal.Error, match="no such pass|nonsense"):
        petal.run(EXAMPLES / "while-comb.futil", passes="nonsense")
    with pytest.raises(petal.Error, match="holds no whole profile") as error:
        petal.open(tmp_path)
    assert "petal run" in str(error.value)
    with pytest.raises(petal.Error) as error:
        petal.run(EXAMPLES / "while-comb.futil", simulator="abacus")
    assert error.value.code == 2


def test_the_second_program_of_a_thread_is_profiled_as_its_first():
    alone = {name: petal.run(EXAMPLES / f"{name}.futil") for name in DESIGNS}
    for name in reversed(DESIGNS):
        again = petal.run(EXAMPLES / f"{name}.futil")
        assert again.cycles == expected(name)
        for file in ["summary.json", "stats/control.csv", "trace.petal", "flame.svg"]:
            assert (again.folder / file).read_bytes() == (alone[name].folder / file).read_bytes()


def test_several_threads_run_at_once():
    def run(name):
        profile = petal.run(EXAMPLES / f"{name}.futil")
        return name, profile.cycles, profile.flame()

    alone = [run(name) for name in DESIGNS]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(run, DESIGNS * 3)) == alone * 3


def test_other_threads_go_on_during_a_run():
    steps, over = 0, threading.Event()

    def count():
        nonlocal steps
        while not over.is_set():
            steps += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    started = time.monotonic()
    petal.run(EXAMPLES / "packet-scheduler.futil")
    took = time.monotonic() - started
    over.set()
    counter.join()
    assert steps > took * 100


ENDLESS = """
import "primitives/core.futil";
import "primitives/memories/comb.futil";
component main() -> () {
  cells { r = std_reg(64); one = std_add(64); @external m = comb_mem_d1(64, 1, 1); lt = std_lt(64); }
  wires {
    group count { one.left = r.out; one.right = 64'd1; r.in = one.out; r.write_en = 1'd1; count[done] = r.done; }
    comb group less { lt.left = r.out; lt.right = 64'd9000000000000000000; }
  }
  control { while lt.out with less { count; } }
}
"""

INTERRUPTED = """
import sys, threading, petal
print("begins", flush=True)
try:
    petal.run(sys.stdin.read(), cycle_limit=10**18)
except KeyboardInterrupt:
    print("interrupted", petal.run(sys.argv[1]).cycles, flush=True)
"""


def test_ctrl_c_ends_a_run_and_petal_goes_on():
    design = str(EXAMPLES / "while-comb.futil")
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, design],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    process.stdin.write(ENDLESS)
    process.stdin.close()
    assert process.stdout.readline() == "begins\n"
    time.sleep(3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    assert process.stdout.read() == f"interrupted {expected('while-comb')}\n"
    assert process.wait() == 0
    assert time.monotonic() - began < 20


def test_a_folder_of_its_own_goes_with_its_profile():
    profile = petal.run(EXAMPLES / "while-comb.futil")
    folder = profile.folder
    assert folder.is_dir()
    del profile
    assert not folder.exists()


def test_outputs_are_those_of_the_folder(tmp_path):
    profile = petal.run(EXAMPLES / "while-comb.futil", out=tmp_path / "out")
    read = lambda name: (tmp_path / "out" / name).read_text()
    assert profile.flame() == read("flame.svg")
    assert profile.flame(leaves=True) == read("flame-leaves.svg")
    assert profile.report() == read("report.html")
    assert profile.timeline() == (tmp_path / "out" / "timeline.pftrace").read_bytes()
    assert profile.memories == json.loads(read("memories.json"))
    assert "17 cycles" in repr(profile)
    (tmp_path / "out" / "flame.svg").unlink()
    with pytest.raises(petal.Error, match="flame.svg is not there"):
        profile.flame()


def test_notebooks_show_profiles(tmp_path):
    hostile = tmp_path / "<b>.futil"
    hostile.write_text((EXAMPLES / "switch-case-par.futil").read_text())
    shown = petal.run(hostile)._repr_html_()
    assert "<b>" not in shown and "&lt;b&gt;" in shown
    assert "main.seq@L116" in shown and "data:image/svg+xml" in shown
    frame = petal.run(hostile).report()._repr_html_()
    assert frame.startswith("<iframe") and "<script" not in frame


def test_runs_are_compared():
    before = petal.run(EXAMPLES / "switch-case-par.futil")
    after = petal.run(EXAMPLES / "switch-case-if.futil")
    comparison = petal.compare(before, after, force=True)
    assert comparison.data["cycles"]["before"] == 9
    assert comparison.data["cycles"]["after"] == 6
    assert "switch-case-par" in str(comparison)
    assert comparison._repr_markdown_().startswith("#") or "|" in comparison.markdown()
    assert petal.compare(before, before.folder).data["cycles"]["after"] == 9


def test_advice_is_given():
    advice = petal.advise(EXAMPLES / "switch-case-par.futil", budget=10, proved=True)
    assert advice.cycles == 9
    assert advice.profile.cycles == 9
    assert all(change["class"] == "proved" for change in advice.changes) and advice.changes
    assert str(advice).startswith("switch-case-par: 9 cycles, ")
    few = petal.advise(EXAMPLES / "switch-case-par.futil", candidates=4)
    assert few.data["tried"]["runs"] == 4 and few.data["tried"]["not_tried"] > 0


def test_the_stubs_are_those_of_the_module():
    command = [sys.executable, "-m", "mypy.stubtest", "petal._petal", "--ignore-missing-stub"]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
    command = [sys.executable, "-m", "mypy", "--strict", str(ROOT / "python" / "petal")]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def fails(_):
    petal.run("component main {")


def profiles(name):
    return petal.run(EXAMPLES / f"{name}.futil")


def test_errors_and_profiles_go_from_process_to_process(tmp_path):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        with pytest.raises(petal.Error, match="refuses the design") as error:
            pool.submit(fails, 0).result()
        assert error.value.code == 1
        made = list(pool.map(profiles, ["while-comb", "dot-product"]))
    assert [profile.cycles for profile in made] == [expected("while-comb"), expected("dot-product")]
    assert made[0].flame() == profiles("while-comb").flame()
    folder = made[0].folder
    assert folder.is_dir()
    del made
    assert not folder.exists()
    kept = petal.run(EXAMPLES / "while-comb.futil", out=tmp_path / "kept")
    again = pickle.loads(pickle.dumps(kept))
    assert again.folder == kept.folder and again.cycles == kept.cycles
    comparison = petal.compare(profiles("while-comb"), kept)
    text, pickled = str(comparison), pickle.dumps(comparison)
    del comparison
    assert str(pickle.loads(pickled)) == text


def test_a_profile_stays_where_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    profile = petal.run(EXAMPLES / "while-comb.futil", out="kept")
    monkeypatch.chdir("/")
    assert profile.folder == tmp_path / "kept"
    assert profile.flame() and pickle.loads(pickle.dumps(profile)).cycles == profile.cycles


def test_a_forked_process_leaves_the_folder_of_its_parent_alone():
    script = """
import os, sys, petal
profile = petal.run(sys.argv[1])
if (child := os.fork()) == 0:
    del profile
    sys.exit(0)
os.waitpid(child, 0)
assert profile.cycles, profile.folder
print(len(profile.flame()) > 0)
"""
    design = str(EXAMPLES / "while-comb.futil")
    ran = subprocess.run([sys.executable, "-W", "error", "-c", script, design], capture_output=True, text=True)
    assert (ran.stdout, ran.returncode) == ("True\n", 0), ran.stderr
    # Nor is there a warning for each profile.
    script = "import sys, petal\nfor _ in range(2): petal.run(sys.argv[1])"
    ran = subprocess.run([sys.executable, "-W", "always", "-c", script, design], capture_output=True, text=True)
    assert "ResourceWarning" not in ran.stderr


def test_ctrl_c_ends_the_run_of_its_own_thread(tmp_path):
    script = """
import signal, sys, threading, time, petal
text = sys.stdin.read()
done = []
def other():
    try:
        petal.run(text, cycle_limit=4_000_000)
    except petal.Error as error:
        done.append(str(error))
thread = threading.Thread(target=other)
thread.start()
threading.Timer(1, lambda: signal.raise_signal(signal.SIGINT)).start()
try:
    petal.run(text, cycle_limit=10**18)
except KeyboardInterrupt:
    pass
thread.join()
print(done)
"""
    ran = subprocess.run([sys.executable, "-c", script], input=ENDLESS, capture_output=True, text=True, timeout=300)
    assert "had not finished after 4000000 cycles" in ran.stdout, ran.stdout + ran.stderr


def test_arrays_are_data():
    numpy = pytest.importorskip("numpy")
    design = EXAMPLES / "dot-product.futil"
    data = json.loads((EXAMPLES / "dot-product.futil.data").read_text())
    plain = petal.run(design, data=data).memories
    nested = {name: {**memory, "data": numpy.array(memory["data"])} for name, memory in data.items()}
    assert petal.run(design, data=nested).memories == plain
    kinds = {name: numpy.dtype(f"u{memory['format']['width'] // 8}") for name, memory in data.items()}
    bare = {name: numpy.array(memory["data"], dtype=kinds[name]) for name, memory in data.items()}
    assert petal.run(design, data=bare).memories == plain
    # What numpy makes of plain numbers has a sign, whatever they are.
    largest = {name: numpy.array(memory["data"], dtype="i8") + 0xFFFF_FF00 for name, memory in data.items()}
    assert petal.run(design, data=largest).cycles == petal.run(design, data=data).cycles
    below = {name: -1 - numpy.array(memory["data"], dtype="i8") for name, memory in data.items()}
    negative = petal.run(design, data=below).memories
    assert all(memory["format"]["is_signed"] for memory in negative.values())
    lists = {name: memory["data"] for name, memory in data.items()}
    with pytest.raises(petal.Error, match="does not tell their `format`") as error:
        petal.run(design, data=lists)
    assert "data" in str(error.value) and "data.json" not in str(error.value) and "/tmp" not in str(error.value)
    with pytest.raises(TypeError, match="set"):
        petal.run(design, data={"a": {1, 2}})


def test_all_options_of_a_run_are_there(tmp_path):
    design = EXAMPLES / "while-comb.futil"
    profile = petal.run(
        design, control="compiled", source_root=tmp_path, vcd=tmp_path / "wave.vcd", max_memory="1G", strict=True
    )
    assert profile.cycles == expected("while-comb")
    assert (tmp_path / "wave.vcd").read_text().startswith("$")
    petal.run(design, fst=tmp_path / "wave.fst", max_memory=1 << 30)
    assert (tmp_path / "wave.fst").stat().st_size > 100
    with pytest.raises(petal.Error, match="max-memory"):
        petal.run(design, max_memory=1)
    with pytest.raises(ValueError, match="file"):
        petal.run(design, observe={"events": "-"})
    petal.run(design, observe={"events": str(tmp_path / "events")})
    assert (tmp_path / "events").read_text().startswith("{")


def test_notebooks_show_advice_tables_and_a_flame_graph_to_zoom():
    advice = petal.advise(EXAMPLES / "switch-case-par.futil", budget=10, proved=True)
    shown = advice._repr_html_()
    assert "make one `if`" in shown and "proved" in shown and "<table" in shown
    profile = advice.profile
    assert "main" in profile.groups._repr_html_() and "<th" in profile.cells._repr_html_()
    assert "<table" in profile.spans._repr_html_()
    picture = profile.flame()._repr_html_()
    assert picture.startswith("<iframe") and 'sandbox="allow-scripts"' in picture


def test_the_command_comes_with_the_package(tmp_path):
    command = os.path.join(os.path.dirname(sys.executable), "petal")
    design = str(EXAMPLES / "while-comb.futil")
    ran = subprocess.run([command, "run", design, "--out", str(tmp_path / "out")], capture_output=True, text=True)
    assert ran.returncode == 0 and "verified by structure" in ran.stdout, ran.stderr
    ran = subprocess.run([command, "run", "nothing"], capture_output=True, text=True)
    assert ran.returncode == 1 and ran.stderr.startswith("error: ")
    assert subprocess.run([command, "stats"], capture_output=True).returncode == 2
    (tmp_path / "sweep.toml").write_text(f'[[design]]\nfiles = ["{design}"]\n')
    ran = subprocess.run([command, "sweep", "sweep.toml", "--out", "rows"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    events = subprocess.run([command, "run", design, "--events", "-", "--out", str(tmp_path / "of")], capture_output=True, text=True)
    assert events.stdout.startswith("{")
