import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands } from '../../src/commands/index.ts';
import { OPERATIONS, operationOf, outsideContract } from './contract.ts';
import { type ContractBot, openContractBot } from './contract-bot.ts';
import { type Recorded, type Recorder, startRecorder } from './recorder.ts';
import { CONTRACT, LIVE } from './replies.ts';

const FOLDER = 'test/contracts/pairs';
/** With RECORD_PAIRS set, the test writes the recordings instead of comparing them; review the diff. */
const RECORDS = process.env.RECORD_PAIRS !== undefined;

const STAGING = 'staging';
const EVERYTHING =
  'provider=aws region=eu-west-1 ip="10.0.0.0/8 office,10.1.2.3" min=16 max=64 replicas=3 idle=on ' +
  'idle-timeout=15 warehouse=4e55fb27-7c55-4261-9f95-8d077d2398bc readonly=on ' +
  'backup=53837fde-9e4f-4c3d-b63e-8c949cf4822f release-channel=slow endpoints="mysql on" ' +
  'profile=v1-default compliance=hipaa tde=on encryption-key=key-1 encryption-role=role-1 ' +
  'preview-terms=on';
const VPC_RESOURCE =
  'type=VPC_RESOURCE resource-configuration=rcfg-0a1b2c3d resource-share=arn:aws:ram:eu-west-1:123456789012:resource-share/11111111-2222-4333-8444-555555555555';
const STREAMING =
  'type=STREAMING_MULTI_VPC cluster=arn:aws:kafka:eu-west-1:123456789012:cluster/feed/11111111-2222-4333-8444-555555555555-1 authentication=SASL_SCRAM';

const LINES: Readonly<Record<string, string>> = {
  'service-start': `/service start ${STAGING} maintenance is over`,
  'service-stop': `/service stop ${STAGING} for the night`,
  'service-scale': `/service scale ${STAGING} min=16 max=64 replicas=3 idle=on idle-timeout=15`,
  'service-scale-one-field': `/service scale ${STAGING} idle=off`,
  'service-create': `/service create "analytics new" ${EVERYTHING}`,
  'service-create-own-cloud':
    '/service create "analytics own" provider=gcp region=europe-west4 ip=10.0.0.0/8 min=48 max=116 byoc=own-1',
  'service-create-deprecated':
    '/service create "analytics old" provider=aws region=eu-west-1 ip=10.0.0.0/8 tier=production min-total=48 max-total=1,068 private-endpoints=vpce-1,vpce-2 backup=53837fde-9e4f-4c3d-b63e-8c949cf4822f',
  'endpoint-create': `/endpoint create ${STAGING} type=VPC_ENDPOINT_SERVICE service-name=vpce-svc-0a1b2c3d description="orders feed"`,
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
 * The update repeats the value of the reply, because some versions delete a missing field.
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
const bots: Partial<Record<Profile, ContractBot>> = {};

beforeAll(async () => {
  for (const profile of ['contract', 'live'] as const) {
    const recorder = await startRecorder();
    recorder.answer(PROFILES[profile]);
    recorders[profile] = recorder;
    const urls = { cloud: recorder.url, alerts: recorder.url };
    bots[profile] = await openContractBot({ urls, of: { tier: 'enterprise' } });
    await bots[profile].run('/service list');
  }
});
afterAll(async () => {
  for (const bot of Object.values(bots)) await bot.close();
  for (const recorder of Object.values(recorders)) await recorder.stop();
});

async function exchange(profile: Profile, line: string): Promise<Pair> {
  const [bot, recorder] = [bots[profile], recorders[profile]];
  if (!bot || !recorder) throw new Error(`There is no bot for ${profile}`);
  // The cached reads of alerts and costs expire.
  bot.time.pass(20 * 60_000);
  recorder.takeRequests();
  const answer = await bot.type(line);
  const isPreview = JSON.stringify(answer.blocks).includes('change.confirm');
  const shown = isPreview ? await bot.confirm(answer) : answer;
  const details = isPreview ? await bot.requestLines(shown) : [];
  const lines = [...bot.currentLines(shown), ...details].map(lasting);
  return {
    requests: recorder.takeRequests().filter(isOf(line)),
    shown: lines.filter(isKept(line)),
  };
}

// The usage reports that a change reads, and its cost line, are covered by other tests. The bot reads
// the report of the previous month in the background, at any time.
function isOf(line: string) {
  return ({ path, query }: Recorded) =>
    line.startsWith('/cost') ? !query.includes('from_date=2026-10') : !path.endsWith('/usageCost');
}

function isKept(line: string) {
  return (shownLine: string) =>
    line.startsWith('/cost') ? /^analytics-prod ·/.test(shownLine) : !/^(Cost) /.test(shownLine);
}

/** Removes the parts that differ between runs: the change id, durations and times. */
function lasting(line: string): string {
  return line
    .replace(/(· |\()[0-9A-Z]{6}(?=\)?$)/, '$1<id>')
    .replace(/after \d+ ms/, 'after <time>')
    .replace(/^(Answered|Requested by|Seen)(.*?)\[[^\]]+\]/, '$1$2[<now>]');
}

function stored(name: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(`${FOLDER}/${name}.json`, 'utf8'));
}

function pairOf(name: string, profile: Profile): Pair {
  // The test below verifies that the file has the shape that `exchange` returns.
  return stored(name)[profile] as Pair;
}

describe.for(Object.entries(LINES))('%s', ([name, line]) => {
  test('sends and shows the recorded requests and messages, on a contract server and on a live server', async () => {
    const seen = {
      line,
      contract: await exchange('contract', line),
      live: await exchange('live', line),
    };
    if (RECORDS) writeFileSync(`${FOLDER}/${name}.json`, `${JSON.stringify(seen, null, 2)}\n`);
    expect(seen).toEqual(stored(name));
  });

  test('sends only fields of the contract to a contract server', () => {
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

test('the “Sends” line of a request equals the sent body, except for hidden values', () => {
  const bodies = all().flatMap(({ requests, shown }) => {
    const [write] = requests.filter(({ body }) => body !== '');
    const card = shown.find((line) => line.startsWith('Sends '));
    return write
      ? [{ wire: write.body, card: card?.replace(/^Sends {2}[A-Z]+ \w+ /, '') ?? '' }]
      : [];
  });
  expect(bodies).toHaveLength(26);
  for (const { wire, card } of bodies) expect(masked(wire, JSON.parse(card))).toBe(card);
});

/** The sent body, with the values that the card hides replaced as on the card. */
function masked(wire: string, card: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(JSON.parse(wire), (key, value) =>
    String(card[key]).includes('not shown here') ? card[key] : value,
  );
}

test('each operation of the contracts and each command that sends a request is recorded', () => {
  const operations = all()
    .flatMap(({ requests }) => requests)
    .map(({ method, path }) => operationOf(method, path)?.name);
  const known = OPERATIONS.map(({ name }) => name);
  expect([...new Set(operations)].toSorted()).toEqual(known.toSorted());

  // These commands use only the database, or send optional reads, of which the contracts have none;
  // all cost commands share the requests of /cost, and the runs of a schedule those of start and stop.
  const silent = /^(service (list|show|schedule.*)|(backup|pipe|endpoint) list|change .*|cost .*)$/;
  const typed = Object.values(LINES);
  const missing = commands.filter(
    ({ name }) => !silent.test(name) && !typed.some((line) => `${line} `.startsWith(`/${name} `)),
  );
  expect(missing.map(({ name }) => name)).toEqual([]);
  const files = Object.keys(LINES).map((name) => `${name}.json`);
  expect(readdirSync(FOLDER).toSorted()).toEqual(files.toSorted());
});

test('no message shows a secret of a reply', () => {
  expect(JSON.stringify(all().map(({ shown }) => shown))).not.toContain('secret');
});
