import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { ChannelId, UserId } from '../../src/domain/change.ts';
import type { IncidentClickOutcome } from '../../src/domain/incidents.ts';
import { appendEvent, listEvents } from '../../src/log/old/append.ts';
import { loadChange } from '../../src/log/old/changes.ts';
import { gapId } from '../../src/log/old/gap.ts';
import { clearTrailError } from '../../src/log/old/trail-marks.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import { receiveGapClick } from '../../src/workflow/old/gap-click.ts';
import { handleInbox } from '../../src/workflow/old/handle-inbox.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { createTrail } from '../../src/workflow/old/trail.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { gapOf } from '../storage/accept-gap.ts';
import { ENGINES, type Engine, freshDatabase } from '../storage/engines.ts';
import { elsewhere, minutes, NOON, stored, user } from '../storage/example-change.ts';
import { operatorsNotices } from '../storage/notices.ts';
import { modify, remove, restore, tamper } from '../storage/tamper.ts';
import { createTestContext } from './context.ts';

const KEY = Buffer.alloc(32, 7);
const [ANA, FINN, BEN] = [user('UANA'), user('UFINN'), user('UBEN')];
const policy = policyOf([{ allow: ['cost'], to: 'operator' }]);
const ALLOWED = {
  ...policy,
  rules: policy.rules.map((rule) => ({ ...rule, commands: ['trail accept'] })),
};

/** A trail of 20 events; Ana and Finn are operators. */
async function started(engine: Engine = 'sqlite') {
  const { context } = await createTestContext();
  const database = await freshDatabase(engine);
  const operators = new Set<UserId>([ANA, FINN]);
  const answers: IncidentClickOutcome[] = [];
  const base: WorkflowContext = {
    ...context,
    database,
    auditKey: KEY,
    policy: ALLOWED,
    people: {
      ...context.people,
      identify: async (id) => ({
        ok: true,
        actor: { id, roles: operators.has(id) ? ['operator'] : [] },
        evidence: { groups: [] },
      }),
    },
    messenger: {
      ...context.messenger,
      answerIncidentClick: async (_to, outcome) => void answers.push(outcome),
    },
  };
  const own: WorkflowContext = { ...base, trail: createTrail(base) };
  await database.transaction(async (tx) => {
    for (let n = 0; n < 20; n += 1) {
      await appendEvent(tx, KEY, { kind: 'refused', at: NOON, body: { by: 'UANA' } });
    }
  });
  const presentId = async () => gapId((await gapOf(database, KEY)).gap);
  let presses = 0;
  /** Presses the button of a gap, by default of the present one; returns the answer in words. */
  const press = async (by: UserId, gap?: string) => {
    presses += 1;
    const message = { channel: 'CAUDIT' as ChannelId, ts: '1.1' };
    const click = { key: `gap:${presses}`, gap: gap ?? (await presentId()), by, message };
    await receiveGapClick(own, click, { ...NOWHERE, user: by });
    await handleInbox(own);
    const answer = answers.shift();
    if (!answer?.ok) return answer?.denial.refusal ?? 'no answer';
    return JSON.stringify(answer.answer.parts);
  };
  const problem = () => own.trail.problem(database.db);
  const kinds = async () =>
    (await listEvents(database.db, { afterSeq: 20, limit: 50 })).map(({ kind }) => kind);
  return { context: own, base, database, operators, press, presentId, problem, kinds };
}

const NOWHERE = {
  ...{ url: null, channel: null, ts: null, thread: null },
  ...{ replaces: false, home: false },
};

/** Changes the trail as an attacker does, and lets Signalbox find it. */
async function breakTrail({ database, context }: Awaited<ReturnType<typeof started>>) {
  await tamper(database, modify(7));
  await context.trail.verifyAll();
}

test.for(ENGINES)('two operators accept a gap, and executions continue, on %s', async (engine) => {
  const all = await started(engine);
  const { database, press, problem, kinds } = all;
  await breakTrail(all);
  expect(await problem()).toContain('Event 7 does not match its hash');
  expect(await press(ANA)).toContain('A different operator must accept it too');
  expect(await problem()).toContain('Event 7');
  expect(await press(FINN, await all.presentId())).toContain('new requests can run');
  expect(await problem()).toBeNull();
  const all20 = ['trail-broken', 'trail-acceptance-requested', 'trail-accepted', 'trail-verified'];
  expect(await kinds()).toEqual(all20);

  const [event] = await listEvents(database.db, { afterSeq: 22, limit: 1 });
  const [sixth, , eighth] = await listEvents(database.db, { afterSeq: 5, limit: 3 });
  expect(event?.body).toMatchObject({
    by: FINN,
    operators: [ANA, FINN],
    gap: { first: 7, next: 8, previous: sixth?.hash, following: eighth?.hash },
  });
  expect(await verifyChain(database.db, KEY)).toMatchObject({ ok: true, accepted: [{ seq: 23 }] });
  expect((await operatorsNotices(database)).at(-1)).toContain('of the audit trail is accepted');
});

test.for(ENGINES)('with a gap, open changes and pending reverts end, on %s', async (engine) => {
  const all = await started(engine);
  const { database, press } = all;
  // Their last events may be in the gap: then they were executed already.
  const states = ['draft', 'pending', 'approved', 'executing', 'unknown'] as const;
  const open = states.map((state) => elsewhere({ state }));
  const outcome = { how: 'succeeded', at: NOON, tookMs: 1, requestId: null, reported: [] } as const;
  const executed = elsewhere({ state: 'succeeded', outcome, revertAt: minutes(30) });
  await stored(database, ...open, executed);
  await breakTrail(all);
  await press(ANA);
  expect((await loadChange(database.db, executed.id))?.revertAt).toEqual(minutes(30));
  await press(FINN);
  for (const { id } of open) {
    const change = await loadChange(database.db, id);
    expect(change).toMatchObject({ state: 'stale', stopReason: 'gap-accepted' });
  }
  expect(await loadChange(database.db, executed.id)).toMatchObject({ revertAt: null });
  const messages = await database.db.selectFrom('outbox').selectAll().execute();
  const kept = messages.find(
    ({ change_id, kind }) => change_id === executed.id && kind === 'revert-stopped',
  );
  expect(kept?.body).toContain('gap-accepted');
  expect((await operatorsNotices(database)).at(-1)).toContain('open changes are stopped (5)');
});

test('a cut tail is accepted with the event that records it', async () => {
  const { context, database, press, problem } = await started();
  await tamper(database, remove(19), remove(20));
  await context.trail.verifyAll();
  await context.trail.verifyAll();
  expect(await operatorsNotices(database)).toHaveLength(1);
  await press(ANA);
  expect(await press(FINN)).toContain('new requests can run');
  expect(await problem()).toBeNull();
});

test('the acceptance by the same operator twice is refused', async () => {
  const all = await started();
  await breakTrail(all);
  await all.press(ANA);
  expect(await all.press(ANA)).toBe('gap-accepted-before');
  expect(await all.problem()).toContain('Event 7');
});

test('the acceptance by a user who is no operator is refused', async () => {
  const all = await started();
  await breakTrail(all);
  await all.press(ANA);
  expect(await all.press(BEN)).toBe('not-a-requester');
  expect(await all.problem()).toContain('Event 7');
});

test('an operator who lost the role meanwhile does not count as the first', async () => {
  const all = await started();
  await breakTrail(all);
  await all.press(ANA);
  all.operators.delete(ANA);
  expect(await all.press(FINN)).toContain('A different operator must accept it too');
  expect(await all.problem()).toContain('Event 7');
});

test('the acceptance of a gap that changed meanwhile is refused', async () => {
  const all = await started();
  await breakTrail(all);
  const gap = await all.presentId();
  await all.press(ANA, gap);
  await tamper(all.database, "update audit_event set body = 'x' where seq = 7");
  expect(await all.press(FINN, gap)).toBe('gap-changed');
  expect(await all.problem()).toContain('Event 7');
});

test('the acceptance of a later gap is refused while an earlier one is first', async () => {
  const all = await started();
  await breakTrail(all);
  const gap = await all.presentId();
  await tamper(all.database, modify(3));
  expect(await all.press(ANA, gap)).toBe('gap-changed');
});

test('the acceptance is refused when the trail is intact again', async () => {
  const all = await started();
  await breakTrail(all);
  const gap = await all.presentId();
  await tamper(all.database, restore(7));
  expect(await all.press(ANA, gap)).toBe('trail-intact');
});

test('a gap that was accepted is reported again when it changes', async () => {
  const all = await started();
  await breakTrail(all);
  await all.press(ANA);
  await all.press(FINN);
  await tamper(all.database, "update audit_event set body = 'x' where seq = 7");
  await all.context.trail.verifyAll();
  expect(await all.problem()).toContain('Event 7 cannot be read');
});

test('another gap is named after the first was accepted, and needs two operators again', async () => {
  const all = await started();
  await tamper(all.database, remove(12));
  await breakTrail(all);
  await all.press(ANA);
  expect(await all.press(FINN)).toContain('still stopped by another problem: Event 12 is missing');
  await all.press(ANA);
  expect(await all.press(FINN)).toContain('new requests can run');
});

test('two operators who press at the same time accept the gap', async () => {
  const all = await started();
  await breakTrail(all);
  const gap = await all.presentId();
  const message = { channel: 'CAUDIT' as ChannelId, ts: '1.1' };
  for (const by of [ANA, FINN]) {
    await receiveGapClick(
      all.context,
      { key: `gap:${by}`, gap, by, message },
      { ...NOWHERE, user: by },
    );
  }
  await handleInbox(all.context);
  expect(await all.problem()).toBeNull();
});

test('another replica that found the problem executes again after the acceptance', async () => {
  const all = await started();
  const other = createTrail(all.base);
  await tamper(all.database, modify(7));
  await other.verifyAll();
  await all.press(ANA);
  await all.press(FINN);
  expect(await other.problem(all.database.db)).toBeNull();
});

test('a replica that found a problem keeps it when its record is deleted', async () => {
  const all = await started();
  await breakTrail(all);
  await all.database.transaction((tx) => clearTrailError(tx));
  expect(await all.problem()).toContain('Event 7');
});

test.for<[string, (signed: string | null) => string | null]>([
  ['without a signature', () => null],
  ['with a guessed signature', () => '0'.repeat(64)],
  ['with the signature of another operator', (signed) => signed],
])('a press %s that was written into the inbox is ignored', async ([, signatureFrom]) => {
  const all = await started();
  await breakTrail(all);
  const gap = await all.presentId();
  const message = { channel: 'CAUDIT' as ChannelId, ts: '1.1' };
  await receiveGapClick(
    all.context,
    { key: 'gap:ana', gap, by: ANA, message },
    { ...NOWHERE, user: ANA },
  );
  const { db } = all.database;
  const row = await db.selectFrom('inbox').selectAll().executeTakeFirstOrThrow();
  await handleInbox(all.context);

  const body = JSON.stringify({ ...JSON.parse(row.body ?? ''), by: FINN });
  await db.deleteFrom('inbox').execute();
  await db
    .insertInto('inbox')
    .values({ ...row, body, signature: signatureFrom(row.signature) })
    .execute();
  expect(await handleInbox(all.context)).toBe(1);
  expect(await all.problem()).toContain('Event 7');
  expect(await all.kinds()).not.toContain('trail-accepted');
  expect(await all.kinds()).toContain('click-unverified');
});

test('a copy of a signed press counts for its operator only, and for its gap only', async () => {
  const all = await started();
  await breakTrail(all);
  const gap = await all.presentId();
  await all.press(ANA, gap);
  // The same operator again, as a copy of the row does.
  expect(await all.press(ANA, gap)).toBe('gap-accepted-before');
  await tamper(all.database, restore(7), modify(9));
  expect(await all.press(ANA, gap)).toBe('gap-changed');
});

test('rows of meta that claim an acceptance change nothing', async () => {
  const all = await started();
  await breakTrail(all);
  await sql`delete from meta where key = 'audit-broken'`.execute(all.database.db);
  await sql`insert into meta (key, value) values ('audit-accepted', '7')`.execute(all.database.db);
  expect(await all.problem()).toContain('Event 7');
  const restarted = createTrail(all.base);
  await restarted.verifyRecent();
  expect(await restarted.problem(all.database.db)).toContain('Event 7');
});
