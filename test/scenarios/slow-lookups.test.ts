import type { Logger } from 'pino';
import { expect, test } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import { textOf } from '../harness/messages.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import { eventsIn } from '../harness/read-log.ts';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

const DIRECT = 'D0ANA00001';
const CHECKING = 'Checking your permission… Your press is kept for 15 minutes.';

const CACHED_MS = 10 * 60_000;
const LIMITED = { how: 'rate-limited', times: 1, retryAfterSeconds: 1 } as const;

/** A sandbox in which the limit of Slack delays the lookups of groups until `answer`. */
async function startPaced(
  prepare: (sandbox: TestSandbox) => Promise<unknown> = async () => undefined,
) {
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  const sleep = async () => {
    waiting += 1;
    await gate.promise;
  };
  const sandbox = await startTestSandbox({ sleep });
  const pass = (ms: number) => {
    sandbox.clock.now = new Date(sandbox.clock.now.getTime() + ms);
  };
  const card = await requestChange(sandbox, ANA, '/service stop finance for the night');
  await prepare(sandbox);
  // No cached lookup is recent enough to answer with.
  pass(CACHED_MS);
  sandbox.slack.failNext({ method: 'usergroups.list', ...LIMITED });
  await sandbox.press(DORA, card, 'change.approve');
  await expect.poll(() => waiting).toBe(1);
  const answer = () => {
    pass(LIMITED.retryAfterSeconds * 1_000);
    gate.resolve();
  };
  return { sandbox, card, answer };
}

function privateOf({ slack }: TestSandbox, user: string) {
  return slack
    .clientState(user)
    .messages.filter(({ ephemeral, channel, byBot }) => byBot && (ephemeral || channel[0] === 'D'))
    .map(({ channel, ts, text, ephemeral }) => ({ channel, ts, text, ephemeral }));
}

/** Ends the waits before a notice until the user sees it. */
async function noticed({ sandbox }: Pick<Paced, 'sandbox'>, user: string, notice = CHECKING) {
  const texts = () => {
    sandbox.elapse(8_000);
    return privateOf(sandbox, user).map(({ text }) => text);
  };
  await expect.poll(texts).toContain(notice);
  return sandbox.privateMessage(user, notice);
}

type Paced = Awaited<ReturnType<typeof startPaced>>;

test('a slow approval shows a notice to the user who pressed, then its result', async () => {
  const paced = await startPaced();
  const { sandbox, card, answer } = paced;
  await sandbox.press(BEN, card, 'change.approve');
  expect(await noticed(paced, BEN)).toMatchObject({ channel: card.channel, ephemeral: true });
  expect(privateOf(sandbox, ANA).map(({ text }) => text)).not.toContain(CHECKING);
  answer();
  const result = await sandbox.privateMessage(BEN, 'Approved: “stop finance” (');
  expect(result).toMatchObject({ channel: card.channel, ephemeral: true });
  expect(privateOf(sandbox, BEN)).toHaveLength(2);
});

test('a slow request of approval replaces its preview and the notice in a direct message', async () => {
  const paced = await startPaced(async ({ slack, privateMessage }) => {
    await slack.openHome({ as: ANA });
    await slack.command(ANA, DIRECT, '/service stop staging for the night');
    await privateMessage(ANA, 'Stop staging?');
  });
  const { sandbox, answer } = paced;
  const preview = await sandbox.privateMessage(ANA, 'Stop staging?');
  // A membership that was read before the press does not count for it.
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 1_000);
  await sandbox.press(ANA, preview, 'change.confirm');
  const notice = await noticed(paced, ANA);
  answer();
  await sandbox.privateMessage(ANA, 'Sent to #db-approvals');
  await sandbox.privateMessage(ANA, 'Requested: “stop staging” (');
  const direct = privateOf(sandbox, ANA).filter(({ channel }) => channel === DIRECT);
  expect(direct.map(({ ts }) => ts)).toEqual([preview?.ts, notice?.ts]);
  expect(direct.map(({ text }) => text).join()).not.toContain(CHECKING);
});

/** The lookups of people fail for these minutes after a press on Approve. */
async function failingFor(
  minutes: number,
  { restarts, log }: { readonly restarts: boolean; readonly log?: Logger },
) {
  const sandbox = await startTestSandbox({
    databaseUrl: await emptyUrl('sqlite'),
    ...(log && { log }),
  });
  const { slack, clock } = sandbox;
  const card = await requestChange(sandbox);
  // No cached lookup is recent enough to answer with.
  clock.now = new Date(clock.now.getTime() + CACHED_MS);
  const begun = clock.now.getTime();
  slack.failNext({ method: 'users.info', times: 1_000_000, how: 'server-error' });
  await sandbox.press(BEN, card, 'change.approve');
  const passing = timeInSteps(sandbox, 30_000);
  const end = begun + (restarts ? minutes / 2 : minutes) * 60_000;
  await expect.poll(() => passing() && clock.now.getTime() > end).toBe(true);
  if (restarts) {
    await sandbox.down();
    clock.now = new Date(begun + minutes * 60_000);
    slack.clearFaults();
    await sandbox.restart();
  }
  const direct = () => privateOf(sandbox, BEN).filter(({ channel }) => channel[0] === 'D');
  const pass = timeInSteps(sandbox, 5_000);
  const told = () => {
    pass();
    return direct()
      .map(({ text }) => text)
      .join();
  };
  return { sandbox, told };
}

test('a press during an outage of 15 min and a stop sends nothing afterwards', async () => {
  const { sandbox, told } = await failingFor(20, { restarts: true });
  await expect
    .poll(told)
    .toContain('did not count. Signalbox could not handle this press within 15 minutes');
  expect(sandbox.cloud.count('set state')).toBe(0);
});

test.for([2, 14])(
  'a press whose lookups fail for %i min counts, also after a restart',
  async (minutes) => {
    const { sandbox, told } = await failingFor(minutes, { restarts: true });
    await expect.poll(told).toContain('is recorded only now');
    await sandbox.card('staging is stopping');
    expect(sandbox.cloud.count('set state')).toBe(1);
  },
);

test('lookups that fail for minutes have one line in the log, and one at their end', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info' }, { write: (line) => lines.push(line) });
  const { sandbox, told } = await failingFor(3, { restarts: false, log });
  sandbox.slack.clearFaults();
  await expect.poll(told).toContain('recorded only now');
  const about = lines.filter((line) => line.includes('lookups of people in Slack'));
  expect(about.map((line) => JSON.parse(line).msg)).toEqual([
    'lookups of people in Slack fail: what needs them waits',
    'lookups of people in Slack succeed again',
  ]);
});

test('who is known from a minute before does not end an outage of the lookups in the log', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info' }, { write: (line) => lines.push(line) });
  const { slack, ask, pass } = await startTestSandbox({ log });
  const outages = () => lines.filter((line) => line.includes('lookups of people in Slack')).length;
  pass(61_000);
  await ask(ANA, '/service list', 'Services');
  slack.failNext({ method: 'users.info', times: 1_000, how: 'server-error' });
  for (const _ of [1, 2]) {
    await ask(BEN, '/service list', 'lookup');
    await ask(ANA, '/service list', 'Services');
  }
  expect(outages()).toBe(1);
  slack.clearFaults();
  pass(61_000);
  await ask(BEN, '/service list', 'Services');
  expect(outages()).toBe(2);
});

test('a press whose lookups fail for 16 min ends, and its end reaches the person', async () => {
  const { sandbox, told } = await failingFor(16, { restarts: false });
  await expect.poll(told).toContain('did not count. Slack did not answer the membership lookup');
  expect(await eventsIn(sandbox.config.databaseUrl.reveal(), 'approved')).toEqual([]);
  expect(sandbox.cloud.count('set state')).toBe(0);
});

async function startWithForm() {
  const paced = await startPaced(async (sandbox) => {
    await sandbox.slack.command(ANA, 'ops', '/service scale staging');
    await sandbox.modal(ANA, 'service.scale');
  });
  return { ...paced, form: await paced.sandbox.modal(ANA, 'service.scale') };
}

/** A submission whose acknowledgement waits for Slack, at most 2 s. */
async function submitSlowly(
  paced: Awaited<ReturnType<typeof startWithForm>>,
  values: Readonly<Record<string, string>>,
) {
  const { sandbox, form } = paced;
  const inputs = Object.entries(values).map(([name, value]) => {
    return [name, { [name]: { type: 'plain_text_input', value } }];
  });
  const submitted = sandbox.slack.submit(ANA, form, Object.fromEntries(inputs));
  let isAcknowledged = false;
  void submitted.then(() => {
    isAcknowledged = true;
  });
  const elapsed = () => {
    if (!isAcknowledged) sandbox.elapse(2_000);
    return isAcknowledged;
  };
  await expect.poll(elapsed).toBe(true);
  expect(await submitted).toMatchObject({ error: null });
  await noticed(paced, ANA, 'Preparing the answer…');
  expect(sandbox.slack.clientState(ANA).views).toEqual([]);
  paced.answer();
}

test('a form is acknowledged in time although Slack is slow, and its answer follows', async () => {
  const paced = await startWithForm();
  await submitSlowly(paced, { maxReplicaMemoryGb: '64', reason: 'more load' });
  const preview = await paced.sandbox.privateMessage(ANA, 'Scale staging?');
  expect(preview && textOf(preview)).toContain('more load');
});

test('a form with a problem that was found late is offered again with its values', async () => {
  const paced = await startWithForm();
  const { sandbox } = paced;
  await submitSlowly(paced, { reason: 'more load' });
  const problem = await sandbox.privateMessage(ANA, 'set at least one field to change');
  await sandbox.press(ANA, problem, 'command.0');
  await sandbox.modal(ANA, 'service.scale');
  expect(JSON.stringify(sandbox.slack.clientState(ANA).views)).toContain('more load');
});

test('a form that cannot open in time is explained', async () => {
  const paced = await startPaced();
  const { sandbox, card, answer } = paced;
  await sandbox.press(BEN, card, 'change.reject');
  await noticed(paced, BEN, 'Preparing the answer…');
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 4_000);
  answer();
  await sandbox.privateMessage(BEN, 'Slack did not open the form within 3 s.');
});
