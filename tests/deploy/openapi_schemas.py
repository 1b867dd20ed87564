"""JSON schemas of Kubernetes' objects for kubeconform, made of the OpenAPI file of its own module.

In them an object has no property but those that are described, so that a misspelt one is found.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

REFERENCE = "#/definitions/"
DEFINITIONS = "definitions.json"
# Written as text in the OpenAPI file, and either in what people write.
EITHER = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": ["string", "number"],
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": ["string", "integer"],
}


def write(openapi: Path, directory: Path) -> str:
    """Write a schema for each kind; the location that kubeconform wants is returned."""
    definitions = json.loads(openapi.read_text(encoding="utf-8"))["definitions"]
    strict = {name: closed(schema) for name, schema in definitions.items()}
    strict |= {name: {"type": types} for name, types in EITHER.items()}
    (directory / DEFINITIONS).write_text(json.dumps({"definitions": strict}))
    for name, schema in definitions.items():
        for kind in schema.get("x-kubernetes-group-version-kind", ()):
            made = strict[name] | {"properties": dict(strict[name].get("properties", {}))}
            for field in ("kind", "apiVersion"):
                if field in made["properties"]:
                    made["properties"][field] = {"type": "string"}
            (directory / file_name(**kind)).write_text(json.dumps(made))
    return str(directory / "{{.ResourceKind}}{{.KindSuffix}}.json")


def file_name(group: str, version: str, kind: str) -> str:
    """As kubeconform asks for it: the kind, the first part of its group, and the version."""
    parts = [kind, *filter(None, [group.partition(".")[0]]), version]
    return "-".join(parts).lower() + ".json"


def closed(schema: Any) -> Any:
    """The schema with references to the file of definitions, and without unknown properties."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: closed(value) for name, value in schema.items()}
    if isinstance(reference := made.get("$ref"), str):
        made["$ref"] = reference.replace(REFERENCE, f"{DEFINITIONS}{REFERENCE}")
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        made.setdefault("additionalProperties", False)
    return made
