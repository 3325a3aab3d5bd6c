# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Ordinary programs under the preload library, beside plain TCP over the same device, and beside the C library's
preload where the programs run on it."""
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import bench
from bench import summary

NEEDS = ("apache2-utils", "iperf3", "iperf", "netcat-traditional", "redis-server", "redis-tools", "nginx-light")
ADDRESS = "10.9.0.1"
# Where everything is, in the guest.
PLACE = "/run/rdmacm-bench"
LIMIT = 60
REDIS = (f"RUN redis-server --bind {ADDRESS} --port 6380 --save '' --protected-mode no", 6380)
NGINX = (f"RUN nginx -c {PLACE}/nginx.conf", 8082)
BENCHMARK = f"RUN redis-benchmark -h {ADDRESS} -p 6380 --csv"
SETTINGS = f"""daemon off; worker_processes 1; user root; pid {PLACE}/nginx.pid; error_log stderr;
events {{ use epoll; worker_connections 64; }}
http {{
    access_log off; sendfile on;
    client_body_temp_path {PLACE}/body; proxy_temp_path {PLACE}/proxy; fastcgi_temp_path {PLACE}/fastcgi;
    uwsgi_temp_path {PLACE}/uwsgi; scgi_temp_path {PLACE}/scgi;
    server {{ listen {ADDRESS}:8082; root {PLACE}/www; }}
}}
"""


def found(pattern, scale=1.0):
    return lambda text: scale * float(re.search(pattern, text, re.MULTILINE)[1])


def iperf3_rate(text):
    return json.loads(text)["end"]["sum_received"]["bits_per_second"] / 8e6


def iperf2_rate(text):
    return float(text.strip().splitlines()[-1].split(",")[8]) / 8e6


# Name, unit, server with its port, client, how its number is read, whether the C library's preload can.
CASES = (
    ("iperf3", "MB/s", ("RUN iperf3 -s -1", 5201), f"RUN iperf3 -c {ADDRESS} -n 16M -J", iperf3_rate, False),
    ("iperf3 -R", "MB/s", ("RUN iperf3 -s -1", 5201), f"RUN iperf3 -c {ADDRESS} -n 16M -J -R", iperf3_rate, False),
    ("iperf", "MB/s", ("RUN iperf -s", 5001), f"RUN iperf -c {ADDRESS} -n 16M -y C", iperf2_rate, True),
    ("nc, 8 MiB", "MB/s", (f"RUN nc.traditional -l -s {ADDRESS} -p 9000 > {PLACE}/got", 9000),
     f"begin=$(date +%s%N); RUN nc.traditional -q 0 {ADDRESS} 9000 < {PLACE}/www/big; "
     f"until cmp -s {PLACE}/www/big {PLACE}/got; do sleep 0.01; done; "
     "echo $((8388608000 * 1000 / ($(date +%s%N) - begin))) kB/s", found(r"^(\d+) kB/s", 1e-3), True),
    ("redis GET, 1 client", "1/s", REDIS, f"{BENCHMARK} -n 1000 -c 1 -t get", found(r'"GET","([\d.]+)'), False),
    ("redis SET, 20 clients", "1/s", REDIS, f"{BENCHMARK} -n 4000 -c 20 -t set", found(r'"SET","([\d.]+)'), False),
    ("redis SET, 20 clients, 16 at once", "1/s", REDIS, f"{BENCHMARK} -n 16000 -c 20 -P 16 -t set",
     found(r'"SET","([\d.]+)'), False),
    ("nginx, ab -k, 6 bytes", "1/s", NGINX, f"RUN ab -q -k -n 2000 -c 8 http://{ADDRESS}:8082/x",
     found(r"^Requests per second: *([\d.]+)"), False),
    ("nginx, ab -k, 300 kB", "1/s", NGINX, f"RUN ab -q -k -n 100 -c 4 http://{ADDRESS}:8082/f",
     found(r"^Requests per second: *([\d.]+)"), False),
    ("nginx, ab, a connection each", "1/s", NGINX, f"RUN ab -q -n 100 -c 4 http://{ADDRESS}:8082/x",
     found(r"^Requests per second: *([\d.]+)"), False),
)


def sides():
    """Environment and preload library of each side; "RUN" in a command stands for the latter."""
    theirs = next(Path("/usr/lib").glob("*/rsocket/librspreload.so"))
    return {"tcp": (bench.environment("c"), None),
            "c": (bench.environment("c"), theirs),
            "ours": (bench.environment("ours"), bench.OURS / "librspreload.so")}


def start(command, env):
    return subprocess.Popen(["sh", "-c", command], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, start_new_session=True)


def end(process):
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(3)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
    process.stdout.close()


def wait_listening(port):
    until = time.monotonic() + 10
    while time.monotonic() < until:
        listening = any(line.split()[3] == "0A" and line.split()[1].endswith(f":{port:04X}")
                        for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:])
        ids = subprocess.run(["rdma", "resource", "show", "cm_id"], capture_output=True, text=True, timeout=10,
                             check=False).stdout
        if listening or any("LISTEN" in line and f":{port} " in line for line in ids.splitlines()):
            time.sleep(0.3)
            return
        time.sleep(0.05)
    raise RuntimeError(f"nobody listens on port {port}")


def sent_packets():
    return sum(int(path.read_text())
               for path in Path("/sys/class/infiniband").glob("*/ports/*/hw_counters/sent_pkts"))


def once(side, server, client, read):
    """One number. A preloaded run that sent no packets over RDMA is none."""
    (env, library), before = sides()[side], sent_packets()
    run = f"LD_PRELOAD={library} exec " if library else "exec "
    serving = start(server[0].replace("RUN ", run), env)
    client = client.replace("RUN ", run.replace("exec ", ""))
    try:
        wait_listening(server[1])
        done = subprocess.run(["sh", "-c", client], env=env, capture_output=True, text=True, timeout=LIMIT,
                              stdin=subprocess.DEVNULL, check=False)
    finally:
        end(serving)
    if done.returncode:
        raise RuntimeError(f"{client}: exit {done.returncode}\n{done.stdout[-500:]}{done.stderr[-500:]}")
    packets = sent_packets() - before
    if (packets > 100) != (side != "tcp"):
        raise RuntimeError(f"{client}: {packets} packets over RDMA")
    try:
        return read(done.stdout)
    except (TypeError, ValueError, LookupError) as error:
        raise RuntimeError(f"{client} printed {done.stdout[-500:]!r}") from error


def figures(smoke):
    against = {"tcp": [], "c": []}
    prepare()
    for name, unit, server, client, read, has_c in CASES[:1] if smoke else CASES:
        begin = time.monotonic()
        who = ("tcp", "c", "ours") if has_c else ("tcp", "ours")
        seen = {side: [] for side in who}
        try:
            for turn in range(1 if smoke else 3):
                for side in who if turn % 2 == 0 else reversed(who):
                    seen[side].append(once(side, server, client, read))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"FAILED {name}: {error}", file=sys.stderr, flush=True)
            against["tcp"].append(bench.row(f"{name}: failed", None, None))
            continue
        for other in who[:-1]:
            against[other].append({**summary(seen[other], seen["ours"], True), "case": f"{name} ({unit})"})
        told = "/".join(f"{sorted(seen[side])[len(seen[side]) // 2]:.4g}" for side in who)
        print(f"{name}: {told}, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    each = {"unit": "MB/s or 1/s", "timed": True, "more_is_better": True}
    result = [{"name": "programs-tcp", "title": "librspreload beside plain TCP over the same device", **each,
               "beside": "TCP", "rows": against["tcp"]}]
    if against["c"]:
        result.append({"name": "programs-c", "title": "librspreload beside the C library's", **each, "rows": against["c"],
                       "note": "Of these programs the C library's preload runs iperf and nc only "
                               "([../preload-programs.md](../preload-programs.md))."})
    return result


def prepare():
    www = Path(PLACE) / "www"
    www.mkdir(parents=True)
    (www / "x").write_text("hello\n")
    for name, size in (("f", 300000), ("big", 8 << 20)):
        (www / name).write_bytes(os.urandom(size))
    (Path(PLACE) / "nginx.conf").write_text(SETTINGS)
