"""Builds the compiled kernel; everything else stands in pyproject.toml.

SEQPA_NATIVE=1 compiles for this machine's own instruction set; the default runs on any machine of
the same architecture. SEQPA_SYMBOLS=1 leaves the names of the kernel's functions in it, for
profilers. SEQPA_CHECKED=1 checks every index of the kernel (an IndexError instead of a wrong
address), SEQPA_SANITIZE=1 builds with the compiler's address and undefined-behaviour sanitizers:
both are for tests, see CONTRIBUTING.md. Where no C compiler is found the build goes on without the
kernel's compiled form (`optional`): the same source then runs as plain Python, and says so at first
use.

What Cython needs for memoryviews is some 20,000 lines of C. It is compiled once, into a module of
its own that the others import, instead of into each of them.
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

if sys.platform == "win32":
    COMPILE, LINK, SHARED_COMPILE = ["/O2", "/fp:fast"], [], ["/O2"]
else:
    # Let the compiler reorder sums and vectorise them; all input is checked to be finite. Not
    # -ffast-math: linked into a shared library it switches denormals off for the whole process.
    # -g0 follows the -g that Python itself was compiled with: debug information is 25 MB.
    COMPILE = [
        "-O3",
        "-fassociative-math",
        "-fno-signed-zeros",
        "-fno-trapping-math",
        "-fno-math-errno",
        "-ffinite-math-only",
        "-g0",
    ]
    if os.environ.get("SEQPA_NATIVE") == "1":
        COMPILE.append("-march=native")
    # macOS keeps debug information outside the library, and its linker has no -s.
    stripped = sys.platform != "darwin" and os.environ.get("SEQPA_SYMBOLS") != "1"
    LINK = ["-Wl,-s"] if stripped else []
    SHARED_COMPILE = ["-O2", "-g0"]

# Where values are seen that nobody has checked: they may be infinite, or no numbers.
UNCHECKED = {"seqpa._kernel.single"}
# What scores and decodes label sequences adds up in the order in which it is written, everywhere:
# two sequences that are equally good then are so in every build, and the first of them wins.
# Nothing is lost, since its loops run over labels, each of which has a sum of its own.
EXACT = {
    "ahead",
    "chain",
    "competitor",
    "compose",
    "marginals",
    "max_loss",
    "nbest",
    "runner",
    "steps",
    "store",
    "trainer",
    "word_classes",
}
if sys.platform == "win32":
    EXACT_COMPILE = ["/O2", "/fp:precise"]
else:
    EXACT_COMPILE = [*COMPILE, "-fno-associative-math", "-ffp-contract=off"]

KERNELS = sorted(p for p in Path("seqpa/_kernel").glob("*.py") if not p.stem.startswith("_"))
SHARED = "seqpa._kernel._cython"

CHECKED = os.environ.get("SEQPA_CHECKED") == "1"
if os.environ.get("SEQPA_SANITIZE") == "1":
    # Without what lets the compiler assume that nothing goes wrong, and with lines to report.
    SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    COMPILE = EXACT_COMPILE = SHARED_COMPILE = ["-O1", "-g1", "-fno-omit-frame-pointer", *SANITIZE]
    LINK = SANITIZE

WORKERS = os.cpu_count() or 1


def main() -> None:
    extensions = cythonize(
        [
            # The one that takes longest to compile comes first.
            Extension(SHARED, []),
            *(Extension(f"seqpa._kernel.{path.stem}", [path.as_posix()]) for path in KERNELS),
        ],
        build_dir="build",
        nthreads=WORKERS if sys.platform == "linux" else 0,
        shared_utility_qualified_name=SHARED,
        compiler_directives={
            "language_level": 3,
            "boundscheck": CHECKED,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": CHECKED,
        },
    )
    for extension in extensions:  # set here, since cythonize makes new ones and forgets some of it
        extension.optional = True
        name = extension.name.rpartition(".")[2]
        flags = EXACT_COMPILE if name in EXACT else COMPILE
        if extension.name == SHARED:
            flags = SHARED_COMPILE
        if extension.name in UNCHECKED:
            flags = [flag for flag in flags if flag not in ("-ffinite-math-only", "/fp:fast")]
        extension.extra_compile_args = flags
        extension.extra_link_args = LINK
    setup(ext_modules=extensions, options={"build_ext": {"parallel": WORKERS}})


if __name__ == "__main__":  # cythonize's workers may import this file
    main()
