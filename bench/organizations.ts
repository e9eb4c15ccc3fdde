import { pino } from 'pino';
import { parse, stringify } from 'yaml';
import { sandboxYaml } from '../sandbox/configuration.ts';
import { otherOrganization } from '../sandbox/seed/organization.ts';
import type { OrganizationSeed } from '../sandbox/seed/shapes.ts';
import { startApp } from '../src/app.ts';
import { readPolicyFile } from '../src/ops/policy.ts';
import { prove } from '../src/ops/prove.ts';
import { createTime } from '../test/contracts/time.ts';
import { typingUser } from '../test/contracts/typing-user.ts';
import { testConfig } from '../test/harness/config.ts';
import { copiesOfStaging, organizationWith } from '../test/harness/services.ts';
import { startSimulators } from '../test/harness/simulators.ts';
import { NOON } from '../test/harness/users.ts';
import { percentile } from './figures.ts';

// What two organizations of 250 services cost beside one of 500: a start, `/service list` with the list read again and
// with the kept one, and a proof of 200 rules. The simulators run in this process too, those of two behind a further hop.

const ROUNDS = 5;
const LISTS = 15;
const MINUTE = 61_000;

function services(count: number) {
  return copiesOfStaging(count, 'shard').map((one, index) => {
    return index % 2 === 0 ? { ...one, tags: ['prod'] } : one;
  });
}

function seedWith(count: number): OrganizationSeed {
  const seed = organizationWith([]);
  return { ...seed, services: services(count), pipes: [], backups: [] };
}

function fileOf(seeds: readonly OrganizationSeed[], round: number) {
  const file = parse(sandboxYaml(seeds));
  // Another text each time, so that nothing is kept of the one before.
  return { ...file, cloud: { reads: 'extended' }, retention: { changes: `${400 + round}d` } };
}

async function measured(seeds: readonly OrganizationSeed[], round: number) {
  const [organization = seedWith(0), other] = seeds;
  const time = createTime(NOON);
  const simulators = await startSimulators({
    ...{ now: time.now, wait: async (ms) => time.pass(ms), organization },
    ...(other && { other }),
  });
  const env = { ...keysOf(simulators.env), DATABASE_URL: 'file::memory:' };
  const began = performance.now();
  const config = testConfig(env, () => fileOf(seeds, round));
  const log = pino({ level: 'silent' });
  const app = await startApp({ config, version: 'bench', log, now: time.now, clock: time.clock });
  const start = performance.now() - began;
  if (!app.ok) throw new Error(JSON.stringify(app.problems));
  simulators.deliverTo({ url: `http://127.0.0.1:${app.port}` });
  const user = typingUser(simulators.slack, () => time.pass(MINUTE));
  const read: number[] = [];
  const kept: number[] = [];
  for (let at = 0; at < LISTS; at += 1) {
    time.pass(MINUTE);
    for (const list of [read, kept]) {
      const asked = performance.now();
      await user.run('/service list');
      list.push(performance.now() - asked);
    }
  }
  await app.stop();
  await simulators.stop();
  return { start, read: percentile(read, 0.5), kept: percentile(kept, 0.5) };
}

/** A list of one has a named key as well. */
function keysOf(env: Readonly<Record<string, string>>) {
  const { CLOUD_API_KEY_ID: id, CLOUD_API_KEY_SECRET: secret, ...rest } = env;
  const key = id &&
    secret && { CLOUD_API_KEY_ID_PROD_EU: id, CLOUD_API_KEY_SECRET_PROD_EU: secret };
  return { ...rest, ...(key || {}) };
}

function proofMs(seeds: readonly OrganizationSeed[]): number {
  const file = fileOf(seeds, 0);
  const tags = Array.from({ length: 66 }, (_, index) => `tag-${index}`);
  const services = file.services.map((service: object, index: number) => {
    return { ...service, tags: [tags[index % tags.length]] };
  });
  const names = seeds.length > 1 ? ['prod-eu', 'prod-us'] : ['prod-eu'];
  const rules = Array.from({ length: 200 }, (_, index) => ({
    allow: [['service stop', 'service start', 'service scale'][index % 3]],
    on: { tags: [tags[index % tags.length]], organizations: [names[index % names.length]] },
    to: 'operator',
    approvals: { from: 'approver', count: 1 },
  }));
  const rest = file.policy.filter(({ on }: { readonly on?: object }) => on === undefined);
  const yaml = stringify({ ...file, services, policy: [...rules, ...rest] });
  const began = performance.now();
  const read = readPolicyFile('signalbox.yaml', () => yaml);
  if (!read.ok) throw new Error(JSON.stringify(read.problems.slice(0, 3)));
  prove(read.value, [], NOON);
  return performance.now() - began;
}

const half = seedWith(250);
const SIDES = [[seedWith(500)], [half, otherOrganization(half)]] as const;
const rounds: (readonly [one: Figures, two: Figures])[] = [];
type Figures = Awaited<ReturnType<typeof measured>> & { readonly proof: number };

for (let round = 0; round <= ROUNDS; round += 1) {
  const figures: Figures[] = [];
  for (const side of SIDES)
    figures.push({ ...(await measured(side, round)), proof: proofMs(side) });
  const [one, two] = figures;
  // The first round loads code.
  if (round > 0 && one && two) rounds.push([one, two]);
}

const labels = { start: 'start', read: 'list, read again', kept: 'list, kept', proof: 'prove' };
for (const [name, label] of Object.entries(labels) as [keyof Figures, string][]) {
  const [one, two] = [0, 1].map((side) =>
    percentile(
      rounds.map((each) => each[side as 0 | 1][name]),
      0.5,
    ),
  );
  const ratio = percentile(
    rounds.map(([a, b]) => b[name] / a[name]),
    0.5,
  );
  const text = [
    label.padEnd(18),
    `${one?.toFixed(0)} ms`,
    `${two?.toFixed(0)} ms`,
    ratio.toFixed(2),
  ];
  process.stdout.write(`${text.join('  ')}\n`);
}
process.exit(0);
