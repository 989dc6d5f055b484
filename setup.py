"""Builds the compiled kernel; everything else stands in pyproject.toml.

SEQPA_NATIVE=1 compiles for this machine's own instruction set; the default runs on any machine of
the same architecture. Where no C compiler is found the build goes on without the kernel's compiled
form (`optional`): the same source then runs as plain Python, and says so at first use.
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

if sys.platform == "win32":
    FLAGS = ["/O2", "/fp:fast"]
else:
    # Let the compiler reorder sums and vectorise them; all input is checked to be finite. Not
    # -ffast-math: linked into a shared library it switches denormals off for the whole process.
    FLAGS = [
        "-O3",
        "-fassociative-math",
        "-fno-signed-zeros",
        "-fno-trapping-math",
        "-fno-math-errno",
        "-ffinite-math-only",
    ]
    if os.environ.get("SEQPA_NATIVE") == "1":
        FLAGS.append("-march=native")

KERNELS = sorted(p for p in Path("seqpa/_kernel").glob("*.py") if not p.stem.startswith("_"))

WORKERS = os.cpu_count() or 1


def main() -> None:
    extensions = cythonize(
        [
            Extension(f"seqpa._kernel.{path.stem}", [path.as_posix()], extra_compile_args=FLAGS)
            for path in KERNELS
        ],
        build_dir="build",
        nthreads=WORKERS if sys.platform == "linux" else 0,
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
        },
    )
    for extension in extensions:
        extension.optional = True  # set here, since cythonize makes new ones and forgets it
    setup(ext_modules=extensions, options={"build_ext": {"parallel": WORKERS}})


if __name__ == "__main__":  # cythonize's workers may import this file
    main()
