"""Answers of AWS as its command line prints them, made from botocore's service models.

Each goes the way of a real one: over the wire in the service's protocol, through botocore's own parser, and out as
JSON. Names and types are the models'; a name that a model lacks is an error here.
"""

import datetime
import json
from xml.sax.saxutils import escape

import botocore
import botocore.parsers
import botocore.session

SOME_TIME = datetime.datetime(2026, 3, 1, 4, 5, 6, tzinfo=datetime.timezone.utc)
_session = botocore.session.get_session()


def service(name: str):
    return _session.get_service_model(name)


def output_shape(name: str, operation: str):
    return service(name).operation_model(operation).output_shape


def filled(shape, given=None):
    """A value of the shape with every member present: what is given (None leaves a member out), else a sample."""
    if shape.type_name == "structure":
        given = given or {}
        if unknown := set(given) - set(shape.members):
            raise KeyError(f"{shape.name} has no member {sorted(unknown)}")
        return {name: filled(member, given.get(name)) for name, member in shape.members.items()
                if given.get(name, 0) is not None}
    if shape.type_name == "list":
        return [filled(shape.member, item) for item in (given or [None])]
    if shape.type_name == "timestamp":
        return given or SOME_TIME
    kind = {"string": str, "integer": int, "long": int, "double": float, "float": float, "boolean": bool}[shape.type_name]
    if given is None:
        return (getattr(shape, "enum", None) or ["sample"])[0] if kind is str else kind(1)
    return kind(given)


def _xml(shape, value) -> str:
    if shape.type_name == "structure":
        return "".join(f"<{tag}>{_xml(member, value[name])}</{tag}>" for name, member in shape.members.items()
                       if name in value for tag in [member.serialization.get("name", name)])
    if shape.type_name == "list":
        return "".join(f"<item>{_xml(shape.member, item)}</item>" for item in value)
    if shape.type_name == "timestamp":
        return value.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return escape(str(value).lower() if shape.type_name == "boolean" else str(value))


def _epoch(value):
    return value.timestamp() if isinstance(value, datetime.datetime) else value


def printed(name: str, operation: str, given: dict, version: int = 2) -> dict:
    """The answer that `aws` of this major version prints: 2 writes ISO 8601 times, 1 what came over the wire."""
    shape = output_shape(name, operation)
    protocol = service(name).metadata["protocol"]
    value = filled(shape, given)
    if protocol == "ec2":
        body = f"<{operation}Response><requestId>none</requestId>{_xml(shape, value)}</{operation}Response>"
    else:
        body = json.dumps(value, default=_epoch)
    parsers = botocore.parsers.ResponseParserFactory()
    if version == 1:
        parsers.set_parser_defaults(timestamp_parser=lambda text: text)
    answer = parsers.create_parser(protocol).parse(
        {"status_code": 200, "headers": {}, "body": body.encode()}, shape)
    del answer["ResponseMetadata"]
    return json.loads(json.dumps(answer, default=lambda time: time.isoformat()))


def example(name: str, operation: str) -> dict:
    """The answer in botocore's own examples."""
    loader = _session.get_component("data_loader")
    examples = loader.load_service_model(name, "examples-1")
    return examples["examples"][operation][0]["output"]
