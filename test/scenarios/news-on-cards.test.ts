import { expect, test } from 'vitest';
import { buttonsOf, type Readable } from '../harness/messages.ts';
import { changeIdOf, NO_MESSAGE, requestChange, STAGING } from '../harness/requests.ts';
import { startTcpProxy, type TcpProxy } from '../harness/tcp-proxy.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO, FINN, GUS } from '../harness/users.ts';

// What happens to the target, the policy or the requester while a card waits: the card shows it within two seconds,
// offers nothing that cannot work, and a press that cannot lead to a run is refused with the reason. The two seconds are those
// of the sandbox's clock, which stands still except for the waits of the clients: a later job or a longer wait is red.

interface File {
  readonly services: readonly { readonly id: string; readonly tags: readonly string[] }[];
  readonly policy: readonly object[];
}
type Edit = (file: Record<string, never>) => unknown;

const edited = (edit: (file: File) => object) => ((file: File) => edit(file)) as unknown as Edit;
const withService = (change: (one: File['services'][number]) => object | null) =>
  edited((file) => ({
    ...file,
    services: file.services.flatMap((one) => (one.id === STAGING ? (change(one) ?? []) : [one])),
  }));

/** A freeze in the file, half an hour after the test begins. */
const SOON = {
  from: '2026-11-20T12:30:00Z',
  until: '2026-11-20T16:00:00Z',
  on: { tags: ['staging'] },
  reason: 'launch',
};

async function opened() {
  const proxies: TcpProxy[] = [];
  const through = async (url: string) => {
    const proxy = await startTcpProxy(Number(new URL(url).port));
    proxies.push(proxy);
    return proxy.through(url);
  };
  const sandbox = await startTestSandbox({
    yaml: (file) => ({ ...file, freezes: [SOON] }),
    through,
    waitsPass: true,
  });
  let happenedAt = sandbox.clock.now;
  const happensNow = () => {
    happenedAt = sandbox.clock.now;
  };
  const pass = (ms: number) => {
    sandbox.clock.now = new Date(sandbox.clock.now.getTime() + ms);
    happensNow();
    sandbox.wake();
  };
  /** Milliseconds since the event, by the clock of the sandbox. */
  const sinceEvent = () => sandbox.clock.now.getTime() - happenedAt.getTime();
  const reload = async (edit: Edit) => {
    const both: Edit = (file) => ({ ...Object(edit(file)), freezes: [SOON] });
    expect(await sandbox.reload(both)).toEqual({ ok: true });
  };
  /** Another change of staging, approved. */
  const ran = async (line: string, by = FINN) => {
    const card = await requestChange(sandbox, by, line);
    await sandbox.press(CLEO, card, 'change.approve');
    return card;
  };
  const hold = () => proxies[0]?.dropPackets();
  const release = () => proxies[0]?.refuse();
  return { ...sandbox, pass, happensNow, sinceEvent, reload, ran, hold, release };
}

type Sandbox = Awaited<ReturnType<typeof opened>>;
type State = 'pending' | 'approved' | 'executing' | 'unknown';

/** The stop of staging in a state, with its card as it is now. */
const STATES: Readonly<Record<State, (sandbox: Sandbox) => Promise<string>>> = {
  pending: async (sandbox) => (await requestChange(sandbox)).ts,
  approved: async (sandbox) => {
    const card = await requestChange(sandbox, ANA, '/service stop staging in=20m for the night');
    await sandbox.press(BEN, card, 'change.approve');
    await sandbox.card('Stop staging: approved');
    return card.ts;
  },
  executing: async (sandbox) => {
    const card = await requestChange(sandbox);
    sandbox.hold();
    await sandbox.press(BEN, card, 'change.approve');
    await sandbox.card('Stop staging: running');
    return card.ts;
  },
  unknown: async (sandbox) => {
    sandbox.cloud.injectFault({ operation: 'set state', fault: 'reset-after-effect', times: 1 });
    const card = await requestChange(sandbox);
    await sandbox.press(BEN, card, 'change.approve');
    await sandbox.card('Stop staging: outcome unknown');
    return card.ts;
  },
};

interface Event {
  readonly happens: (sandbox: Sandbox) => Promise<unknown>;
  /** What each card says of it; `ends`: the change ended with these words. Missing: it does not concern the state. */
  readonly shows: Readonly<Partial<Record<State, RegExp | { readonly ends: RegExp }>>>;
}

const all = (words: RegExp) => ({
  pending: words,
  approved: words,
  executing: words,
  unknown: words,
});
/** What waits ends, and what was sent stays. */
const ends = (words: RegExp) => ({ pending: { ends: words }, approved: { ends: words } });

const OTHER_WAREHOUSE =
  /Its tags and warehouse are staging · main now; when requested: staging · lab/;

const EVENTS: Readonly<Record<string, Event>> = {
  'a freeze of the file begins': {
    happens: async ({ pass }) => pass(31 * 60_000),
    // The others have run or expired by then.
    shows: { pending: /Frozen between .* This change waits until then/ },
  },
  'a freeze ends': {
    happens: async ({ pass, card, slack }) => {
      pass(31 * 60_000);
      const ts = slack.messages('db-approvals')[0]?.ts;
      await card('This change waits until then');
      pass(4 * 3_600_000);
      const text = () => slack.messages('db-approvals').find((each) => each.ts === ts)?.text;
      await expect.poll(text).not.toContain('Frozen between');
    },
    shows: { pending: /0 of 1 from/ },
  },
  'a freeze is made in Slack': {
    happens: async (sandbox) => {
      const line = '/change freeze tag=staging until=4h incident';
      const preview = await sandbox.ask(FINN, line, 'Freeze everything tagged staging?');
      await sandbox.press(FINN, preview, 'change.confirm');
      const card = await sandbox.card('requests: freeze everything tagged staging');
      await sandbox.press(CLEO, card, 'change.approve');
    },
    shows: all(/Frozen between .*\(incident, by <@U0FINN0001>\)/),
  },
  'another change of the target is requested': {
    happens: (sandbox) => requestChange(sandbox, FINN, '/service scale staging max=64 "load"'),
    shows: all(/<@U0FINN0001> requested “scale staging”.*waiting for approval/),
  },
  'another change of the target runs': {
    happens: (sandbox) => sandbox.ran('/service scale staging max=64 "load"'),
    shows: ends(/Another change of it ran since the preview \(<@U0FINN0001>/),
  },
  'the outcome of another change is unknown': {
    happens: (sandbox) => {
      sandbox.cloud.injectFault({ operation: 'scale', fault: 'reset-after-effect', times: 1 });
      return sandbox.ran('/service scale staging max=64 "load"');
    },
    shows: {
      pending: /requested “scale staging” .*: outcome unknown/,
      approved: /requested “scale staging” .*: outcome unknown/,
    },
  },
  'its tags change to those of a stricter rule': {
    happens: ({ reload }) => reload(withService((one) => ({ ...one, tags: ['prod'] }))),
    shows: {
      ...ends(/The tags or the warehouse of staging changed/),
      executing: /Its tags and warehouse are prod/,
      unknown: /Its tags and warehouse are prod/,
    },
  },
  'its warehouse changes under the same rule': {
    happens: ({ reload }) => reload(withService((one) => ({ ...one, warehouse: 'main' }))),
    shows: {
      pending: OTHER_WAREHOUSE,
      approved: OTHER_WAREHOUSE,
    },
  },
  'its service is removed from the file': {
    happens: ({ reload }) => reload(withService(() => null)),
    shows: ends(/The tags or the warehouse of staging changed or are unknown now/),
  },
  'its requester loses the role': {
    happens: ({ slack }) => slack.admin.setGroup('db-operators', [FINN]),
    shows: ends(/The current policy does not let <@U0ANA00001> request this/),
  },
  'the policy requires more approvals': {
    happens: ({ reload }) =>
      reload(((file: object) =>
        JSON.parse(JSON.stringify(file).replaceAll('"count":1', '"count":2'))) as Edit),
    shows: ends(/The current policy requires more approvals than this change has/),
  },
  'no rule allows it any more': {
    happens: ({ reload }) =>
      reload(
        edited(({ policy, ...file }) => ({
          ...file,
          policy: policy.filter((rule) => !JSON.stringify(rule).includes('service *')),
        })),
      ),
    shows: {
      pending: { ends: /No rule of the current policy allows \/service stop on staging\./ },
    },
  },
  'the policy forbids it': {
    happens: ({ reload }) =>
      reload(
        edited((file) => ({
          ...file,
          never: [{ commands: ['service stop'], on: { tags: ['staging'] }, reason: 'orders' }],
        })),
      ),
    shows: ends(/The policy never allows \/service stop/),
  },
};

const rows = Object.entries(EVENTS).flatMap(([event, { happens, shows }]) =>
  Object.entries(shows).map(([state, shown]) => [event, state as State, happens, shown] as const),
);

test.for(rows)('when %s, the card of a change that is %s says so', async (row) => {
  const [, state, happens, shown] = row;
  const sandbox = await opened();
  const ts = await STATES[state](sandbox);
  const card = (): Readable & { ts: string; channel: string } =>
    sandbox.slack.messages('db-approvals').find((each) => each.ts === ts) ?? {
      ...NO_MESSAGE,
      ...{ ts: '', channel: '' },
    };
  sandbox.happensNow();
  const happened = happens(sandbox);
  // A reload waits for the request that is under way.
  if (state !== 'executing') await happened;
  const words = 'ends' in shown ? shown.ends : shown;
  await expect.poll(() => card().text).toMatch(words);
  expect(sandbox.sinceEvent()).toBeLessThanOrEqual(2_000);
  const before = card();
  if ('ends' in shown) {
    expect(before.text).toMatch(/^✕/);
    expect(buttonsOf(before)).not.toContain('change.approve');
    expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(0);
    return;
  }
  sandbox.release();
  await happened;
  const isFrozen = before.text.includes('This change waits until then');
  expect(buttonsOf(before).includes('change.approve')).toBe(state === 'pending' && !isFrozen);
  expect(buttonsOf(before).includes('change.happened')).toBe(before.text.startsWith('?'));
});

test('an approval in a freeze that the card does not show yet is refused, and the change waits', async () => {
  const sandbox = await opened();
  const card = await requestChange(sandbox);
  sandbox.clock.now = new Date('2026-11-20T12:31:00Z');
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.privateMessage(BEN, 'staging is frozen until');
  await sandbox.card('This change waits until then');
  sandbox.clock.now = new Date('2026-11-20T16:00:01Z');
  sandbox.wake();
  const id = changeIdOf(card);
  const now = () => sandbox.slack.messages('db-approvals').find(({ text }) => text.includes(id));
  await expect.poll(() => buttonsOf(now() ?? NO_MESSAGE)).toContain('change.approve');
  await sandbox.press(GUS, now(), 'change.approve');
  await sandbox.card('staging is stopping');
});
