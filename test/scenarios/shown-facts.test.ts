import { expect, test } from 'vitest';
import { commandNames } from '../../src/commands/index.ts';
import type { State } from '../../src/domain/change.ts';
import { linesOf } from '../contracts/message-lines.ts';
import { buttonsOf, type Readable } from '../harness/messages.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import { changeIdOf, NO_MESSAGE } from '../harness/requests.ts';
import { startTcpProxy, type TcpProxy } from '../harness/tcp-proxy.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, FINN, GUS } from '../harness/users.ts';

// One change, one set of facts: everything that its requester reads on the preview is on each surface on which somebody
// decides about it, and behind *Show request* in every state. A new command needs a line here.

interface Case {
  readonly line: string;
  /** Words of the preview that must be there, so that the case shows what it is about. */
  readonly about: readonly string[];
  /** Other changes that stand before it. */
  readonly first?: readonly string[];
  /** What the server is asked for; missing: Signalbox applies the change itself. */
  readonly operation?: string;
}

const STOP = '/service stop analytics-prod';
const SCHEDULE =
  '/service schedule analytics-dev stop="weekdays 20:00" start="weekdays 07:00" "nights"';

const PAUSE = '/service schedule pause analytics-dev "launch"';

/** A line for each change command; several where a command has facts of several kinds. */
const CASES: Readonly<Record<string, readonly Case[]>> = {
  'service stop': [
    {
      line: `${STOP} in=2h for=4h "nightly maintenance"`,
      about: ['prod', 'running', 'warehouse main', '2 of @db-leads', 'Reverts', 'credits per day'],
      first: ['/service scale analytics-prod max=96 "month end"'],
      operation: 'set state',
    },
  ],
  'service start': [
    { line: '/service start archive "audit"', about: ['stopped', 'lab'], operation: 'set state' },
  ],
  'service scale': [
    {
      line: '/service scale analytics-prod min=32 max=128 replicas=3 idle=on idle-timeout=15 "load"',
      about: ['→ 128', 'Idle timeout'],
      operation: 'scale',
    },
  ],
  'service schedule': [{ line: SCHEDULE, about: ['20:00', '07:00'] }],
  'service schedule pause': [{ line: PAUSE, about: ['20:00'], first: [SCHEDULE] }],
  'service schedule resume': [
    {
      line: '/service schedule resume analytics-dev "over"',
      about: ['20:00'],
      first: [SCHEDULE, PAUSE],
    },
  ],
  'service schedule remove': [
    { line: '/service schedule remove analytics-dev "launch"', about: [], first: [SCHEDULE] },
  ],
  'service create': [
    {
      line: '/service create "analytics new" provider=aws region=eu-west-1 ip="10.20.0.0/16 office" min=8 max=32 replicas=3 idle=on idle-timeout=15 "new market"',
      about: [
        'aws eu-west-1',
        'from 10.20.0.0/16 office',
        '8–32 GB × 3 replicas',
        'after 15 min',
        'Billing',
      ],
      operation: 'create service',
    },
  ],
  'endpoint create': [
    {
      line: '/endpoint create analytics-prod type=VPC_ENDPOINT_SERVICE service-name=com.amazonaws.vpce.eu-central-1.vpce-svc-0123456789abcdef0 description="kafka link" "for the feed"',
      about: ['kafka link'],
      operation: 'create endpoint',
    },
  ],
  'alert edit': [
    { line: '/alert edit "5xx rate" threshold=7 "noise"', about: ['7'], operation: 'update alert' },
  ],
  'change allow': [
    {
      line: '/change allow scale tag=dev max=96 uses=3 for=7d "month end"',
      about: ['dev', '96', '3 '],
    },
  ],
  'change freeze': [
    { line: '/change freeze tag=prod until=2h "launch"', about: ['prod', 'launch'] },
  ],
  'change unfreeze': [
    {
      line: '/change unfreeze tag:dev "over"',
      about: ['dev'],
      first: ['/change freeze tag=dev until=4h "launch"'],
    },
  ],
};

test('each change command has a case', () => {
  expect(Object.keys(CASES).toSorted()).toEqual(commandNames.changes.toSorted());
});

const EXTENDED = (file: Record<string, never>) => ({
  ...file,
  cloud: { reads: 'extended' },
  notify: 'both',
});

/** The file without the service that the line names. */
const withoutServiceOf =
  ({ line }: Case) =>
  (file: Record<string, never>) => {
    const services = (file as { services?: readonly { readonly name: string }[] }).services ?? [];
    return { ...EXTENDED(file), services: services.filter(({ name }) => !line.includes(name)) };
  };

async function opened() {
  const proxies: TcpProxy[] = [];
  const through = async (url: string) => {
    const proxy = await startTcpProxy(Number(new URL(url).port));
    proxies.push(proxy);
    return proxy.through(url);
  };
  const sandbox = await startTestSandbox({ yaml: EXTENDED, through });
  const release = () => proxies.forEach((each) => void each.refuse());
  const { pass } = sandbox;
  /** The preview of a line, and the card after its confirmation. */
  const requested = async (line: string) => {
    pass(11_000);
    const known = new Set(sandbox.slack.messages('db-approvals').map(({ ts }) => ts));
    await sandbox.slack.command(ANA, 'ops', line);
    const preview = (await sandbox.privateMessage(ANA, 'change.confirm')) ?? LOST;
    await sandbox.press(ANA, preview, 'change.confirm');
    const cards = () =>
      sandbox.slack
        .messages('db-approvals')
        .filter((each) => !each.threadTs && !known.has(each.ts));
    await expect.poll(() => cards().length).toBe(1);
    const waiting = () => sandbox.slack.clientState(ANA).messages.flatMap(buttonsOf);
    await expect.poll(waiting).not.toContain('change.confirm');
    const card = () => cards()[0] ?? LOST;
    return { preview, card };
  };
  const approved = async (card: () => Shown) => {
    for (const by of [BEN, GUS]) {
      if (!buttonsOf(card()).includes('change.approve')) continue;
      const { text } = card();
      await sandbox.press(by, card(), 'change.approve');
      await expect.poll(() => card().text).not.toBe(text);
    }
  };
  const answered = (as: string, line: string, words: string) =>
    sandbox.nextMessage(as, words, () => sandbox.slack.command(as, 'ops', line));
  return { ...sandbox, requested, approved, answered, release };
}

type Sandbox = Awaited<ReturnType<typeof opened>>;

interface Shown extends Readable {
  readonly channel: string;
  readonly ts: string;
}
const LOST: Shown = { ...NO_MESSAGE, channel: '', ts: '' };

/** What is read of a message, without the marks of bold and links. */
function wordsOf(shown: Readable): string {
  return shown.text.replace(/\s+/g, ' ');
}

/**
 * The facts in the lines of a preview, or in some of them. Its first line asks, and its approval is worded as what is left
 * on a card.
 */
function factsIn(preview: Readable, lines = /./): readonly string[] {
  return preview.text
    .split('\n')
    .slice(1)
    .filter((line) => lines.test(line) && !line.startsWith('Approval '))
    .flatMap((line) => line.split(' · '))
    .map((fact) => fact.replace(' (checked just now)', '').replace(/\s+/g, ' ').trim());
}

/** `2 of @db-leads` on a preview is `of 2 from @db-leads` on a card. */
function approvalOf(preview: Readable): RegExp {
  const [, count = '0'] = /^Approval +(\d+) of/m.exec(preview.text) ?? [];
  return count === '0' ? /Requested by/ : new RegExp(`of ${count} from `);
}

function missingIn(shown: Readable, facts: readonly string[]): readonly string[] {
  const words = wordsOf(shown);
  return facts.filter((fact) => !words.includes(fact));
}

/** Home has the same lines in blocks, in which a person and a time have other forms. */
function missingOnHome(home: Readable, facts: readonly string[]): readonly string[] {
  const words = (text: string) =>
    text
      .replace(/<@(\w+)>/g, '@$1')
      .replace(/<!date[^|]*\|([^>]*)>/g, '[$1]')
      .replace(/<[^|]*\|([^>]*)>/g, '$1');
  // A table has its cells in place of an arrow.
  const plain = (text: string) => text.replace(/[\s·→]+/g, ' ');
  return missingIn(
    { ...home, text: plain(home.text) },
    facts.map((fact) => plain(words(fact))),
  );
}

function detailsOf({ nextMessage, press }: Sandbox, card: Shown): Promise<Readable> {
  return nextMessage(BEN, 'May request', () => press(BEN, card, 'change.details'));
}

/** How a waiting change comes into a state, and how its card begins then. */
interface Reached {
  readonly begins: RegExp;
  /** Whether a change like this can come into the state. */
  readonly can?: (each: Case) => boolean;
  readonly reach: (sandbox: Sandbox, card: () => Shown, each: Case) => Promise<unknown>;
}

const isSent = ({ operation }: Case) => operation !== undefined;
const isTimed = ({ line }: Case) => line.includes('in=2h');
const isOfAlert = ({ operation }: Case) => operation === 'update alert';

function failOnce({ cloud, alerts }: Sandbox, each: Case, fault: string) {
  const { operation = '' } = each;
  (isOfAlert(each) ? alerts : cloud).injectFault({ operation, fault, times: 1 });
}

async function approveAndWait(sandbox: Sandbox, card: () => Shown, each: Case) {
  await sandbox.approved(card);
  if (isTimed(each)) sandbox.pass(7_300_000);
}

/** Approves while the server fails like this. */
const failing =
  (fault: string): Reached['reach'] =>
  async (sandbox, card, each) => {
    failOnce(sandbox, each, fault);
    await approveAndWait(sandbox, card, each);
  };

type Shows = Exclude<State, 'draft'>;

const STATES: Readonly<Record<Shows, Reached>> = {
  pending: { begins: /^○ .* requests: /, reach: async () => {} },
  // Without a time, an approved change runs at once.
  approved: {
    begins: /^○ .*: approved/,
    can: isTimed,
    reach: ({ approved }, card) => approved(card),
  },
  executing: {
    begins: /^◐ .*: running/,
    can: isSent,
    reach: async (sandbox, card, each) => {
      failOnce(sandbox, each, 'hang');
      await approveAndWait(sandbox, card, each);
    },
  },
  succeeded: { begins: /^[●◐] (?!.*: running)/, reach: approveAndWait },
  failed: { begins: /^✕ .*: rejected by the server/, can: isSent, reach: failing('403') },
  unknown: {
    begins: /^[?] .*: outcome unknown/,
    // A fresh read of an alert shows that it was edited.
    can: (each) => isSent(each) && !isOfAlert(each),
    reach: failing('reset-after-effect'),
  },
  rejected: {
    begins: /^✕ .*: rejected/,
    reach: async ({ press, modal, slack }, card) => {
      await press(BEN, card(), 'change.reject');
      const form = await modal(BEN, 'change.reject');
      const reason = { reason: { type: 'plain_text_input', value: 'not today' } };
      await slack.submit(BEN, form, { reason });
    },
  },
  cancelled: {
    begins: /^✕ .*: cancelled/,
    reach: ({ press }, card) => press(ANA, card(), 'change.cancel'),
  },
  expired: { begins: /^✕ .*: expired/, reach: async ({ pass }) => pass(25 * 3_600_000) },
  stale: {
    begins: /^✕ .*: not run: (the target changed|other tags|its service could not)/,
    // A freeze and a new service have no target that could change.
    can: ({ line }) => !/^\/(change|service create)/.test(line),
    reach: async (sandbox, card, each) => {
      if (!isOfAlert(each)) return sandbox.reload(withoutServiceOf(each));
      const id = sandbox.alerts.alerts().find(({ name }) => name === '5xx rate')?.id ?? '';
      sandbox.alerts.editAlert(id, { threshold: 300 });
      return sandbox.approved(card);
    },
  },
  denied: {
    begins: /^✕ .*: not run: the current policy refuses it/,
    reach: ({ slack }) => slack.admin.setGroup('db-operators', [FINN]),
  },
};

const OPEN: readonly State[] = ['pending', 'approved', 'executing'];
const WAITING: readonly State[] = ['pending', 'approved'];

/** What an approver needs to decide; once a change has ended, it is behind *Show request*. */
const SURROUNDS = /^(⚠|Unchanged|Watches )|checked just now|never seen/;
/** What other people do at the same time is shown while the change is open, and a time until it has come. */
const PASSES = / requested “|^(Runs|Reverts|First stop|First start) /;

/** In force, a standing approval shows how many uses are left, and its end, instead. */
const COUNTED = /^(Uses|In force for) /;

/** One walk shows both. */
const ALWAYS: readonly Shows[] = ['pending', 'succeeded'];
const SENT: readonly Shows[] = ['executing', 'failed', 'unknown'];

/**
 * What other changes show in a state is drawn as for a change at a time, so that one more state is enough, of each command
 * another one. A creation and a change of an alert have lines of their own once they were sent. All: SHOWN_FACTS=all.
 */
const IN_ALL_STATES = process.env.SHOWN_FACTS ? Object.keys(CASES) : ['service stop'];
const HAS_OWN_LINES = ['service create', 'alert edit'];

const rows = Object.entries(CASES).flatMap(([name, all], n) =>
  all.flatMap((each) => {
    const reachable = (Object.keys(STATES) as Shows[]).filter((state) => {
      const { can = () => true } = STATES[state];
      return can(each) && !ALWAYS.includes(state);
    });
    const own = reachable.filter(
      (state) =>
        IN_ALL_STATES.includes(name) || (HAS_OWN_LINES.includes(name) && SENT.includes(state)),
    );
    const others = reachable.filter((state) => !own.includes(state));
    const inTurn = others.filter((_, at) => at === n % others.length);
    const walks = [ALWAYS, ...[...own, ...inTurn].map((state) => [state])];
    return walks.map((states) => [name, states.join(', then '), states, each] as const);
  }),
);

test.for(rows)('%s, %s: each surface shows what its requester read', async (row) => {
  const [, , states, each] = row;
  const sandbox = await opened();
  for (const line of each.first ?? []) {
    const before = await sandbox.requested(line);
    if (each.operation === undefined) {
      await sandbox.approved(before.card);
      await expect.poll(() => before.card().text[0]).toBe('●');
    }
  }
  const { preview, card } = await sandbox.requested(each.line);
  for (const words of each.about) expect(wordsOf(preview)).toContain(words);
  expect(card().text).toMatch(approvalOf(preview));
  const id = changeIdOf(card());
  const copies = () =>
    sandbox.slack
      .messages(`D${GUS.slice(1)}`)
      .filter(({ text }) => text.split('\n', 1).join().includes(id));
  await expect.poll(() => copies().length).toBe(1);
  for (const state of states) {
    // What was read before counts for ten seconds among the requests to the server.
    sandbox.pass(11_000);
    const { begins, reach } = STATES[state];
    await reach(sandbox, card, each);
    const pass = timeInSteps(sandbox, 11_000);
    const soon = (isThere: () => boolean) =>
      expect.poll(() => isThere() || (state !== 'executing' && pass() && false)).toBe(true);
    await soon(() => begins.test(card().text));

    const all = factsIn(preview);
    const facts = WAITING.includes(state) ? all : all.filter((fact) => !PASSES.test(fact));
    const surrounding = [...factsIn(preview, SURROUNDS)];
    // What an unknown outcome would cost does not settle it.
    if (state === 'unknown') surrounding.push(...factsIn(preview, /^Cost/));
    if (state === 'succeeded') surrounding.push(...factsIn(preview, COUNTED));
    const onCard = OPEN.includes(state)
      ? facts
      : facts.filter((each) => !surrounding.includes(each));
    expect(missingIn(card(), onCard), state).toEqual([]);
    // A user who settles an unknown outcome compares it with what was there.
    if (state === 'unknown')
      expect(missingIn(card(), factsIn(preview, /checked just now/))).toEqual([]);

    // The card of a schedule follows its runs.
    await soon(() => copies().some(({ text }) => text !== '' && card().text.startsWith(text)));

    // Those who decide see on Home what they decide about.
    await sandbox.slack.openHome({ as: BEN });
    const home = (): Readable => ({
      text: linesOf(sandbox.slack.clientState(BEN).home ?? []).join('\n'),
      blocks: [],
    });
    if (state === 'pending') {
      await expect.poll(() => home().text).toContain(id);
      expect(missingOnHome(home(), facts)).toEqual([]);
    }

    // The next run of a schedule stands in its history.
    const below = (text: string) => `\n${text.replace(/^Next run.*$/m, '')}`;
    const show = (by: string) => sandbox.answered(by, `/change show ${id}`, 'History');
    // A card is redrawn a moment after its target was read.
    const missing = async () =>
      missingIn(await show(BEN), factsIn({ ...card(), text: below(card().text) }));
    await expect.poll(missing, { message: state }).toEqual([]);
    // What is read of the target meanwhile stands in the history of the later one.
    const differ = async () => wordsOf(await show(ANA)) !== wordsOf(await show(BEN));
    await expect.poll(differ, { message: state }).toBe(false);
    // *Show request* says more about what does not change.
    const named = facts.filter((fact) => !fact.startsWith('Unchanged'));
    expect(missingIn(await detailsOf(sandbox, card()), named), state).toEqual([]);
  }
  sandbox.release();
});
