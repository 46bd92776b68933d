"""README's first batch, as a newcomer runs it. Runs alone: it creates for the user whose lists other tests compare."""

import os
import re
import sys
from pathlib import Path
from subprocess import run

readme = Path(__file__).parents[5] / "README.md"
uuid = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def test_the_first_batch():
    text = readme.read_text()
    program = re.search(r"```python\n(.*?)```", text[text.index("### A first batch, in Python") :], re.DOTALL)[1]
    folder = Path(os.environ["STACK_JSON"]).parents[1]
    done = run([sys.executable, "-W", "ignore", "-c", program], cwd=folder, capture_output=True, text=True)
    assert re.fullmatch(rf"{uuid} BatchStatus\.PENDING\n", done.stdout), done.stderr
