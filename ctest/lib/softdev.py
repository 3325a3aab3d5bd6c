# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Suite `softdev`: the soft device itself.

The programs of ctest/softdev run on it and print a line `ok` or `not-ok` for each check: the kill
table, clients killed by the hundred, handlers of signals. The other names are checks of this file:

  selftest   the self-test, on the C library
  newcomer   `softdev/run` in an empty place, servers that signals end, what is built from which headers
  users      two users on one machine
  messages   what is wrong is said in one line, and nothing aborts
  limits     RLIMIT_AS
  examples   each of examples/, on the C library and on ours
  demo       `make demo-soft`: seconds to the first message
"""
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from pathlib import Path

from harness import (CC, CTEST, OUT, ROOT, SOFTDEV, SOFT_DEVICE, compile_program, environment, execute, make_soft_device,
                     must, preloaded, programs_of)
from suite import Suite

LIMIT = 120
EXAMPLES = ROOT / "examples"
WRAPPER = SOFTDEV / "run"
SOME_USER, OTHER_USER = 65534, 54321
# Headers that only the C library's package has.
OF_THE_C_LIBRARY = re.compile(r"/(rdma/rdma_cma|rdma/rdma_cma_abi|rdma/rdma_verbs|rdma/rsocket|infiniband/ib|"
                              r"infiniband/acm)\.h$")


class Place:
    """A folder for one check, and the environment of a user who has just come."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="softdev-")
        self.path = Path(self.folder.name)
        self.env = environment(XDG_RUNTIME_DIR=str(self.path))
        self.started = []
        return self

    def __exit__(self, *_):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()
        self.folder.cleanup()

    def start(self, command, **options):
        process = subprocess.Popen([str(word) for word in command], env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
        self.started.append(process)
        return process

    def run(self, command, limit=20, **more):
        return execute(command, dict(self.env, **more), limit)


def say(report, good, name, wrong="", text=""):
    return report.good(name, text) if good else report.bad(name, "    " + wrong.replace("\n", "\n    "))


def build_examples(library, report):
    """The folder of the examples for a library: `None` is the C library, by its own headers."""
    folder = OUT / "examples" / ("ours" if library else "c")
    flags = f"-O2 -g -Werror -I{ROOT}/include" if library else "-O2 -g -Werror"
    libs = f"-L{library} -lrdmacm -libverbs" if library else "-lrdmacm -libverbs"
    done = subprocess.run(["make", "--silent", "-C", EXAMPLES, f"OUT={folder}", f"CC={' '.join(CC)}", f"CFLAGS={flags}",
                           f"LIBS={libs}"], capture_output=True, text=True)
    if done.returncode:
        report.bad("build of examples", done.stdout + done.stderr)
        return None
    return folder


def wait_for(process, text, limit=10):
    """Lines of a process up to one with that text."""
    lines, end = [], time.monotonic() + limit
    for line in process.stdout:
        lines.append(line.rstrip())
        if text in line or time.monotonic() > end:
            break
    return lines


def wrapper(library, *command):
    return [WRAPPER, *([] if library else ["--c"]), "--", *command]


def newcomer(args, report):
    folder = build_examples(args.lib, report)
    if not folder:
        return
    with Place() as place:
        ended = place.run([WRAPPER, "--build"], 300)
        say(report, ended.code == 0, "newcomer: builds what is missing", ended.err)
        # Ended in every way, each followed by a newcomer at once.
        ways = [signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGHUP, signal.SIGABRT, signal.SIGSEGV, signal.SIGKILL]
        for number, how in enumerate(ways):
            server = place.start(wrapper(True, folder / "server"))
            heard = wait_for(server, "listening")
            client = place.run(wrapper(True, folder / "client", "10.77.0.1", "7471", "hello"))
            server.send_signal(how)
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                report.bad(f"newcomer: server {number + 1} survives {how.name}")
                server.kill()
                server.wait()
            good = client.code == 0 and "answer 1" in client.out and any("listening" in line for line in heard)
            say(report, good, f"newcomer: after server {number + 1}, ended by {how.name}", client.err + "\n".join(heard))
        # Both at once: the client waits for the server.
        late = place.start(wrapper(True, folder / "client", "10.77.0.1", "7471", "hello"))
        time.sleep(0.3)
        place.start(wrapper(True, folder / "server"))
        say(report, late.wait(20) == 0, "newcomer: a client before its server")
        mode = stat.S_IMODE((place.path / "softdev").stat().st_mode)
        say(report, mode == 0o700, "newcomer: the place is the user's alone", oct(mode))
    done = subprocess.run([*CC, "-M", "-D_GNU_SOURCE", f"-I{ROOT}/include", *SOFTDEV.glob("[!s]*.c")], capture_output=True,
                          text=True)
    foreign = [name for name in done.stdout.replace("\\\n", " ").split()
               if OF_THE_C_LIBRARY.search(name) and not name.startswith(str(ROOT)) and ".." not in name]
    say(report, done.returncode == 0 and not foreign, "newcomer: built without the C library's headers", " ".join(foreign))


def as_user(number):
    return dict(user=number, group=number, extra_groups=[])


def users(args, report):
    folder = build_examples(args.lib, report)
    if os.geteuid() != 0:
        return report.skip("users", "needs root, to be others")
    if not folder:
        return
    probe = subprocess.run([folder / "client"], capture_output=True, **as_user(SOME_USER)) if _reaches(folder) else None
    if not probe:
        return report.skip("users", "this folder cannot be reached by other users")
    homes = {}
    with Place() as place:
        place.path.chmod(0o755)
        servers = {}
        for user in (SOME_USER, OTHER_USER):
            homes[user] = place.path / str(user)
            homes[user].mkdir(mode=0o700)
            os.chown(homes[user], user, user)
            place.env["XDG_RUNTIME_DIR"] = str(homes[user])
            servers[user] = place.start(wrapper(True, folder / "server"), **as_user(user))
            wait_for(servers[user], "listening")
        for user in (SOME_USER, OTHER_USER):
            place.env["XDG_RUNTIME_DIR"] = str(homes[user])
            client = place.start(wrapper(True, folder / "client", "10.77.0.1", "7471", f"I am {user}"), **as_user(user))
            client.wait(20)
            heard = wait_for(servers[user], "message 1")
            say(report, client.returncode == 0 and f"I am {user}" in heard[-1],
                f"users: {user} has a device and a port of its own", "\n".join(heard))
        # A file of the other's.
        theirs = next((homes[SOME_USER] / "softdev").glob("kernel-*"))
        for path in (homes[SOME_USER], theirs.parent):
            path.chmod(0o711)
        theirs.chmod(0o666)
        place.env.update(XDG_RUNTIME_DIR=str(homes[OTHER_USER]), RDMAFAKE_SHARED=str(theirs))
        client = place.start(wrapper(True, folder / "client", "10.77.0.1"), **as_user(OTHER_USER))
        text = client.communicate(timeout=20)[0]
        lines = [line for line in text.splitlines() if line.startswith("rdmafake:")]
        say(report, client.returncode == 1 and len(lines) == 1 and "name of your own" in lines[0],
            "users: another user's file is refused", text)


def _reaches(folder):
    try:
        subprocess.run([folder / "client"], capture_output=True, timeout=10, **as_user(SOME_USER))
        return True
    except (PermissionError, FileNotFoundError):
        return False


def messages(args, report):
    folder = build_examples(args.lib, report)
    if not folder:
        return
    # Ends at once where there is a device, too.
    direct = preloaded([folder / "server", "192.0.2.1"], SOFT_DEVICE)
    with Place() as place:
        a_folder, a_script, empty = place.path / "folder", place.path / "script", place.path / "empty"
        a_folder.mkdir()
        empty.mkdir()
        a_script.write_text("device name=x\nthere is no such statement\n")
        (place.path / "no").write_text("")
        os.mkfifo(place.path / "pipe")
        tools = dict(PATH=str(empty))
        sh = shutil.which("sh")
        cases = {
            "a folder that is not there": (direct, dict(RDMAFAKE_SHARED="/nowhere/kernel"), "No such file"),
            "a folder instead of a file": (direct, dict(RDMAFAKE_SHARED=str(a_folder)), "directory"),
            "a file below a file": (direct, dict(RDMAFAKE_SHARED=str(place.path / "no" / "kernel")), "Not a directory"),
            "a pipe instead of a file": (direct, dict(RDMAFAKE_SHARED=str(place.path / "pipe")), "Invalid argument"),
            "a name that is too long": (direct, dict(RDMAFAKE_SHARED="/tmp/" + "x" * 300), "too long"),
            "a script that is not there": (direct, dict(RDMAFAKE="/nowhere/script"), "cannot read the script"),
            "an error in a script's file": (direct, dict(RDMAFAKE=str(a_script)), "there is"),
            "an error in a script's text": (direct, dict(RDMAFAKE="fail NOTHING"), "fail NOTHING"),
            "a log that cannot be written": (direct, dict(RDMAFAKE_LOG="/nowhere/log"), "cannot write the log"),
            "no program of that name": (wrapper(True, "/nowhere/program"), {}, "there is no program"),
            "no command": ([WRAPPER], {}, "usage"),
        }
        if os.geteuid() == 0:
            full = f"mount -t tmpfs -o size=8m none {a_folder} && exec \"$@\""
            cases["a file system that is full"] = (["unshare", "-m", "sh", "-c", full, "sh", *direct],
                                                   dict(RDMAFAKE_SHARED=str(a_folder / "kernel")), "MB free")
        for name, (command, more, text) in cases.items():
            env = dict(more, LD_LIBRARY_PATH=args.lib)
            ended = place.run(command, 20, **env)
            lines = [line for line in (ended.out + ended.err).splitlines() if line.startswith(("rdmafake:", "softdev:"))]
            good = ended.code is not None and ended.code > 0 and len(lines) == 1 and text in lines[0]
            say(report, good, f"messages: {name}", f"({ended.how})\n{ended.out}{ended.err}", "".join(lines[:1]))
        # Tools that are missing, one after the other.
        for name, there, text in (("make", [], "needs make"), ("a compiler", ["make"], "needs a C compiler")):
            for tool in ["readlink", "dirname", "id", "mkdir", "tr", "chmod", "sh", *there]:
                link = empty / tool
                if not link.exists():
                    link.symlink_to(shutil.which(tool))
            ended = place.run([sh, WRAPPER, "--", sh], 20, **tools, HOME="/nowhere", CC="no-compiler")
            lines = ended.err.splitlines()
            say(report, ended.code == 1 and len(lines) == 1 and text in lines[0], f"messages: without {name}", ended.err)


def limits(args, report):
    folder = build_examples(args.lib, report)
    if not folder:
        return

    def limited(command, megabytes, **env):
        command = ["prlimit", f"--as={megabytes << 20}", "--", *preloaded(command, SOFT_DEVICE)]
        return place.run(command, 20, LD_LIBRARY_PATH=args.lib, RDMAFAKE_SHARED=str(place.path / "kernel"), **env)

    with Place() as place:
        # What a run takes, without the limit: addresses of 350 MB, memory of some.
        ended = limited([folder / "client", "10.77.0.1"], 48)
        lines = [line for line in ended.err.splitlines() if line.startswith("rdmafake:")]
        say(report, ended.how == "exit 1" and len(lines) == 1 and "RLIMIT_AS" in lines[0],
            "limits: too little is said", ended.how + "\n" + ended.err)
        script = (f"'{folder}/server' & server=$!; '{folder}/client' 10.77.0.1 7471 small; code=$?; kill $server; exit $code")
        ended = limited(["sh", "-c", script], 300)
        say(report, ended.code == 0 and "answer 1" in ended.out, "limits: a smaller heap where less is left",
            ended.how + "\n" + ended.err)
        place.run(preloaded([folder / "client"], SOFT_DEVICE))
        used = os.stat(place.path / "kernel")
        say(report, used.st_blocks * 512 < used.st_size / 8, "limits: addresses are taken, memory is not",
            f"{used.st_blocks // 2048} MB of {used.st_size >> 20} MB")


def pair(place, library, server, client):
    """Runs a server until its client has ended; what both say."""
    begun = place.start(wrapper(library, *server))
    heard = wait_for(begun, "listening")
    ended = place.run(wrapper(library, *client))
    time.sleep(0.2)
    begun.kill()
    return ended, "\n".join(heard) + "\n" + begun.communicate()[0]


def examples(args, report):
    for library in (None, args.lib):
        folder = build_examples(library, report)
        name = "ours" if library else "the C library"
        if not folder:
            continue
        with Place() as place:
            for server in ("server", "async"):
                ended, heard = pair(place, library, [folder / server, "10.77.0.1", "7500"],
                                    [folder / "client", "10.77.0.1", "7500", "one", "and another"])
                good = ended.code == 0 and "answer 2: 19 bytes came" in ended.out and "message 2: and another" in heard
                say(report, good, f"examples: {server} and client on {name}", ended.out + ended.err + heard)
            # Three at once.
            server = place.start(wrapper(library, folder / "async", "10.77.0.1", "7501"))
            wait_for(server, "listening")
            clients = [place.start(wrapper(library, folder / "client", "10.77.0.1", "7501", text)) for text in "abc"]
            good = all(client.wait(20) == 0 for client in clients)
            say(report, good, f"examples: async with three clients on {name}")
            command = wrapper(library, folder / "rsocket", "server", "10.77.0.1", "7502")
            text = " ".join(f"'{word}'" for word in command)
            both = f"echo to | {text} >'{place.path}/heard' & echo fro | {text.replace('server', 'client', 1)}; wait"
            ended = place.run(["sh", "-c", both])
            heard = (place.path / "heard").read_text()
            say(report, ended.out == "to\n" and heard == "fro\n", f"examples: rsocket both ways on {name}",
                ended.out + ended.err + heard)


def demo(args, report):
    with Place() as place:
        place.run([WRAPPER, "--build"], 300)
        begin = time.monotonic()
        show = place.start([ROOT / "scripts" / "demo-soft"])
        wait_for(show, "server: message 1", 60)
        first = time.monotonic() - begin
        rest, _ = show.communicate(timeout=60)
        good = show.returncode == 0 and "from the client" in rest and rest.count("answer 1: ") >= 3
        say(report, good and first < 10, "demo", rest,
            f"{first:.1f} s to the first message, {time.monotonic() - begin:.1f} s in all")


def selftest(args, report):
    folder = SOFT_DEVICE.parent
    done = subprocess.run(["make", "--silent", "-C", SOFTDEV, f"OUT={folder}", f"CC={' '.join(CC)}", f"{folder}/selftest"],
                          capture_output=True, text=True)
    if done.returncode:
        return report.bad("selftest", done.stdout + done.stderr)
    ended = execute([folder / "selftest"], environment(), LIMIT)
    for line in ended.out.splitlines():
        if line.startswith("ok  "):
            report.passed += 1
        elif line.startswith("FAIL"):
            report.bad(f"selftest: {line.split()[-1]}")
    say(report, ended.code == 0, "selftest", ended.out[-500:])
    return None


CHECKS = {function.__name__: function for function in (selftest, newcomer, users, messages, limits, examples, demo)}


def programs():
    return [*(source.stem for source in programs_of(CTEST / "softdev")), *CHECKS]


def run_program(name, args, report):
    program, arguments = OUT / "softdev-programs" / name, []
    problem = compile_program(program, CTEST / "softdev" / f"{name}.c")
    if problem:
        return report.bad(name, problem)
    if name == "kill" and os.environ.get("CTEST_KILL"):
        arguments = [os.environ["CTEST_KILL"]]
    with Place() as place:
        ended = place.run(preloaded([program, *arguments], SOFT_DEVICE), args.limit or 10 * LIMIT, LD_LIBRARY_PATH=args.lib,
                          RDMAFAKE_SHARED=str(place.path / "kernel"))
    for line in ended.out.splitlines():
        if line.startswith("ok "):
            report.passed += 1
        elif line.startswith("not-ok "):
            report.bad(f"{name}: {line[7:]}")
        else:
            report.say(line)
    if ended.code not in (0, 1):
        report.bad(f"{name}: {ended.how}", ended.out[-500:] + ended.err[-500:])
    return None


def run(names, args, report):
    must(make_soft_device())
    args.lib = os.path.abspath(args.lib)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name in names or programs():
        begin = time.monotonic()
        if name in CHECKS:
            CHECKS[name](args, report)
        else:
            run_program(name, args, report)
        report.say(f"# {name}: {time.monotonic() - begin:.1f} s")


SUITES = [Suite("softdev", "the soft device itself: kill table, newcomers, other users, messages, examples", programs, run)]
