#!/usr/bin/env python3
"""Which small changes of the core do the tests notice?  tests/mutants/run.py [--help]; README.md says how it works.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TREE = ROOT / "build/mutants/tree"
BUILD = TREE / "build/release"
# Whose programs are asked about a mutant, if one of their cases passes its place.
FOLDERS = ["memory", "source", "order", "transform", "batch", "loader", "capi", "conformance", "faults", "device"]
REACH_BYTES = 1 << 16
MEMORY_BYTES = 12 << 30  # of address space: a mutant that asks for more is ended
LEAST_SECONDS = 15.0     # a case that takes longer, and twenty times longer than without a mutant, hangs
SCORE = 95.0


def say(*words):
    print(*words, flush=True)


def command(words, **more):
    return subprocess.run([str(w) for w in words], **more)


# --- the copy and its build -------------------------------------------------------------------------------------------

def patched(name, data):
    """What differs in the copy besides the mutants: each GoogleTest program tells what it reached, and a mutated file may
    be warned of. All else is compiled as ever, so that ccache has it."""
    if re.fullmatch(r"core/\w+/CMakeLists.txt", name):
        return data + b"""
set(list "${CMAKE_SOURCE_DIR}/changed.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
if(EXISTS "${list}")
  file(STRINGS "${list}" changed)
  foreach(file IN LISTS changed)
    set_source_files_properties("${CMAKE_SOURCE_DIR}/${file}" PROPERTIES COMPILE_OPTIONS -w)
  endforeach()
endif()
"""
    if name != "tests/CMakeLists.txt":
        return data
    before = b"target_link_libraries(${name} PRIVATE tests_main)"
    after = b"target_link_libraries(${name} PRIVATE tests_main mutants_reach)"
    library = b"""
add_library(mutants_reach OBJECT mutants/reach.cpp)
target_link_libraries(mutants_reach PRIVATE dataline_compile GTest::gtest)
"""
    if data.count(before) != 1:
        raise SystemExit("tests/CMakeLists.txt: the line of dataline_gtest_program() that links tests_main is not there")
    return data.replace(before, after).replace(b"find_package(rapidcheck", library + b"find_package(rapidcheck", 1)


def copy_sources():
    listed = command(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "-z"], stdout=subprocess.PIPE, check=True)
    names = [n for n in listed.stdout.decode().split("\0") if n and (ROOT / n).is_file()]
    owned = TREE / "mutated.txt"
    mutated = set(owned.read_text().split("\n")) if owned.exists() else set()
    for name in names:
        to = TREE / name
        if name in mutated and to.exists():
            continue  # mutate.py keeps it
        data = patched(name, (ROOT / name).read_bytes())
        if to.exists() and to.read_bytes() == data:
            continue
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(data)
        shutil.copymode(ROOT / name, to)
    kept = set(names)
    for folder in ("core", "tests", "capi"):
        for path in (TREE / folder).rglob("*"):
            if path.is_file() and str(path.relative_to(TREE)) not in kept:
                path.unlink()


def configure(shared):
    if (BUILD / "build.ninja").exists():
        return
    words = ["cmake", "--preset", "release", "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON", "-DDATALINE_TESTS=ON", "-DDATALINE_BENCH=OFF", "-DDATALINE_CLI=ON",
             "-DDATALINE_RAPIDCHECK=seed=1", f"-DDATALINE_SHARED_DATA={shared}"]
    nvcc = command([ROOT / "core/device/kernels/toolkit.sh", "--no-install"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if nvcc.returncode == 0:
        words.append("-DDATALINE_NVCC=" + nvcc.stdout.decode().strip())
    if shutil.which("ccache"):
        words += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
    command(words, cwd=TREE, check=True, stdout=subprocess.DEVNULL)


def mutate(arguments):
    words = [arguments.python, HERE / "mutate.py", ROOT, TREE, "--seed", arguments.seed, "--without", TREE / "not_compiled.txt"]
    for count in arguments.count:
        words += ["--count", count]
    command(words, check=True)


def build(arguments):
    """Builds; a mutant on a line that does not compile is left out, and then again."""
    targets = [f"tests_{folder}" for folder in arguments.folders.split(",")]
    for attempt in range(8):
        mutate(arguments)
        done = command(["nice", "ninja", "-C", BUILD, "-k", "0", "-j", arguments.jobs, *targets], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
        log = done.stdout.decode(errors="replace")
        (TREE / "build.log").write_text(log)
        if done.returncode == 0:
            return
        wrong = set()
        mutants = json.loads((TREE / "mutants.json").read_text())["mutants"]
        for name, line in re.findall(r"(?m)^(?:.*/)?(core/\S+?):(\d+):\d+: (?:fatal )?error:", log):
            for mutant in mutants:
                if mutant["file"] == name and mutant["line"] <= int(line) <= mutant["line"] + mutant["before"].count("\n") + 2:
                    wrong.add(mutant["key"])
        if not wrong:
            raise SystemExit(f"the mutants' build failed; the end of {TREE / 'build.log'}:\n" + log[-3000:])
        say(f"{len(wrong)} mutants do not compile")
        with open(TREE / "not_compiled.txt", "a") as out:
            out.writelines(key + "\n" for key in sorted(wrong))
    raise SystemExit("the mutants' build does not end")


# --- running test programs --------------------------------------------------------------------------------------------

def programs(folders):
    """name -> (path, folder) of every GoogleTest program that ctest would run."""
    out = {}
    for folder in folders.split(","):
        for script in sorted((BUILD / "tests" / folder).glob("*[[]1[]]_include.cmake")):
            name = script.name.split("[")[0]
            path = BUILD / "tests" / name
            if path.exists():
                out[name] = (path, folder)
    return out


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def environment(**more):
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("GTEST", "DATALINE"))}
    return {**keep, "RC_PARAMS": "seed=1", **more}


def reach(arguments):
    """case -> (program, seconds, numbers reached), by running everything once without a mutant."""
    folder = TREE / "reach"
    folder.mkdir(exist_ok=True)
    cases, failed = {}, []
    with tempfile.TemporaryDirectory() as scratch:
        shared = pathlib.Path(scratch) / "reach"
        shared.write_bytes(bytes(REACH_BYTES))
        for name, (path, _) in programs(arguments.folders).items():
            kept = folder / name
            if not kept.exists() or kept.stat().st_mtime < path.stat().st_mtime:
                kept.unlink(missing_ok=True)
                partial = folder / (name + ".partial")
                partial.unlink(missing_ok=True)
                began = time.monotonic()
                try:
                    command(["nice", path], cwd=BUILD / "tests", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, preexec_fn=limits, timeout=900,
                            env=environment(DATALINE_MUTANT_REACH=str(shared), DATALINE_MUTANT_CASES=str(partial)))
                except subprocess.TimeoutExpired:
                    say(f"  {name} does not end without a mutant; left out")
                if partial.exists():
                    partial.rename(kept)
                else:
                    kept.write_text("")
                say(f"  reach of {name}: {time.monotonic() - began:.1f} s")
            for line in kept.read_text().splitlines():
                case, verdict, ms, numbers = (line + " ").split(" ")[:4]
                if verdict != "ok":
                    failed.append(f"{name}: {case}")
                    continue
                cases[name, case] = (int(ms) / 1000, {int(n) for n in numbers.split(",") if n})
    for case in failed:
        say(f"  fails without a mutant, not asked: {case}")
    return cases


def run_program(path, number, chosen):
    """Runs cases {name: seconds} under a mutant. (verdict, case): passed, failed, crashed, hung."""
    with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
        flags.write("--gtest_filter=" + ":".join(chosen) + "\n--gtest_fail_fast\n--gtest_color=no\n")
        flags.flush()
        child = subprocess.Popen(["nice", str(path), f"--gtest_flagfile={flags.name}"], cwd=BUILD / "tests", stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=limits, start_new_session=True,
                                 env=environment(DATALINE_MUTANT=str(number)))
        os.set_blocking(child.stdout.fileno(), False)
        waiting = selectors.DefaultSelector()
        waiting.register(child.stdout, selectors.EVENT_READ)
        case, failed, rest = "start", None, b""
        deadline = time.monotonic() + LEAST_SECONDS
        try:
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    return "hung", case
                if not waiting.select(left):
                    continue
                piece = child.stdout.read()
                if piece == b"":
                    break
                *lines, rest = (rest + (piece or b"")).split(b"\n")
                if len(rest) > 1 << 20:
                    rest = b""
                for line in lines:
                    begun = re.match(rb"\[ RUN      \] (\S+)", line)
                    if begun:
                        case = begun.group(1).decode()
                        deadline = time.monotonic() + LEAST_SECONDS + 20 * chosen.get(case, 1.0)
                    elif line.startswith(b"[  FAILED  ] ") and failed is None:
                        failed = line.split()[3].decode().rstrip(",")
            try:
                status = child.wait(max(deadline - time.monotonic(), 1))
            except subprocess.TimeoutExpired:
                return "hung", case
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.stdout.close()
            child.wait()
        if failed is not None:
            return "failed", failed
        return ("passed", "") if status == 0 else ("crashed", case)


def ask(mutant, cases, where, kills):
    """Runs what passes the mutant's place, the likeliest killers first. (verdict, `program: case`)."""
    chosen = collections.defaultdict(dict)
    for (program, case), (seconds, numbers) in cases.items():
        if mutant["id"] in numbers:
            chosen[program][case] = seconds
    if not chosen:
        return "unreached", ""

    def cost(program):
        seconds = sum(chosen[program].values()) + 0.05
        own = 0.2 if where[program][1] == mutant["room"] else 1.0
        return seconds * own / (1 + kills[mutant["room"], program])

    for program in sorted(chosen, key=cost):
        verdict, case = run_program(where[program][0], mutant["id"], chosen[program])
        if verdict != "passed":
            kills[mutant["room"], program] += 1
            return verdict, f"{program}: {case}"
    return "survived", f"{sum(map(len, chosen.values()))} cases pass its place"


# --- what is known of survivors, and the table ------------------------------------------------------------------------

def read_survivors(path):
    """Blocks of lines `key` and `  why: reason`."""
    out, key = {}, None
    for line in path.read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("  why: "):
            out[key] = line[len("  why: "):].strip()
        else:
            key = line.strip()
    return out


def table(results, mutants, listed, explained):
    rooms = sorted({m["room"] for m in mutants})
    lines = ["| room | mutants | killed | of these by a hang | survived, explained | survived, not explained |", "|---|---|---|---|---|---|"]
    sums = [0] * 5
    for room in rooms + ["all"]:
        own = [results[m["key"]]["verdict"] for m in mutants if m["room"] == room and m["key"] in results]
        known = sum(m["key"] in explained for m in mutants
                    if m["room"] == room and results.get(m["key"], {}).get("verdict") in ("survived", "unreached"))
        left = sum(v in ("survived", "unreached") for v in own)
        row = [len(own), len(own) - left, own.count("hung"), known, left - known]
        if room == "all":
            row = sums
        else:
            sums = [a + b for a, b in zip(sums, row)]
        lines.append(f"| {room} | {row[0]} | {row[1]} ({100 * row[1] / max(row[0], 1):.1f} %) | {row[2]} | {row[3]} | {row[4]} |")
    lines.append("")
    lines.append(f"Found in all: {listed['found']}; in functions that `left_out.txt` names, not counted: {listed['left_out']}.")
    return lines, sums


def report(arguments, listed, results, explained):
    mutants = listed["mutants"]
    lines, sums = table(results, mutants, listed, explained)
    say("\n".join(lines))
    survivors = [m for m in mutants if results.get(m["key"], {}).get("verdict") in ("survived", "unreached")]
    for mutant in survivors:
        if mutant["key"] not in explained:
            say(f"{results[mutant['key']]['verdict']}: {mutant['key']}")
    for key in explained:
        if key not in {m["key"] for m in survivors} and key in results:
            say(f"explained as a survivor, but killed: {key}")
    if arguments.results:
        commit = command(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE).stdout.decode().strip()
        killers = collections.Counter(results[m["key"]]["by"].split(":")[0] for m in mutants
                                      if results.get(m["key"], {}).get("verdict") in ("failed", "crashed", "hung"))
        head = [f"# Mutants, {datetime.date.today()}", "",
                f"`tests/mutants/run.py --seed {arguments.seed}` at commit {commit}; the list with each killer is in the `.tsv` beside.", ""]
        tail = ["", "Killed by: " + ", ".join(f"{name} {count}" for name, count in killers.most_common()) + ".", ""]
        base = pathlib.Path(arguments.results)
        base.with_suffix(".md").write_text("\n".join(head + lines + tail))
        with open(base.with_suffix(".tsv"), "w") as out:
            out.write("place\tfunction\tchange\tverdict\tby\n")
            for m in mutants:
                r = results.get(m["key"])
                if r:
                    change = f"{m['operator']}: {m['before']} -> {m['after'] or 'nothing'}"
                    out.write(f"{m['file']}:{m['line']}\t{m['function']}\t{change[:160]}\t{r['verdict']}\t{r['by']}\n")
    total, killed, _, known, unknown = sums
    return 0 if unknown == 0 and 100 * killed >= SCORE * total else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has libclang (PyPI)")
    parser.add_argument("--seed", default="1", help="chooses the mutants")
    parser.add_argument("--count", action="append", default=[], help="ROOM=N instead of the usual numbers; may be repeated")
    parser.add_argument("--folders", default=",".join(FOLDERS), help="of tests/ whose programs are asked")
    parser.add_argument("--jobs", default=str(os.cpu_count()), help="of the build")
    parser.add_argument("--at-once", type=int, default=os.cpu_count(), help="mutants asked at the same time")
    parser.add_argument("--shared", default=str(ROOT / "../shared/data"), help="real data sets")
    parser.add_argument("--only", default="", help="mutants whose key has this text")
    parser.add_argument("--again", choices=["all", "survivors", "new"], default="all", help="which of those that were run before")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop asking after so long")
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--results", help="write FILE.md and FILE.tsv, as tests/results/DATE-mutants")
    arguments = parser.parse_args()

    if not arguments.no_build:
        TREE.mkdir(parents=True, exist_ok=True)
        copy_sources()
        configure(arguments.shared)
        build(arguments)
    listed = json.loads((TREE / "mutants.json").read_text())
    where = programs(arguments.folders)
    cases = reach(arguments)
    kept = TREE / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    explained = read_survivors(HERE / "survivors.txt")
    kills = collections.Counter()
    began = time.monotonic()
    todo = [m for m in listed["mutants"] if arguments.only in m["key"] and (
        arguments.again == "all" or m["key"] not in results or
        arguments.again == "survivors" and results[m["key"]]["verdict"] in ("survived", "unreached"))]
    todo.sort(key=lambda m: m["key"] not in results)  # what was seen before comes first

    def ask_timed(mutant):
        start = time.monotonic()
        if start - began > arguments.minutes * 60:
            return mutant, None, "", 0
        return (mutant, *ask(mutant, cases, where, kills), time.monotonic() - start)

    asked = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
        for done in concurrent.futures.as_completed([pool.submit(ask_timed, m) for m in todo]):
            mutant, verdict, by, seconds = done.result()
            if verdict is None:
                continue
            asked += 1
            results[mutant["key"]] = {"verdict": verdict, "by": by}
            note = "" if verdict in ("failed", "crashed", "hung") else "   " + mutant["key"]
            say(f"[{asked}/{len(todo)}] {mutant['id']} {verdict} {by} {seconds:.1f} s{note}")
            if asked % 10 == 0:
                kept.write_text(json.dumps(results, indent=0))
    if asked < len(todo):
        say(f"{len(todo) - asked} mutants were not asked: the time is over")
    kept.write_text(json.dumps(results, indent=0))
    return report(arguments, listed, results, explained)


if __name__ == "__main__":
    sys.exit(main())
