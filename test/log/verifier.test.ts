import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { EventOf } from '../../src/domain/log-events.ts';
import { type EventRow, eventHash, hashText, keyChange, rowAfter } from '../../src/log/chain.ts';
import { evidenceOf, exportLog, publicKeyPem } from '../../src/log/evidence.ts';
import { type LogKeys, publicKeyText, type SigningKey, signText } from '../../src/log/keys.ts';
import { openLog } from '../../src/log/log.ts';
import { prune } from '../../src/log/upkeep.ts';
import { PLAN } from '../domain/changes-fixtures.ts';
import { emptyUrl } from '../storage/engines.ts';
import { storeAt } from '../storage/stores.ts';
import { approved, confirmed, DIGEST, drafted, freshLog, KEYS, key, user, write } from './logs.ts';

type ChangeEvent = EventOf<`change/${string}`>;
const call = { nonce: 'n1', answeredAt: new Date(5), tookMs: 8, requestId: null };
const sent = { ...call, reported: ['stopping – ü'] };
const unanswered = { ...call, status: 500, text: 'stopping – ü' };
const claimed = {
  type: 'claimed',
  by: 'P1',
  nonce: 'n1',
  attempt: 1,
  until: new Date(9),
} as const;
const pressed = {
  type: 'pressed',
  verb: 'approve',
  by: user('UBEN'),
  text: '',
  place: { card: 'C1' },
  seen: null,
} as const;

/** A change in each state. */
const STATES: Readonly<Record<string, readonly ChangeEvent[]>> = {
  draft: [],
  pending: [confirmed],
  approved: [confirmed, approved()],
  executing: [confirmed, approved(), claimed],
  succeeded: [confirmed, approved(), claimed, { type: 'succeeded', ...sent }],
  failed: [confirmed, approved(), claimed, { type: 'failed', ...unanswered }],
  unknown: [confirmed, approved(), claimed, { type: 'unknown', ...unanswered }],
  rejected: [confirmed, { type: 'rejected', by: user('UBEN'), press: 'p2', reason: '"no"\n  <b>' }],
  cancelled: [confirmed, { type: 'cancelled', by: user('UANA'), press: 'p2' }],
  expired: [confirmed, { type: 'expired' }],
  stale: [confirmed, { type: 'stale', why: 'the target changed', foreign: [] }],
  denied: [confirmed, approved(), { type: 'denied', why: 'frozen' }],
};

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'signalbox-evidence-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Runs the verifier over files, and returns its line about each. */
async function verdicts(
  files: readonly (string | Buffer)[],
  keys = KEYS,
): Promise<readonly string[]> {
  const dir = folder();
  const pem = join(dir, 'public-key.pem');
  writeFileSync(pem, publicKeyPem(keys));
  const names = files.map((content, at) => {
    const name = join(dir, `${at}`);
    writeFileSync(name, content);
    return name;
  });
  const { promise, resolve } = Promise.withResolvers<string>();
  execFile('python3', ['docs/verify/verify.py', pem, ...names], (_, output) => resolve(output));
  const lines = (await promise).trimEnd().split('\n');
  return lines.map((line) => line.replace(/^\S+: /, ''));
}

async function evidence(keys: LogKeys = KEYS): Promise<string> {
  const log = await freshLog('sqlite', keys);
  await write(log, 'change/OTHER', drafted());
  await write(log, 'change/A', drafted(), confirmed);
  await write(log, 'press/A/p2', pressed);
  await write(log, 'change/A', approved(), claimed, { type: 'succeeded', ...sent });
  await write(log, 'press/A/p2', { type: 'answered', what: 'approve', refusal: null });
  await write(log, 'change/OTHER', confirmed);
  return (await evidenceOf(log, 'A')) ?? '';
}

test('the verifier accepts the evidence of a change in each state', async () => {
  const log = await freshLog('sqlite');
  const files: string[] = [];
  for (const [state, events] of Object.entries(STATES)) {
    await write(log, `change/${state}`, drafted(), ...events);
    files.push((await evidenceOf(log, state)) ?? '');
  }
  const expected = Object.values(STATES).map((events) => `accepted, ${events.length + 1} events`);
  expect(await verdicts(files)).toEqual(expected);
});

/** Ben lowered what Ana requested. */
function narrowed(wider = DIGEST): ChangeEvent {
  const revert = { afterMs: 7_200_000, label: 'Start it again', line: 'service start x' };
  const plan = { ...PLAN, timing: { startAt: null, revert } };
  return { type: 'narrowed', by: user('UBEN'), plan, digest: 'digest of less', wider };
}

test('the verifier shows who narrowed a change, and refuses an approval of another plan', async () => {
  const log = await freshLog('sqlite');
  const changes: Readonly<Record<string, readonly ChangeEvent[]>> = {
    LESS: [narrowed(), approved('UCLEO'), approved('UGUS', 'digest of less')],
    ANOTHER: [narrowed(), approved('UCLEO', 'digest of another')],
    BROKEN: [narrowed('digest of another')],
  };
  const files: string[] = [];
  for (const [id, events] of Object.entries(changes)) {
    await write(log, `change/${id}`, drafted(), confirmed, ...events);
    files.push((await evidenceOf(log, id)) ?? '');
  }
  const [less, ...others] = await verdicts(files);
  expect(less).toMatch(/^accepted, 5 events; narrowed by UBEN: .*revert None -> .*7200000/);
  expect(others).toEqual([
    'REJECTED, an approval is of another plan',
    'REJECTED, a narrower plan replaces another one',
  ]);
});

// Every byte counts. LOG_MUTATIONS=1000 is the long form.
const MUTATIONS = Number(process.env.LOG_MUTATIONS ?? 60);

/** A file in which one thing differs: bytes, a line, or the order of two lines. */
function mutated(file: string, random: Buffer): Buffer {
  const bytes = Buffer.from(file);
  const at = random.readUInt32LE(0) % bytes.length;
  const lines = file.split('\n');
  const line = random.readUInt32LE(4) % (lines.length - 1);
  switch (random.readUInt8(8) % 6) {
    case 0:
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (random.readUInt8(9) % 8));
      return bytes;
    case 1:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(' '), bytes.subarray(at)]);
    case 3:
      return Buffer.from(lines.toSpliced(line, 1).join('\n'));
    case 4:
      return Buffer.from(lines.toSpliced(line, 0, lines[line] ?? '').join('\n'));
    default:
      return bytes.subarray(0, at);
  }
}

test(`the verifier rejects ${MUTATIONS} modified files`, async () => {
  const file = await evidence();
  const files = Array.from({ length: MUTATIONS }, () => mutated(file, randomBytes(16)));
  const isOther = files.filter((each) => !each.equals(Buffer.from(file)));
  const accepted = (await verdicts(isOther)).filter((line) => !line.startsWith('REJECTED'));
  expect(accepted).toEqual([]);
  expect(isOther.length).toBeGreaterThan(MUTATIONS * 0.9);
});

type Rows = readonly EventRow[];
const onRow = (at: number, change: (row: EventRow) => EventRow) => (rows: Rows) =>
  rows.map((row, index) => (index === at ? change(row) : row));

/** The last character of a signature has four bits that mean nothing. */
function otherSpelling(signature: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return letters[letters.indexOf(signature.at(-1) ?? '') ^ 1] ?? '';
}

// A person with the key of Signalbox could sign any file: the signatures of the events must hold by themselves.
test.for<[string, (rows: Rows) => Rows, string]>([
  ['nothing', (rows) => rows, 'accepted'],
  ['without its first event', (rows) => rows.slice(1), 'is missing'],
  ['without an event in the middle', (rows) => rows.toSpliced(3, 1), 'is missing'],
  ['without its last event', (rows) => rows.slice(0, -1), 'events are missing'],
  [
    'with two events in another order',
    (rows) => [...rows.slice(0, 3), ...rows.slice(3, 5).reverse(), ...rows.slice(5)],
    'another order',
  ],
  ['with another body', onRow(3, (row) => ({ ...row, body: '{}' })), 'body of event'],
  ['without a body', onRow(3, (row) => ({ ...row, body: null })), 'body of event'],
  ['with another time', onRow(3, (row) => ({ ...row, at: row.at + 1 })), 'was modified'],
  [
    'with the signature of another event',
    (rows) => onRow(3, (row) => ({ ...row, signature: rows[2]?.signature ?? '' }))(rows),
    'no valid signature',
  ],
  [
    'with a signature that is spelled otherwise',
    onRow(3, (row) => ({
      ...row,
      signature: `${row.signature.slice(0, -1)}${otherSpelling(row.signature)}`,
    })),
    'malformed',
  ],
  ['with a field that is not verified', onRow(3, (row) => ({ ...row, note: 'x' })), 'other fields'],
  [
    'with an event of another change',
    onRow(3, (row) => ({ ...row, stream: 'change/OTHER' })),
    'was modified',
  ],
])(
  'the verifier judges a file %s by its events, although it is signed',
  async ([, change, expected]) => {
    const [header = '', ...lines] = (await evidence()).split('\n').slice(0, -2);
    const rows = change(lines.map((line) => JSON.parse(line)));
    const file = signed([header, ...rows.map((row) => JSON.stringify(row))]);
    expect(await verdicts([file])).toEqual([expect.stringContaining(expected)]);
  },
);

/** A file as the person would sign it who has the key of Signalbox. */
function signed(lines: readonly string[], header: object = {}, signer = KEYS.current): string {
  const [first = '', ...rows] = lines;
  const whole = { ...JSON.parse(first), ...header };
  const content = [JSON.stringify(whole), ...rows].map((line) => `${line}\n`).join('');
  const signature = signText(signer, `${whole.format}\n${hashText(content)}`);
  return `${content}${JSON.stringify({ signature })}\n`;
}

test.for<[string, object]>([
  ['the format of a closed log', { format: 'signalbox closed log 1' }],
  ['another subject', { subject: 'change/OTHER' }],
  ['another number of events', { streams: { 'change/A': 4, 'press/A/p2': 2 } }],
  ['a stream that is not of the change', { subject: 'press/A/p2' }],
  ['another key', { key: key(9).id }],
  ['an end before its last event', { head: { seq: 2, hash: 'x' } }],
])('the verifier rejects a header with %s, although it is signed', async ([, header]) => {
  const lines = (await evidence()).split('\n').slice(0, -2);
  expect(await verdicts([signed(lines), signed(lines, header)])).toEqual([
    'accepted, 7 events',
    expect.stringContaining('REJECTED'),
  ]);
});

test('the verifier rejects evidence with the public key of another installation', async () => {
  const others = { current: key(9), previous: [] };
  expect(await verdicts([await evidence()], others)).toEqual([expect.stringContaining('REJECTED')]);
});

test('after two changes of the key, the first and the last public key verify old and new events', async () => {
  const url = await emptyUrl('sqlite');
  const rings = [1, 2, 3].map((n) => ({ current: key(n), previous: n > 1 ? [key(n - 1)] : [] }));
  let file = '';
  for (const [index, keys] of rings.entries()) {
    const store = await storeAt(url, { as: index === 0 ? 'bot' : 'beside' });
    const log = await openLog(store, keys);
    await write(log, 'change/A', index === 0 ? drafted(9) : approved(`U${index}`));
    file = (await evidenceOf(log, 'A')) ?? '';
  }
  for (const n of [1, 2, 3]) {
    expect(await verdicts([file], { current: key(n), previous: [] })).toEqual([
      'accepted, 5 events',
    ]);
  }
  const lines = file.split('\n').slice(0, -2);
  const isChange = (line: string) => line.includes('"key-changed"');
  const changes = lines.filter(isChange);
  const edited = (edit: (body: string) => string) =>
    lines.map((line) => {
      if (line !== changes[0]) return line;
      const row = JSON.parse(line);
      const body = edit(row.body);
      const own = { ...row, body, body_hash: hashText(body) };
      return JSON.stringify({ ...own, hash: eventHash(own) });
    });
  const proofOf = (line = '') => JSON.parse(JSON.parse(line).body).proof;
  const files = [
    lines,
    lines.filter((line) => !isChange(line)),
    lines.filter((line) => line !== changes[0]),
    lines.filter((line) => line !== changes[1]),
    edited((body) =>
      body.replace(publicKeyText(key(1).publicKey), publicKeyText(key(9).publicKey)),
    ),
    edited((body) =>
      body.replace(publicKeyText(key(2).publicKey), publicKeyText(key(9).publicKey)),
    ),
    edited((body) => body.replace(proofOf(changes[0]), proofOf(changes[1]))),
  ];
  const again = files.map((each) => signed(each, {}, key(3)));
  const results = await verdicts(again, { current: key(3), previous: [] });
  expect(results).toEqual([
    'accepted, 5 events',
    ...Array.from({ length: 6 }, () => expect.stringContaining('REJECTED')),
  ]);
});

test.for<[string, SigningKey]>([
  ['its own public key as the earlier one', key(66)],
  ['the earlier public key and its own signature', key(1)],
])('a person without the key cannot add a change of the key with %s', async ([, shown]) => {
  const [header = '', ...lines] = (await evidence()).split('\n').slice(0, -2);
  const thief = key(66);
  const inOurName = { ...thief, id: KEYS.current.id };
  const end: EventRow = JSON.parse(lines.at(-1) ?? '');
  const { type, ...body } = keyChange(end.hash, KEYS.current, thief);
  const forged = { ...body, oldPublicKey: publicKeyText(shown.publicKey) };
  const draft = { stream: 'installation', version: 1, type, at: 1, body: JSON.stringify(forged) };
  const change = rowAfter(end, inOurName, draft);
  const own = { stream: 'change/A', version: 6, type: 'expired', at: 1, body: '{}' };
  const added = rowAfter(change, thief, own);
  // In the order of the fields of a genuine line.
  const line = (row: EventRow) => JSON.stringify(row, Object.keys(end));
  const file = signed(
    [header, ...lines, line(change), line(added)],
    {
      key: thief.id,
      head: { seq: added.seq, hash: added.hash },
      streams: { 'change/A': 6, 'press/A/p2': 2 },
    },
    thief,
  );
  expect(await verdicts([file])).toEqual([expect.stringContaining('change of the key')]);
});

test('the verifier accepts an export, also after a pruning, and rejects one without an event', async () => {
  const log = await freshLog('sqlite');
  await write(log, 'change/A', drafted(), { type: 'expired' });
  await write(log, 'change/B', drafted());
  const exported = async () => {
    let file = '';
    await exportLog(log, (line) => {
      file += line;
    });
    return file;
  };
  const before = await exported();
  await prune(log, { before: 9_999_999_999_999, export: 'digest' });
  const after = await exported();
  const withoutOne = after.split('\n').toSpliced(1, 1).join('\n');
  expect(await verdicts([before, after, withoutOne])).toEqual([
    'accepted, 3 events',
    'accepted, 4 events',
    expect.stringContaining('REJECTED'),
  ]);
});

test.for<[string, (rows: Rows) => Rows]>([
  ['its first event', (rows) => rows.slice(1)],
  ['an event in the middle', (rows) => rows.toSpliced(1, 1)],
  ['its last event', (rows) => rows.slice(0, -1)],
  ['a body', onRow(1, (row) => ({ ...row, body: null }))],
])('the verifier rejects an export without %s, although it is signed', async ([, change]) => {
  const log = await freshLog('sqlite');
  await write(log, 'change/A', drafted(), confirmed, approved());
  let file = '';
  await exportLog(log, (line) => {
    file += line;
  });
  const [header = '', ...lines] = file.split('\n').slice(0, -2);
  const rows = change(lines.map((line) => JSON.parse(line)));
  const again = signed([header, ...rows.map((row) => JSON.stringify(row))]);
  expect(await verdicts([file, again])).toEqual([
    'accepted, 3 events',
    expect.stringContaining('REJECTED'),
  ]);
});

test.for<[readonly string[], string]>([
  [[], 'python3 verify.py public-key.pem file'],
  [['README.md'], 'python3 verify.py public-key.pem file'],
  [['README.md', 'package.json'], 'REJECTED, README.md is no public key'],
  [['none.pem', 'package.json'], 'REJECTED, [Errno 2] No such file'],
])('after verify.py, %j are answered in a line', ([args, says]) => {
  const run = spawnSync('python3', ['docs/verify/verify.py', ...args], { encoding: 'utf8' });
  expect(run.stdout + run.stderr).toContain(says);
  expect(run.stderr).not.toContain('Traceback');
  expect(run.status).toBe(1);
});
