import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { FLAGS, REST_SERVICES, SERVICES } from "../../src/main/flags.ts";
import { skipWithoutDebianPackage } from "../programs/debian-program.ts";

const FILE = fileURLToPath(new URL("../../../deploy/kubernetes/lazuli.yaml", import.meta.url));
const skip =
  skipWithoutDebianPackage("PyYAML", "python3-yaml", "python3 -c 'import yaml'") ?? false;

const TO_JSON =
  "import json, sys, yaml; json.dump(list(yaml.safe_load_all(open(sys.argv[1]))), sys.stdout)";
/** Variables that are no defaults of flags. */
const OTHER_VARIABLES = [
  ...["AZURITE_ACCOUNTS", "PGPASSWORD", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
];

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  // biome-ignore lint/suspicious/noExplicitAny: the test says which fields it expects
  readonly spec: any;
}

function resources(): Resource[] {
  const done = spawnSync("python3", ["-c", TO_JSON, FILE], { encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  return JSON.parse(done.stdout);
}

test("the Kubernetes manifest has what belongs together", { skip }, () => {
  const all = resources();
  assert.deepEqual(
    all.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`),
    ["apps/v1 Deployment", "v1 Service", "policy/v1 PodDisruptionBudget"],
  );
  const [deployment, service, budget] = all as [Resource, Resource, Resource];
  const { labels } = deployment.spec.template.metadata;
  assert.deepEqual(deployment.spec.selector.matchLabels, labels);
  assert.deepEqual(service.spec.selector, labels);
  assert.deepEqual(budget.spec.selector.matchLabels, labels);
  assert.ok(budget.spec.minAvailable < deployment.spec.replicas, "nodes can be emptied");
  const [container] = deployment.spec.template.spec.containers;
  const expected = REST_SERVICES.map((name) => ({ name, port: SERVICES[name].port }));
  const ports = container.ports as { name: string; containerPort: number }[];
  assert.deepEqual(
    ports.map(({ name, containerPort: port }) => ({ name, port })),
    expected,
  );
  assert.deepEqual(
    service.spec.ports,
    expected.map((one) => ({ ...one, targetPort: one.name })),
  );
});

test("its variables, probes and times are those that the server knows", { skip }, () => {
  const [deployment] = resources() as [Resource];
  const { containers, terminationGracePeriodSeconds, volumes } = deployment.spec.template.spec;
  const [container] = containers;
  const variables = container.env as { name: string; value?: string }[];
  const known = [...FLAGS.flatMap(({ env }) => env ?? []), ...OTHER_VARIABLES];
  for (const { name } of variables) assert.ok(known.includes(name), `there is no ${name}`);
  const delay = variables.find(({ name }) => name === "LAZULI_STOP_DELAY")?.value;
  assert.ok(Number(delay) + 20 < terminationGracePeriodSeconds, "requests under way are answered");
  const { readinessProbe: ready, livenessProbe: alive } = container;
  assert.equal(ready.httpGet.path, "/healthz?for=requests");
  assert.equal(alive.httpGet.path, "/healthz");
  assert.ok(ready.periodSeconds * ready.failureThreshold < Number(delay), "nodes have the time");
  assert.equal(container.volumeMounts[0].name, volumes[0].name);
});
