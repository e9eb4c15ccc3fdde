import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/storage/old/database.ts';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { BEN } from '../harness/users.ts';
import { ENGINES, type Engine, freshUrl } from '../storage/engines.ts';

const AT = '2026-11-20T11:50:00.000Z';
const UNTIL = '2026-11-21T00:00:00.000Z';

/** A change waits for Ben's approval, and this statement runs while the bot is down. */
async function withRow(engine: Engine, statement: string) {
  const databaseUrl = await freshUrl(engine);
  const sandbox = await startTestSandbox({ databaseUrl });
  const card = await requestChange(sandbox);
  await sandbox.down();
  const database = await openDatabase(databaseUrl);
  await database.transaction((tx) => sql.raw(statement).execute(tx));
  await database.close();
  await sandbox.restart();
  await sandbox.press(BEN, card, 'change.approve');
  return sandbox;
}

const freezeWith = (scope: string) =>
  'insert into change_freeze (id, scope, reason, made_by, from_at, until_at) ' +
  `values ('OLDONE', '${scope}', 'r', 'UX', '${AT}', '${UNTIL}')`;
const ROWS: readonly (readonly [string, string])[] = [
  [
    'an unreadable click',
    `insert into inbox (dedup_key, kind, body, at, not_before, attempts)
      values ('bad', 'click', '{half', '${AT}', '${AT}', 0)`,
  ],
  [
    'an unreadable service',
    `insert into known_service (id, name, named_at, source, seen_at, fields, field_seen_at)
      values ('dead', 'x', '${AT}', 't', '${AT}', '{half', '{}')`,
  ],
  ['a freeze with a key of a newer release', freezeWith('{"tag":"nothing","note":"new"}')],
];
test.for(ENGINES.flatMap((engine) => ROWS.map((row) => [...row, engine] as const)))(
  '%s does not stop a start, a click or a change (%s) on %s',
  async ([, statement, engine]) => {
    const sandbox = await withRow(engine, statement);
    await sandbox.card('staging is stopping');
  },
);

test.for(ENGINES)('an unreadable freeze stops a change with a sentence on %s', async (engine) => {
  const sandbox = await withRow(engine, freezeWith('{half'));
  await sandbox.card('Signalbox cannot read the scope of this freeze, so it covers everything');
  await sandbox.card('The scope of freeze OLDONE cannot be read', 'db-audit');
  expect(sandbox.cloud.count('set state')).toBe(0);
});
