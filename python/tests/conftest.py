"""What the tests share. They need the package installed, and the repository around them."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "calyx-examples"


@pytest.fixture(scope="session")
def observed(tmp_path_factory):
    """A run of the matrix product with the tables as files, in which things were observed."""
    import petal

    out = tmp_path_factory.mktemp("observed") / "matmul"
    petal.run(
        EXAMPLES / "matmul.futil",
        out=out,
        observe={
            "checkpoint": {"store": "main.store; i=main.i.out, sum=sfixed(main.sum.out, 8)"},
            "latency": {"product": "main.multiply"},
            "watch": ["main.sum"],
            "never": {"clear": "main.clear"},
            "count": {"stores": "main.store"},
            "sample": 100,
        },
    )
    profile = petal.open(out)
    profile.export()
    return profile
