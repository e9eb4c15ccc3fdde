import { expect, test } from 'vitest';
import type { CommandContext } from '../../src/commands/define.ts';
import { type Command, nounOf } from '../../src/commands/define.ts';
import { parseLine } from '../../src/commands/parse.ts';
import { commands, nouns } from '../../src/commands/registry.ts';
import type { ChangeId, Plan, Snapshot, UserId } from '../../src/domain/change.ts';
import type { SlackFreeze } from '../../src/domain/freezes.ts';
import { READS_OFF } from '../harness/reads-off.ts';
import { NOON, ORGANIZATIONS, service, vocabularyOf } from './fixtures.ts';

const prod = service('analytics-prod', {
  id: '2f7c9d34',
  tags: ['prod', 'eu'],
  warehouse: 'main',
  pipes: [{ id: 'p1', name: 'orders' }],
});

function seen(fields: Snapshot['fields']): Snapshot {
  return { fields, seenAt: NOON, source: 'reply to a start' };
}

function change(name: string): Command & { kind: 'change' } {
  const command = commands.find((each) => each.name === name);
  if (command?.kind !== 'change') throw new Error(`There is no change command ${name}`);
  return command;
}

async function answer(name: string, args: unknown, services: CommandContext['services']) {
  const command = commands.find((each) => each.name === name);
  if (command?.kind !== 'query') throw new Error(`There is no query ${name}`);
  return command.answer(args, reach({}, services), { by: 'UANA' as UserId, channel: null });
}

/** What these commands use; any other use fails. */
function reach(
  cloud: Partial<CommandContext['cloud']>,
  services: CommandContext['services'] = [],
): CommandContext {
  const freezes = { madeInSlack: async () => [], all: async () => [] };
  const schedules = { all: async () => [], of: async () => null };
  const changes = { latestOf: async () => [], openOf: async () => [], frequent: async () => [] };
  return {
    ...{ cloud, alerts: null, reads: READS_OFF, services, organizations: ORGANIZATIONS },
    ...{ freezes, schedules, changes, isOperatorOf: async () => false, now: () => NOON },
  } as unknown as CommandContext;
}

const vocabulary = {
  ...vocabularyOf([prod, service('staging')]),
  commands,
  alerts: [{ id: 'a1', name: '5xx rate', aliases: [] }],
  freezes: ['tag:prod', '7KQ2MX'].map(standing),
};

function standing(id: string): SlackFreeze {
  const made = { id: id as ChangeId, by: 'UANA' as UserId };
  const freeze = { from: NOON, until: NOON, on: null, reason: 'launch', by: null, made };
  return { id, name: id, aliases: [], scope: { tag: 'prod' }, freeze };
}

test.for(commands.flatMap(({ examples }) => examples))('the example “%s” works', (example) => {
  const [noun = '', ...words] = example.split(' ');
  expect(parseLine(noun, words.join(' '), vocabulary).kind).toBe('intent');
});

test('no two commands have one name', () => {
  const names = commands.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test('a change is either sent to a server or applied by Signalbox', () => {
  const own = commands.flatMap((each) => {
    if (each.kind !== 'change') return [];
    expect(each.own === undefined, each.name).toBe(each.send !== undefined);
    return each.own ? [each.name] : [];
  });
  expect(own.toSorted()).toEqual([
    'change allow',
    'change freeze',
    'change unfreeze',
    'service schedule',
    'service schedule pause',
    'service schedule remove',
    'service schedule resume',
  ]);
});

test('every noun has words for Slack, and every command a noun that Slack shows', () => {
  const known = Object.keys(nouns);
  expect(commands.map(nounOf).filter((noun) => !known.includes(noun))).toEqual([]);
});

test.for(commands.map((command) => [command.name, command] as const))(
  '%s says in few words what it does, and how',
  ([name, { summary, examples }]) => {
    expect(summary).toMatch(/^[A-Z][^\n]{4,74}[^.]$/);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(`${example} `.startsWith(`${name} `)).toBe(true);
  },
);

test.for<[string, string, Snapshot['fields'] | null, string[]]>([
  ['stops a service that was seen', 'service stop', {}, ['Queries and pipes']],
  ['stops a service that was never seen', 'service stop', null, ['Queries and pipes']],
  ['stops a primary', 'service stop', { isPrimary: true }, ['Queries and pipes', 'Primary']],
  ['starts a stopped service', 'service start', { state: 'stopped' }, []],
  ['starts an idle service', 'service start', { state: 'idle' }, ['the next query wakes it']],
  ['starts a service that ran when last seen', 'service start', { state: 'running' }, []],
  ['stops a service that was idle when last seen', 'service stop', { state: 'idle' }, ['Queries']],
  ['starts a service that was never seen', 'service start', null, []],
])('a user who %s reads exactly these warnings', ([, name, fields, warnings]) => {
  const before = fields && seen(fields);
  const shown = change(name).warnings(
    { service: { ...prod, lastSeen: before } },
    before,
    reach({}),
  );
  expect(shown).toEqual(warnings.map((words) => expect.stringContaining(words)));
});

const LAB = { isPrimary: true, state: 'running' };
const FULL = { minReplicaMemoryGb: 8, maxReplicaMemoryGb: 32, numReplicas: 2, idleScaling: true };
const FIRST = 'One replica: no failover, and some servers reject it';
const QUERIES = 'Queries and pipes';
const AWAKE = { idleScaling: false, idleTimeoutMinutes: 5 };
const LARGER = { maxReplicaMemoryGb: 64 };
const LATER = 'your values become the baseline and apply after it.';

function primary(runningSecondaries: string[], otherSecondaries: string[]): Partial<Snapshot> {
  return { fields: LAB, volatileFields: { runningSecondaries, otherSecondaries } };
}

function nights(scheduleUntil: number | null): Partial<Snapshot> {
  return { fields: FULL, volatileFields: { scheduleEntry: 'Nights', scheduleUntil } };
}

test.for<[string, object, Partial<Snapshot>, readonly string[]]>([
  ['service stop', {}, { fields: { state: 'running' } }, [QUERIES]],
  ['service stop', {}, { fields: { state: 'idle' } }, [QUERIES, 'queries no longer wake it']],
  ['service stop', {}, { fields: { state: 'stopped' } }, [QUERIES, 'Stopped now: the stop has no']],
  ['service stop', {}, { fields: LAB }, [QUERIES, 'rejects the stop while secondaries run.']],
  ['service stop', {}, primary([...'abcdefg'], ['z']), [QUERIES, 'a, b, c, d, e and 2 more.']],
  ['service stop', {}, primary([], ['z']), [QUERIES, 'while it has secondaries: z.']],
  ['service stop', {}, primary([], []), [QUERIES]],
  ['service start', {}, { fields: { state: 'idle' } }, ['Idle, not stopped']],
  ['service start', {}, { fields: { state: 'running' } }, ['Running now: the start has no effect']],
  ['service start', {}, { fields: { state: 'hovering' } }, []],
  ['service scale', { numReplicas: 1 }, { fields: { ...FULL, isPrimary: true } }, [FIRST, 'Some']],
  ['service scale', { numReplicas: 1 }, { fields: { ...FULL, isPrimary: false } }, ['Some']],
  ['service scale', { numReplicas: 1 }, { fields: FULL }, [FIRST, 'Some']],
  ['service scale', { maxReplicaMemoryGb: 64 }, { fields: FULL }, []],
  ['service scale', { idleTimeoutMinutes: 30 }, { fields: { ...FULL, idleTimeoutMinutes: 5 } }, []],
  ['service scale', { idleTimeoutMinutes: 30 }, { fields: AWAKE }, ['only if scaling to zero']],
  ['service scale', LARGER, nights(24), [`“Nights” applies until 00:00 UTC: ${LATER}`]],
  ['service scale', LARGER, nights(null), [`“Nights” applies: ${LATER}`]],
  ['service scale', LARGER, { fields: { minReplicaMemoryGb: 8 } }, ['previous value of max.']],
])('%s %o of a service that was read now has exactly these warnings: %o', (row) => {
  const [name, args, before, warnings] = row;
  const shown = change(name).warnings(
    { service: prod, ...args },
    { ...seen({}), wasRead: true, ...before },
    reach({}),
  );
  expect(shown).toEqual(warnings.map((words) => expect.stringContaining(words)));
});

test.for<[string, object, readonly string[]]>([
  ['a number of replicas', { numReplicas: 3 }, ['numReplicas cannot be set: this service']],
  ['one bound', { maxReplicaMemoryGb: 64 }, ['maxReplicaMemoryGb needs an equal minimum']],
  ['both bounds', { minReplicaMemoryGb: 64, maxReplicaMemoryGb: 64 }, []],
  ['idling', { idleScaling: true }, []],
])('%s of a horizontally scaled service is refused where the server rejects it', (row) => {
  const [, sizes, problems] = row;
  const fields = { ...FULL, autoscalingMode: 'horizontal' };
  const args = { service: prod, ...sizes };
  const found = (before: Snapshot) => change('service scale').problems?.(args, before, reach({}));
  const said = (found({ ...seen(fields), wasRead: true }) ?? []).map(
    ({ field, problem }) => `${field} ${problem}`,
  );
  expect(said).toEqual(problems.map((words) => expect.stringContaining(words)));
  expect(found(seen(fields))).toEqual([]);
});

const STOPPED = { state: 'stopped' };

test.for<[string, object, Snapshot['fields'], noEffect: string | null]>([
  ['service stop', {}, STOPPED, 'already stopped'],
  ['service stop', {}, { state: 'stopping' }, 'already stopping'],
  ['service stop', {}, { state: 'idle' }, null],
  ['service stop', {}, {}, null],
  ['service start', {}, { state: 'running' }, 'already running'],
  ['service start', {}, { state: 'starting' }, 'already starting'],
  ['service start', {}, { state: 'idle' }, null],
  ['service start', {}, { state: 'degraded' }, null],
  ['service start', {}, { state: 'provisioning' }, 'already provisioning'],
  ['service start', {}, { state: 'stopping' }, 'Request it again once it is stopped.'],
  ['service start', {}, { state: 'failed' }, 'is failed (checked just now)'],
  ['service stop', {}, { state: 'failed' }, 'is failed (checked just now)'],
  ['service stop', {}, { state: 'starting' }, 'Request it again once it runs.'],
  ['service stop', {}, { state: 'awaking' }, 'is waking up (checked just now)'],
  ['service scale', { maxReplicaMemoryGb: 32, idleScaling: true }, FULL, 'already has these'],
  ['service scale', { maxReplicaMemoryGb: 32, idleScaling: false }, FULL, null],
  ['service scale', { idleTimeoutMinutes: 5 }, FULL, null],
])('%s %o of a service that is %o has no effect only if it was read now: %s', (row) => {
  const [name, args, fields, noEffect] = row;
  const said = (before: Snapshot) =>
    change(name).noEffect?.({ service: prod, ...args }, before)?.sentence ?? null;
  const read = said({ ...seen(fields), wasRead: true });
  expect(read).toEqual(noEffect === null ? null : expect.stringContaining(noEffect));
  expect(said(seen(fields))).toBeNull();
});

test('a change is compared with the last seen state of its service', async () => {
  const lastSeen = seen({ state: 'idle' });
  for (const name of ['service stop', 'service start']) {
    const observed = await change(name).observe?.({ service: { ...prod, lastSeen } }, reach({}));
    expect(observed?.before).toEqual(lastSeen);
  }
});

test('the list shows only what is known of each service', async () => {
  const running = { ...prod, lastSeen: seen({ state: 'running' }) };
  const { title, parts } = await answer('service list', {}, [running, service('new')]);
  expect(title).toBe('2 services, 1 running');
  expect(parts[1]).toMatchObject({
    rows: [
      ['analytics-prod', 'running', null, 'prod, eu', 'main', NOON],
      ['new', null, null, null, null, null],
    ],
  });
});

test('a service is shown with its last seen fields and their time', async () => {
  const lastSeen = seen({
    state: 'running',
    minReplicaMemoryGb: 16,
    maxReplicaMemoryGb: 64,
    isPrimary: true,
  });
  const { parts } = await answer('service show', { service: { ...prod, lastSeen }, details }, []);
  const facts = parts.flatMap((part) => (part.kind === 'facts' ? part.facts : []));
  expect(facts).toEqual(
    expect.arrayContaining([
      ['Id', '2f7c9d34'],
      ['Tags', 'prod, eu'],
      ['Warehouse', 'main'],
      ['Pipes', 'orders'],
      ['Source', 'configuration'],
      ['State', 'running'],
      ['Size', '16–64 GB'],
      ['Primary', 'yes'],
      ['Last seen', NOON],
    ]),
  );
});

test('a service that was never seen is shown without a source', async () => {
  const { parts } = await answer('service show', { service: service('new'), details }, []);
  const facts = parts.flatMap((part) => (part.kind === 'facts' ? part.facts : []));
  expect(facts).toContainEqual(['Last seen', 'never']);
  expect(facts.map(([label]) => label)).not.toContain('Seen in');
});

const details = 'details';

test('a scaling that a horizontally scaled service rejects has a warning where it was last seen', () => {
  const warningsOf = (args: object) =>
    change('service scale')
      .warnings(
        { service: prod, ...args },
        seen({ autoscalingMode: 'horizontal', minReplicaMemoryGb: 16, maxReplicaMemoryGb: 16 }),
        reach({}),
      )
      .join();
  const scales = 'this service scales its number of replicas.';
  expect(warningsOf({ numReplicas: 3 })).toContain(`Replicas cannot be set: ${scales}`);
  expect(warningsOf({ maxReplicaMemoryGb: 32 })).toContain(`equal minimum and maximum: ${scales}`);
  expect(warningsOf({ minReplicaMemoryGb: 32, maxReplicaMemoryGb: 32 })).not.toContain(scales);
  expect(warningsOf({ idleScaling: true })).not.toContain(scales);
});

test('every command says what a program may do with it', () => {
  const marked = (mark: Command['program']) =>
    commands.filter(({ program }) => program === mark).map(({ name }) => name);
  expect(marked('none')).toEqual([
    ...[
      'change freeze',
      'change unfreeze',
      'change allow',
      'change cancel',
      'cost csv',
      'cost digest',
    ],
  ]);
  expect(marked('request').every((name) => change(name).kind === 'change')).toBe(true);
  expect([...marked('none'), ...marked('read'), ...marked('request')].sort()).toEqual(
    commands.map(({ name }) => name).sort(),
  );
  // A query that changes something would be called unasked by a client that trusts its annotation.
  const reads = commands.filter(({ program }) => program === 'read');
  expect(reads.every(({ kind }) => kind === 'query')).toBe(true);
});

test.for<[string, string, string, string | null]>([
  ['before the entry', '2026-11-20T18:00Z', '2026-11-21T21:59Z', null],
  ['into the entry', '2026-11-20T18:00Z', '2026-11-22T09:00Z', '2026-11-21 22:00 UTC'],
  ['from its begin on', '2026-11-21T22:00Z', '2026-11-22T21:00Z', null],
  ['into the next entry', '2026-11-21T22:00Z', '2026-11-22T23:00Z', '2026-11-22 22:00 UTC'],
])('a scale that lasts %s (%s to %s) names the entry %s', ([, from, until, at]) => {
  const scheduleBegins = [
    { name: 'Weekend', weekdays: [0, 6], hour: 22 },
    { name: 'Wednesdays', weekdays: [3], hour: 0 },
  ];
  const before = { fields: {}, volatileFields: { scheduleBegins }, seenAt: new Date(), source: '' };
  const afterMs = new Date(until).getTime() - new Date(from).getTime();
  const timing = { startAt: from, revert: { afterMs, label: '', line: '' } };
  const words = (when: string) =>
    `The scaling schedule entry “Weekend” begins before the revert (${when}): your values do not apply in it.`;
  const scale = commands.find(({ name }) => name === 'service scale');
  if (scale?.kind !== 'change') throw new Error('service scale is a change');
  const warned = (over: Partial<Plan>) =>
    scale.timeWarnings?.({ before, timing, ...over } as Plan, new Date(from));
  expect(warned({})).toEqual(at === null ? [] : [words(at)]);
  expect(warned({ timing: { ...timing, startAt: null } })).toEqual(warned({}));
  expect(warned({ timing: { ...timing, revert: null } })).toEqual([]);
  expect(warned({ before: null })).toEqual([]);
});
