"""The command in the wheel, the type stubs, and the documentation of names."""

import inspect
import os
import signal
import subprocess
import sys
import time

import srparse


def test_the_command_keeps_its_statuses(command, tmp_path):
    def status(*arguments):
        return subprocess.run([command, *arguments], capture_output=True, text=True)

    version = status("--version")
    assert (version.returncode, version.stdout) == (0, f"srparse {srparse.__version__}\n")
    wrong = status("parse", "--modle", "x")
    assert (wrong.returncode, wrong.stdout) == (2, "") and "--model" in wrong.stderr
    missing = status("parse", "--model", tmp_path / "none.srm")
    assert missing.returncode == 2 and "error: " in missing.stderr
    module = subprocess.run([sys.executable, "-m", "srparse", "--help"], capture_output=True)
    assert module.returncode == 0 and b"Usage: srparse" in module.stdout


def test_ctrl_c_ends_the_command(command):
    process = subprocess.Popen([command, "parse", "--quiet"], stdin=subprocess.PIPE)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == -signal.SIGINT
    process.stdin.close()


def test_every_public_name_is_documented():
    for name in srparse.__all__:
        thing = getattr(srparse, name)
        if name != "__version__":
            assert inspect.getdoc(thing), name
        if inspect.isclass(thing) and thing is not srparse.Token:
            members = [member for member in vars(thing) if not member.startswith("_")]
            assert all(inspect.getdoc(getattr(thing, member)) for member in members), name


def test_help_shows_signatures():
    assert "beam=None" in str(inspect.signature(srparse.load))
    assert "threads=1" in str(inspect.signature(srparse.Parser.parse_batch))


def test_the_package_is_typed():
    folder = os.path.dirname(srparse.__file__)
    assert {"py.typed", "_srparse.pyi"} <= set(os.listdir(folder))
