import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import {
  manifestsOf,
  notesOf,
  RENDERED,
  type Rendered,
  renderedHash,
  sourceHash,
} from './helm/rendered.ts';
import { secretValues, unknownVariables } from './known-variables.ts';

const CHART = 'deploy/helm/signalbox';
const readChart = (file: string) => readFileSync(`${CHART}/${file}`, 'utf8');
const values = parse(readChart('values.yaml'));
const schema = z.fromJSONSchema(JSON.parse(readChart('values.schema.json')));

function manifest(of: Rendered, kind: string, name = '') {
  return manifestsOf(of).find((one) => one.kind === kind && one.metadata.name.endsWith(name));
}

test.for(RENDERED)('the rendered files of %s belong to the present chart', (name) => {
  // If this fails: node test/deploy/helm/rendered.ts
  expect(renderedHash(name)).toBe(sourceHash(name));
});

test('the default values and the values of the tests match the schema', () => {
  expect(schema.safeParse(values).error).toBeUndefined();
  for (const name of RENDERED) {
    const own = parse(readFileSync(`test/deploy/helm/${name}.yaml`, 'utf8'));
    expect(schema.safeParse({ ...values, ...own }).error).toBeUndefined();
  }
});

test.for<[string, object]>([
  ['a misspelt value', { replica: 2 }],
  ['a misspelt inner value', { ingress: { hots: 'x' } }],
  ['no replica', { replicas: 0 }],
  ['an address without TLS', { cloudApiUrl: 'http://cloud.example.com' }],
  ['an unknown mode', { slackMode: 'sockets' }],
  ['a short digest', { image: { digest: 'sha256:12' } }],
  ['outgoing traffic without an address', { networkPolicy: { extraEgress: [{ ports: [] }] } }],
  ['a misspelt port', { networkPolicy: { extraEgress: [{ to: [], port: [4318] }] } }],
  ['a retention without a complete schedule', { prune: { schedule: '47 3 1' } }],
  ['a retention without a volume', { prune: { claimName: '' } }],
])('the schema refuses %s', ([, change]) => {
  expect(schema.safeParse({ ...values, ...change }).success).toBe(false);
});

test('every value is used by a template, and every used value has a default', () => {
  const templates = globSync(`${CHART}/templates/*`)
    .map((file) => readFileSync(file, 'utf8'))
    .join();
  const used = new Set([...templates.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => path));
  const isGroup = (value: unknown) => z.record(z.string(), z.unknown()).safeParse(value).success;
  const known = Object.entries(values).flatMap(([name, value]) =>
    isGroup(value) && !used.has(name)
      ? Object.keys(value as object).map((key) => `${name}.${key}`)
      : [name],
  );
  expect([...used].toSorted()).toEqual(known.toSorted());
});

test('by default the chart has no part that needs an operator or an open port', () => {
  const kinds = manifestsOf('default').map(({ kind }) => kind);
  const parts = ['ConfigMap', 'Deployment', 'NetworkPolicy', 'PodDisruptionBudget', 'Service'];
  expect(kinds.toSorted()).toEqual(parts);
});

const SECRETS = '/run/secrets/signalbox';
interface Variable {
  readonly name: string;
  readonly value: string;
}

/** The pod of a Deployment or a CronJob, with its only container and the variables of it. */
function podOf({ spec }: ReturnType<typeof manifest>) {
  const { metadata, spec: pod } = (spec.jobTemplate?.spec ?? spec).template;
  expect(pod.containers).toHaveLength(1);
  const [container] = pod.containers;
  const env: readonly Variable[] = container.env;
  expect(env.filter(({ value }) => typeof value !== 'string')).toEqual([]);
  return { pod, container, env, names: env.map(({ name }) => name), labels: metadata.labels };
}

const plainOf = (file: string) => parse(readFileSync(`deploy/kubernetes/${file}.yaml`, 'utf8'));

/** A job of the chart is the one of the plain manifests. */
function expectSameJob(name: string) {
  const [plain, chart] = [plainOf(`jobs/${name}`), manifest('everything', 'CronJob', name)];
  expect(chart.spec.schedule).toBe(plain.spec.schedule);
  expect(chart.spec.concurrencyPolicy).toBe(plain.spec.concurrencyPolicy);
  const [ours, theirs] = [podOf(chart), podOf(plain)];
  expect(ours.pod.securityContext).toEqual(theirs.pod.securityContext);
  const { image: _, env, ...container } = ours.container;
  expect(theirs.container).toMatchObject(container);
  expect(env).toEqual(expect.arrayContaining(theirs.container.env));
  return [ours.pod, theirs.pod];
}

test('the pod of the chart has the rights and volumes of the plain manifest', () => {
  const [plain, chart] = [podOf(plainOf('deployment')), podOf(manifest('default', 'Deployment'))];
  expect(chart.pod.securityContext).toEqual(plain.pod.securityContext);
  expect(chart.container.securityContext).toEqual(plain.container.securityContext);
  expect(chart.container.volumeMounts).toEqual(plain.container.volumeMounts);
});

test.for(RENDERED)('the bot reads each variable of %s, and no secret is a value', (name) => {
  const { names } = podOf(manifest(name, 'Deployment'));
  expect(unknownVariables(names)).toEqual([]);
  expect(secretValues(names)).toEqual(name === 'sqlite' ? ['DATABASE_URL'] : []);
});

test('the Ingress passes the deliveries of Slack and what is named, with TLS', () => {
  expect(manifest('everything', 'Ingress')?.spec).toMatchObject({
    tls: [{ hosts: ['signalbox.example.com'], secretName: 'tls' }],
    rules: [
      {
        http: {
          paths: [
            { path: '/slack/events', pathType: 'Exact' },
            { path: '/alerts', pathType: 'Prefix' },
            { path: '/mcp', pathType: 'Prefix' },
          ],
        },
      },
    ],
  });
});

test('the External Secret has each file that the bot reads, and the CA of the database', () => {
  const data: readonly { secretKey: string; remoteRef: { property: string } }[] = manifest(
    'everything',
    'ExternalSecret',
  ).spec.data;
  const files = podOf(manifest('everything', 'Deployment')).env.flatMap(({ value }) =>
    value.startsWith(`${SECRETS}/`) ? [value.slice(SECRETS.length + 1)] : [],
  );
  const keys = data.map(({ secretKey }) => secretKey);
  expect(keys.toSorted()).toEqual([...files, 'database-ca.pem'].toSorted());
  expect(data.map(({ remoteRef }) => remoteRef.property)).toEqual(keys);
});

test.for([
  ['Deployment', ''],
  ['CronJob', 'prune'],
])('the pod of the %s mounts the External Secret', ([kind = '', name]) => {
  const { target } = manifest('everything', 'ExternalSecret').spec;
  const { pod, container } = podOf(manifest('everything', kind, name));
  const volume = { name: 'secrets', secret: { secretName: target.name, defaultMode: 0o440 } };
  expect(pod.volumes).toContainEqual(volume);
  const mount = { name: 'secrets', mountPath: SECRETS, readOnly: true };
  expect(container.volumeMounts).toContainEqual(mount);
  for (const file of ['docs/shipping.md', `${CHART}/values.yaml`]) {
    expect(readFileSync(file, 'utf8')).toContain(`?sslrootcert=${SECRETS}/database-ca.pem`);
  }
});

test('the retention of the chart is the CronJob of the plain manifests', () => {
  expectSameJob('prune');
});

test('the pod of the retention is no replica and reads the replaced keys', () => {
  const { labels, names } = podOf(manifest('everything', 'CronJob', 'prune'));
  const { matchLabels } = manifest('everything', 'Deployment').spec.selector;
  expect(labels).not.toMatchObject(matchLabels);
  expect(names).toContain('SIGNALBOX_PREVIOUS_KEYS_FILE');
});

test('the backup of the chart is the CronJob of the plain manifests', () => {
  const [ours, theirs] = expectSameJob('backup');
  const script = theirs.initContainers[0].command[2];
  expect(readChart('files/backup.sh')).toBe(script);
  const dumps = [ours, theirs].map(({ initContainers }) => ({ ...initContainers?.[0], env: null }));
  expect({ ...dumps[0], command: null }).toEqual({ ...dumps[1], command: null });
  expect(String(dumps[0]?.command)).toContain(script.trim());
});

test('SQLite has one replica, its volume, and jobs on the node of the bot', () => {
  const bot = manifest('sqlite', 'Deployment');
  expect(bot?.spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
  expect(JSON.stringify(bot)).not.toContain('database-url');
  const jobs = ['prune', 'backup'].map((name) => podOf(manifest('sqlite', 'CronJob', name)));
  for (const { pod, container, env } of [podOf(bot), ...jobs]) {
    expect(env).toContainEqual({ name: 'DATABASE_URL', value: 'file:/data/signalbox.db' });
    expect(container.volumeMounts).toContainEqual({ name: 'data', mountPath: '/data' });
    const claim = { name: 'data', persistentVolumeClaim: { claimName: 'signalbox-data' } };
    expect(pod.volumes).toContainEqual(claim);
  }
  for (const { pod } of jobs) expect(JSON.stringify(pod)).toContain('"podAffinity"');
  expect(JSON.stringify(manifest('sqlite', 'NetworkPolicy'))).not.toContain('5432');
  const { pod: backup } = podOf(manifest('sqlite', 'CronJob', 'backup'));
  expect(backup.initContainers).toBeUndefined();
  expect(JSON.stringify(backup)).toContain('/app/bin/signalbox backup');
  const refusal = 'replicas must be 1 with sqlite.enabled';
  expect(readChart('templates/deployment.yaml')).toContain(refusal);
});

test('affinity and more volumes reach the pod, and NodeLocal DNS is permitted by its address', () => {
  const { pod, container } = podOf(manifest('everything', 'Deployment'));
  expect(pod).toMatchObject({ affinity: { nodeAffinity: {} } });
  const mount = { name: 'proxy-ca', mountPath: '/etc/proxy-ca', readOnly: true };
  expect(container.volumeMounts).toContainEqual(mount);
  expect(pod.volumes).toContainEqual({ name: 'proxy-ca', configMap: { name: 'proxy-ca' } });
  const dns = { ipBlock: { cidr: '169.254.20.10/32' } };
  const [first] = manifest('everything', 'NetworkPolicy').spec.egress;
  expect(first?.to).toContainEqual(dns);
  expect(first?.ports).toContainEqual({ protocol: 'UDP', port: 53 });
});

test('the notes name the Secret that is missing, the doctor, and what is off', () => {
  const socket = notesOf('default');
  expect(socket).toContain('The pods wait until the Secret signalbox exists');
  for (const key of ['database-url', 'slack-app-token', 'signalbox-key']) {
    expect(socket).toMatch(new RegExp(`^ {2}${key}$`, 'm'));
  }
  expect(socket).toContain('-- signalbox doctor');
  expect(socket).toContain('No alert is installed');
  const http = notesOf('everything');
  expect(http).toContain('https://signalbox.example.com/slack/events');
  expect(http).not.toContain('The pods wait');
  expect(http).not.toContain('No alert is installed');
});

test('an alert keeps two installations of the same name in two namespaces apart', () => {
  const monitor = JSON.stringify(manifest('everything', 'ServiceMonitor')?.spec);
  expect(monitor).toContain('"targetLabel":"installation","replacement":"signalbox/signalbox"');
});

test('more outgoing traffic can be allowed, for example to a collector of traces', () => {
  expect(JSON.stringify(manifest('everything', 'NetworkPolicy')?.spec)).toContain('10.1.2.3/32');
});

test('the rendered rules of the chart are those of the other forms', () => {
  const shipped = readFileSync('deploy/prometheus/alerts.yaml', 'utf8');
  expect(readChart('files/alerts.yaml')).toBe(shipped);
  const rule = manifest('everything', 'PrometheusRule');
  expect(rule?.spec).toEqual(parse(shipped));
  expect(rule?.metadata.labels).toMatchObject({ release: 'prometheus' });
});

test('Prometheus finds the metrics by the labels and the port of the Service', () => {
  const monitor = manifest('everything', 'ServiceMonitor');
  expect(monitor?.metadata.labels).toMatchObject({ release: 'prometheus' });
  const { selector, endpoints } = monitor.spec;
  expect(endpoints).toMatchObject([{ path: '/metrics' }]);
  const service = manifest('everything', 'Service');
  expect(service.metadata.labels).toMatchObject(selector.matchLabels);
  const port = { name: endpoints[0].port, port: 9090, targetPort: 'ops' };
  expect(service.spec.ports).toContainEqual(port);
});
