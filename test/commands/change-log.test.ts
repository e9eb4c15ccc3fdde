import { expect, test } from 'vitest';
import { answerChangeLog, historyLines, storyLines } from '../../src/commands/change-log.ts';
import type { Answer, AnswerPart, PersonLookup } from '../../src/domain/answer.ts';
import { agentId, TARGET_TRAITS, type Target, type UserId } from '../../src/domain/change.ts';
import { draftChange } from '../../src/domain/draft.ts';
import type { EventOf } from '../../src/domain/log-events.ts';
import { append } from '../../src/log/index.ts';
import { createChangesQueries, type WorkflowContext } from '../../src/workflow/index.ts';
import {
  aChange,
  ana,
  begun,
  ben,
  createTestContext,
  dora,
  minutes,
  moved,
  NOON,
  newId,
  ORGANIZATION,
  PLAN,
  REQUIRES,
  recorded,
} from '../workflow/context.ts';
import { plainText } from './fixtures.ts';

type LogRequest = Parameters<typeof answerChangeLog>[0];

function asking(context: WorkflowContext, found: PersonLookup = { ok: false, why: 'nobody' }) {
  const changes = createChangesQueries(
    context,
    async () => found,
    async () => null,
  );
  return (request: LogRequest = {}, by: UserId = dora) =>
    answerChangeLog(request, { changes, now: context.now }, { by, channel: null });
}

function partsOf<Kind extends AnswerPart['kind']>({ parts }: Answer, kind: Kind) {
  type Part = Extract<AnswerPart, { readonly kind: Kind }>;
  return parts.filter((part): part is Part => part.kind === kind);
}

function noteOf(answer: Answer): string {
  return partsOf(answer, 'note')
    .map(({ text }) => text)
    .join();
}

type Line = Parameters<typeof plainText>[0];
const textOf = (line: Line) => plainText(line).replace(`${NOON}  `, '');

function linesIn(answer: Answer): readonly string[] {
  return partsOf(answer, 'lines').flatMap(({ lines }) => lines.map(textOf));
}

async function historyOf({ events }: WorkflowContext, id: Parameters<typeof historyLines>[1]) {
  return (await historyLines(events, id)).map(textOf).map((line) => line.replace(NUMBER, ''));
}

/** A request that was refused before it became a change. */
function refused(
  { events }: WorkflowContext,
  about: Omit<EventOf<`refusal/${string}`>, 'type' | 'tried' | 'rule'> & { command: string },
) {
  const event = { type: 'refused', tried: about.command, rule: null, ...about } as const;
  return append(events, async () => ({
    events: [{ stream: 'refusal/r1', event }],
    result: null,
  }));
}

const ASKED = {
  ...{ organization: ORGANIZATION, command: 'service stop', reason: null },
  ...{ plan: PLAN, requires: REQUIRES },
};

/** At the end of each line for auditors: its number, its hash, and the mark of an attempt. */
const NUMBER = / · event \d+, [\w-]{12}(, mark [\w-]+)?$/;

test('the history of a change names each step and who took it, with number and hash of its event', async () => {
  const { context } = await createTestContext();
  const { id } = await aChange(context, { state: 'unknown' });
  await moved(context, id, { type: 'resolved', by: ben, as: 'succeeded', note: 'I looked' });
  expect(await historyOf(context, id)).toEqual([
    `${ana} drafted service stop staging → draft · ${id}`,
    `${ana} requested service stop staging → waiting · ${id}`,
    `UBEN approved service stop staging · ${id}`,
    `UCLEO approved service stop staging → approved · ${id}`,
    `Signalbox started service stop staging → running · ${id}`,
    `Signalbox may have sent; outcome unknown: service stop staging → unknown · ${id}`,
    `UBEN recorded the outcome of service stop staging → accepted · ${id}`,
  ]);
  const lines = (await historyLines(context.events, id)).map(textOf);
  expect(lines.every((line) => NUMBER.test(line))).toBe(true);
  expect(lines.filter((line) => line.includes(', mark '))).toHaveLength(2);
  // People read one sentence for each step, with what was written.
  expect((await storyLines(context.events, id)).map(textOf)).toEqual([
    `${ana} requested it`,
    'UBEN approved it',
    'UCLEO approved it',
    'Signalbox may have sent it, and got no clear answer: no answer',
    'UBEN recorded the outcome: I looked',
  ]);
  const draft = await aChange(context, { state: 'draft' });
  expect((await storyLines(context.events, draft.id)).map(textOf)).toEqual([`${ana} prepared it`]);
});

test('a change that no server rejected is not called rejected', async () => {
  const { context } = await createTestContext();
  const { id, lease } = await aChange(context, { state: 'executing' });
  const call = { answeredAt: NOON, tookMs: 1, requestId: null, status: null };
  await moved(context, id, { type: 'failed', nonce: lease?.nonce ?? '', ...call, text: 'odd' });
  expect((await storyLines(context.events, id)).map(textOf)).toContain(
    'Signalbox did not carry it out',
  );
  expect((await historyOf(context, id)).join()).toContain('did not carry out');
});

const OWN = Object.entries(TARGET_TRAITS).filter(([, traits]) => traits.appliedBy === 'signalbox');

test.for(OWN)(
  'of a %s, Signalbox says that it carried it out, not that it sent it',
  async ([kind]) => {
    const { context } = await createTestContext();
    const target = { ...PLAN.target, kind: kind as Target['kind'] };
    const { id } = await aChange(context, { state: 'succeeded', plan: { target } });
    const story = (await storyLines(context.events, id)).map(textOf);
    expect(story.at(-1)).toBe('Signalbox carried it out');
    const lines = await historyOf(context, id);
    expect(lines.at(-1)).toContain('Signalbox carried out service stop staging');
    expect([...story, ...lines].join()).not.toMatch(/\bsent\b|server/);
  },
);

test('the log and the story of a change say through which agent a person asked', async () => {
  const { context } = await createTestContext();
  const via = { agent: 'copilot', subject: 's', for: 'person' } as const;
  const { id } = await begun(
    context,
    newId(),
    draftChange({ ...ASKED, requester: ana, via }, NOON),
  );
  await moved(context, id, { type: 'confirmed', by: ana }, { type: 'cancelled', by: ana, via });
  expect(await historyOf(context, id)).toEqual([
    `${ana} via copilot drafted service stop staging → draft · ${id}`,
    `${ana} requested service stop staging → waiting · ${id}`,
    `${ana} via copilot cancelled service stop staging → cancelled · ${id}`,
  ]);
  expect((await storyLines(context.events, id)).map(textOf)).toEqual([
    `${ana} via copilot prepared it`,
    `${ana} requested it`,
    `${ana} via copilot cancelled it`,
  ]);
  // What an agent asks for itself begins once.
  const ci = agentId('ci');
  const alone = {
    ...ASKED,
    requester: ci,
    via: { agent: 'ci', subject: 's', for: 'itself' },
  } as const;
  const own = await begun(context, newId(), draftChange(alone, NOON));
  await moved(context, own.id, { type: 'confirmed', by: ci });
  expect((await storyLines(context.events, own.id)).map(textOf)).toEqual(['agent:ci requested it']);
  const why = 'agent-not-admitted';
  await refused(context, { by: ana, via, why, command: 'service stop', target: null });
  expect(linesIn(await asking(context)())[0]).toContain('UANA via copilot was refused');
});

test('the story of a standing approval names who used it and who revoked it', async () => {
  const { context } = await createTestContext();
  const { id } = await aChange(context, { command: 'change allow', state: 'succeeded' });
  await moved(context, id, { type: 'used', by: dora, change: newId() });
  await moved(context, id, { type: 'revoked', by: ben });
  expect((await storyLines(context.events, id)).map(textOf).slice(-2)).toEqual([
    'UDORA used it',
    'UBEN revoked it',
  ]);
});

test('an edited draft, a stopped change and a reading have words of their own', async () => {
  const { context } = await createTestContext();
  const draft = await aChange(context, { state: 'draft' });
  await moved(context, draft.id, { type: 'cancelled', by: ana, evidence: { edited: true } });
  expect((await historyOf(context, draft.id)).at(-1)).toContain('UANA withdrew, to edit,');

  const gone = await aChange(context, { state: 'stale', why: 'card-deleted' });
  expect((await historyOf(context, gone.id)).at(-1)).toContain(
    'Signalbox did not run (its card was deleted):',
  );

  const { id } = await aChange(context, { state: 'unknown' });
  const note = 'The target shows what was requested, and did not before.';
  await moved(context, id, { type: 'resolved', by: 'signalbox', as: 'succeeded', note });
  expect((await historyOf(context, id)).at(-1)).toContain('Signalbox read that the server applied');
});

test('a revert and the run of a schedule are planned by Signalbox', async () => {
  const { context } = await createTestContext();
  const parent = await aChange(context, { state: 'succeeded' });
  const request = { ...ASKED, command: 'service start', requester: ana };
  const inherits = { confirmedAt: NOON, approvals: [], breakGlass: null };
  const planned = { ...draftChange(request, NOON), inherits };
  const [revert, run] = [newId(), newId()];
  await begun(context, revert, { ...planned, parent: parent.id });
  await begun(context, run, planned);
  expect(await historyOf(context, revert)).toEqual([
    `Signalbox planned the revert service start staging → approved · ${revert}`,
  ]);
  expect(await historyOf(context, run)).toEqual([
    `Signalbox planned, by its schedule, service start staging → approved · ${run}`,
  ]);
});

test('refused presses and forms stand between the steps', async () => {
  const { context } = await createTestContext();
  const { id } = await aChange(context);
  const pressed = { verb: 'approve', text: '', place: {}, seen: null };
  const press = `press/${id}/k1` as const;
  await recorded(context, { stream: press, event: { type: 'pressed', by: ana, ...pressed } });
  expect(await historyOf(context, id)).toHaveLength(2);
  const answer = { type: 'answered', what: 'approve', refusal: 'self-approval' } as const;
  await recorded(context, { stream: press, event: answer });
  await moved(context, id, { type: 'rejected', by: ben, reason: 'no' });
  expect((await historyOf(context, id)).slice(2)).toEqual([
    `UANA was refused (self approval): approve service stop staging · ${id}`,
    `UBEN rejected service stop staging → rejected · ${id}`,
  ]);
});

test('the log shows the newest event first, with the refusals that belong to no change', async () => {
  const { context } = await createTestContext();
  const { id } = await aChange(context);
  await refused(context, { by: dora, why: 'no-rule', command: 'service create', target: 'eu' });
  const answer = await asking(context)();
  expect([answer.title, ...linesIn(answer)]).toEqual([
    '3 events',
    `UDORA was refused (no rule): service create eu`,
    `UANA requested service stop staging → waiting · ${id}`,
    `UANA drafted service stop staging → draft · ${id}`,
  ]);
  expect(partsOf(answer, 'menu')[0]?.offers).toEqual([
    { label: `${id}: service stop staging`, line: `change show ${id}` },
  ]);
});

test('the log is filtered by person, command, target, state and time', async () => {
  const { context, clock } = await createTestContext();
  await aChange(context, { state: 'rejected' });
  clock.now = minutes(10);
  await aChange(context, { command: 'service scale' });
  const ask = asking(context, { ok: true, user: ben });
  const titleOf = async (over: LogRequest) => (await ask(over)).title;
  expect(await titleOf({})).toBe('5 events');
  expect(await titleOf({ by: '@ben' })).toBe('1 event');
  expect(await titleOf({ what: 'Scale' })).toBe('2 events');
  expect(await titleOf({ target: 'STAG' })).toBe('5 events');
  expect(await titleOf({ target: 'prod' })).toBe('0 events');
  expect(await titleOf({ state: 'pending' })).toBe('2 events');
  expect(await titleOf({ since: '1m' })).toBe('2 events');
  expect(await titleOf({ until: '1m' })).toBe('3 events');
});

test('the last day of a search is a part of it', async () => {
  const { context, clock } = await createTestContext();
  await aChange(context);
  clock.now = minutes(36 * 60);
  await aChange(context, { state: 'draft', requester: dora });
  const titleOf = async (over: LogRequest) => (await asking(context)(over)).title;
  expect(await titleOf({ since: '2026-11-20', until: '2026-11-20' })).toBe('2 events');
  expect(await titleOf({ until: '2026-11-19' })).toBe('0 events');
  expect(await titleOf({ since: 'yesterday', until: 'yesterday' })).toBe('0 events');
  expect(await titleOf({ since: 'today', until: 'today' })).toBe('1 event');
  expect(await titleOf({ since: '2026-11-20', until: '2026-11-19' })).toBe('Empty time range');
});

test('a name that nobody has is asked again', async () => {
  const { context } = await createTestContext();
  expect((await asking(context)({ by: 'zoe' })).title).toBe('Which user?');
});

test('the events of a draft are shown to its requester only', async () => {
  const { context } = await createTestContext();
  await aChange(context, { state: 'draft' });
  const ask = asking(context);
  expect((await ask({}, dora)).title).toBe('0 events');
  expect((await ask({}, ana)).title).toBe('1 event');
});

test('a long log has pages by event number', async () => {
  const { context } = await createTestContext();
  for (let n = 0; n < 11; n += 1) await aChange(context);
  const ask = asking(context);
  const first = await ask();
  expect([first.title, linesIn(first).length, noteOf(first)]).toEqual([
    '22 events',
    20,
    'Newest first. 2 older events.',
  ]);
  const [older] = partsOf(first, 'offers')[0]?.offers ?? [];
  const before = Number(older?.line.replace('change log before=', ''));
  const second = await ask({ before });
  expect([second.title, linesIn(second).length]).toEqual([`2 events before ${before}`, 2]);
  expect(partsOf(second, 'offers')[0]?.offers).toEqual([{ label: 'Newest', line: 'change log' }]);
});

test('a full page counts no more than 2,000 events, a search for rare ones goes on', async () => {
  const { context } = await createTestContext();
  const about = { by: ana, tried: 'service stop', why: 'no-rule', rule: null };
  await append(context.events, async () => ({
    events: Array.from({ length: 2_600 }, (_, n) => ({
      stream: `refusal/${n}` as const,
      event: { type: 'refused', ...about, command: 'service stop', target: 'staging' } as const,
    })),
    result: null,
  }));
  expect(noteOf(await asking(context)({}))).toContain('Searched the last 2000 events');
  const rare = await asking(context)({ what: 'service start' });
  expect([rare.title, noteOf(rare)]).toEqual(['0 events', expect.not.stringContaining('Searched')]);
});
