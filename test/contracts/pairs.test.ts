import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands } from '../../src/commands/index.ts';
import { type Booth, openBooth } from './booth.ts';
import { OPERATIONS, operationOf, outsideContract } from './contract.ts';
import { type Recorded, type Recorder, startRecorder } from './recorder.ts';
import { CONTRACT, LIVE } from './replies.ts';

const FOLDER = 'test/contracts/pairs';
/** With this set, what is seen is written down in place of being compared; review it before it is kept. */
const RECORDS = process.env.RECORD_PAIRS !== undefined;

const STAGING = 'staging';
const EVERYTHING =
  'provider=aws region=eu-west-1 ip="10.0.0.0/8 office,10.1.2.3" min=16 max=64 replicas=3 idle=on ' +
  'idle-timeout=15 warehouse=4e55fb27-7c55-4261-9f95-8d077d2398bc readonly=on ' +
  'backup=53837fde-9e4f-4c3d-b63e-8c949cf4822f release-channel=slow endpoints="mysql on" ' +
  'profile=v1-default compliance=hipaa tde=on encryption-key=key-1 encryption-role=role-1 ' +
  'preview-terms=on';
const VPC_RESOURCE = 'type=VPC_RESOURCE resource-configuration=rcfg-1 resource-share=arn:share';
const STREAMING = 'type=STREAMING_MULTI_VPC cluster=arn:cluster authentication=SASL_SCRAM';

const LINES: Readonly<Record<string, string>> = {
  'service-start': `/service start ${STAGING} maintenance is over`,
  'service-stop': `/service stop ${STAGING} for the night`,
  'service-scale': `/service scale ${STAGING} min=16 max=64 replicas=3 idle=on idle-timeout=15`,
  'service-scale-one-field': `/service scale ${STAGING} idle=off`,
  'service-create': `/service create "analytics new" ${EVERYTHING}`,
  'service-create-own-cloud':
    '/service create "analytics own" provider=gcp region=europe-west4 ip=10.0.0.0/8 min=48 max=116 byoc=own-1',
  'endpoint-create': `/endpoint create ${STAGING} type=VPC_ENDPOINT_SERVICE service-name=vpce-svc-1 description="orders feed"`,
  'endpoint-create-resource': `/endpoint create ${STAGING} description="orders feed" ${VPC_RESOURCE}`,
  'endpoint-create-streaming': `/endpoint create ${STAGING} description="orders feed" ${STREAMING}`,
  'backup-show': '/backup show analytics-prod 53837fde-9e4f-4c3d-b63e-8c949cf4822f',
  'pipe-settings': '/pipe settings analytics-prod orders',
  cost: '/cost 2026-11-01..2026-11-18',
  'alert-list': '/alert list',
  'alert-show': '/alert show "5xx rate"',
  'alert-show-search': '/alert show "errors by service"',
  'alert-edit': '/alert edit "5xx rate" threshold=250',
  'alert-edit-everything':
    '/alert edit "5xx rate" threshold=250.5 interval=15m type=below name="5xx answers" message="see the runbook" webhook=w2 dashboard=65b0c0ffee0000000000d002 tile=tile-5',
  'alert-edit-search': '/alert edit "errors by service" interval=1h',
};

/**
 * The contract's update has no field for what a saved-search alert watches, though its reply shows it.
 * What the server told is told back: left out, some versions forget it.
 */
const CARRIED: Readonly<Record<string, readonly string[]>> = {
  'alert-edit-search': ['savedSearchId is not a field', 'groupBy is not a field'],
};

interface Pair {
  readonly requests: readonly Recorded[];
  readonly shown: readonly string[];
}
const PROFILES = { contract: CONTRACT, live: LIVE };
type Profile = keyof typeof PROFILES;

const recorders: Partial<Record<Profile, Recorder>> = {};
const booths: Partial<Record<Profile, Booth>> = {};

beforeAll(async () => {
  for (const profile of ['contract', 'live'] as const) {
    const recorder = await startRecorder();
    recorder.answer(PROFILES[profile]);
    recorders[profile] = recorder;
    const urls = { cloud: recorder.url, alerts: recorder.url };
    booths[profile] = await openBooth({ urls, of: { tier: 'enterprise' } });
    await booths[profile].said('/service list');
  }
});
afterAll(async () => {
  for (const booth of Object.values(booths)) await booth.close();
  for (const recorder of Object.values(recorders)) await recorder.stop();
});

async function exchange(profile: Profile, line: string): Promise<Pair> {
  const [booth, recorder] = [booths[profile], recorders[profile]];
  if (!booth || !recorder) throw new Error(`There is no booth for ${profile}`);
  // What was read of alerts and costs is no longer used.
  booth.time.pass(20 * 60_000);
  recorder.taken();
  const answer = await booth.typed(line);
  const isPreview = JSON.stringify(answer.blocks).includes('change.confirm');
  const shown = isPreview ? await booth.confirmed(answer) : answer;
  const lines = booth.drawn(shown).map(lasting);
  return { requests: recorder.taken().filter(isOf(line)), shown: lines.filter(isKept(line)) };
}

// How costs are told, and that a change asks for them too, is recorded elsewhere.
function isOf(line: string) {
  return ({ path }: Recorded) => line.startsWith('/cost') || !path.endsWith('/usageCost');
}

function isKept(line: string) {
  return (told: string) =>
    line.startsWith('/cost') ? /^analytics-prod ·/.test(told) : !told.startsWith('Cost  ');
}

/** Without what differs from run to run: the id of the change, the time it took, the time of day. */
function lasting(line: string): string {
  return line
    .replace(/· [0-9A-Z]{6}$/, '· <id>')
    .replace(/after \d+ ms/, 'after <time>')
    .replace(/^(Answered|Requested by|Seen)(.*?)\[[^\]]+\]/, '$1$2[<now>]');
}

function stored(name: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(`${FOLDER}/${name}.json`, 'utf8'));
}

function pairOf(name: string, profile: Profile): Pair {
  // The test that compares the file with what is seen has this shape from `exchange`.
  return stored(name)[profile] as Pair;
}

describe.for(Object.entries(LINES))('%s', ([name, line]) => {
  test('sends and shows what was recorded, against the contract and against a live server', async () => {
    const seen = {
      line,
      contract: await exchange('contract', line),
      live: await exchange('live', line),
    };
    if (RECORDS) writeFileSync(`${FOLDER}/${name}.json`, `${JSON.stringify(seen, null, 2)}\n`);
    expect(seen).toEqual(stored(name));
  });

  test('sends nothing to a server of the contract that the contract does not know', () => {
    const { requests } = pairOf(name, 'contract');
    expect(requests.length).toBeGreaterThan(0);
    for (const { method, path, query, body } of requests) {
      const operation = operationOf(method, path);
      if (!operation) throw new Error(`No contract knows ${method} ${path}`);
      const names = [...new URLSearchParams(query).keys()];
      expect(operation.query).toEqual(names.length === 0 ? [] : names);
      const outside = body === '' ? [] : outsideContract(operation, JSON.parse(body));
      expect(outside).toEqual(body === '' ? [] : (CARRIED[name] ?? []));
    }
  });
});

function all(): readonly Pair[] {
  const names = Object.keys(LINES);
  return names.flatMap((name) => [pairOf(name, 'contract'), pairOf(name, 'live')]);
}

test('what approvers read as “Sends” is what goes over the wire, byte for byte but for secrets', () => {
  const bodies = all().flatMap(({ requests, shown }) => {
    const [write] = requests.filter(({ body }) => body !== '');
    const card = shown.find((line) => line.startsWith('Sends '));
    return write
      ? [{ wire: write.body, card: card?.replace(/^Sends {2}[A-Z]+ \w+ /, '') ?? '' }]
      : [];
  });
  expect(bodies).toHaveLength(24);
  for (const { wire, card } of bodies) expect(masked(wire, JSON.parse(card))).toBe(card);
});

/** The body as it was sent, with the card's words where the card keeps a value to itself. */
function masked(wire: string, card: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(JSON.parse(wire), (key, value) =>
    String(card[key]).includes('not shown here') ? card[key] : value,
  );
}

test('every operation of the contracts, and every command that reaches a server, is recorded', () => {
  const operations = all()
    .flatMap(({ requests }) => requests)
    .map(({ method, path }) => operationOf(method, path)?.name);
  const known = OPERATIONS.map(({ name }) => name);
  expect([...new Set(operations)].toSorted()).toEqual(known.toSorted());

  // These ask our own database alone; and all that shows costs shares what `/cost` reads.
  const silent = /^(service list|service show|change .*|cost .*)$/;
  const typed = Object.values(LINES);
  const missing = commands.filter(
    ({ name }) => !silent.test(name) && !typed.some((line) => `${line} `.startsWith(`/${name} `)),
  );
  expect(missing.map(({ name }) => name)).toEqual([]);
  const files = Object.keys(LINES).map((name) => `${name}.json`);
  expect(readdirSync(FOLDER).toSorted()).toEqual(files.toSorted());
});

test('no secret of a reply is ever shown', () => {
  expect(JSON.stringify(all().map(({ shown }) => shown))).not.toContain('secret');
});
