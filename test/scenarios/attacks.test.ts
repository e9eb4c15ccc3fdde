import { expect, test } from 'vitest';
import { copyDatabase } from '../harness/copies.ts';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import { eventsIn } from '../harness/read-log.ts';
import { NO_MESSAGE, requestChange, STAGING, setTime, waitUntilIdle } from '../harness/requests.ts';
import { tamperAt } from '../harness/tamper.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO } from '../harness/users.ts';
import { ENGINES, type Engine, emptyUrl, onEngines } from '../storage/engines.ts';

/**
 * A sandbox whose database an attacker owns: without the key, but with copies of it. What a copy and a deletion do to
 * the log is tested on both engines; what follows from it is the same on each.
 */
async function attackable(engine: Engine = 'sqlite') {
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

/** A change that two people saw executed. */
async function executed(sandbox: TestSandbox) {
  const card = await requestChange(sandbox);
  return { card, run: () => approveAndRun(sandbox, card) };
}

async function approveAndRun(sandbox: TestSandbox, card: { readonly ts: string }): Promise<void> {
  await sandbox.press(BEN, { channel: 'C0APPROVALS', ...card }, 'change.approve');
  await sandbox.card('staging is stopping');
  await waitUntilIdle(sandbox);
  expect(sends(sandbox)).toBe(1);
}

const auditText = ({ slack }: TestSandbox) => slack.messages('db-audit').map(textOf).join('\n');

onEngines(
  'a copy from before the claim sends nothing again, and the card says so',
  async (engine) => {
    const { sandbox, copy } = await attackable(engine);
    const { card, run } = await executed(sandbox);
    const putBack = await copy();
    await run();
    await putBack();
    await sandbox.restart();
    const stale = await sandbox.card('the database was restored');
    expect(stale?.ts).toBe(card.ts);
    await approveAgain(sandbox);
    await letTimePass(sandbox);
    expect(sends(sandbox)).toBe(1);
    await expect.poll(() => auditText(sandbox)).toContain('The database went back');
  },
);

test('a copy from before the card of a change draws the card as lost', async () => {
  const { sandbox, copy } = await attackable();
  const putBack = await copy();
  const { card, run } = await executed(sandbox);
  await run();
  await putBack();
  await sandbox.restart();
  const shown = () => sandbox.slack.messages('db-approvals').find(({ ts }) => ts === card.ts);
  await expect.poll(() => textOf(shown() ?? NO_MESSAGE)).toContain('lost');
  await approveAgain(sandbox);
  await letTimePass(sandbox);
  expect(sends(sandbox)).toBe(1);
});

test('a copy from before a cancellation does not run what people saw cancelled', async () => {
  const { sandbox, copy } = await attackable();
  const card = await requestChange(sandbox);
  const putBack = await copy();
  await sandbox.press(ANA, card, 'change.cancel');
  await sandbox.card('cancelled');
  await waitUntilIdle(sandbox);
  await putBack();
  await sandbox.restart();
  await sandbox.card('the database was restored');
  await approveAgain(sandbox);
  await letTimePass(sandbox);
  expect(sends(sandbox)).toBe(0);
});

test.for(['server-error', 'rate-limited'] as const)(
  'a copy whose start meets a Slack that does not answer sends nothing (%s)',
  async (how) => {
    const { sandbox, copy } = await attackable();
    const card = await requestChange(sandbox, ANA, SCHEDULED);
    await sandbox.press(BEN, card, 'change.approve');
    await sandbox.card('Stop staging: approved');
    const putBack = await copy();
    await letTimePass(sandbox, 31);
    await sandbox.card('staging is stopping');
    await waitUntilIdle(sandbox);
    await putBack();
    for (const method of ['conversations.history', 'conversations.replies'])
      sandbox.slack.failNext({ method, times: 10_000, how });
    await sandbox.restart();
    await letTimePass(sandbox, 10);
    expect(sends(sandbox)).toBe(1);
    // The older state is not drawn over what people saw.
    await sandbox.card('staging is stopping');
    sandbox.slack.clearFaults();
    await letTimePass(sandbox, 10);
    await sandbox.card('the database was restored');
    expect(sends(sandbox)).toBe(1);
  },
);

test('a copy is recognised when members wrote 2,000 messages after the card', async () => {
  const { sandbox, copy } = await attackable();
  const { run } = await executed(sandbox);
  const putBack = await copy();
  await run();
  for (let count = 0; count < 2_000; count += 1)
    await sandbox.slack.sendMessage({ as: BEN, channel: 'C0APPROVALS', text: `Message ${count}` });
  await putBack();
  await sandbox.restart();
  await sandbox.card('the database was restored');
  await approveAgain(sandbox);
  await letTimePass(sandbox);
  expect(sends(sandbox)).toBe(1);
});

test('a copy from before the claim, whose card a person deletes, sends nothing again', async () => {
  const { sandbox, copy } = await attackable();
  const { card, run } = await executed(sandbox);
  const putBack = await copy();
  await run();
  await putBack();
  sandbox.slack.admin.deleteMessage('db-approvals', card.ts);
  await sandbox.restart();
  await letTimePass(sandbox);
  await approveAgain(sandbox);
  await letTimePass(sandbox);
  expect(sends(sandbox)).toBe(1);
});

test('a copy from before a revert does not send the revert again', async () => {
  const { sandbox, copy } = await attackable();
  const line = '/service stop staging for=30m for the night';
  await approveAndRun(sandbox, await requestChange(sandbox, ANA, line));
  const putBack = await copy();
  await letTimePass(sandbox, 31);
  await sandbox.card('staging is starting');
  await waitUntilIdle(sandbox);
  expect(sends(sandbox)).toBe(2);
  await putBack();
  await sandbox.restart();
  await letTimePass(sandbox, 31);
  expect(sends(sandbox)).toBe(2);
});

const CLOSED = { error: 'edit_window_closed' };

test.for(['the card of its schedule', 'all replies below it', 'the card that the copy lacks'])(
  'a copy from before the run of a schedule sends it not again after a person deletes %s',
  async (what) => {
    const { sandbox, copy } = await attackable();
    const times = 'stop="weekdays 20:00" start="weekdays 07:00" zone=Europe/Berlin';
    const preview = await sandbox.ask(
      ANA,
      `/service schedule staging ${times} nights`,
      'Schedule staging?',
    );
    const ofDraft = what === 'the card that the copy lacks' ? await copy() : null;
    await sandbox.press(ANA, preview, 'change.confirm');
    await sandbox.press(BEN, await sandbox.card('requests: schedule staging'), 'change.approve');
    const card = await sandbox.card('staging is scheduled');
    await waitUntilIdle(sandbox);
    const putBack = ofDraft ?? (await copy());
    // The card stays as it was before the run: its run stands in its thread alone.
    sandbox.slack.failNext({ method: 'chat.update', how: CLOSED, times: 1_000 });
    setTime(sandbox, '19:00');
    await expect.poll(() => writes(sandbox)).toBe(1);
    await expect.poll(() => auditText(sandbox)).toContain('staging is stopping');
    await waitUntilIdle(sandbox);
    await putBack();
    sandbox.slack.clearFaults();
    if (what !== 'all replies below it')
      sandbox.slack.admin.deleteMessage('db-approvals', card?.ts ?? '');
    else {
      for (const { ts, threadTs } of sandbox.slack.messages('db-approvals'))
        if (threadTs === card?.ts) sandbox.slack.admin.deleteMessage('db-approvals', ts);
    }
    await sandbox.restart();
    await letTimePass(sandbox, 30);
    expect(writes(sandbox)).toBe(1);
    // Without the card in the log the schedule is not in force, and the audit lines end its draft.
    const told = ofDraft ? 'What was open of it has ended' : 'schedule of staging';
    await sandbox.card(told, 'db-audit');
  },
);

test.for([
  ['Remove', 'Schedule of staging is removed'],
  ['Pause', 'Schedule of staging is paused'],
] as const)(
  'a copy from before a schedule ends or pauses runs nothing of it: %s',
  async ([act, done]) => {
    const { sandbox, copy } = await attackable();
    const approve = async (title: string, line: string) => {
      await sandbox.confirm(ANA, line, `${title}?`);
      const [first = '', ...rest] = title;
      const card = await sandbox.card(`requests: ${first.toLowerCase()}${rest.join('')}`);
      await sandbox.press(BEN, card, 'change.approve');
    };
    const times = 'stop="weekdays 20:00" start="weekdays 07:00" zone=Europe/Berlin';
    await approve('Schedule staging', `/service schedule staging ${times} nights`);
    await sandbox.card('staging is scheduled');
    const putBack = await copy();
    await approve(`${act} schedule of staging`, `/service schedule ${act.toLowerCase()} staging`);
    await sandbox.card(done);
    await waitUntilIdle(sandbox);
    await putBack();
    await sandbox.restart();
    await letTimePass(sandbox);
    setTime(sandbox, '19:00');
    await letTimePass(sandbox, 30);
    expect(sends(sandbox)).toBe(0);
  },
);

test('a copy from before a freeze sends nothing that the freeze stops', async () => {
  const { sandbox, copy } = await attackable();
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
});

async function freezeStaging(sandbox: TestSandbox): Promise<void> {
  await sandbox.confirm(
    ANA,
    '/change freeze tag=staging until=4h launch',
    'Freeze everything tagged staging?',
  );
  const card = await sandbox.card('requests: freeze everything tagged staging');
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('everything tagged staging is frozen');
  await waitUntilIdle(sandbox);
}

const CREATE =
  '/service create "new one" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=32 for a test';

/** What people saw, the first event of it, and what the view said before. */
const DONE: readonly (readonly [
  string,
  (sandbox: TestSandbox) => Promise<void>,
  string,
  'approved' | 'pending',
])[] = [
  [
    'an executed change',
    async (sandbox) => (await executed(sandbox)).run(),
    `type = 'claimed'`,
    'approved',
  ],
  [
    'a creation',
    async (sandbox) => {
      await sandbox.confirm(ANA, CREATE, 'Create service new one?');
      const card = await sandbox.card('requests: create service new one');
      await sandbox.press(BEN, card, 'change.approve');
      await sandbox.card('is being created');
    },
    `type = 'claimed'`,
    'approved',
  ],
  [
    'a cancelled change',
    async (sandbox) => {
      await sandbox.press(ANA, await requestChange(sandbox), 'change.cancel');
      await sandbox.card('cancelled');
    },
    `body like '%"cancel"%'`,
    'pending',
  ],
  [
    'a rejected change',
    async (sandbox) => {
      await sandbox.press(BEN, await requestChange(sandbox), 'change.reject');
      const view = await sandbox.modal(BEN, 'change.reject');
      await sandbox.slack.submit(BEN, view, { reason: { reason: { type: 'text', value: 'no' } } });
      await sandbox.card('rejected');
    },
    `body like '%"reject"%'`,
    'pending',
  ],
];

test.for(
  DONE.flatMap(([what, ...done]) => [
    [what, 'while the bot is down', ...done] as const,
    [what, 'under the running bot', ...done] as const,
  ]),
)(
  'the last events of %s are deleted %s, with the view set back',
  async ([, when, act, first, state]) => {
    const { sandbox, tamper } = await attackable();
    await act(sandbox);
    await waitUntilIdle(sandbox);
    const sent = writes(sandbox);
    if (when === 'while the bot is down') await sandbox.down();
    await tamper(
      `delete from event where seq >= (select min(seq) from event where ${first})`,
      `update change_view set state = '${state}', is_open = 1, ended_at = null, sent_at = null`,
      'delete from job',
      RUN_ALL,
    );
    if (when === 'while the bot is down') await sandbox.restart();
    else await letTimePass(sandbox, 1);
    await sandbox.card('the database was restored');
    await approveAgain(sandbox);
    await letTimePass(sandbox);
    expect(writes(sandbox)).toBe(sent);
  },
);

onEngines('events in the middle are deleted: nothing starts', async (engine) => {
  const { sandbox, tamper } = await attackable(engine);
  await (await executed(sandbox)).run();
  await sandbox.down();
  await tamper(`delete from event where type = 'claimed'`);
  const refused = await sandbox.refusedRestart();
  expect(refused?.problems[0]?.problem).toContain('The log is damaged');
  expect(refused?.lasting).toBe(true);
});

test('the lock of a target with an unknown outcome is deleted: nothing is sent', async () => {
  const { sandbox, tamper } = await attackable();
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
});

const NEW_EVENT = 'insert into event select seq + 1, stream, version + 1';
const REPLACE = 'update event set body = replace(body,';

test.for([
  [
    'an approval without a signature',
    `${NEW_EVENT}, 'approved', at, '{"by":"${BEN}","digest":"x"}', body_hash, hash, 'forged', key, signature
      from event order by seq desc limit 1`,
  ],
  [
    'a press without a signature',
    `${NEW_EVENT}, 'pressed', at, '{"verb":"approve","by":"${BEN}"}', body_hash, hash, 'forged', key, signature
      from event order by seq desc limit 1`,
  ],
  ['a smaller number of approvals', `${REPLACE} '"count":1', '"count":0') where type = 'drafted'`],
  ['another target', `${REPLACE} '${STAGING}', '${STAGING.replace('1', '2')}')`],
  ['an earlier time', `${REPLACE} 'T12:30', 'T12:00') where type = 'drafted'`],
  ['an older configuration', `${REPLACE} '"configuration":"', '"configuration":"0')`],
  ['another channel id', `${REPLACE} 'C0APPROVALS', 'C0GENERAL01')`],
  ['another group id', `${REPLACE} 'S0', 'S1')`],
  ['no drafted event', `delete from event where type = 'drafted'`],
  ['no confirmed event', `delete from event where type = 'confirmed'`],
  ['an earlier time of its job', `update job set due_at = 0`],
  ['another state in the view', `update change_view set state = 'approved'`],
] as const)('%s in the database sends nothing', async ([, statement]) => {
  const { sandbox, tamper } = await attackable();
  const scheduled = await requestChange(sandbox, ANA, SCHEDULED);
  await sandbox.press(BEN, scheduled, 'change.approve');
  await sandbox.card('Stop staging: approved');
  await requestChange(sandbox, ANA, '/service stop staging now');
  await waitUntilIdle(sandbox);
  await tamper(statement, RUN_ALL);
  await letTimePass(sandbox);
  expect(sends(sandbox)).toBe(0);
  // A start on it is refused, or sends nothing either.
  if (await sandbox.refusedRestart()) return;
  await letTimePass(sandbox);
  expect(sends(sandbox)).toBe(0);
});

test('a press that was answered and whose job is inserted again counts once', async () => {
  const { sandbox, tamper, databaseUrl } = await attackable();
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
});

const FREEZE_ROWS = 'seq >= (select min(seq) from approved)';
const OUTSIDE = {
  sqlite: 'pragma ignore_check_constraints = on',
  postgres: 'alter table event drop constraint event_seq_check',
};

test.for(
  ENGINES.flatMap((engine) => [
    {
      ...{ engine, how: 'deleted' },
      statements: [`delete from event where stream like 'freeze/%'`],
    },
    {
      ...{ engine, how: 'moved outside of the chain' },
      statements: [
        `create table approved as select seq from event where type = 'created'`,
        `create table hidden as select * from event where ${FREEZE_ROWS}`,
        `delete from event where ${FREEZE_ROWS}`,
        'update hidden set seq = -seq',
        OUTSIDE[engine],
        'insert into event select * from hidden',
      ],
    },
  ]),
)(
  'nothing is sent when a freeze is $how under the running bot on $engine',
  async ({ engine, statements }) => {
    const { sandbox, tamper } = await attackable(engine);
    const scheduled = await requestChange(sandbox, ANA, SCHEDULED);
    await sandbox.press(BEN, scheduled, 'change.approve');
    await sandbox.card('Stop staging: approved');
    await freezeStaging(sandbox);
    await tamper(...statements, RUN_ALL);
    await letTimePass(sandbox, 31);
    expect(sends(sandbox)).toBe(0);
  },
);

test('a schedule that is hidden for a while and put back runs nothing twice', async () => {
  const { sandbox, tamper } = await attackable();
  const times = 'stop="weekdays 20:00" start="weekdays 07:00" zone=Europe/Berlin';
  await sandbox.confirm(ANA, `/service schedule staging ${times} nights`, 'Schedule staging?');
  await sandbox.press(BEN, await sandbox.card('requests: schedule staging'), 'change.approve');
  await sandbox.card('staging is scheduled');
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
});

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
