import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { auditHead, eventHashes } from '../../src/log/old/append.ts';
import { openDatabase } from '../../src/storage/old/database.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { runCommand } from '../harness/run-command.ts';
import { freshUrl } from '../storage/engines.ts';
import { archiveInto, KEY, oldTrail, segmentsFolder } from '../storage/old-trail.ts';

function audit(url: string, ...args: string[]) {
  const env = { DATABASE_URL: url, SIGNALBOX_KEY: KEY.toString('base64') };
  return runCommand([SIGNALBOX, 'audit', ...args], env);
}

/** Events 1 to 8 are archived, 9 to 11 are in the database. */
async function archived() {
  const url = await freshUrl('sqlite');
  const database = await openDatabase(url);
  await oldTrail(database);
  const hashes = await eventHashes(database.db, [5]);
  const folder = segmentsFolder();
  const { checkpoint } = await archiveInto(database, folder);
  const { hash } = await auditHead(database.db);
  await database.close();
  const path = join(folder, checkpoint?.file ?? '');
  return { url, folder, path, last: `audit 11 ${hash}`, fifth: `5:${hashes.get(5)}` };
}

test('without the segments, verify names the archived events that it did not read', async () => {
  const { url, last, fifth } = await archived();
  const lines = [
    `Events 9 to 11, all intact. The last event: ${last}`,
    'Events 1 to 8 are archived, and were not read: event 11 is their signed checkpoint. ' +
      '--segments <folder> verifies them as well.',
  ];
  const plain = await audit(url, 'verify');
  expect(plain).toEqual({ out: `${lines.join('\n')}\n`, err: '', code: 0 });
  const anchored = await audit(url, 'verify', '--anchor', fifth);
  const uncompared = ' The anchor of event 5 was not compared.';
  expect(anchored).toEqual({ out: `${lines.join('\n')}${uncompared}\n`, err: '', code: 0 });
});

test('with the segments, verify reads the trail from event 1 on', async () => {
  const { url, folder, path, last, fifth } = await archived();
  const whole = await audit(url, 'verify', '--segments', folder, '--anchor', fifth);
  expect(whole).toEqual({
    out: `11 events, of which 8 are in segments, all intact. The last event: ${last}\n`,
    err: '',
    code: 0,
  });
  rmSync(path);
  const missing = await audit(url, 'verify', '--segments', folder);
  expect(missing.code).toBe(1);
  expect(missing.out).toMatch(
    /^The audit trail is not intact\. The segment audit-\w+-1-8\.jsonl is missing: it has the events 1 to 8\.\n$/,
  );
});

test('an export names the archived events, where its time range begins before the archive', async () => {
  const { url } = await archived();
  const all = await audit(url, 'export', '--since', '2020-01-01');
  expect(all.code).toBe(0);
  expect(all.err).toBe('Events 1 to 8 are archived: segments have them, not this output.\n');
  expect(
    all.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).event.seq),
  ).toEqual([9, 10, 11]);
  const later = await audit(url, 'export', '--since', '2040-01-01');
  expect(later).toEqual({ out: '', err: '', code: 0 });
});
