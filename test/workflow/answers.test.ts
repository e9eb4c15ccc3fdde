import { expect, test } from 'vitest';
import { createLog, during, traced } from '../../src/base/log.ts';
import type { JsonObject } from '../../src/base/text.ts';
import type { ChangeId } from '../../src/domain/change.ts';
import { storeClick } from '../../src/log/old/inbox.ts';
import { receiveClick } from '../../src/workflow/old/click.ts';
import { handleInbox } from '../../src/workflow/old/handle-inbox.ts';
import { receiveIncidentClick } from '../../src/workflow/old/incident-click.ts';
import type { Messenger } from '../../src/workflow/old/messenger-port.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { ben, NOON } from '../storage/example-change.ts';
import { PENDING } from './clickable.ts';
import { recordSpans } from './recorded-spans.ts';
import { storedChange } from './stored-change.ts';

const REPLY_TO = {
  url: 'https://hooks.slack.com/actions/1',
  user: ben,
  channel: 'C1',
  ts: '1.2',
  thread: '1.1',
  replaces: true,
  home: false,
};

type Calls = [name: string, ...args: unknown[]][];

/** A pending change, and a messenger whose calls are recorded or fail. */
async function inbox(over: Partial<Messenger> = {}) {
  const calls: Calls = [];
  const logged: { msg: string; [field: string]: unknown }[] = [];
  const messenger = {
    answerClick: async (...args: unknown[]) => void calls.push(['answerClick', ...args]),
    answerIncidentClick: async (...args: unknown[]) => void calls.push(['incident', ...args]),
    showHome: async (...args: unknown[]) => void calls.push(['showHome', ...args]),
    ...over,
  } as unknown as Messenger;
  const log = createLog({ level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line)) });
  const pressed: unknown[] = [];
  const incidents: WorkflowContext['incidents'] = {
    press: async (press) => {
      pressed.push(press);
      return { ok: true, answer: { title: 'Muted', parts: [] } };
    },
    details: async () => ({ ok: true, answer: { title: '', parts: [] } }),
  };
  const all = await storedChange({ change: PENDING, context: { messenger, log, incidents } });
  const { context, change } = all;
  const receive = (home = false) => {
    const replyTo = { ...REPLY_TO, home };
    const click = { verb: 'approve', change: change.id, by: ben, text: '', replyTo } as const;
    return receiveClick(context, 'key 1', click);
  };
  const store = (key: string, body: JsonObject, kind = 'click') =>
    context.database.transaction((tx) =>
      storeClick(tx, { signing: null }, { key, kind, body, at: NOON }),
    );
  return { ...all, calls, logged, pressed, receive, store };
}

test('the outcome of a click is the answer to its user, once', async () => {
  const { context, calls, receive, current, logged } = await inbox();
  await receive();
  expect(await handleInbox(context)).toBe(1);
  expect(await handleInbox(context)).toBe(0);
  expect((await current())?.state).toBe('approved');
  const outcome = { ok: true, verb: 'approve' };
  expect(calls).toMatchObject([['answerClick', REPLY_TO, outcome, { key: 'key 1', at: NOON }]]);
  expect(logged).toEqual([]);
});

test('App Home is redrawn after a click on it', async () => {
  const { context, calls, receive } = await inbox();
  await receive(true);
  await handleInbox(context);
  await expect.poll(() => calls.map(([name]) => name)).toEqual(['answerClick', 'showHome']);
  expect(calls[1]?.[1]).toBe(ben);
});

test('an answer that Slack refuses is logged, and the click stays handled', async () => {
  const fail = () => Promise.reject(new Error('expired'));
  const { context, logged, receive, current } = await inbox({ answerClick: fail, showHome: fail });
  await receive(true);
  await handleInbox(context);
  const texts = () => logged.map(({ msg }) => msg);
  const expected = ['ephemeral answer was not delivered', 'App Home was not redrawn'];
  await expect.poll(texts).toEqual(expected);
  const { id: change } = (await current()) ?? {};
  expect(logged).toMatchObject(expected.map(() => ({ change, err: { message: 'expired' } })));
  expect(await handleInbox(context)).toBe(0);
});

test('a click that an older release stored is answered without a thread', async () => {
  const { context, change, calls, store } = await inbox();
  const { ts, thread, home, ...replyTo } = REPLY_TO;
  await store('key 1', { verb: 'approve', change: change.id, by: ben, text: '', replyTo });
  await handleInbox(context);
  expect(calls[0]?.[1]).toEqual({ ...replyTo, ts: null, thread: null, home: false });
});

test('a text of 3,000 characters is accepted, and a longer one is not handled', async () => {
  const { context, change, calls, store } = await inbox();
  const body = { verb: 'reject', change: change.id, by: ben, replyTo: REPLY_TO };
  await store('too long', { ...body, text: 'x'.repeat(3_001) });
  await handleInbox(context);
  expect(calls).toEqual([]);
  await store('long', { ...body, text: 'x'.repeat(3_000) });
  await handleInbox(context);
  expect(calls).toMatchObject([['answerClick', REPLY_TO, { ok: true, verb: 'reject' }, {}]]);
});

test('a click on an anomaly is passed on and answered', async () => {
  const { context, calls, pressed, store } = await inbox();
  const press = { key: 'key 1', verb: 'expected', id: 'anomaly 1', by: ben } as const;
  expect(await receiveIncidentClick(context, press, REPLY_TO)).toBe('ok');
  expect(await handleInbox(context)).toBe(1);
  expect(pressed).toEqual([press]);
  const muted = { ok: true, answer: { title: 'Muted', parts: [] } };
  expect(calls).toMatchObject([['incident', REPLY_TO, muted, { key: 'key 1', at: NOON }]]);
  // As a replica of another release stores it.
  const { key, ...body } = press;
  await store('key 2', { ...body, replyTo: REPLY_TO }, 'incident');
  await handleInbox(context);
  expect(pressed).toEqual([press, { ...press, key: 'key 2' }]);
});

test('an answer about an anomaly that Slack refuses is logged', async () => {
  const fail = () => Promise.reject(new Error('expired'));
  const { context, logged } = await inbox({ answerIncidentClick: fail });
  const press = { key: 'key 1', verb: 'expected', id: 'anomaly 1', by: ben } as const;
  await receiveIncidentClick(context, press, REPLY_TO);
  await handleInbox(context);
  const msg = 'ephemeral answer was not delivered';
  await expect.poll(() => logged).toMatchObject([{ msg, incident: 'anomaly 1' }]);
});

test('one pass handles twenty clicks, the next one the others', async () => {
  const { context, store } = await inbox();
  for (let n = 0; n < 21; n += 1) await store(`key ${n}`, { unreadable: n });
  expect(await handleInbox(context)).toBe(20);
  expect(await handleInbox(context)).toBe(1);
});

test('a click that could not be handled is tried again after 5 seconds', async () => {
  const { context, clock, logged, store } = await inbox();
  await store('key 1', { unreadable: true });
  const { named } = recordSpans();
  expect(await handleInbox(context)).toBe(1);
  expect(logged).toMatchObject([{ msg: 'click could not be handled', key: 'key 1', attempts: 1 }]);
  expect(named('handle click')).toMatchObject([{ facts: { 'error.type': 'failed' } }]);
  clock.now = new Date(NOON.getTime() + 4_999);
  expect(await handleInbox(context)).toBe(0);
  clock.now = new Date(NOON.getTime() + 5_000);
  expect(await handleInbox(context)).toBe(1);
});

test('the log lines of a handled click have its request id and its change', async () => {
  const fail = () => Promise.reject(new Error('expired'));
  const { context, change, logged, receive, store } = await inbox({ answerClick: fail });
  await during({ request: 'req-1' }, () => receive());
  await handleInbox(context);
  await expect.poll(() => logged.length).toBe(1);
  expect(logged).toMatchObject([{ request: 'req-1', change: change.id }]);
  await store('key 2', { request: 1, change: 2, trace: 3 });
  await handleInbox(context);
  expect(logged[1]).not.toHaveProperty('request');
  expect(logged[1]).not.toHaveProperty('change');
  await store('key 3', { change: 'K3M9QD' });
  await handleInbox(context);
  expect(logged[2]).toMatchObject({ msg: 'click could not be handled', change: 'K3M9QD' });
});

test('handling a click continues its trace', async () => {
  const { context, change, receive, store } = await inbox();
  const { named } = recordSpans();
  await traced({ name: 'press' }, receive);
  await store('key 2', { verb: 1, change: 2, trace: 3 }, 'incident');
  await handleInbox(context);
  const [stored, ...others] = named('store click');
  expect(others).toEqual([]);
  const facts = { 'signalbox.change': change.id, 'signalbox.verb': 'approve' };
  expect(named('handle click')).toMatchObject([{ kind: 'CONSUMER', facts, parent: stored?.id }]);
  const [incident] = named('handle incident');
  expect(incident).toMatchObject({ parent: null });
  expect(incident?.facts).not.toHaveProperty('signalbox.change');
});

test('a click on a change that does not exist is answered', async () => {
  const { context, calls, store } = await inbox();
  const body = { verb: 'approve', change: 'NOSUCH' as ChangeId, by: ben, text: '' };
  await store('key 1', { ...body, replyTo: REPLY_TO });
  await handleInbox(context);
  expect(calls).toMatchObject([['answerClick', REPLY_TO, { ok: false }, { key: 'key 1' }]]);
});
