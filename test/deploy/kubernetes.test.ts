import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { FROM_FILES, VARIABLE_NAMES } from '../../src/ops/index.ts';
import { manifestsOf, RENDERED } from './helm/rendered.ts';

const FOLDER = 'deploy/kubernetes';
const TYPES = {
  Deployment: 'apps/v1',
  NetworkPolicy: 'networking/v1',
  PodDisruptionBudget: 'policy/v1',
  Namespace: 'core/v1',
  Service: 'core/v1',
  Job: 'batch/v1',
  CronJob: 'batch/v1',
  ConfigMap: 'core/v1',
  Ingress: 'networking/v1',
};
const KINDS = Object.keys(TYPES) as (keyof typeof TYPES)[];

const Kustomization = z.looseObject({ resources: z.array(z.string()) });
const { resources } = Kustomization.parse(read('kustomization.yaml'));
const jobs = globSync('jobs/*.yaml', { cwd: FOLDER });

function read(file: string): unknown {
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

const Probe = z.looseObject({
  httpGet: z.strictObject({ path: z.string(), port: z.literal('http') }),
});
const Container = z.looseObject({
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  livenessProbe: Probe,
  readinessProbe: Probe,
  startupProbe: Probe,
  securityContext: z.unknown(),
  resources: z.strictObject({
    requests: z.strictObject({ cpu: z.string(), memory: z.string() }),
    limits: z.strictObject({ memory: z.string() }),
  }),
});
const Pod = z.looseObject({
  automountServiceAccountToken: z.literal(false),
  terminationGracePeriodSeconds: z.literal(60),
  securityContext: z.looseObject({ runAsNonRoot: z.literal(true), runAsUser: z.literal(10_001) }),
  topologySpreadConstraints: z.array(z.looseObject({ topologyKey: z.string() })),
  containers: z.tuple([Container]),
});
const Labels = z.record(z.string(), z.string());
const Deployment = z.object({
  spec: z.object({
    replicas: z.literal(3),
    strategy: z.strictObject({
      type: z.literal('RollingUpdate'),
      rollingUpdate: z.strictObject({ maxUnavailable: z.literal(0), maxSurge: z.literal(1) }),
    }),
    selector: z.strictObject({ matchLabels: Labels }),
    template: z.object({ metadata: z.object({ labels: Labels }), spec: Pod }),
  }),
});
const Template = z.object({
  metadata: z.object({ labels: Labels }),
  spec: z.object({
    automountServiceAccountToken: z.literal(false),
    securityContext: z.unknown(),
    containers: z.tuple([
      z.object({
        env: z.array(z.object({ name: z.string().endsWith('_FILE') })).default([]),
        securityContext: z.unknown(),
      }),
    ]),
  }),
});
const Job = z.object({
  spec: z.union([
    z.object({ template: Template }),
    z.object({ jobTemplate: z.object({ spec: z.object({ template: Template }) }) }),
  ]),
});
const reading = Deployment.safeParse(read('deployment.yaml'));

function deployed() {
  if (!reading.success) throw reading.error;
  const { spec } = reading.data;
  return { spec, container: spec.template.spec.containers[0] };
}

test.for(jobs)(
  'the pod of %s is no replica, gains no privileges and reads secrets as files',
  (file) => {
    const { spec } = Job.parse(read(file));
    const { metadata, spec: pod } =
      'jobTemplate' in spec ? spec.jobTemplate.spec.template : spec.template;
    expect(metadata.labels).not.toEqual(deployed().spec.selector.matchLabels);
    expect(pod.securityContext).toEqual(deployed().spec.template.spec.securityContext);
    const [container] = pod.containers;
    expect(container.securityContext).toEqual(deployed().container.securityContext);
    const names = container.env.map(({ name }) => name);
    expect(names.filter((name) => !FROM_FILES.includes(name.replace(/_FILE$/, '')))).toEqual([]);
  },
);

test('three replicas run as an unprivileged user and are replaced one at a time', () => {
  expect(reading.error).toBeUndefined();
});

test('the probes use the paths of the bot', () => {
  const { startupProbe, livenessProbe, readinessProbe } = deployed().container;
  const paths = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path);
  expect(paths).toEqual(['/healthz', '/healthz', '/readyz']);
});

test('the bot writes to volumes only and gains no privileges', () => {
  expect(deployed().container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
});

test('secrets are files, named by variables that the bot reads', () => {
  const names = deployed().container.env.map(({ name }) => name);
  const known = [...VARIABLE_NAMES, ...FROM_FILES.map((name) => `${name}_FILE`)];
  expect(names.filter((name) => !known.includes(name))).toEqual([]);
  expect(names.filter((name) => FROM_FILES.includes(name))).toEqual([]);
});

test('the disruption budget, the service and the network policy select these pods', () => {
  const { spec } = deployed();
  const { labels } = spec.template.metadata;
  expect(spec.selector.matchLabels).toEqual(labels);
  const pick = (file: string, ...path: string[]) =>
    path.reduce<unknown>((value, key) => z.looseObject({}).parse(value)[key], read(file));
  expect(pick('disruption.yaml', 'spec', 'selector', 'matchLabels')).toEqual(labels);
  expect(pick('service.yaml', 'spec', 'selector')).toEqual(labels);
  expect(pick('network.yaml', 'spec', 'podSelector', 'matchLabels')).toEqual(labels);
});
