"""Writes the software bill of materials of an artefact: CycloneDX 1.6, as JSON.

    python deploy/sbom.py KIND VERSION REQUIREMENTS.json [ARCH] >SBOM.json

KIND is `wheel` or `image`. REQUIREMENTS.json is the output of `cyclonedx-py requirements`
for requirements/deploy.txt; for an image the Debian packages that packages.lock has for ARCH, and
the service itself, join its components."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

LOCK: Final = Path(__file__).parent / "image" / "packages.lock"
TYPES: Final = {"wheel": "application", "image": "container"}


def main(kind: str, version: str, requirements: str, arch: str = "") -> None:
    """Prints the document."""
    document = json.loads(Path(requirements).read_text(encoding="utf-8"))
    service = component("idp", version, f"pkg:pypi/idp@{version}")
    components = [
        python_component(document_component) for document_component in document["components"]
    ]
    if kind == "image":
        components += [service, *debian_components(arch)]
    components.sort(key=lambda document_component: document_component["bom-ref"])
    artefact = service | {"type": TYPES[kind], "bom-ref": f"idp-{kind}{arch and f'-{arch}'}"}
    document["metadata"]["component"] = artefact
    document["components"] = components
    references = [document_component["bom-ref"] for document_component in components]
    document["dependencies"] = [
        {"ref": artefact["bom-ref"], "dependsOn": references},
        *({"ref": reference} for reference in references),
    ]
    json.dump(document, sys.stdout, indent=2, sort_keys=True)
    sys.stdout.write("\n")


def component(name: str, version: str, purl: str) -> dict[str, Any]:
    """Returns a component that is identified by its package URL."""
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def python_component(generated: dict[str, Any]) -> dict[str, Any]:
    """Returns a package of requirements/deploy.txt with the SHA-256 of each of its files.

    The generator attributes the hashes to a page of a package index, which can be any index.
    """
    hashes = [
        hash_value
        for reference in generated["externalReferences"]
        for hash_value in reference.get("hashes", ())
    ]
    package = component(generated["name"], generated["version"], generated["purl"])
    references = [{"type": "distribution", "url": generated["purl"], "hashes": hashes}]
    return package | {"externalReferences": references}


def debian_components(arch: str) -> list[dict[str, Any]]:
    """Returns the Debian packages of an image of that architecture."""
    lines = [line.split() for line in LOCK.read_text(encoding="utf-8").splitlines()]
    return [
        component(
            name, version, f"pkg:deb/debian/{name}@{quote(version, safe='')}?distro=bookworm"
        )
        | {"hashes": [{"alg": "SHA-256", "content": digest}]}
        for line_arch, name, version, digest in (line for line in lines if line[0] != "#")
        if line_arch == arch
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
