"""What the compiled objects of core and capi may ask of the process: nothing that prints, ends it, reads the
environment, touches signals, locale or fork handlers; no mutable globals, no thread-locals, no code that runs
before main. Read from the objects, so no macro or helper can hide it.

  check_objects.py ARCHIVE_OR_OBJECT...
  check_objects.py --self-test CXX      compiles offenders and proves that each is found

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tree

# Undefined symbols that nobody may need. pthread_sigmask is not among them: worker threads block all signals, so
# that a host's handlers run on the host's own threads.
BANNED = {
    "prints": r"_?IO_putc|f?v?d?printf|v[fd]printf|puts|fputs|putchar|putc|fputc|perror|psignal|herror|__[fv]*d?printf_chk"
              r"|std(?:out|err|in)|_ZSt[45](?:cout|cerr|clog|wcout|wcerr|wclog)|syslog|_ZNSt8ios_base4Init.*",
    "ends the process": r"exit|_exit|_Exit|quick_exit|at_quick_exit|abort|__assert_fail|err|errx|verr|verrx",
    "reads or changes the environment": r"(?:secure_)?getenv|setenv|putenv|unsetenv|environ|__environ",
    "touches signals": r"signal|bsd_signal|sysv_signal|__sysv_signal|sigaction|sigprocmask|raise|kill|pthread_kill|alarm|setitimer"
                       r"|sigaltstack|signalfd|sigwait.*",
    "touches the locale": r"setlocale|uselocale|newlocale|_ZNSt6locale6globalERKS_|localeconv",
    "starts or copies processes": r"fork|vfork|_Fork|execv.*|execl.*|system|popen|posix_spawn.*|daemon|pthread_atfork|__register_atfork",
    "changes the process": r"chdir|fchdir|umask|setrlimit.*|fesetround|fesetenv|pthread_cancel|prctl|personality",
    "sleeps": r"sleep|usleep|nanosleep|clock_nanosleep|sched_yield",
    "draws from hidden state": r"s?rand|random|srandom|rand_r|[dlm]rand48|arc4random.*",
    "parses by the locale": r"strto(?:d|f|ld)|ato(?:f|i|l|ll)|v?s?scanf|__isoc99_.*scanf",
    "speaks the host's language": r"strerror(?:_l)?|__xpg_strerror_r|d?c?n?gettext|strftime.*",
    "registers code for exit": r"atexit|__cxa_atexit|on_exit|__cxa_thread_atexit.*",
    "has a static inside a function": r"__cxa_guard_acquire",
    "has thread-locals": r"__tls_get_addr|__emutls_get_address",
}
# What one object may have, because it is asked for by name: a signal handler belongs to the process, and so does what it
# finds its way by.
OF_THE_GUARD = re.compile(r"touches signals: (?:sigaction|sigprocmask|raise)|mutable global in \S+: .*fault_guard.*")
ALLOWED = {"fault_guard.cpp.o": OF_THE_GUARD, "dataline.o": OF_THE_GUARD}  # the latter: the archive's, of all objects
BANNED = {why: re.compile(rf"(?:{names})(?:@.*)?") for why, names in BANNED.items()}

# Sections of data that the program could change while it runs. Tables of constants that hold addresses live in
# .data.rel.ro, which the loader makes read-only. (gcc 12 forgets that for `constexpr std::array kX = {...}` without
# template arguments: write `constexpr X kX[]`.)
MUTABLE = re.compile(r"\.(?:data|bss|ldata|lbss|sdata|sbss|tdata|tbss|tm_clone_table)\b(?!\.rel\.ro)|\*COM\*")
# The compiler's own addresses for exception tables: position-independent code needs them.
OF_THE_COMPILER = re.compile(r"DW\.ref\.|_GLOBAL_OFFSET_TABLE_")
EARLY = re.compile(r"\.(?:init_array|fini_array|ctors|dtors|preinit_array)\b")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def undefined(path):
    """(object, symbol) pairs."""
    member = pathlib.Path(path).name
    for line in run("nm", "-u", path).splitlines():
        if line.endswith(":"):
            member = line[:-1]
        elif line.split()[:1] in (["U"], ["w"], ["v"]):
            yield member, line.split()[1]


def check_object(path):
    found = []
    for member, symbol in undefined(path):
        for why, names in BANNED.items():
            if names.fullmatch(symbol):
                found.append(f"{member}: {why}: {symbol}")
    member = pathlib.Path(path).name
    for line in run("objdump", "-t", path).splitlines():
        heading = re.match(r"(\S+):\s+file format", line)
        if heading:
            member = heading.group(1)
        # value, flags, section, size, name
        symbol = re.match(r"[0-9a-f]+ (.{7}) (\S+)\t([0-9a-f]+) (?:\.hidden )?(.+)", line)
        if symbol and "d" not in symbol.group(1) and MUTABLE.match(symbol.group(2)) and int(symbol.group(3), 16) > 0:
            if not OF_THE_COMPILER.match(symbol.group(4)):
                found.append(f"{member}: mutable global in {symbol.group(2)}: {symbol.group(4)}")
    for line in run("objdump", "-h", path).splitlines():
        section = re.match(r"\s*\d+ (\S+)\s+([0-9a-f]+)", line)
        if section and EARLY.match(section.group(1)) and int(section.group(2), 16) > 0:
            found.append(f"{path}: code that runs before main or after exit: {section.group(1)}")
    return [finding for finding in found if not is_allowed(finding)]


def is_allowed(finding):
    member, _, what = finding.partition(": ")
    return member in ALLOWED and ALLOWED[member].fullmatch(what) is not None


CLEAN = """
#include <cstring>
#include <string>
#include <vector>
struct Shape { virtual ~Shape(); virtual int sides() const { return 3; } };
Shape::~Shape() = default;
namespace { const char* const kNames[] = {"a", "b"}; constexpr int kSizes[] = {1, 2}; }
const char* name(int i) { return kNames[i] + kSizes[i]; }
std::string text() { std::vector<int> v(3); return std::to_string(v.size()); }
"""
# (name, program, what a finding must say; "" for none)
SELF_TEST = [
    ("clean", CLEAN, ""),
    ("printf", "#include <cstdio>\nvoid f(int x) { std::printf(\"%d\", x); }", "prints"),
    ("iostream", "#include <ostream>\nnamespace std { extern ostream cout; }\nvoid f() { std::cout.flush(); }", "prints"),
    ("exit", "#include <cstdlib>\nvoid f() { std::exit(1); }", "ends the process"),
    ("abort", "#include <cstdlib>\nvoid f() { std::abort(); }", "ends the process"),
    ("getenv", "#include <cstdlib>\nchar* f() { return std::getenv(\"A\"); }", "environment"),
    ("sigaction", "#include <csignal>\nint f() { return sigaction(1, nullptr, nullptr); }", "signals"),
    ("setlocale", "#include <clocale>\nvoid f() { std::setlocale(LC_ALL, \"\"); }", "locale"),
    ("pthread_atfork", "#include <pthread.h>\nint f() { return pthread_atfork(nullptr, nullptr, nullptr); }", "atfork"),
    ("strtod", "#include <cstdlib>\ndouble f(const char* x) { return std::strtod(x, nullptr); }", "by the locale"),
    ("a counter", "int counter = 1; int f() { return ++counter; }", "mutable global"),
    ("a zeroed counter", "namespace { int counter; } int f() { return ++counter; }", "mutable global"),
    ("a thread-local", "thread_local int counter; int f() { return ++counter; }", "thread-locals"),
    ("a static in a function", "int g();\nint f() { static int x = g(); return x; }", "static inside a function"),
    ("a plain static in a function", "int f() { static int x; return ++x; }", "mutable global"),
    ("a global constructor", "int g();\nextern const int kX; const int kX = g();", "before main"),
]


def self_test(compiler):
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, text, expected) in enumerate(SELF_TEST):
            tree.write_tree(folder, {f"{number}.cpp": text})
            made = f"{folder}/{number}.o"
            run(compiler, "-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-c", f"{folder}/{number}.cpp", "-o", made)
            found = check_object(made)
            if not (any(expected in finding for finding in found) if expected else found == []):
                wrong += 1
                print(f"{name}: expected '{expected}', got {found}")
    for finding, allowed in [("fault_guard.cpp.o: touches signals: sigaction", True),
                             ("fault_guard.cpp.o: touches signals: kill", False),
                             ("fault_guard.cpp.o: prints: puts", False),
                             ("loader.cpp.o: touches signals: sigaction", False)]:
        if is_allowed(finding) != allowed:
            wrong += 1
            print(f"{finding}: expected {'leave' if allowed else 'a finding'}")
    print(f"{len(SELF_TEST) + 4} cases, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        self_test(sys.argv[2])
    tree.report([finding for path in sys.argv[1:] for finding in check_object(path)], "objects")
