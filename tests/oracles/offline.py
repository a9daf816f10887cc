"""Keeps the SDKs off the network, and quick."""

import functools
import importlib
import logging
import os
import warnings

os.environ.update(AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none", AWS_EC2_METADATA_DISABLED="true",
                  SAGEMAKER_ADMIN_CONFIG_OVERRIDE="/dev/null", SAGEMAKER_USER_CONFIG_OVERRIDE="/dev/null")
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")

import botocore.client  # noqa: E402
import botocore.loaders  # noqa: E402
import botocore.session  # noqa: E402
import botocore.validate  # noqa: E402


class Caught(Exception):
    """The SDK called a service that a launch does not need."""


def answer(answers: dict) -> list:
    """Every call of a service gets its prepared answer, an exception is raised; no other call is let through.

    Returns the list that requests of CreateTrainingJob are appended to.
    """
    requests: list = []

    def call(self, operation, parameters):
        if operation == "CreateTrainingJob":
            requests.append(parameters)
        if operation not in answers:
            raise Caught(operation)
        given = answers[operation]
        if isinstance(given, Exception):
            raise given
        return given

    botocore.client.BaseClient._make_api_call = call
    # Each client parses the service models again.
    load = functools.lru_cache(maxsize=None)(botocore.loaders.JSONFileLoader().load_file)
    botocore.loaders.JSONFileLoader.load_file = lambda self, path: load(path)
    # Each export makes a dozen clients anew; all of a service are alike.
    create, clients = botocore.session.Session.create_client, {}

    def client(self, service_name, *arguments, **named):
        said = {k: getattr(v, "_user_provided_options", v) for k, v in named.items()}
        key = (service_name, repr(arguments), repr(sorted(said.items())))
        if key not in clients:
            clients[key] = create(self, service_name, *arguments, **named)
        return clients[key]

    botocore.session.Session.create_client = client
    return requests


def silence(module: str) -> None:
    """The SDK reports its use to AWS; not from here."""
    importlib.import_module(module)._send_telemetry_request = lambda *_, **__: None


def create_training_job_shape():
    return botocore.session.get_session().get_service_model("sagemaker").operation_model("CreateTrainingJob").input_shape


def botocore_faults(request: dict, shape) -> list[str]:
    checked = botocore.validate.ParamValidator().validate(request, shape)
    return [f"botocore: {checked.generate_report()}"] if checked.has_errors() else []
