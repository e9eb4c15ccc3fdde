import { expect, test } from 'vitest';
import { copyDatabase } from '../harness/copies.ts';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import { eventsIn } from '../harness/read-log.ts';
import {
  cardAfterRetries,
  NO_MESSAGE,
  requestChange,
  requested,
  STAGING,
  setTime,
  waitUntilIdle,
} from '../harness/requests.ts';
import { tamperAt } from '../harness/tamper.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO } from '../harness/users.ts';
import { ANY_NUMBER } from '../log/logs.ts';
import { ENGINES, type Engine, emptyUrl } from '../storage/engines.ts';

/** A sandbox whose database an attacker owns: without the key, but with copies of it. */
async function attackable(engine: Engine) {
  const databaseUrl = await emptyUrl(engine);
  const sandbox = await startTestSandbox({ databaseUrl });
  return {
    sandbox,
    databaseUrl,
    tamper: (...statements: readonly string[]) => tamperAt(databaseUrl, ...statements),
    /** Copies the database. The result puts the copy back; the start after it follows with `restart`. */
    copy: async () => {
      await sandbox.down();
      const putBack = await copyDatabase(databaseUrl);
      await sandbox.restart();
      return async () => {
        await sandbox.down();
        await putBack();
      };
    },
  };
}

const sends = ({ cloud }: TestSandbox) => cloud.effectCount('set state', STAGING);
const writes = ({ cloud }: TestSandbox) => cloud.count('set state') + cloud.count('create service');
const RUN_ALL = `insert into job (kind, key, due_at, since) select 'run', id, 0, 0 from change_view
  where true on conflict do nothing`;
const SCHEDULED = '/service stop staging in=30m for the night';

/** Lets everything happen that would happen in these minutes. */
async function letTimePass(sandbox: TestSandbox, minutes = 3): Promise<void> {
  const pass = timeInSteps(sandbox, (minutes * 60_000) / 6);
  for (let steps = 0; steps < 7; steps += 1) await expect.poll(pass).toBe(true);
}

/** Presses Approve wherever a button stands. */
async function approveAgain(sandbox: TestSandbox): Promise<void> {
  for (const card of sandbox.slack.messages('db-approvals')) {
    if (!buttonsOf(card).includes('change.approve')) continue;
    for (const user of [BEN, CLEO]) await sandbox.press(user, card, 'change.approve');
  }
}

/** Requests a stop of a service. */
const stop = (sandbox: TestSandbox, service = 'staging') =>
  requestChange(sandbox, ANA, `/service stop ${service} for the night`);

async function approveAndRun(sandbox: TestSandbox, card: { readonly ts: string }): Promise<void> {
  await sandbox.press(BEN, { channel: 'C0APPROVALS', ...card }, 'change.approve');
  await sandbox.card('staging is stopping');
  await waitUntilIdle(sandbox);
  expect(sends(sandbox)).toBe(1);
}

const auditText = ({ slack }: TestSandbox) => slack.messages('db-audit').map(textOf).join('\n');

test.for(ENGINES)(
  'a copy from before the claim, from before a cancellation and from before a card sends nothing again on %s',
  async (engine) => {
    const { sandbox, copy } = await attackable(engine);
    const claimed = await stop(sandbox);
    const cancelled = await stop(sandbox, 'analytics-dev');
    const deleted = await stop(sandbox, 'ml-features');
    const putBack = await copy();
    const lacking = await stop(sandbox, 'ci');
    await sandbox.press(ANA, cancelled, 'change.cancel');
    await sandbox.card('Stop analytics-dev: cancelled');
    for (const card of [claimed, deleted, lacking])
      await sandbox.press(BEN, card, 'change.approve');
    for (const service of ['staging', 'ml-features', 'ci'])
      await sandbox.card(`${service} is stopping`);
    await waitUntilIdle(sandbox);
    expect(writes(sandbox)).toBe(3);
    await putBack();
    // A person deletes this card: only the audit channel shows its execution.
    sandbox.slack.admin.deleteMessage('db-approvals', deleted.ts);
    await sandbox.restart();
    const shown = (card: { readonly ts: string }) =>
      textOf(sandbox.slack.messages('db-approvals').find(({ ts }) => ts === card.ts) ?? NO_MESSAGE);
    await expect.poll(() => shown(claimed)).toContain('the database was restored');
    await expect.poll(() => shown(cancelled)).toContain('the database was restored');
    await expect.poll(() => shown(lacking)).toContain('lost');
    await approveAgain(sandbox);
    await letTimePass(sandbox);
    await approveAgain(sandbox);
    await letTimePass(sandbox);
    expect(writes(sandbox)).toBe(3);
    await expect.poll(() => auditText(sandbox)).toContain('The database went back');
    // What people request from now on runs.
    await sandbox.press(BEN, await stop(sandbox, 'load-test'), 'change.approve');
    await sandbox.card('load-test is stopping');
  },
);

test.for(ENGINES)(
  'a copy whose start meets a Slack that does not answer sends nothing on %s',
  async (engine) => {
    const { sandbox, copy } = await attackable(engine);
    const card = await requestChange(sandbox, ANA, SCHEDULED);
    await sandbox.press(BEN, card, 'change.approve');
    await sandbox.card('Stop staging: approved');
    const putBack = await copy();
    await letTimePass(sandbox, 31);
    await cardAfterRetries(sandbox, 'staging is stopping');
    await waitUntilIdle(sandbox);
    await putBack();
    for (const how of ['server-error', 'rate-limited'] as const) {
      sandbox.slack.clearFaults();
      for (const method of ['conversations.history', 'conversations.replies'])
        sandbox.slack.failNext({ method, times: 10_000, how });
      await sandbox.restart();
      await letTimePass(sandbox, 10);
      expect(sends(sandbox), how).toBe(1);
      // The older state is not drawn over what people saw.
      await sandbox.card('staging is stopping');
    }
    sandbox.slack.clearFaults();
    await letTimePass(sandbox, 10);
    await sandbox.card('the database was restored');
    expect(sends(sandbox)).toBe(1);
  },
);

test('a copy is recognised when members wrote 2,000 messages after the card', async () => {
  const { sandbox, copy } = await attackable('sqlite');
  const card = await stop(sandbox);
  const putBack = await copy();
  await approveAndRun(sandbox, card);
  for (let count = 0; count < 2_000; count += 1)
    await sandbox.slack.sendMessage({ as: BEN, channel: 'C0APPROVALS', text: `Message ${count}` });
  await putBack();
  await sandbox.restart();
  await sandbox.card('the database was restored');
  await approveAgain(sandbox);
  await letTimePass(sandbox);
  expect(sends(sandbox)).toBe(1);
});

test.for(ENGINES)(
  'a copy from before a revert does not send the revert again on %s',
  async (engine) => {
    const { sandbox, copy } = await attackable(engine);
    const line = '/service stop staging for=30m for the night';
    await approveAndRun(sandbox, await requestChange(sandbox, ANA, line));
    const putBack = await copy();
    await letTimePass(sandbox, 31);
    await cardAfterRetries(sandbox, 'staging is starting');
    await waitUntilIdle(sandbox);
    expect(sends(sandbox)).toBe(2);
    await putBack();
    await sandbox.restart();
    await letTimePass(sandbox, 31);
    expect(sends(sandbox)).toBe(2);
  },
);

const TIMES = 'stop="weekdays 20:00" start="weekdays 07:00" zone=Europe/Berlin';

/** Requests a change of a schedule with this title, and approves it. */
async function approved(sandbox: TestSandbox, line: string, title: string): Promise<void> {
  await sandbox.confirm(ANA, line, `${title}?`);
  await sandbox.press(BEN, await sandbox.card(requested(title)), 'change.approve');
}

/** Puts a schedule in force, and returns its card. */
async function scheduled(sandbox: TestSandbox, service: string) {
  const line = `/service schedule ${service} ${TIMES} nights`;
  await approved(sandbox, line, `Schedule ${service}`);
  return sandbox.card(`${service} is scheduled`);
}

const CLOSED = { error: 'edit_window_closed' };

test.for(ENGINES)(
  'a copy from before the runs of schedules sends them not again after a person deletes cards or replies, on %s',
  async (engine) => {
    const { sandbox, copy } = await attackable(engine);
    const { slack } = sandbox;
    const withoutCard = await scheduled(sandbox, 'analytics-dev');
    const withoutReplies = await scheduled(sandbox, 'ml-features');
    await slack.command(ANA, 'ops', `/service schedule staging ${TIMES} nights`);
    const preview = await sandbox.privateMessage(ANA, 'Schedule staging?');
    const putBack = await copy();
    await sandbox.press(ANA, preview, 'change.confirm');
    await sandbox.press(BEN, await sandbox.card('requests: schedule staging'), 'change.approve');
    const lacking = await sandbox.card('staging is scheduled');
    await waitUntilIdle(sandbox);
    // The cards stay as they were before the runs: each run stands in its thread alone.
    slack.failNext({ method: 'chat.update', how: CLOSED, times: 1_000 });
    setTime(sandbox, '19:00');
    await expect.poll(() => writes(sandbox)).toBe(3);
    for (const service of ['analytics-dev', 'ml-features', 'staging'])
      await expect.poll(() => auditText(sandbox)).toContain(`${service} is stopping`);
    await waitUntilIdle(sandbox);
    await putBack();
    slack.clearFaults();
    for (const card of [withoutCard, lacking]) slack.admin.deleteMessage('db-approvals', card.ts);
    for (const { ts, threadTs } of slack.messages('db-approvals'))
      if (threadTs === withoutReplies.ts) slack.admin.deleteMessage('db-approvals', ts);
    await sandbox.restart();
    await letTimePass(sandbox, 30);
    expect(writes(sandbox)).toBe(3);
    for (const service of ['analytics-dev', 'ml-features'])
      await sandbox.card(`schedule of ${service}`, 'db-audit');
    // Without the card in the log the schedule is not in force, and the audit lines end its draft.
    await sandbox.card('What was open of it has ended', 'db-audit');
  },
);

test.for(ENGINES)(
  'a copy from before a schedule ends and another one pauses runs nothing of them on %s',
  async (engine) => {
    const { sandbox, copy } = await attackable(engine);
    for (const service of ['staging', 'analytics-dev']) await scheduled(sandbox, service);
    const putBack = await copy();
    const remove = 'Remove schedule of staging';
    await approved(sandbox, '/service schedule remove staging', remove);
    await sandbox.card('Schedule of staging is removed');
    const pause = 'Pause schedule of analytics-dev';
    await approved(sandbox, '/service schedule pause analytics-dev', pause);
    await sandbox.card('Schedule of analytics-dev is paused');
    await waitUntilIdle(sandbox);
    await putBack();
    await sandbox.restart();
    await letTimePass(sandbox);
    setTime(sandbox, '19:00');
    await letTimePass(sandbox, 30);
    expect(writes(sandbox)).toBe(0);
  },
);

test.for(ENGINES)(
  'a copy from before a freeze sends nothing that the freeze stops on %s',
  async (engine) => {
    const { sandbox, copy } = await attackable(engine);
    await sandbox.press(BEN, await requestChange(sandbox, ANA, SCHEDULED), 'change.approve');
    await sandbox.card('Stop staging: approved');
    const putBack = await copy();
    await freezeStaging(sandbox);
    await putBack();
    await sandbox.restart();
    await letTimePass(sandbox, 31);
    expect(sends(sandbox)).toBe(0);
    await sandbox.card('Stop staging: approved');
    // A person decides that the freeze has ended: then the change runs.
    const notice = await sandbox.card('The database lost the freeze', 'db-audit');
    await sandbox.press(ANA, notice, 'command.1');
    await sandbox.press(ANA, await sandbox.privateMessage(ANA, 'Unfreeze'), 'change.confirm');
    await sandbox.press(BEN, await sandbox.card('requests: unfreeze'), 'change.approve');
    await sandbox.card('was lost');
    await letTimePass(sandbox, 1);
    await expect.poll(() => sends(sandbox)).toBe(1);
  },
);

async function freezeStaging(sandbox: TestSandbox): Promise<void> {
  await sandbox.slack.command(ANA, 'ops', '/change freeze tag=staging until=4h launch');
  const preview = await sandbox.privateMessage(ANA, 'Freeze everything tagged staging?');
  await sandbox.press(ANA, preview, 'change.confirm');
  const card = await sandbox.card('requests: freeze everything tagged staging');
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('everything tagged staging is frozen');
  await waitUntilIdle(sandbox);
}

const CREATE =
  '/service create "new one" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=32 for a test';

test.for(
  ENGINES.flatMap((engine) => [
    ['while the bot is down', engine] as const,
    ['under the running bot', engine] as const,
  ]),
)(
  'the last events of an executed, a cancelled and a rejected change and of a creation are deleted %s, with the view set back, on %s',
  async ([when, engine]) => {
    const { sandbox, tamper } = await attackable(engine);
    const executed = await stop(sandbox);
    const cancelled = await stop(sandbox, 'analytics-dev');
    const rejected = await stop(sandbox, 'ml-features');
    await sandbox.confirm(ANA, CREATE, 'Create service new one?');
    const created = await sandbox.card('requests: create service new one');
    await approveAndRun(sandbox, executed);
    await sandbox.press(ANA, cancelled, 'change.cancel');
    await sandbox.card('Stop analytics-dev: cancelled');
    await sandbox.pressWithReason(BEN, rejected, 'change.reject', 'no');
    await sandbox.card('Stop ml-features: rejected');
    await sandbox.press(BEN, created, 'change.approve');
    await sandbox.card('is being created');
    await waitUntilIdle(sandbox);
    expect(writes(sandbox)).toBe(2);
    if (when === 'while the bot is down') await sandbox.down();
    await tamper(
      `delete from event where seq >= (select min(seq) from event where type = 'claimed')`,
      `update change_view set state = case when sent_at is null then 'pending' else 'approved' end,
        is_open = 1, ended_at = null, sent_at = null`,
      'delete from job',
      RUN_ALL,
    );
    if (when === 'while the bot is down') await sandbox.restart();
    else await letTimePass(sandbox, 1);
    for (const { ts } of [executed, cancelled, rejected, created]) {
      const card = () => sandbox.slack.messages('db-approvals').find((each) => each.ts === ts);
      await expect.poll(() => textOf(card() ?? NO_MESSAGE)).toContain('the database was restored');
    }
    await approveAgain(sandbox);
    await letTimePass(sandbox);
    expect(writes(sandbox)).toBe(2);
  },
);

test.for(ENGINES)('events in the middle are deleted: nothing starts on %s', async (engine) => {
  const { sandbox, tamper } = await attackable(engine);
  await approveAndRun(sandbox, await stop(sandbox));
  await sandbox.down();
  await tamper(`delete from event where type = 'claimed'`);
  const refused = await sandbox.refusedRestart();
  expect(refused?.problems[0]?.problem).toContain('The log is damaged');
  expect(refused?.lasting).toBe(true);
});

test.for(ENGINES)(
  'the lock of a target with an unknown outcome is deleted: nothing is sent on %s',
  async (engine) => {
    const { sandbox, tamper } = await attackable(engine);
    sandbox.cloud.injectFault({ operation: 'set state', fault: 'reset-after-effect', times: 1 });
    await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
    await sandbox.card('outcome unknown');
    const next = await requestChange(sandbox, ANA, '/service stop staging again');
    await waitUntilIdle(sandbox);
    const before = sandbox.cloud.count('set state');
    await tamper(`delete from event where stream like 'target/%'`, RUN_ALL);
    await sandbox.press(BEN, next, 'change.approve').catch(() => undefined);
    await letTimePass(sandbox);
    expect(sandbox.cloud.count('set state')).toBe(before);
  },
);

const NEW_EVENT = 'insert into event select seq + 1, stream, version + 1';
const REPLACE = 'update event set body = replace(body,';

const STATEMENTS: Readonly<Record<string, string>> = {
  'an approval without a signature': `${NEW_EVENT}, 'approved', at, '{"by":"${BEN}","digest":"x"}', body_hash, hash,
    'forged', key, signature from event order by seq desc limit 1`,
  'a press without a signature': `${NEW_EVENT}, 'pressed', at, '{"verb":"approve","by":"${BEN}"}', body_hash, hash,
    'forged', key, signature from event order by seq desc limit 1`,
  'a smaller number of approvals': `${REPLACE} '"count":1', '"count":0') where type = 'drafted'`,
  'another target': `${REPLACE} '${STAGING}', '${STAGING.replace('1', '2')}')`,
  'an earlier time': `${REPLACE} 'T12:30', 'T12:00') where type = 'drafted'`,
  'an older configuration': `${REPLACE} '"configuration":"', '"configuration":"0')`,
  'another channel id': `${REPLACE} 'C0APPROVALS', 'C0GENERAL01')`,
  'another group id': `${REPLACE} 'S0', 'S1')`,
  'no drafted event': `delete from event where type = 'drafted'`,
  'no confirmed event': `delete from event where type = 'confirmed'`,
  'an earlier time of its job': `update job set due_at = 0`,
  'another state in the view': `update change_view set state = 'approved'`,
};

test.for(ENGINES)('what an attacker writes in the database sends nothing on %s', async (engine) => {
  const { sandbox, tamper, copy } = await attackable(engine);
  const waiting = await requestChange(sandbox, ANA, SCHEDULED);
  await sandbox.press(BEN, waiting, 'change.approve');
  await sandbox.card('Stop staging: approved');
  await requestChange(sandbox, ANA, '/service stop staging now');
  const putBack = await copy();
  await waitUntilIdle(sandbox);
  const { now } = sandbox.clock;
  const cards = () => sandbox.slack.messages('db-approvals').map(textOf);
  const before = cards();
  for (const [what, statement] of Object.entries(STATEMENTS)) {
    await tamper(statement, RUN_ALL);
    await letTimePass(sandbox);
    expect(sends(sandbox), what).toBe(0);
    // A start on it is refused, or sends nothing either.
    if (!(await sandbox.refusedRestart())) await letTimePass(sandbox);
    expect(sends(sandbox), what).toBe(0);
    await putBack();
    sandbox.clock.now = now;
    await sandbox.restart();
    await waitUntilIdle(sandbox);
    // No attack left anything that would stop the next one.
    expect(cards(), what).toEqual(before);
  }
  // The last world still sends what was approved.
  await letTimePass(sandbox, 31);
  await cardAfterRetries(sandbox, 'staging is stopping');
  expect(sends(sandbox)).toBe(1);
});

test.for(ENGINES)(
  'a press that was answered and whose job is inserted again counts once on %s',
  async (engine) => {
    const { sandbox, tamper, databaseUrl } = await attackable(engine);
    const card = await requestChange(sandbox, ANA, '/service stop analytics-prod for the night');
    await sandbox.press(BEN, card, 'change.approve');
    await sandbox.card('1 of 2');
    await waitUntilIdle(sandbox);
    const press = `replace(stream, 'press/', '')`;
    await tamper(
      `insert into job (kind, key, due_at, since) select 'press', ${press}, 0, 0 from event where type = 'pressed'
      on conflict do nothing`,
    );
    await letTimePass(sandbox);
    expect(await eventsIn(databaseUrl, 'approved')).toHaveLength(1);
    expect(sandbox.cloud.count('set state')).toBe(0);
  },
);

const FREEZE_ROWS = 'seq >= (select min(seq) from approved)';

test.for(ENGINES)(
  'nothing is sent when a freeze is deleted or moved outside of the chain under the running bot on %s',
  async (engine) => {
    const { sandbox, tamper, copy } = await attackable(engine);
    const waiting = await requestChange(sandbox, ANA, SCHEDULED);
    await sandbox.press(BEN, waiting, 'change.approve');
    await sandbox.card('Stop staging: approved');
    await freezeStaging(sandbox);
    const putBack = await copy();
    const { now } = sandbox.clock;
    await tamper(`delete from event where stream like 'freeze/%'`, RUN_ALL);
    await letTimePass(sandbox, 31);
    expect(sends(sandbox), 'deleted').toBe(0);
    await putBack();
    sandbox.clock.now = now;
    await sandbox.restart();
    await waitUntilIdle(sandbox);
    await sandbox.card('everything tagged staging is frozen');
    await tamper(
      `create table approved as select seq from event where type = 'created'`,
      `create table hidden as select * from event where ${FREEZE_ROWS}`,
      `delete from event where ${FREEZE_ROWS}`,
      'update hidden set seq = -seq',
      ANY_NUMBER[engine],
      'insert into event select * from hidden',
      RUN_ALL,
    );
    await letTimePass(sandbox, 31);
    expect(sends(sandbox), 'moved outside of the chain').toBe(0);
  },
);

test.for(ENGINES)(
  'a schedule that is hidden for a while and put back runs nothing twice on %s',
  async (engine) => {
    const { sandbox, tamper } = await attackable(engine);
    await scheduled(sandbox, 'staging');
    await waitUntilIdle(sandbox);
    const rows = `stream like 'schedule/%'`;
    await tamper(
      `create table hidden as select * from event where ${rows}`,
      `delete from event where ${rows}`,
    );
    setTime(sandbox, '19:00');
    await letTimePass(sandbox, 30);
    expect(sends(sandbox)).toBe(0);
    await tamper('insert into event select * from hidden', 'drop table hidden');
    // A start on it is refused, or runs what the log has in force again.
    if (!(await sandbox.refusedRestart())) await letTimePass(sandbox, 40);
    expect(sandbox.cloud.count('set state')).toBeLessThanOrEqual(1);
  },
);

test('a replica with another key writes nothing and harms nothing', async () => {
  const { sandbox, databaseUrl } = await attackable('postgres');
  const card = await requestChange(sandbox);
  const before = await eventsIn(databaseUrl, 'started');
  for (const fill of [8, 9]) {
    sandbox.setEnv({ SIGNALBOX_KEY: Buffer.alloc(32, fill).toString('base64') });
    await expect(sandbox.replica()).rejects.toThrow('a key that this process does not have');
  }
  expect(await eventsIn(databaseUrl, 'started')).toEqual(before);
  await approveAndRun(sandbox, card);
  expect(auditText(sandbox)).not.toContain('modified');
});
