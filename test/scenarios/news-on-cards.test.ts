import { expect, test } from 'vitest';
import { buttonsOf, type Readable } from '../harness/messages.ts';
import { NO_MESSAGE, requestChange, STAGING } from '../harness/requests.ts';
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

type Happens = (sandbox: Sandbox) => Promise<unknown>;

const SCALE = '/service scale staging max=64 "load"';

const tagsChange: Happens = ({ reload }) =>
  reload(withService((one) => ({ ...one, tags: ['prod'] })));

const at = ({ slack }: Sandbox, ts: string): Readable & { ts: string; channel: string } =>
  slack.messages('db-approvals').find((each) => each.ts === ts) ?? {
    ...NO_MESSAGE,
    ...{ ts: '', channel: '' },
  };

/** The card with this time, as soon as it has these words: within two seconds of the event. */
async function shown(sandbox: Sandbox, ts: string, words: RegExp, message = '') {
  await expect.poll(() => at(sandbox, ts).text, { message }).toMatch(words);
  expect(sandbox.sinceEvent(), message).toBeLessThanOrEqual(2_000);
  return at(sandbox, ts);
}

/** What happens, and what each card of these states says of it then. The last one of a state may end its request. */
const SHOWN: readonly (readonly [string, Happens, RegExp, readonly State[]])[] = [
  [
    'another change of the target is requested',
    (sandbox) => requestChange(sandbox, FINN, SCALE),
    /<@U0FINN0001> requested “scale staging”.*waiting for approval/,
    ['pending', 'approved', 'executing', 'unknown'],
  ],
  [
    'the outcome of another change is unknown',
    (sandbox) => {
      sandbox.cloud.injectFault({ operation: 'scale', fault: 'reset-after-effect', times: 1 });
      return sandbox.ran(SCALE);
    },
    /requested “scale staging” .*: outcome unknown/,
    ['pending', 'approved'],
  ],
  [
    'its warehouse changes under the same rule',
    ({ reload }) => reload(withService((one) => ({ ...one, warehouse: 'main' }))),
    /Its tags and warehouse are staging · main now; when requested: staging · lab/,
    ['pending', 'approved'],
  ],
  [
    'a freeze is made in Slack',
    async (sandbox) => {
      const line = '/change freeze tag=staging until=4h incident';
      const preview = await sandbox.ask(FINN, line, 'Freeze everything tagged staging?');
      await sandbox.press(FINN, preview, 'change.confirm');
      const card = await sandbox.card('requests: freeze everything tagged staging');
      await sandbox.press(CLEO, card, 'change.approve');
    },
    /Frozen between .*\(incident, by <@U0FINN0001>\)/,
    ['pending', 'approved', 'executing', 'unknown'],
  ],
  [
    'its tags change to those of a stricter rule',
    tagsChange,
    /Its tags and warehouse are prod/,
    ['executing', 'unknown'],
  ],
];

test.for<readonly [string, readonly State[]]>([
  ['waiting', ['approved', 'pending']],
  ['executing', ['executing']],
  ['unknown', ['unknown']],
])('what happens is shown on the card of a change that is %s', async ([, states]) => {
  const sandbox = await opened();
  const cards: [State, string][] = [];
  for (const state of states) cards.push([state, await STATES[state](sandbox)]);
  const waits: Promise<unknown>[] = [];
  for (const [event, happens, words, of] of SHOWN) {
    if (!states.every((state) => of.includes(state))) continue;
    sandbox.happensNow();
    const happened = happens(sandbox);
    waits.push(happened);
    // A reload waits for the request that is under way.
    if (happens !== tagsChange) await happened;
    for (const [state, ts] of cards) {
      const card = await shown(sandbox, ts, words, event);
      const isFrozen = card.text.includes('This change waits until then');
      const offers = [card.text.startsWith('?'), buttonsOf(card).includes('change.approve')];
      expect(offers, event).toEqual([state === 'unknown', state === 'pending' && !isFrozen]);
      expect(buttonsOf(card).includes('change.happened')).toBe(state === 'unknown');
    }
  }
  sandbox.release();
  await Promise.all(waits);
});

/** After these, what waits for its approval or for its time ends with these words. */
const ENDINGS: Readonly<Record<string, readonly [Happens, RegExp]>> = {
  'another change of the target runs': [
    (sandbox) => sandbox.ran(SCALE),
    /Another change of it ran since the preview \(<@U0FINN0001>/,
  ],
  'its tags change to those of a stricter rule': [
    tagsChange,
    /The tags or the warehouse of staging changed/,
  ],
  'its service is removed from the file': [
    ({ reload }) => reload(withService(() => null)),
    /The tags or the warehouse of staging changed or are unknown now/,
  ],
  'its requester loses the role': [
    async ({ slack }) => slack.admin.setGroup('db-operators', [FINN]),
    /The current policy does not let <@U0ANA00001> request this/,
  ],
  'the policy requires more approvals': [
    ({ reload }) =>
      reload(((file: object) =>
        JSON.parse(JSON.stringify(file).replaceAll('"count":1', '"count":2'))) as Edit),
    /The current policy requires more approvals than this change has/,
  ],
  'no rule allows it any more': [
    ({ reload }) =>
      reload(
        edited(({ policy, ...file }) => ({
          ...file,
          policy: policy.filter((rule) => !JSON.stringify(rule).includes('service *')),
        })),
      ),
    /No rule of the current policy allows \/service stop on staging\./,
  ],
  'the policy forbids it': [
    ({ reload }) =>
      reload(
        edited((file) => ({
          ...file,
          never: [{ commands: ['service stop'], on: { tags: ['staging'] }, reason: 'orders' }],
        })),
      ),
    /The policy never allows \/service stop/,
  ],
};

test.for(Object.entries(ENDINGS))('when %s, what waits ends', async ([, [happens, words]]) => {
  const sandbox = await opened();
  const cards = [await STATES.approved(sandbox), await STATES.pending(sandbox)];
  sandbox.happensNow();
  await happens(sandbox);
  for (const ts of cards) {
    const card = await shown(sandbox, ts, words);
    expect(card.text).toMatch(/^✕/);
    expect(buttonsOf(card)).not.toContain('change.approve');
  }
  expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(0);
});

test('when a freeze of the file begins, a change waits for its end, and can be approved then', async () => {
  const sandbox = await opened();
  const ts = await STATES.pending(sandbox);
  sandbox.pass(31 * 60_000);
  const frozen = await shown(sandbox, ts, /Frozen between .* This change waits until then/);
  expect(buttonsOf(frozen)).not.toContain('change.approve');
  sandbox.pass(4 * 3_600_000);
  await expect.poll(() => at(sandbox, ts).text).not.toContain('Frozen between');
  const free = await shown(sandbox, ts, /0 of 1 from/);
  expect(buttonsOf(free)).toContain('change.approve');
  await sandbox.press(GUS, free, 'change.approve');
  await sandbox.card('staging is stopping');
});

test('an approval in a freeze that the card does not show yet is refused, and the change waits', async () => {
  const sandbox = await opened();
  const card = await requestChange(sandbox);
  sandbox.clock.now = new Date('2026-11-20T12:31:00Z');
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.privateMessage(BEN, 'staging is frozen until');
  await sandbox.card('This change waits until then');
});
