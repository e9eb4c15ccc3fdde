import { expect, test } from 'vitest';
import { commandNames } from '../../src/commands/index.ts';
import { linesOf } from '../contracts/message-lines.ts';
import { buttonsOf, type Readable } from '../harness/messages.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import { changeIdOf, NO_MESSAGE } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, GUS } from '../harness/users.ts';

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

async function opened() {
  const sandbox = await startTestSandbox({ yaml: EXTENDED });
  const pass = (ms: number) => {
    sandbox.clock.now = new Date(sandbox.clock.now.getTime() + ms);
    sandbox.wake();
  };
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
  const answered = async (as: string, line: string, words: string) => {
    await sandbox.slack.command(as, 'ops', line);
    return (await sandbox.privateMessage(as, words)) ?? LOST;
  };
  return { ...sandbox, pass, requested, approved, answered };
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

/** The facts of a preview, one per line. Its first line asks, and its approval is worded as what is left on a card. */
function factsIn(preview: Readable): readonly string[] {
  return preview.text
    .split('\n')
    .slice(1)
    .filter((line) => line !== '' && !line.startsWith('Approval '))
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

async function detailsOf(sandbox: Sandbox, card: Shown): Promise<Readable> {
  await sandbox.press(BEN, card, 'change.details');
  return (await sandbox.privateMessage(BEN, 'May request')) ?? LOST;
}

const cases = Object.entries(CASES).flatMap(([name, all]) =>
  all.map((each) => [name, each] as const),
);

test.for(cases)('%s: each surface shows what its requester read', async ([, each]) => {
  const sandbox = await opened();
  for (const line of each.first ?? []) {
    const before = await sandbox.requested(line);
    if (each.operation === undefined) {
      await sandbox.approved(before.card);
      await expect.poll(() => before.card().text[0]).toBe('●');
    }
  }
  const { preview, card } = await sandbox.requested(each.line);
  const facts = factsIn(preview);
  for (const words of each.about) expect(wordsOf(preview)).toContain(words);
  const id = changeIdOf(card());
  expect(missingIn(card(), facts)).toEqual([]);
  expect(card().text).toMatch(approvalOf(preview));

  const copies = () =>
    sandbox.slack
      .messages(`D${GUS.slice(1)}`)
      .filter(({ text }) => text.split('\n')[0]?.includes(id));
  await expect.poll(() => copies().length).toBe(1);
  expect(missingIn(copies()[0] ?? LOST, facts)).toEqual([]);

  await sandbox.slack.openHome({ as: BEN });
  const home = () => sandbox.slack.clientState(BEN).home ?? [];
  const entry = (): Readable => ({ text: linesOf(home()).join('\n'), blocks: [] });
  await expect.poll(() => entry().text).toContain(id);
  expect(missingOnHome(entry(), facts)).toEqual([]);

  const shown = await sandbox.answered(BEN, `/change show ${id}`, 'History');
  expect(missingIn(shown, facts)).toEqual([]);
  // *Show request* says more about what does not change, and an alert's name before its id.
  const named = facts
    .filter((fact) => !fact.startsWith('Unchanged'))
    .map((fact) => fact.replace(/^Alert /, ''));
  expect(missingIn(await detailsOf(sandbox, card()), named)).toEqual([]);
  if (!each.operation) return;

  // While it runs, and while its outcome is unknown, people see what they decide about.
  const api = each.operation === 'update alert' ? sandbox.alerts : sandbox.cloud;
  api.injectFault({ operation: each.operation, fault: 'reset-after-effect', times: 1 });
  await sandbox.approved(card);
  if (each.line.includes('in=2h')) {
    expect(missingIn(card(), facts)).toEqual([]);
    sandbox.pass(7_300_000);
  }
  const pass = timeInSteps(sandbox, 11_000);
  await expect.poll(() => pass() || '?●'.includes(card().text[0] ?? '')).toBe(true);
  // A fresh read of an alert shows that it was edited.
  if (each.operation === 'update alert') return;
  const changed = facts.slice(
    0,
    facts.findIndex((fact) => /^(⚠|Cost)/.test(fact)),
  );
  await expect.poll(() => card().text[0]).toBe('?');
  expect(missingIn(card(), changed)).toEqual([]);
});
