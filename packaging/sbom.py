"""Writes OUTPUT/forerun-VERSION.cdx.json, as in `python3 packaging/sbom.py dist TARGET`: the Rust packages that are
in the program for TARGET, with their licences and checksums. The format is CycloneDX 1.5.

`cargo tree` and Cargo.lock know all of it.
"""

import json
import subprocess
import sys
import tomllib


def packages(target):
    """Name, version and licence of each package whose code is in the program."""
    edges = ["--edges", "normal,no-proc-macro", "--no-dedupe", "--prefix", "none"]
    command = ["cargo", "tree", "--locked", "--package", "forerun-cli", "--target", target, *edges]
    lines = subprocess.check_output([*command, "--format", "{p}|{l}"], text=True).split("\n")
    for line in sorted(set(filter(None, lines))):
        package, licence = line.split("|")
        # A package of this repository is followed by its folder.
        name, version, *_ = package.split(" ")
        # Old packages write a slash for OR.
        yield name, version.removeprefix("v"), licence.replace("/", " OR ")


def component(kind, name, version, licence, checksum):
    purl = f"pkg:cargo/{name}@{version}"
    hashes = [{"alg": "SHA-256", "content": checksum}] if checksum else []
    return {
        "type": kind,
        "bom-ref": purl,
        "name": name,
        "version": version,
        "hashes": hashes,
        "licenses": [{"expression": licence}],
        "purl": purl,
    }


def main(output, target):
    with open("Cargo.lock", "rb") as file:
        locked = tomllib.load(file)["package"]
    checksums = {(entry["name"], entry["version"]): entry.get("checksum") for entry in locked}
    kinds = {"forerun-cli": "application"}
    components = [
        component(kinds.get(name, "library"), name, version, licence, checksums[name, version])
        for name, version, licence in packages(target)
    ]
    [program] = [found for found in components if found["type"] == "application"]
    components.remove(program)
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": program},
        "components": components,
    }
    with open(f"{output}/forerun-{program['version']}.cdx.json", "w") as file:
        json.dump(bom, file, indent=2)
        file.write("\n")


main(*sys.argv[1:])
