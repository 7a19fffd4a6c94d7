"""The bill of materials of the program (CycloneDX), and the licence texts of the packages in it."""

import argparse
import json
import os
import pathlib
import subprocess

LICENCES = ("license", "licence", "copying", "notice", "unlicense", "copyright")


def packages(triple: str) -> list[dict]:
    """The packages that the program is made of, without those that only run while it is compiled or tested."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", f"--filter-platform={triple}"]
    metadata = json.loads(subprocess.check_output(command))
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    [root] = [p["id"] for p in metadata["packages"] if p["name"] == "srparse"]
    found, waiting = {root}, [root]
    while waiting:
        for dep in nodes[waiting.pop()]["deps"]:
            if any(kind["kind"] is None for kind in dep["dep_kinds"]) and dep["pkg"] not in found:
                found.add(dep["pkg"])
                waiting.append(dep["pkg"])
    ours = [p for p in metadata["packages"] if p["id"] in found and p["id"] != root]
    return sorted(ours, key=lambda package: (package["name"], package["version"]))


def component(package: dict) -> dict:
    name, version = package["name"], package["version"]
    purl = f"pkg:cargo/{name}@{version}"
    licence = (package["license"] or "").replace("/", " OR ")
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "licenses": [{"expression": licence}] if licence else [],
    }


def texts(package: dict) -> str:
    folder = pathlib.Path(package["manifest_path"]).parent
    files = sorted(f for f in folder.iterdir() if f.is_file() and f.name.lower().startswith(LICENCES))
    head = f"{package['name']} {package['version']} ({package['license']})"
    parts = [f"{'=' * 80}\n{head}\n{'=' * 80}\n"]
    parts += [f"--- {f.name}\n{f.read_text(errors='replace').strip()}\n" for f in files]
    if not files:
        parts.append("The package has no file with the text of its licence.\n")
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triple", required=True)
    parser.add_argument("--bill", required=True)
    parser.add_argument("--licences", required=True)
    arguments = parser.parse_args()
    ours = packages(arguments.triple)
    version = next(
        line.split('"')[1] for line in open("Cargo.toml") if line.startswith("version = ")
    )
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "srparse", "version": version}},
        "components": [component(package) for package in ours],
    }
    with open(arguments.bill, "w") as out:
        json.dump(bill, out, indent=1)
        out.write(os.linesep)
    with open(arguments.licences, "w") as out:
        out.write("\n".join(texts(package) for package in ours))


if __name__ == "__main__":
    main()
