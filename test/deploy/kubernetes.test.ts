import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { FROM_FILES } from '../../src/ops/index.ts';
import { manifestsOf, RENDERED } from './helm/rendered.ts';
import { secretValues, unknownVariables } from './known-variables.ts';

const FOLDER = 'deploy/kubernetes';
const TYPES = {
  ...{ Deployment: 'apps/v1', PodDisruptionBudget: 'policy/v1', Job: 'batch/v1' },
  ...{ CronJob: 'batch/v1', Namespace: 'core/v1', Service: 'core/v1', ConfigMap: 'core/v1' },
  ...{ NetworkPolicy: 'networking/v1', Ingress: 'networking/v1' },
};
const KINDS = Object.keys(TYPES) as (keyof typeof TYPES)[];

const { resources }: { resources: readonly string[] } = read('kustomization.yaml');
const jobs = globSync('jobs/*.yaml', { cwd: FOLDER });

function read(file: string) {
  return parse(readFileSync(join(FOLDER, file), 'utf8'));
}

/** The compiler finds the errors that a cluster would refuse: unknown keys and wrong types. */
function misfitsOf(manifests: readonly unknown[]): string {
  const folder = mkdtempSync(join('node_modules', '.cache-kubernetes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const imports = KINDS.map(
    (kind) => `import type { ${kind} } from 'kubernetes-types/${TYPES[kind]}';`,
  );
  const values = manifests.map((manifest, n) => {
    const { kind } = z.looseObject({ kind: z.enum(KINDS) }).parse(manifest);
    return `export const m${n}: ${kind} = ${JSON.stringify(manifest)};`;
  });
  const file = join(folder, 'manifests.ts');
  writeFileSync(file, [...imports, ...values].join('\n'));
  try {
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--types', ''];
    execFileSync('tsc', [...options, '--moduleResolution', 'bundler', '--module', 'esnext', file], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    return '';
  } catch (error) {
    return z.object({ stdout: z.string() }).parse(error).stdout;
  }
}

/** The operators of Prometheus and of External Secrets define these kinds; there are no types for them. */
function isCustom(manifest: unknown): boolean {
  const { apiVersion } = z.looseObject({ apiVersion: z.string() }).parse(manifest);
  return /^(monitoring\.coreos\.com|external-secrets\.io)\//.test(apiVersion);
}

test('every manifest matches the type of its kind', () => {
  expect(jobs).toHaveLength(2);
  const chart = RENDERED.flatMap(manifestsOf).filter((manifest) => !isCustom(manifest));
  expect(misfitsOf([...[...resources, ...jobs].map(read), ...chart])).toBe('');
});

test('a misspelt key and a wrong type in a manifest are found', () => {
  const service = { apiVersion: 'v1', kind: 'Service' };
  const errors = misfitsOf([
    { ...service, spec: { selektor: {} } },
    { ...service, spec: { ports: 'many' } },
  ]);
  expect(errors).toMatch(/selektor\S+ does not exist/);
  expect(errors).toContain("'string' is not assignable to type 'ServicePort[]'");
});

test('the kustomization lists every manifest', () => {
  const there = globSync('*.yaml', { cwd: FOLDER }).filter((file) => !/^(kus|sig)/.test(file));
  expect(resources.toSorted()).toEqual(there.sort());
});

const { spec: deployed } = read('deployment.yaml');
const { labels } = deployed.template.metadata;
const pod = deployed.template.spec;
const [container, ...moreContainers] = pod.containers;
const namesIn = ({ env = [] }: { env?: readonly { name: string }[] }) =>
  env.map(({ name }) => name);

test.for(jobs)(
  'the pod of %s is no replica, gains no privileges and reads secrets as files',
  (file) => {
    const { spec } = read(file);
    const { metadata, spec: own } = (spec.jobTemplate?.spec ?? spec).template;
    expect(metadata.labels).not.toEqual(labels);
    expect(own).toMatchObject({ automountServiceAccountToken: false });
    expect(own.securityContext).toEqual(pod.securityContext);
    const [job, ...others] = own.containers;
    expect(others).toEqual([]);
    expect(job.securityContext).toEqual(container.securityContext);
    const secrets = namesIn(job).map((name) => name.replace(/_FILE$/, ''));
    expect(secrets.filter((name) => !FROM_FILES.includes(name))).toEqual([]);
    expect(secretValues(namesIn(job))).toEqual([]);
  },
);

test('three replicas run as an unprivileged user and are replaced one at a time', () => {
  const rollingUpdate = { maxUnavailable: 0, maxSurge: 1 };
  expect(deployed.replicas).toBe(3);
  expect(deployed.strategy).toEqual({ type: 'RollingUpdate', rollingUpdate });
  expect(pod).toMatchObject({
    ...{ automountServiceAccountToken: false, terminationGracePeriodSeconds: 60 },
    securityContext: { runAsNonRoot: true, runAsUser: 10_001 },
    topologySpreadConstraints: ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map(
      (topologyKey) => expect.objectContaining({ topologyKey }),
    ),
  });
  expect(moreContainers).toEqual([]);
  const memory = expect.any(String);
  const requests = { cpu: expect.any(String), memory };
  expect(container.resources).toEqual({ requests, limits: { memory } });
});

test('the probes use the paths of the bot', () => {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  const probed = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
  const paths = ['/healthz', '/healthz', '/readyz'];
  expect(probed).toEqual(paths.map((path) => ({ path, port: 'http' })));
});

test('the bot writes to volumes only and gains no privileges', () => {
  expect(container.securityContext).toEqual({
    ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
    capabilities: { drop: ['ALL'] },
  });
});

test('secrets are files, named by variables that the bot reads', () => {
  const names = namesIn(container);
  expect([...unknownVariables(names), ...secretValues(names)]).toEqual([]);
  for (const variable of container.env) expect(Object.keys(variable)).toEqual(['name', 'value']);
});

test('the disruption budget, the service and the network policy select these pods', () => {
  const selected = [
    deployed.selector.matchLabels,
    read('disruption.yaml').spec.selector.matchLabels,
    read('service.yaml').spec.selector,
    read('network.yaml').spec.podSelector.matchLabels,
  ];
  expect(selected).toEqual(selected.map(() => labels));
});
