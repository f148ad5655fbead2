"""The manifests in docs/deploy/kubernetes fit the API of Kubernetes, restricted pods, and the code of Parley."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from flask import Flask

from app.interviews.recordings.video import Limits
from app.operations.cli import parley
from app.operations.metrics import collecting
from app.operations.processes import web
from app.operations.processes.family import Family
from app.settings import Settings

from .source import ROOT

kubernetes_validate = pytest.importorskip("kubernetes_validate", reason="make install-dev installs it")

FOLDER = ROOT / "docs" / "deploy" / "kubernetes"
VERSIONS = ("1.31", kubernetes_validate.latest_version())
"""The oldest version that the manifests name, and the newest whose API we know."""
OURS = {"app.kubernetes.io/name": "parley"}
OTHERS = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"}
LABEL = "app.kubernetes.io/component"

Manifest = dict[str, Any]


def _read() -> list[Manifest]:
    """What kustomize would apply, but for what it generates."""
    whole = yaml.safe_load((FOLDER / "kustomization.yaml").read_text(encoding="utf-8"))
    texts = [(FOLDER / name).read_text(encoding="utf-8") for name in whole["resources"]]
    return [one for text in texts for one in yaml.safe_load_all(text)]


MANIFESTS = _read()


def named(kind: str) -> dict[str, Manifest]:
    return {one["metadata"]["name"]: one for one in MANIFESTS if one["kind"] == kind}


def workloads() -> dict[str, Manifest]:
    """The pods that are run, by the part of Parley that is in them."""
    found = {**named("Deployment"), **named("StatefulSet"), **named("Job")}
    return {name: one["spec"]["template"] for name, one in found.items()}


def containers() -> Iterator[tuple[str, Manifest, Manifest]]:
    """(its workload, the pod, the container), of all containers."""
    for name, template in workloads().items():
        pod = template["spec"]
        for container in (*pod.get("initContainers", ()), *pod["containers"]):
            yield name, pod, container


def variables(name: str) -> dict[str, str]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def environment(container: Manifest) -> dict[str, str]:
    """What a container's process finds, with something for every secret."""
    assert container["envFrom"] == [{"configMapRef": {"name": "settings"}}, {"secretRef": {"name": "secrets"}}]
    secrets = dict.fromkeys(variables("secrets.env.example"), "0123456789abcdef" * 2)
    secrets |= {
        "DATABASE_URL": "postgresql://parley:secret@db.internal/parley",
        "REDIS_URL": "redis://redis.internal/0",
    }
    return {**variables("settings.env"), **secrets, **{one["name"]: one["value"] for one in container.get("env", ())}}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_every_manifest_fits_the_api(manifest: Manifest, version: str) -> None:
    kubernetes_validate.validate(manifest, version, strict=True)


def test_a_field_that_the_api_does_not_have_is_found() -> None:
    wrong = json.loads(json.dumps(named("Deployment")["web"]))
    wrong["spec"]["template"]["spec"]["terminationGracePeriod"] = 45
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_the_kustomization_names_every_file_and_our_images() -> None:
    whole = yaml.safe_load((FOLDER / "kustomization.yaml").read_text(encoding="utf-8"))
    generated = [one["envs"][0] for one in (*whole["configMapGenerator"], *whole["secretGenerator"])]
    assert generated == ["settings.env", "secrets.env"]
    others = {"kustomization.yaml", "settings.env", "secrets.env.example", "prometheus-adapter.yaml"}
    there = {path.name for path in FOLDER.iterdir() if path.name != "secrets.env"}
    assert there == {*whole["resources"], *others}
    assert whole["namespace"] in named("Namespace")
    used = {(container["image"], name == "speech") for name, _, container in containers()}
    assert used == {("parley", False), ("parley-speech", True)}
    assert {image["name"] for image in whole["images"]} == {image for image, _ in used}


def test_pods_keep_the_restricted_standard() -> None:
    (namespace,) = named("Namespace").values()
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    for name, pod, container in containers():
        closed = pod["securityContext"]
        assert closed["runAsNonRoot"], name
        assert closed["runAsUser"] > 0
        assert closed["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not pod["automountServiceAccountToken"]
        assert not {"hostNetwork", "hostPID", "hostIPC", "hostUsers"} & set(pod)
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        claimed = [one["metadata"]["name"] for one in named("StatefulSet")["worker"]["spec"]["volumeClaimTemplates"]]
        volumes = {one["name"] for one in pod["volumes"]} | set(claimed if name == "worker" else ())
        assert {one["name"] for one in container["volumeMounts"]} <= volumes
        assert all(set(one) & {"emptyDir", "persistentVolumeClaim"} for one in pod["volumes"]), "no path of the node"


def test_what_is_written_is_on_a_volume() -> None:
    for name, _, container in containers():
        mounts = [Path(one["mountPath"]) for one in container["volumeMounts"]]
        assert Path("/tmp") in mounts
        assert Path(environment(container)["DATA_DIR"]).parent in mounts, name
        if name == "speech":
            assert Path(environment(container)["MODELS_DIR"]) in mounts


def test_settings_are_those_of_the_code_and_a_whole_installation(tmp_path: Path) -> None:
    known = {line[1:].split("=")[0] for line in Settings.example().splitlines() if re.match(r"#[A-Z0-9_]+=", line)}
    assert all(value == "" for value in variables("secrets.env.example").values()), "no secret has a default"
    for name, _, container in containers():
        found = environment(container)
        assert set(found) <= known | OTHERS, name
        built = Settings.from_env({**found, "DATA_DIR": str(tmp_path)})
        assert (built.is_embedded, built.is_https, built.trusted_proxies, built.host) == (False, True, 1, "0.0.0.0")
        assert built.storage_url.startswith("s3://")
    host = urlsplit(variables("settings.env")["APP_URL"]).hostname
    (ingress,) = named("Ingress").values()
    assert [rule["host"] for rule in ingress["spec"]["rules"]] == [host]
    assert ingress["spec"]["tls"][0]["hosts"] == [host]


def test_each_container_runs_a_command_that_exists() -> None:
    run = {(name, container["name"]): container["args"] for name, _, container in containers()}
    assert run == {
        ("migrate", "migrate"): ["migrate"],
        ("web", "migrated"): ["migrate", "--wait"],
        ("web", "web"): ["web"],
        ("worker", "migrated"): ["migrate", "--wait"],
        ("worker", "worker"): ["worker"],
        ("speech", "models"): ["models", "install", "default"],
        ("speech", "speech"): ["speech"],
    }
    for args in run.values():
        parley.make_context("parley", [*args, "--help"], resilient_parsing=True)
        assert args[0] in parley.list_commands(parley.make_context("parley", [], resilient_parsing=True))


def test_ports_and_probes_are_those_of_the_code(app: Flask) -> None:
    rules = {rule.rule for rule in app.url_map.iter_rules()}
    settings = variables("settings.env")
    for name, port in (("web", settings["PORT"]), ("speech", settings["SPEECH_HOST"].rpartition(":")[2])):
        (container,) = workloads()[name]["spec"]["containers"]
        (opened,) = container["ports"]
        assert opened["containerPort"] == int(port)
        (served,) = named("Service")[name]["spec"]["ports"]
        assert served["targetPort"] == opened["name"]
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            asked = container.get(probe, {"tcpSocket": {"port": opened["name"]}})
            target = asked.get("httpGet") or asked["tcpSocket"]
            assert target["port"] == opened["name"]
            assert target.get("path", "/healthz") in rules
    (container,) = workloads()["web"]["spec"]["containers"]
    asked = {one: container[one]["httpGet"]["path"] for one in ("startupProbe", "readinessProbe", "livenessProbe")}
    assert asked == {"startupProbe": "/readyz", "readinessProbe": "/healthz", "livenessProbe": "/healthz"}, (
        "what all processes lack at once must not end interviews in progress"
    )
    template = workloads()["web"]["metadata"]["annotations"]
    assert template["prometheus.io/port"] == settings["PORT"]


def test_the_speech_host_listens_where_the_others_look() -> None:
    name, _, port = variables("settings.env")["SPEECH_HOST"].partition(":")
    (served,) = named("Service")[name]["spec"]["ports"]
    assert served["port"] == int(port)
    (container,) = workloads()["speech"]["spec"]["containers"]
    assert environment(container)["SPEECH_HOST"] == f"0.0.0.0:{port}", "the name is the service's, not the pod's"
    speech = named("Deployment")["speech"]["spec"]
    assert (speech["replicas"], speech["strategy"]) == (1, {"type": "Recreate"}), "its claim is on one node"


def test_processes_get_the_time_they_need_to_stop() -> None:
    draining = {
        "web": web._STOP_SECONDS + web._SETTLED_SECONDS,
        "worker": Family.__init__.__kwdefaults__["patience"],
        "speech": 10.0,
    }
    for name, seconds in draining.items():
        pod = workloads()[name]["spec"]
        before = pod["containers"][0].get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        assert pod["terminationGracePeriodSeconds"] > before + seconds + 5, name
    deployed = named("Deployment")["web"]["spec"]["strategy"]["rollingUpdate"]
    assert deployed == {"maxUnavailable": 0, "maxSurge": 1}, "a new process serves before an old one stops"


def test_a_decoder_fits_into_a_worker() -> None:
    (container,) = workloads()["worker"]["spec"]["containers"]
    assert container["resources"]["limits"]["memory"] == "4Gi"
    assert Limits().memory < 4 * 1024**3
    (room,) = workloads()["worker"]["spec"]["volumes"]
    assert room == {"name": "tmp", "emptyDir": {"sizeLimit": "20Gi"}}
    assert Limits().file_size * 2 < 20 * 1024**3, "sound and picture of one recording"


def test_every_selector_finds_its_pods() -> None:
    labels = {name: template["metadata"]["labels"] for name, template in workloads().items()}
    assert labels == {name: {**OURS, LABEL: name} for name in labels}
    for kind in ("Deployment", "StatefulSet", "PodDisruptionBudget"):
        for name, one in named(kind).items():
            assert one["spec"]["selector"]["matchLabels"] == labels[name], (kind, name)
    for name, one in named("Service").items():
        assert one["spec"]["selector"] == labels[name]
    assert set(named("PodDisruptionBudget")) == {"web", "worker"}, "the single speech host would block every drain"


def selected(selector: Manifest) -> set[str]:
    """The parts that a pod selector names."""
    if not selector:
        return set(workloads())
    values = {value for one in selector.get("matchExpressions", ()) for value in one["values"]}
    assert all(one["key"] == LABEL for one in selector.get("matchExpressions", ()))
    matched = selector.get("matchLabels")
    return values | ({matched[LABEL]} if matched else set())


def test_nothing_is_reached_that_is_not_named() -> None:
    policies = named("NetworkPolicy")
    assert policies["nothing"]["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    for policy in policies.values():
        assert selected(policy["spec"]["podSelector"]) <= set(workloads())
    opened = {
        part: {port["port"] for rule in policy["spec"].get("ingress", ()) for port in rule["ports"]}
        for policy in policies.values()
        if "ingress" in policy["spec"]
        for part in selected(policy["spec"]["podSelector"])
    }
    assert opened == {"web": {"http"}, "speech": {"speech"}}
    assert selected(policies["speech"]["spec"]["ingress"][0]["from"][0]["podSelector"]) == {"web", "worker"}
    assert selected(policies["to-services"]["spec"]["podSelector"]) == {"web", "worker", "migrate"}


def test_decoders_reach_neither_the_cluster_nor_its_cloud() -> None:
    """Decoders run in workers, and where they get no namespace of their own they have the worker's network."""
    rules = {name: one["spec"].get("egress", []) for name, one in named("NetworkPolicy").items()}
    assert all(rule["to"] for every in rules.values() for rule in every), "without `to`, every address can be reached"
    for name in ("to-the-internet", "to-mail"):
        (rule,) = rules[name]
        (four, six) = (one["ipBlock"] for one in rule["to"])
        assert {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"} <= set(four["except"])
        assert {"fc00::/7", "fe80::/10"} <= set(six["except"])


def test_autoscalers_have_what_they_measure() -> None:
    scalers = named("HorizontalPodAutoscaler")
    for name, one in scalers.items():
        target = one["spec"]["scaleTargetRef"]
        assert target["name"] in named(target["kind"])
        assert "replicas" not in named(target["kind"])[name]["spec"], (
            "applying it again would undo the autoscaler's number"
        )
        assert one["spec"]["minReplicas"] >= 2
    (container,) = workloads()["web"]["spec"]["containers"]
    assert scalers["web"]["spec"]["metrics"][0]["resource"]["name"] in container["resources"]["requests"]
    metric = scalers["worker"]["spec"]["metrics"][0]["external"]["metric"]["name"]
    source = Path(collecting.__file__).read_text(encoding="utf-8")
    assert f'_gauge("{metric}", "Jobs waiting in the queue.", jobs, names=("queue",))' in source
    adapter = yaml.safe_load((FOLDER / "prometheus-adapter.yaml").read_text(encoding="utf-8"))
    (rule,) = adapter["rules"]["external"]
    assert rule["name"]["as"] == metric
    assert rule["metricsQuery"] == f"sum(max({metric}{{<<.LabelMatchers>>}}) by (queue))", (
        "every web process reports all"
    )
