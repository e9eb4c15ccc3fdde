/** The answer of `/cost anomalies`, and the buttons of an unusual cost. */
import { formatDay, type Span } from '../base/calendar.ts';
import { dayOf } from '../base/time.ts';
import { type Answer, type AnswerPart, countWords, textAnswer } from '../domain/answer.ts';
import type { UserId } from '../domain/change.ts';
import type { Denial } from '../domain/gate.ts';
import type { IncidentClick, IncidentClickOutcome, IncidentService } from '../domain/incidents.ts';
import { evolveIncident } from '../domain/log-events.ts';
import { append, type Log } from '../log/index.ts';
import type { Floor, UnusualCost } from '../maths/anomalies.ts';
import { figure } from '../maths/numbers.ts';
import type { CostReading } from '../maths/report.ts';
import { microOf } from '../maths/rows.ts';
import type { Store } from '../storage/index.ts';
import { missingText } from './budgets.ts';
import {
  decreaseText,
  effectText,
  incidentButtons,
  incidentId,
  readExpected,
  unusualText,
} from './incidents.ts';
import { withoutText } from './organizations.ts';
import { footerPart, noDataAnswer } from './standing.ts';
import { type Judgement, judgeCosts, modelSpan } from './unusual.ts';

export interface UnusualContext {
  readonly store: Store;
  readonly events: Log;
  readonly costs: (span: Span) => Promise<CostReading>;
  readonly floor: Floor;
  readonly now: () => Date;
}

/** The report, and its judgement with what users marked as expected. */
export async function judgeNow(context: UnusualContext): Promise<{
  readonly read: CostReading;
  readonly judged: Judgement;
}> {
  const today = dayOf(context.now());
  const read = await context.costs(modelSpan(today));
  const expected = await readExpected(context.events, context.now());
  return { read, judged: judgeCosts({ read, today, floor: context.floor, expected }) };
}

const BUTTONS_MAX = 5;

/** The answer of `/cost anomalies`: what is unusual now, what changes explain, and what is not watched. */
export async function listAnomalies(context: UnusualContext): Promise<Answer> {
  const { read, judged } = await judgeNow(context);
  const today = dayOf(context.now());
  if (read.rows.length === 0) return noDataAnswer('Unusual costs', read);
  const missing = missingText(read, modelSpan(today));
  if (missing !== null) {
    return textAnswer('Unusual costs: not known', `${missing} could not be read.`);
  }
  const { unusual, decreased, effects, lines } = judged;
  const shown = unusual.slice(0, BUTTONS_MAX);
  const more = unusual.slice(BUTTONS_MAX).map((one) => `⚠ ${unusualText(one)}`);
  const others = [
    ...more,
    ...effects.map((one) => `By your changes: ${effectText(one)}`),
    ...decreased.map(decreaseText),
  ];
  const parts: readonly AnswerPart[] = [
    ...shown.flatMap((one): readonly AnswerPart[] => [
      { kind: 'text', text: `⚠ ${unusualText(one)}` },
      incidentButtons(one),
    ]),
    ...(others.length > 0 ? [{ kind: 'text', text: others.join('\n') } as const] : []),
    footerPart(read, null, [
      `reported from ${figure(microOf(judged.floor))} credits per day`,
      ...varyingTexts(judged),
    ]),
  ];
  return { title: `${titleOf(unusual.length, lines)}${withoutText(read)}`, parts };
}

/** `spiky-eu varies a lot, not watched for less than ×4.2` */
export function varyingTexts({ varying }: Pick<Judgement, 'varying'>): readonly string[] {
  return varying.map(
    ({ name, factor }) => `${name} varies a lot, not watched for less than ×${factor.toFixed(1)}`,
  );
}

function titleOf(unusual: number, lines: number): string {
  const of = countWords(lines, 'line');
  return unusual === 0
    ? `Nothing unusual in ${of}`
    : `${countWords(unusual, 'unusual cost')} in ${of}`;
}

const OVER = textAnswer(
  'Not unusual any more',
  'These costs are usual now, or were marked before.',
);

interface IncidentContext extends UnusualContext {
  readonly wake: () => void;
  /** Whether a user may list the anomalies, and so see and mark each of them; asked without caches. */
  readonly authorize: (
    by: UserId,
  ) => Promise<{ readonly ok: true } | { readonly ok: false; readonly denial: Denial }>;
}

export function createIncidentService(context: IncidentContext): IncidentService {
  const allowed = async (
    by: UserId,
    answer: () => Promise<Answer>,
  ): Promise<IncidentClickOutcome> => {
    const authorized = await context.authorize(by);
    return authorized.ok ? { ok: true, answer: await answer() } : authorized;
  };
  return {
    press: (press) => allowed(press.by, () => pressIncident(context, press)),
    details: ({ id, by }) => allowed(by, () => showIncident(context, id)),
  };
}

async function findIncident(context: UnusualContext, id: string): Promise<UnusualCost | null> {
  const { unusual } = (await judgeNow(context)).judged;
  return unusual.find((one) => incidentId(one) === id) ?? null;
}

async function showIncident(context: IncidentContext, id: string): Promise<Answer> {
  const found = await findIncident(context, id);
  return found ? detailsOf(found) : OVER;
}

async function pressIncident(context: IncidentContext, press: IncidentClick): Promise<Answer> {
  const { events } = context;
  const stream = `incident/${press.id}` as const;
  // The same press again, after a crash before its answer.
  const { state: before } = await events.load(stream, evolveIncident);
  if (before?.press === press.key) return expectedAnswer(before);
  const found = await findIncident(context, press.id);
  if (!found) return OVER;
  const { key: line, name, since } = found;
  const event = { type: 'expected', by: press.by, press: press.key, line, name, since } as const;
  await append(events, async () => ({ events: [{ stream, event }], result: null }));
  context.wake();
  return expectedAnswer(found);
}

function expectedAnswer({ name, since }: Pick<UnusualCost, 'name' | 'since'>): Answer {
  const text = `Noted as expected. The usual cost is learned again from ${formatDay(since)} on.`;
  return textAnswer(name, text);
}

function detailsOf(unusual: UnusualCost): Answer {
  const rows = unusual.days.map(({ day, value, usual, excess, final }) => [
    formatDay(day),
    { value, text: `${figure(microOf(value))}${final ? '' : '*'}` },
    { value: usual, text: figure(microOf(usual)) },
    { value: excess, text: figure(microOf(excess)) },
  ]);
  return {
    title: unusual.name,
    parts: [
      { kind: 'text', text: unusualText(unusual) },
      { kind: 'table', columns: ['Day (UTC), * not final', 'Credits', 'Usual', 'More'], rows },
      incidentButtons(unusual),
    ],
  };
}
