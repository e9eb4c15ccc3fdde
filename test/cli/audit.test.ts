import { closeSync, openSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { appendEvent, auditHead } from '../../src/log/old/append.ts';
import { gapName } from '../../src/log/old/gap.ts';
import { keyId } from '../../src/log/old/key-ring.ts';
import { announcedRestore } from '../../src/log/old/restore-mark.ts';
import { type Database, openDatabase } from '../../src/storage/old/database.ts';
import { writeMeta } from '../../src/storage/old/meta.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { runCommand } from '../harness/run-command.ts';
import { acceptGap } from '../storage/accept-gap.ts';
import { ENGINES, emptyUrl, openForTest, run as runOn } from '../storage/engines.ts';
import { NOON } from '../storage/example-change.ts';
import { modify, tamper } from '../storage/tamper.ts';

const KEY = Buffer.alloc(32, 7);
const OTHER = Buffer.alloc(32, 8);

interface Setting {
  readonly DATABASE_URL?: string;
  readonly SIGNALBOX_KEY?: string;
  readonly SIGNALBOX_PREVIOUS_KEYS?: string;
}

/** While other processes have the database open. */
function audit(setting: Setting, ...args: string[]) {
  const env = { SIGNALBOX_KEY: KEY.toString('base64'), ...setting };
  return runCommand([SIGNALBOX, 'audit', ...args], env);
}

async function write(database: Database, count: number, key: Buffer | null = KEY): Promise<void> {
  await database.transaction(async (tx) => {
    for (let n = 0; n < count; n += 1) {
      const at = new Date(NOON.getTime() + n * 3_600_000);
      const body = { by: 'UANA', command: 'service stop', target: '=cmd()', note: 'a "b",\nc' };
      await appendEvent(tx, key, { kind: 'refused', at, body });
    }
  });
}

test.for(ENGINES)('a trail is verified while the bot runs on %s', async (engine) => {
  const url = await emptyUrl(engine);
  const database = await openForTest(url);
  await write(database, 5);
  const { hash } = await auditHead(database.db);

  const { out, err, code } = await audit({ DATABASE_URL: url }, 'verify');
  expect({ out, err, code }).toEqual({
    out: `5 events, all intact. The last event: audit 5 ${hash}\n`,
    err: '',
    code: 0,
  });
  // Meanwhile it goes on writing.
  await write(database, 1);
  const anchored = await audit({ DATABASE_URL: url }, 'verify', '--anchor', `5:${hash}`);
  expect(anchored.code).toBe(0);
  const cut = await audit({ DATABASE_URL: url }, 'verify', '--anchor', `9:${hash}`);
  expect(cut.code).toBe(1);
  expect(cut.out).toContain('Event 9 differs from the stored anchor');
});

test('an edited event is named, and the exit code is 1', async () => {
  const url = await emptyUrl('postgres');
  await write(await openForTest(url), 5);
  await runOn(url, 'drop trigger audit_event_only_added on audit_event');
  await runOn(url, "update audit_event set body = replace(body, 'UANA', 'UBEN') where seq = 3");
  const { out, code } = await audit({ DATABASE_URL: url }, 'verify');
  expect(out).toContain('Event 3 does not match its hash');
  expect(code).toBe(1);
});

test.for<[string, string, string]>([
  [
    'another key',
    OTHER.toString('base64'),
    'Either SIGNALBOX_KEY and SIGNALBOX_PREVIOUS_KEYS lack a key',
  ],
  ['no key', '', 'SIGNALBOX_KEY is not set, but Signalbox ran with a key.'],
])('a trail is not verified with %s', async ([, SIGNALBOX_KEY, sentence]) => {
  const url = await emptyUrl('sqlite');
  await write(await openForTest(url), 2);
  const { out, code } = await audit({ DATABASE_URL: url, SIGNALBOX_KEY }, 'verify');
  expect(out).toContain('Event 1 was not signed with this SIGNALBOX_KEY, nor with a previous key.');
  expect(out).toContain(sentence);
  expect(code).toBe(1);
});

test('a trail of two keys is verified with the earlier one as a previous key', async () => {
  const url = await emptyUrl('sqlite');
  const database = await openForTest(url);
  await write(database, 2);
  const at = NOON;
  const event = { kind: 'key-changed', at, body: { key: keyId(OTHER) } };
  await database.transaction(async (tx) => {
    await appendEvent(tx, KEY, event);
    await appendEvent(tx, { current: OTHER, previous: [KEY] }, { kind: 'started', at, body: {} });
  });
  const setting = {
    DATABASE_URL: url,
    SIGNALBOX_KEY: OTHER.toString('base64'),
    SIGNALBOX_PREVIOUS_KEYS: KEY.toString('base64'),
  };
  expect((await audit(setting, 'verify')).out).toContain('4 events, all intact.');
  const { out, code } = await audit(setting, 'export', '--since', '2000-01-01');
  expect(out.trim().split('\n')).toHaveLength(4);
  expect(code).toBe(0);
});

test('an invalid key is refused before the database is opened', async () => {
  const { err, code } = await audit({ SIGNALBOX_KEY: 'short' }, 'verify');
  expect(err).toBe('SIGNALBOX_KEY must be 32 bytes in base64: openssl rand -base64 32\n');
  expect(code).toBe(2);
});

test('verify names a gap, and passes it with its operators when it is accepted', async () => {
  const url = await emptyUrl('sqlite');
  const database = await openForTest(url);
  await write(database, 5);
  await tamper(database, modify(3));
  const broken = await audit({ DATABASE_URL: url }, 'verify');
  const { gap } = await acceptGap(database, KEY);
  expect(broken.code).toBe(1);
  expect(broken.out).toContain(`This is gap ${gapName(gap)}. If it cannot be repaired, two`);
  const { out, code } = await audit({ DATABASE_URL: url }, 'verify');
  expect(code).toBe(0);
  expect(out).toContain('6 events, intact except for accepted gaps.');
  expect(out).toContain(
    `Accepted gap ${gapName(gap)}: from event 3 to before event 4, accepted by UANA and UFINN in ` +
      `event 6. Hash before it: ${gap.previous}. After it: ${gap.following}.`,
  );
});

test('verify warns about a missing key', async () => {
  const url = await emptyUrl('sqlite');
  await write(await openForTest(url), 2, null);
  const { out, code } = await audit({ DATABASE_URL: url, SIGNALBOX_KEY: '' }, 'verify');
  expect(out).toContain('this proves little');
  expect(code).toBe(0);
});

function corrupted(path: string): void {
  const file = openSync(path, 'w');
  writeSync(file, 'this is a letter, not a database. '.repeat(100));
  closeSync(file);
}

test('a file that is not a database has an error sentence', async () => {
  const url = await emptyUrl('sqlite');
  corrupted(url.slice('file:'.length));
  const { err, code } = await audit({ DATABASE_URL: url }, 'verify');
  expect(err).toBe('The file is not a Signalbox database, or it is damaged. Check DATABASE_URL.\n');
  expect(code).toBe(1);
});

test.for<[string, string, string]>([
  [
    'a file that is not there',
    'file:/nowhere/at/all.db',
    'The database cannot be opened, or does not exist.',
  ],
  ['a server that is not there', 'postgres://127.0.0.1:1/x', 'The database does not answer'],
])('%s has an error sentence', async ([, url, sentence]) => {
  const { err, code } = await audit({ DATABASE_URL: url }, 'export', '--since', '2026-01-01');
  expect(err).toContain(sentence);
  expect(code).toBe(1);
});

test('the database of a newer release is refused', async () => {
  const url = await emptyUrl('sqlite');
  const database = await openForTest(url);
  await database.transaction(async (tx) => {
    await writeMeta(tx, 'schema-version', '77');
    await writeMeta(tx, 'oldest-compatible-schema', '77');
  });
  const { err, code } = await audit({ DATABASE_URL: url }, 'verify');
  expect(err).toContain('This database has schema version 77');
  expect(code).toBe(1);
});

test.for(ENGINES)('the events of a period are exported from %s', async (engine) => {
  const url = await emptyUrl(engine);
  await write(await openForTest(url), 30);
  const span = ['--since', '2026-08-14T15:00Z', '--until', '2026-08-15'];
  const { out, code } = await audit({ DATABASE_URL: url }, 'export', ...span);
  const events = out.trimEnd().split('\n');
  expect(code).toBe(0);
  expect(events.map((line) => JSON.parse(line).event.seq)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12]);
  expect(JSON.parse(events[0] ?? '')).toMatchObject({
    event: { kind: 'refused', at: '2026-08-14T15:00:00.000Z', body: { by: 'UANA' } },
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('the CSV export contains no formulas of users', async () => {
  const url = await emptyUrl('sqlite');
  await write(await openForTest(url), 1);
  const { out } = await audit(
    { DATABASE_URL: url },
    ...['export', '--since', '2026-08-14', '--format', 'csv'],
  );
  const [columns, event] = out.split('\r\n');
  expect(columns).toBe('seq,at,kind,change,version,from,to,by,command,target,refusal,rest,hash');
  expect(event).toMatch(/^1,2026-08-14T12:00:00.000Z,refused,,,,,UANA,service stop,'=cmd\(\),,/);
  expect(event).toContain('"{""note"":""a \\""b\\"",\\nc""}"');
});

test.for<[string, string[], string]>([
  ['an unknown verb', ['verfy'], 'Unknown command “verfy”: did you mean “verify”?'],
  ['an unknown option', ['verify', '--ankor', '1'], 'did you mean “--anchor”?'],
  ['no folder of segments', ['archive', '--dry-run'], 'archive needs --segments'],
  ['an empty folder', ['verify', '--segments='], '--segments must name a folder'],
  ['an option of another', ['verify', '--since', '2026-01-01'], 'verify does not take --since.'],
  ['no beginning', ['export'], 'export needs --since'],
  ['a day that is none', ['export', '--since', '2026-02-30'], '--since must be a date'],
  ['a time without a zone', ['export', '--since', '2026-02-03T10:00'], '--since must be a date'],
  [
    'an end before its beginning',
    ['export', '--since', '2026-02-03', '--until', '2026-02-01'],
    '--until must be after --since.',
  ],
  [
    'a form that is none',
    ['export', '--since', '2026-02-03', '--format', 'xml'],
    '--format must be jsonl or csv',
  ],
  ['half an anchor', ['verify', '--anchor', '12'], '--anchor must be a number, a colon'],
])('%s prints an error and the usage', async ([, args, sentence]) => {
  const { err, code } = await audit({}, ...args);
  expect(err).toContain(sentence);
  expect(err).toContain('signalbox audit verify');
  expect(code).toBe(2);
});

test.for([['--help'], ['help'], [], ['verify', '--help']])('%j prints the usage', async (args) => {
  const { out, code } = await audit({}, ...args);
  expect(out).toContain('signalbox audit export --since');
  expect(code).toBe(0);
});

test('a restore is recorded for the next start, but not while the bot runs', async () => {
  const url = await emptyUrl('sqlite');
  const running = await openDatabase(url);
  const refused = await audit({ DATABASE_URL: url }, 'restored');
  expect(refused.err).toContain('Another process uses');
  expect(refused.code).toBe(1);
  await running.close();

  expect((await audit({ DATABASE_URL: url }, 'restored')).code).toBe(0);
  expect(await announcedRestore((await openForTest(url)).db)).not.toBeNull();
});
