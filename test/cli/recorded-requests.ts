import type { Change, ChangeId } from '../../src/changes/change.ts';
import { draftChange } from '../../src/changes/lifecycle.ts';
import { readPolicyFile } from '../../src/cli/policy/read-files.ts';
import { replayRequests } from '../../src/cli/policy/replay.ts';
import { readPolicyOptions } from '../../src/cli/policy-options.ts';
import type { JsonObject } from '../../src/intent/answers/units.ts';
import { appendEvent } from '../../src/storage/audit/append.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { openReader } from '../../src/storage/engine/reader.ts';
import { insertChange } from '../../src/storage/tables/changes/changes.ts';
import { PLAN, REQUIRES } from '../changes/fixtures.ts';
import { edited } from '../config/fixtures.ts';
import { type Engine, freshUrl, openForTest } from '../storage/engines.ts';
import { newId, user } from '../storage/example-change.ts';

const KEY = Buffer.alloc(32, 7);
export const HOUR_MS = 3_600_000;
export const ANA = user('U0ANA0001');
// The command has the clock of the machine, so that the events are of its last days.
const NOW = new Date();
export const hoursAgo = (count: number) => new Date(NOW.getTime() - count * HOUR_MS);

export const STAGING_ID = '1525c708-e4bc-426d-a9e7-d11b6c27caf5';
export const STAGING = {
  kind: 'service',
  id: STAGING_ID,
  name: 'staging',
  tags: ['staging'],
  warehouse: 'lab',
} as const;
/** What rule 3 of the example file requires. */
const BY_RULE_3: Change['requires'] = {
  ...REQUIRES,
  rule: 3,
  count: 1,
  reason: false,
  expiresAfterMs: 24 * HOUR_MS,
  channel: null,
};
export const ROLES = ['viewer', 'operator'];

/** A database with recorded requests, and the replay of them in this process. */
export async function openRecorded(engine: Engine = 'sqlite') {
  const url = await freshUrl(engine);
  const database = await openForTest(url);
  return {
    url,
    database,
    draft: (fields: Partial<Change> = {}, roles?: readonly string[] | null, at = hoursAgo(24)) =>
      recordDraft(database, fields, { roles: roles === undefined ? ROLES : roles, at }),
    refuse: (body: JsonObject, at = hoursAgo(24), changeId?: ChangeId) =>
      recordRefusal(database, body, { at, ...(changeId && { changeId }) }),
    replay: (yaml: string, ...args: string[]) => replay(url, yaml, ...args),
  };
}

async function recordDraft(
  database: Database,
  fields: Partial<Change>,
  { roles, at }: { readonly roles: readonly string[] | null; readonly at: Date },
): Promise<string> {
  const plan = { ...PLAN, target: STAGING };
  const about = { id: newId(), command: 'service stop', requester: ANA, reason: 'for the night' };
  const draft = draftChange({ ...about, plan, requires: BY_RULE_3, origin: null, ...fields }, at);
  const change = { ...draft, ...fields };
  await database.transaction(async (tx) => {
    await insertChange(tx, change);
    const { id: changeId, command, digest, version } = change;
    const target = change.plan.target.name;
    const facts = { by: change.requester, command, target, digest, rule: change.requires.rule };
    const body = { ...facts, ...(roles && { roles: [...roles] }) };
    await appendEvent(tx, KEY, { kind: 'drafted', changeId, version, to: 'draft', at, body });
  });
  return change.id;
}

async function recordRefusal(
  database: Database,
  body: JsonObject,
  event: { readonly at: Date; readonly changeId?: ChangeId },
): Promise<void> {
  const command = 'service stop';
  const facts = { by: ANA, tried: command, command, target: 'staging', rule: 3, ...body };
  await database.transaction((tx) =>
    appendEvent(tx, KEY, { kind: 'refused', ...event, body: facts }),
  );
}

/** Replays with these options, and returns the output and the exit code. */
async function replay(url: string, yaml: string, ...args: readonly string[]) {
  const options = readPolicyOptions(['replay', '--with', 'other.yaml', ...args]);
  const file = readPolicyFile('other.yaml', () => yaml);
  if (!options.ok || options.request.kind !== 'replay') throw new Error('wrong options');
  if (!file.ok) throw new Error(JSON.stringify(file.problems));
  const { accept, sinceMs } = options.request;
  const range = { since: new Date(NOW.getTime() - sinceMs), until: new Date() };
  const reader = await openReader(url);
  let out = '';
  const write = async (text: string) => {
    out += text;
  };
  const isSame = await replayRequests(reader.db, { file: file.value, ...range, accept }, write);
  await reader.close();
  return { out, code: isSame ? 0 : 1 };
}

/** The example file with two approvers instead of one in rule 3. */
export const STRICTER = edited(['count: 1, self: refused }', 'count: 2, self: refused }']);
