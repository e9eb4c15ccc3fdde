import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { appendEvent } from '../../src/log/old/append.ts';
import { lastCheckpoint } from '../../src/log/old/checkpoints.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import { type Database, openDatabase } from '../../src/storage/old/database.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { runCommand } from '../harness/run-command.ts';
import { configFile } from '../ops/retention-file.ts';
import { freshUrl } from '../storage/engines.ts';
import { aged, day, KEY, segmentsFolder, seqsOf } from '../storage/old-trail.ts';

// The command has the clock of the machine.
const TODAY = Math.floor((Date.now() - day(0).getTime()) / 86_400_000);
/** More than one batch of the deletion. */
const OLD_EVENTS = 1_202;

/** Two events of an old change, 1,200 other old events, and two events of a recent change. */
async function write(database: Database): Promise<void> {
  await aged(database, { from: TODAY - 400, to: TODAY - 399 });
  const event = { kind: 'x', at: day(TODAY - 300), body: { by: 'UANA' } };
  await database.transaction(async (tx) => {
    for (let n = 2; n < OLD_EVENTS; n += 1) await appendEvent(tx, KEY, event);
  });
  await aged(database, { from: TODAY - 2, to: TODAY - 1 });
}

async function opened<T>(url: string, read: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(url);
  try {
    return await read(database);
  } finally {
    await database.close();
  }
}

const KILL = "process.kill(process.pid, 'SIGKILL')";

const AFTER_FILE = `
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  const { linkSync } = fs;
  fs.linkSync = (...paths) => { linkSync(...paths); ${KILL}; };
  syncBuiltinESMExports();`;

/** Kills the process where it runs a statement with this beginning for the nth time. */
const atStatement = (sql: string, count = 1) => `
  import { StatementSync } from 'node:sqlite';
  const { run } = StatementSync.prototype;
  let left = ${count};
  StatementSync.prototype.run = function (...values) {
    if (this.sourceSQL.startsWith('${sql}') && --left === 0) ${KILL};
    return run.apply(this, values);
  };`;

/** The checkpoint, the events and the changes that the killed process left. */
const CASES: readonly [string, string, { checkpoint: boolean; events: number; changes: number }][] =
  [
    ['between file and checkpoint', AFTER_FILE, { checkpoint: false, events: 1_204, changes: 2 }],
    [
      'between checkpoint and deletion',
      atStatement('delete from "change"'),
      { checkpoint: true, events: 1_205, changes: 2 },
    ],
    [
      'between changes and events',
      atStatement('delete from "audit_event"'),
      { checkpoint: true, events: 1_205, changes: 1 },
    ],
    [
      'in the middle of the events',
      atStatement('delete from "audit_event"', 2),
      { checkpoint: true, events: 205, changes: 1 },
    ],
  ];

test.for(CASES)(
  'an archive that is killed %s is completed by the next run',
  async ([, program, left]) => {
    const url = await freshUrl('sqlite');
    await opened(url, write);
    const folder = segmentsFolder();
    const env = {
      DATABASE_URL: url,
      SIGNALBOX_KEY: KEY.toString('base64'),
      SIGNALBOX_CONFIG: configFile('retention: { changes: 90d }'),
    };
    const words = [SIGNALBOX, 'audit', 'archive', '--segments', folder];
    const hook = `data:text/javascript,${encodeURIComponent(program)}`;
    const killed = await runCommand(['--import', hook, ...words], env);
    expect(killed).toEqual({ out: '', err: '', code: null });
    const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
    expect(files.length).toBe(1);
    const found = await opened(url, async (database) => {
      expect((await verifyChain(database.db, KEY)).ok).toBe(true);
      const changes = await database.db.selectFrom('change').select('id').execute();
      const checkpoint = (await lastCheckpoint(database.db, KEY)) !== null;
      return { checkpoint, events: (await seqsOf(database)).length, changes: changes.length };
    });
    expect(found).toEqual(left);

    const second = await runCommand(words, env);
    expect({ err: second.err, code: second.code }).toEqual({ err: '', code: 0 });
    // Only the deletion was left to do.
    const continued = `Continued the interrupted run. Deleted ${left.events - 3} events and `;
    const first = left.checkpoint ? continued : `${files.join()} has the events 1 to 1202.`;
    expect(second.out.startsWith(first)).toBe(true);
    const partial = readdirSync(folder).filter((name) => name.endsWith('.partial'));
    expect(partial.length).toBe(left.checkpoint ? 0 : 1);
    for (const name of partial)
      expect(second.out).toContain(`${join(folder, name)} is incomplete. Delete it if`);
    expect(await opened(url, seqsOf)).toEqual([1_203, 1_204, 1_205]);
    expect(readdirSync(folder).filter((name) => name.endsWith('.jsonl'))).toEqual(files);
    const verify = [SIGNALBOX, 'audit', 'verify', '--segments', folder];
    expect((await runCommand(verify, env)).out).toContain(
      '1205 events, of which 1202 are in segments, all intact.',
    );
  },
);

test('nothing is deleted when the disk returns other bytes than the command wrote', async () => {
  const url = await freshUrl('sqlite');
  await opened(url, write);
  const program = AFTER_FILE.replace(KILL, "fs.appendFileSync(paths[1], 'x')");
  const hook = `data:text/javascript,${encodeURIComponent(program)}`;
  const words = [SIGNALBOX, 'audit', 'archive', '--segments', segmentsFolder()];
  const { err, code } = await runCommand(['--import', hook, ...words], {
    DATABASE_URL: url,
    SIGNALBOX_KEY: KEY.toString('base64'),
    SIGNALBOX_CONFIG: configFile('retention: { changes: 90d }'),
  });
  expect(code).toBe(1);
  expect(err).toMatch(/was modified or truncated: .* Nothing was deleted/);
  expect((await opened(url, seqsOf)).length).toBe(1_204);
});
