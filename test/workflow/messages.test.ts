import { expect, test } from 'vitest';
import { PostRefused } from '../../src/domain/answer.ts';
import type { ChangeId } from '../../src/domain/change.ts';
import type { NewEvent } from '../../src/domain/log-events.ts';
import type { WorkflowContext } from '../../src/workflow/context.ts';
import { move } from '../../src/workflow/moves.ts';
import { noticeFor, notify } from '../../src/workflow/notices.ts';
import { remindersOf } from '../../src/workflow/show.ts';
import { changeIn, UNKNOWN } from '../domain/changes-fixtures.ts';
import {
  aChange,
  ana,
  ben,
  cleo,
  dueJobs,
  eventsOf,
  loaded,
  minutes,
  moved,
  NONCE,
  NOON,
  notices,
  recorded,
  STAGING,
} from './context.ts';
import { workflowWithCards } from './slack-of-cards.ts';

test('an update is posted once its card stands', async () => {
  const { context, run, told } = await workflowWithCards();
  const { id, version } = await aChange(context, { state: 'rejected', hasCard: false });
  await expect(run('thread', `${id}/${version}`)).rejects.toThrow('was not posted yet');
  await run('card', id);
  await run('thread', `${id}/${version}`);
  const { card } = await loaded(context, id);
  const update = [{ id, state: 'rejected' }, card, { again: false }];
  expect(told('postThreadUpdate')).toMatchObject([update]);
  await run('direct', `${id}/${version}`);
  expect(told('messageRequester')).toHaveLength(1);
});

test('a state that has passed is not reported', async () => {
  const { context, run, told } = await workflowWithCards();
  const { id } = await aChange(context, { state: 'executing' });
  const returned = { nonce: NONCE, why: 'No answer.', notBefore: minutes(1) };
  const unsent = await moved(context, id, { type: 'not-sent', ...returned });
  const claim = { type: 'claimed', by: 'tests', nonce: 'n2', attempt: 2, until: NOON } as const;
  const call = { nonce: 'n2', answeredAt: NOON, tookMs: 1, requestId: null, status: null };
  const { version } = await moved(context, id, claim, { type: 'unknown', ...call, text: '?' });
  await run('thread', `${id}/${unsent.version}`);
  const resolved = { type: 'resolved', by: ben, as: 'succeeded', note: 'seen' } as const;
  await moved(context, id, resolved);
  await run('thread', `${id}/${version}`);
  await run('direct', `${id}/${version}`);
  expect([...told('postThreadUpdate'), ...told('messageRequester')]).toEqual([]);
  await run('thread', `${id}/${version + 1}`);
  expect(told('postThreadUpdate')).toMatchObject([[{ state: 'succeeded' }, {}, {}]]);
});

test('a wait is reported in the same words at each try, until it has a newer cause', async () => {
  const { context, run, told } = await workflowWithCards();
  const { id } = await aChange(context, { state: 'executing' });
  const report = async (cause: string, minute: number, version?: number) => {
    const why = { nonce: NONCE, why: cause, cause, notBefore: minutes(minute) };
    const unsent = await moved(context, id, { type: 'not-sent', ...why });
    await run('thread', `${id}/${version ?? unsent.version}`);
    return unsent.version;
  };
  const first = await report('limit', 1);
  await report('limit', 2, first);
  await report('network', 3, first);
  const shown = { state: 'approved', notSent: { why: 'limit' }, notBefore: minutes(1) };
  expect(told('postThreadUpdate').map(([change]) => change)).toMatchObject([shown, shown]);
});

test('what an approver lowers is reported once each, also when the change has moved on since', async () => {
  const { context, run, told } = await workflowWithCards();
  const change = await aChange(context, { requires: { count: 2 } });
  const { id, digest: wider } = change;
  const until = minutes(45);
  const revert = { label: 'Start it', line: '', afterMs: 2_700_000, until: until.toISOString() };
  const plan = { ...change.plan, timing: { startAt: null, revert } };
  const less = { type: 'narrowed', by: ben, plan, digest: 'd2', wider } as const;
  const due = move(context, NOON.getTime(), change, less).jobs;
  expect(due).toContainEqual({ kind: 'expire', key: id, dueAt: until.getTime() });
  const { version } = await moved(context, id, less);
  await moved(context, id, { type: 'rejected', by: cleo, reason: 'not today' });
  for (const kind of ['thread', 'direct']) {
    expect(await dueJobs(context)).toContain(`${kind} ${id}/${version}`);
    await run(kind, `${id}/${version}`);
  }
  const shown = { id, state: 'pending', narrowings: [{ by: ben }] };
  expect(told('postThreadUpdate')).toMatchObject([[shown, change.card, {}]]);
  expect(told('messageRequester')).toMatchObject([[shown, change.card, {}]]);
});

test('the audit channel has a line for each end, with the mark of its event and the claim', async () => {
  const { context, run, told } = await workflowWithCards();
  const { id, version } = await aChange(context, { state: 'unknown' });
  await moved(context, id, { type: 'resolved', by: ben, as: 'failed', note: 'seen' });
  await run('audit', `${id}/${version}`);
  await run('audit', `${id}/${version + 1}`);
  expect(told('postAuditLine')).toMatchObject([
    [{ id, state: 'unknown', version }, {}, { event: null, nonce: NONCE }],
    [{ id, state: 'failed', version: version + 1 }, {}, { event: null, nonce: NONCE }],
  ]);
});

test('break-glass and its review are reported in the thread and in the audit channel', async () => {
  const { context, run, told } = await workflowWithCards();
  const { id } = await aChange(context);
  const used = await moved(context, id, { type: 'break-glass', by: ana, reason: 'prod is down' });
  const key = `${id}/${used.version}`;
  expect(await dueJobs(context)).toEqual(
    expect.arrayContaining([`break-glass ${key}`, `audit ${key}`]),
  );
  await run('break-glass', key);
  await run('audit', key);
  expect(told('postBreakGlassUpdate')).toMatchObject([[{ id }, {}, 'used', {}]]);
  expect(told('postAuditLine')).toMatchObject([[{ id }, {}, { event: 'used', nonce: null }]]);
});

test('why a change is not reverted is reported, also for a reason of a newer release', async () => {
  const { context, run, told } = await workflowWithCards();
  const { id } = await aChange(context, { state: 'succeeded' });
  for (const why of ['moved', 'new']) {
    const { version } = await moved(context, id, { type: 'revert-kept', why });
    await run('revert-stopped', `${id}/${version}`);
  }
  expect(told('postRevertStopped').map(([, , why]) => why)).toEqual(['moved', 'unclear']);
});

test('nothing is posted for an event that the log does not have', async () => {
  const { run, shown } = await workflowWithCards();
  for (const kind of ['thread', 'direct', 'audit', 'break-glass', 'revert-stopped']) {
    expect(await run(kind, 'K3M9QD/4')).toBe('done');
  }
  for (const kind of ['card', 'reminder', 'escalation', 'direct-cards', 'unfreeze-offer']) {
    expect(await run(kind, 'K3M9QD')).toBe('done');
  }
  expect(shown).toEqual([]);
});

const inMinutes = (at: number) => (at - NOON.getTime()) / 60_000;

test('a waiting change has its reminders at shares of its wait, an unknown outcome less and less often', () => {
  const pending = changeIn('pending', { confirmedAt: NOON, expiresAt: minutes(240) });
  expect(remindersOf(pending, [0.5, 0.9]).map(inMinutes)).toEqual([120, 216]);
  expect(remindersOf(pending, [])).toEqual([]);
  const unknown = changeIn('unknown', { outcome: { ...UNKNOWN, at: NOON } });
  const asked = remindersOf(unknown, [0.5]).map(inMinutes);
  expect(asked.slice(0, 6)).toEqual([15, 75, 315, 1_275, 2_715, 4_155]);
  expect(asked).toHaveLength(60);
  expect(remindersOf(changeIn('approved', { confirmedAt: NOON }), [0.5])).toEqual([]);
});

test('approvers are reminded at half-time and before the expiry, until the change is decided', async () => {
  const { context, run, told, clock } = await workflowWithCards();
  const { id } = await aChange(context);
  expect(await run('reminder', id)).toEqual(minutes(120));
  expect(told('postReminder')).toEqual([]);
  clock.now = minutes(120);
  expect(await run('reminder', id)).toEqual(minutes(216));
  clock.now = minutes(216);
  expect(await run('reminder', id)).toBe('done');
  await moved(context, id, { type: 'rejected', by: ben, reason: 'not now' });
  expect(await run('reminder', id)).toBe('done');
  expect(told('postReminder')).toMatchObject(Array(2).fill([{ id }, {}, 'waiting', {}]));
});

test('a reminder that comes late is not followed by the next one at once', async () => {
  const { context, run, told, clock } = await workflowWithCards();
  const { id } = await aChange(context);
  clock.now = minutes(212);
  expect(await run('reminder', id)).toBe('done');
  expect(told('postReminder')).toHaveLength(1);
});

test('an unknown outcome is asked for until people resolve it', async () => {
  const { context, run, told, clock } = await workflowWithCards();
  const { id } = await aChange(context, { state: 'unknown' });
  clock.now = minutes(60);
  expect(await run('reminder', id)).toEqual(minutes(75));
  expect(told('postReminder')).toMatchObject([[{ id }, {}, 'unknown', {}]]);
});

test('the escalation mentions its role once, unless the change was decided or has expired', async () => {
  const { context, run, told, clock } = await workflowWithCards();
  const { id } = await aChange(context);
  await run('escalation', id);
  expect(told('postReminder')).toMatchObject([[{ id }, {}, 'escalated', {}]]);
  clock.now = minutes(9_999);
  await run('escalation', id);
  const decided = await aChange(context, { state: 'approved' });
  await run('escalation', decided.id);
  expect(told('postReminder')).toHaveLength(1);
});

const SCHEDULE = 'K3M9QD' as ChangeId;
const occurrence = new Date('2026-11-20T19:00:00.000Z');

function schedule(
  ...events: readonly Extract<NewEvent, { stream: `schedule/${string}` }>['event'][]
) {
  const service = { id: STAGING.id, name: STAGING.name };
  const times = { stop: 'weekdays 20:00', start: null, zone: 'Europe/Berlin' };
  const made = { type: 'created', change: SCHEDULE, by: ana, service, ...times } as const;
  return [{ ...made, until: minutes(90 * 1_440) }, ...events].map((event) => ({
    stream: `schedule/${SCHEDULE}` as const,
    event,
  }));
}

test('a schedule reports in its thread what was skipped or missed, and why it is paused', async () => {
  const { context, run, told } = await workflowWithCards();
  await aChange(context, { id: SCHEDULE, state: 'succeeded' });
  await recorded(
    context,
    ...schedule(
      { type: 'skipped', why: 'a freeze holds', verb: 'stop', occurrence, missed: 2 },
      { type: 'run', change: 'R3M9QD' as ChangeId, verb: 'stop', occurrence, missed: 1 },
      { type: 'run', change: 'S3M9QD' as ChangeId, verb: 'stop', occurrence, missed: 0 },
      { type: 'paused', by: 'signalbox', why: 'the requester left' },
      { type: 'resumed', by: ana },
      { type: 'paused', by: ana, why: '' },
    ),
  );
  for (const version of [1, 2, 3, 4, 5, 6, 7]) await run('schedule-note', `${SCHEDULE}/${version}`);
  expect(told('postThreadNote').map(([text]) => text)).toEqual([
    'Skipped the stop of Fri 20 Nov, 20:00 (Europe/Berlin): a freeze holds. Earlier runs were missed: 2.',
    'Earlier runs were missed: 1.',
    expect.stringContaining('The schedule is paused: the requester left.'),
  ]);
});

test('the end of a schedule is announced and reported, unless a user removed it', async () => {
  const { context, run, told, clock } = await workflowWithCards();
  await aChange(context, { id: SCHEDULE, state: 'succeeded' });
  await recorded(context, ...schedule());
  await run('schedule-reminder', SCHEDULE);
  clock.now = minutes(90 * 1_440);
  await run('schedule-reminder', SCHEDULE);
  const stream = `schedule/${SCHEDULE}` as const;
  await recorded(context, { stream, event: { type: 'removed', by: ana, why: 'removed' } });
  await run('schedule-reminder', SCHEDULE);
  expect(told('postScheduleReminder').map(([, , ending]) => ending)).toMatchObject([
    { hasExpired: false },
    { hasExpired: true },
  ]);
});

const typesOf = async (context: WorkflowContext, key: string) =>
  (await eventsOf(context, `notice/${key}`)).map(({ type }) => type);

test('a notice is posted once, to a person or to the operators', async () => {
  const { context, run, told } = await workflowWithCards();
  const line = [{ user: cleo }];
  const action = { id: 'command.0', label: 'Show', value: 'change list' };
  await notify(context, { to: ana, title: 'Not posted', text: 'The digest was not posted.' });
  const { events, jobs } = noticeFor(
    { to: null, title: 'Notice', text: 'The database went back.', line, actions: [action] },
    NOON.getTime(),
  );
  await recorded(context, ...events);
  const keys = [...(await dueJobs(context)), ...jobs.map(({ kind, key }) => `${kind} ${key}`)];
  for (const job of [...keys, ...keys]) await run('notice', job.replace('notice ', ''));
  expect(told('messageUser')).toEqual([[ana, expect.objectContaining({ title: 'Not posted' })]]);
  const message = ['The database went back.', { again: false }, { line, actions: [action] }];
  expect(told('notifyOperators')).toMatchObject([message]);
});

test('a notice that is given up is counted and not reported again', async () => {
  const lost: string[] = [];
  const { context, kinds, run, told } = await workflowWithCards();
  Object.assign(context.measures, { messageLost: (kind: string) => void lost.push(kind) });
  await notify(context, { to: null, title: 'Notice', text: 'The database went back.' });
  const [key = ''] = (await dueJobs(context)).map((job) => job.replace('notice ', ''));
  await kinds.notice?.giveUp?.(key);
  await run('notice', key);
  expect(lost).toEqual(['notice']);
  expect(told('notifyOperators')).toEqual([]);
  expect(await typesOf(context, key)).toEqual(['noticed', 'given-up']);
});

test('a message that Slack refuses for good ends, and the operators read why once', async () => {
  const refusal = new PostRefused('the message is too long (msg_too_long)', null, null);
  const messages = { postThreadUpdate: () => Promise.reject(refusal) };
  const { context, run } = await workflowWithCards({ messages });
  const { id, version } = await aChange(context, { state: 'rejected' });
  for (let tries = 0; tries < 2; tries += 1) {
    expect(await run('thread', `${id}/${version}`)).toBe('done');
  }
  expect((await notices(context)).map(({ text }) => text)).toEqual([
    `Slack refused a message of change ${id} (thread): the message is too long (msg_too_long). Signalbox does not retry it.`,
  ]);
});

test('a notice that Slack refuses for good ends, and what a person cannot be sent the operators read', async () => {
  const refusal = new PostRefused('the user was deactivated (user_disabled)', null, null);
  const messages = { messageUser: () => Promise.reject(refusal) };
  const { context, run, told } = await workflowWithCards({ messages });
  await notify(context, { to: ana, title: 'Not posted', text: 'x', line: [' why'] });
  const [key = ''] = (await dueJobs(context)).map((job) => job.replace('notice ', ''));
  expect(await run('notice', key)).toBe('done');
  expect(await typesOf(context, key)).toEqual(['noticed', 'given-up']);
  const [next = ''] = (await dueJobs(context)).filter((job) => job !== `notice ${key}`);
  await run('notice', next.replace('notice ', ''));
  expect(told('notifyOperators')).toMatchObject([
    [
      'Slack refused a message to a person: the user was deactivated (user_disabled). It said: “x',
      {},
      { line: [' why', '” It was for ', { user: ana }, '.'] },
    ],
  ]);
});

test('a message that Slack refuses to the whole app is reported once, and retried', async () => {
  const refusal = new PostRefused('the token was revoked (token_revoked)', null, null, true);
  const messages = {
    postThreadUpdate: () => Promise.reject(refusal),
    notifyOperators: () => Promise.reject(refusal),
  };
  const { context, run } = await workflowWithCards({ messages });
  const { id, version } = await aChange(context, { state: 'rejected' });
  for (let tries = 0; tries < 2; tries += 1) {
    await expect(run('thread', `${id}/${version}`)).rejects.toBe(refusal);
  }
  const due = (await dueJobs(context)).filter((job) => job.startsWith('notice '));
  expect(due).toHaveLength(1);
  const key = due.join().replace('notice ', '');
  await expect(run('notice', key)).rejects.toBe(refusal);
  expect(await typesOf(context, key)).toEqual(['noticed']);
});
