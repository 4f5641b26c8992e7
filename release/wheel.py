#!/usr/bin/env python3
"""Makes wheels for PyPI of the archives of a release: each has the binary of one as a script, and nothing is built.

Usage: release/wheel.py FOLDER host-TARGET.tar.gz...

Writes the wheels into FOLDER and prints their paths. The package has the name in release/package-name; the program stays
`host`. The same archive gives the same bytes. Needs Python 3.8 and nothing else.
"""

import base64, hashlib, io, pathlib, re, sys, tarfile, zipfile

HERE = pathlib.Path(__file__).parent
NAME = (HERE / "package-name").read_text().strip()

# A static binary needs nothing of the system's C library, so one wheel is for glibc and for musl. The oldest kernels and
# macOS that Rust supports are newer than these tags say.
TAGS = {
    "x86_64-unknown-linux-musl": "manylinux_2_17_x86_64.musllinux_1_1_x86_64",
    "aarch64-unknown-linux-musl": "manylinux_2_17_aarch64.musllinux_1_1_aarch64",
    "x86_64-apple-darwin": "macosx_10_12_x86_64",
    "aarch64-apple-darwin": "macosx_11_0_arm64",
    # Linked to the C library of the machine that built it: pip installs the file, and PyPI does not take it.
    "x86_64-unknown-linux-gnu": "linux_x86_64",
    "aarch64-unknown-linux-gnu": "linux_aarch64",
}


def fail(words):
    sys.exit(f"error: {words}")


def version():
    """The version of the workspace."""
    found = re.search(r'^version = "([^"]+)"', (HERE.parent / "Cargo.toml").read_text(), re.M)
    return found[1] if found else fail("Cargo.toml has no version")


def contents(archive):
    """The files of an archive by their path in it, without its folder."""
    files = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile():
                files[member.name.split("/", 1)[-1]] = tar.extractfile(member).read()
    return files


def digest(data):
    encoded = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
    return f"sha256={encoded.decode()}"


def wheel(archive, folder):
    target = archive.name.removeprefix("host-").removesuffix(".tar.gz")
    if target not in TAGS:
        fail(f"`{archive}` is named for no known target; known: host-TARGET.tar.gz with {', '.join(TAGS)}")
    files = contents(archive)
    for needed in ("host", "README.md", "LICENSE"):
        if needed not in files:
            fail(f"`{archive}` has no `{needed}`")
    distribution, number, tags = NAME.replace("-", "_"), version(), TAGS[target]
    info, data = f"{distribution}-{number}.dist-info", f"{distribution}-{number}.data"
    metadata = f"""Metadata-Version: 2.4
Name: {NAME}
Version: {number}
Summary: An LLM agent whose every tool is a WebAssembly component with exactly the capabilities you granted
License-Expression: Apache-2.0
License-File: LICENSE
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Operating System :: MacOS
Classifier: Topic :: Software Development
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{files["README.md"].decode()}"""
    described = f"Wheel-Version: 1.0\nGenerator: {NAME} release/wheel.py\nRoot-Is-Purelib: false\n"
    described += "".join(f"Tag: py3-none-{tag}\n" for tag in tags.split("."))
    entries = [(f"{data}/scripts/host", files["host"], 0o755)]
    # Beside the program's folder, where shells and `man` look for them.
    shared = sorted(path for path in files if path.startswith("share/"))
    entries += [(f"{data}/data/{path}", files[path], 0o644) for path in shared]
    entries += [
        (f"{info}/licenses/LICENSE", files["LICENSE"], 0o644),
        (f"{info}/METADATA", metadata.encode(), 0o644),
        (f"{info}/WHEEL", described.encode(), 0o644),
    ]
    record = "".join(f"{path},{digest(content)},{len(content)}\n" for path, content, _ in entries)
    entries.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for path, content, mode in entries:
            # The oldest date that a zip can have, so that the bytes do not depend on the day.
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            # Of Unix, and with its modes, wherever this runs.
            entry.create_system, entry.external_attr = 3, (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, content)
    path = folder / f"{distribution}-{number}-py3-none-{tags}.whl"
    path.write_bytes(packed.getvalue())
    return path


def main(arguments):
    if len(arguments) < 2 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for archive in map(pathlib.Path, arguments[1:]):
        print(wheel(archive, folder))
    return 0


sys.exit(main(sys.argv[1:]))
