"""Runs jobs of the local stack, or of a stack on AWS, by simulation: a worker for each device type.

Finds the local stack by `.local/stack.json`. A stack on AWS needs --base-url and --token-endpoint, and in the environment
DEVICE_CLIENT_ID and DEVICE_CLIENT_SECRET. Ctrl-C ends it: what it was running can be claimed again at once.
"""

import argparse
import json
import os
import signal
import socket
import sys
import threading
from pathlib import Path

from child import Model, import_simulators
from service import Refusal, Service
from simulators import OPTIONAL, QUTIP, Simulator
from worker import MAX_IDLE_SECONDS, Worker

SPECS = json.loads((Path(__file__).parent.parent / "demo" / "device-specs.json").read_text(encoding="utf-8"))


def main() -> None:
    options = read_options()
    # Simulations run side by side: each takes one core.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    simulators = choose_simulators(options)
    import_simulators(sorted({each.package for each in simulators.values()}))
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    service = connect(options, stopping)
    problems: list[str] = []

    def work(device_type: str) -> None:
        name = f"{socket.gethostname()}-{os.getpid()}"
        try:
            # The local stack is asked as often as it wants: that costs nothing.
            idle_seconds = 0 if options.base_url is None else MAX_IDLE_SECONDS
            model = Model(specify(device_type, simulators[device_type]), simulators[device_type], options.calibration)
            Worker(service, device_type, model, name, options.job_seconds, stopping, idle_seconds).work()
        except Refusal as refusal:
            problems.append(f"The service refuses the worker for {device_type} ({refusal}).")
        except Exception as problem:
            problems.append(f"The worker for {device_type} failed: {problem!r}")
        stopping.set()

    workers = [threading.Thread(target=work, args=[each], daemon=True) for each in simulators]
    for worker in workers:
        worker.start()
    stopping.wait()
    for worker in workers:
        worker.join(timeout=10)
    sys.exit("\n".join(problems) or 0)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device-type", action="append", choices=SPECS, help="repeatable; otherwise all of them")
    packages = f"for their device types, instead of QuTiP: {', '.join(OPTIONAL)}"
    parser.add_argument("--with", dest="packages", type=lambda text: text.split(","), default=[], help=packages)
    calibration = "a JSON file, numbers of Pulser's NoiseModel: reported at the start, and the noise of jobs without any"
    parser.add_argument("--calibration", type=read_calibration, metavar="FILE", help=calibration)
    parser.add_argument("--job-seconds", type=float, default=600, help="the longest simulation (600)")
    parser.add_argument("--stack", type=Path, default=Path(".local/stack.json"), help="the local stack's description")
    parser.add_argument("--base-url", help="of a stack on AWS: its output ApiUrl")
    parser.add_argument("--token-endpoint", help="of a stack on AWS: its issuer's, for client_credentials")
    options = parser.parse_args()
    for name in options.packages:
        if name not in OPTIONAL:
            parser.error(f"--with takes {' and '.join(OPTIONAL)}, not {name}")
        if not OPTIONAL[name].is_installed():
            parser.error(f"{name} is not installed: npm run emulator -- --with {name}")
    if (options.base_url is None) != (options.token_endpoint is None):
        parser.error("--base-url and --token-endpoint belong together")
    return options


def read_calibration(file: str) -> dict:
    from pulser import NoiseModel

    try:
        numbers = json.loads(Path(file).read_text(encoding="utf-8"))
        NoiseModel(**numbers)
    except (OSError, TypeError, ValueError) as problem:
        raise argparse.ArgumentTypeError(f"{file} holds no numbers of a noise model: {problem}") from None
    return numbers


def choose_simulators(options: argparse.Namespace) -> dict[str, Simulator]:
    """By device type."""
    chosen = {OPTIONAL[name].device_type: OPTIONAL[name] for name in options.packages}
    return {each: chosen.get(each, QUTIP) for each in options.device_type or SPECS}


def specify(device_type: str, simulator: Simulator) -> str:
    """The specification to announce: that of the demo, with as many atoms as this simulator takes."""
    if simulator == QUTIP:
        return SPECS[device_type]
    return json.dumps({**json.loads(SPECS[device_type]), "max_atom_num": simulator.max_atoms})


def connect(options: argparse.Namespace, stopping: threading.Event) -> Service:
    if options.base_url is not None:
        try:
            credentials = os.environ["DEVICE_CLIENT_ID"], os.environ["DEVICE_CLIENT_SECRET"]
        except KeyError as missing:
            sys.exit(f"{missing.args[0]} is missing in the environment.")
        return Service(options.base_url, options.token_endpoint, *credentials)
    stack = read_stack(options.stack, stopping)
    device = stack["device"]
    return Service(stack["baseUrl"], stack["tokenEndpoint"], device["username"], device["password"])


def read_stack(file: Path, stopping: threading.Event) -> dict:
    if not file.exists():
        print(f"Waits for the local stack (npm start), which writes {file} when it is ready …", flush=True)
    while True:
        try:
            return json.loads(file.read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):  # The latter: it is being written.
            if stopping.wait(1):
                sys.exit()


if __name__ == "__main__":
    main()
