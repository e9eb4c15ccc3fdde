/** The text of a digest: one conclusion as its title, what to act on, and the details for the thread. */
import {
  formatDay,
  formatMonthName,
  formatSpan,
  lengthOf,
  monthOf,
  monthSpan,
  type Span,
} from '../base/calendar.ts';
import { addDays } from '../base/time.ts';
import {
  type Answer,
  type AnswerPart,
  type CommandOffer,
  countWords,
  utcStamp,
} from '../domain/answer.ts';
import { usualRange } from '../maths/anomalies.ts';
import { compare, explainChange, pairsOf } from '../maths/compare.ts';
import { completed, type DayState, dayStates } from '../maths/days.ts';
import { forecastMoney, forecastSpan } from '../maths/forecast.ts';
import { roughMoneyText } from '../maths/money.ts';
import {
  bracketed,
  changeText,
  creditsText,
  figure,
  shareText,
  signedFigure,
} from '../maths/numbers.ts';
import { spanBefore } from '../maths/period.ts';
import { ALL_COSTS, wordsOfScope } from '../maths/question.ts';
import { microOf } from '../maths/rows.ts';
import { headingText } from './budget-answer.ts';
import { type BudgetMemory, STEP_WORDS, stepText } from './budget-notices.ts';
import { missingText } from './budgets.ts';
import { changeOf, lineChanges, moverText } from './comparison.ts';
import { type DigestBudget, type DigestFacts, toLastPosted, totalsPosted } from './digest-data.ts';
import { varyingTexts } from './incident-answers.ts';
import { decreaseText, effectText, incidentButtons, incidentId, unusualText } from './incidents.ts';
import { leftOut, withoutText } from './organizations.ts';
import { scopeNotes } from './scope.ts';
import {
  capitalized,
  dayCountsOf,
  footerPart,
  forecastText,
  isJudged,
  openDaysTexts,
  pointText,
  rangeText,
  roundedCredits,
  usualText,
} from './standing.ts';
import { chartPart, linesOf, tablePart } from './table.ts';

export type ComposedDigest = ReturnType<typeof composeDigest>;

/** One message of at most twelve blocks, and the details for its thread. Source: docs/costs.md#digest-content. */
export function composeDigest(facts: DigestFacts) {
  const inputs = inputsOf(facts);
  const { unusual, over, rows, states } = inputs;
  const { title, rest } = headlineOf(inputs);
  const parts: readonly (AnswerPart | null)[] = [
    ...actionParts(inputs, rest),
    ...changeParts(facts),
    ...organizationParts(facts),
    chartOf(inputs),
    greyLine(inputs),
  ];
  return {
    message: { title, parts: parts.filter((part) => part !== null) } satisfies Answer,
    // The details for the thread.
    thread: rows.length === 0 ? null : threadOf(inputs),
    // Whether something needs attention, so that a quiet digest is posted.
    notable: unusual.length > 0 || over.length > 0 || facts.read.gaps.length > 0,
    lastPosted: toLastPosted(facts, states, unusual.map(incidentId)),
  };
}

/** What the title and the body are written from. */
type Inputs = ReturnType<typeof inputsOf>;

const STEPS: readonly BudgetMemory['step'][] = ['over', 'almost', 'likely'];

function inputsOf(facts: DigestFacts) {
  const { judged, budgets, covers, lastPosted, read, today } = facts;
  const { series } = judged;
  // The last reported day; null without data.
  const day = series.find((one) => one.day === covers.last) ?? null;
  const month = monthSpan(monthOf(today));
  // What could not be read, so that no total is known.
  const missing = missingText(read, covers);
  const monthMissing = missingText(read, month) ?? leftOut(read);
  const reported = new Set(lastPosted?.reported);
  const isNews = (one: (typeof judged.unusual)[number]) =>
    one.last >= covers.last || (one.last >= covers.first && !reported.has(incidentId(one)));
  const own = budgets.find(({ isOwn }) => isOwn)?.standing;
  const forecast = own?.forecast ?? forecastSpan(series, month, today, judged.isExplained);
  return {
    ...judged,
    facts,
    day,
    // Those of the reported day, and those that the last digest could not show yet.
    unusual: missing === null && day !== null ? judged.unusual.filter(isNews) : [],
    // The worst first.
    over: STEPS.flatMap((step) =>
      budgets.filter(({ memory, standing }) => standing.missing === null && memory.step === step),
    ),
    missing,
    monthMissing,
    forecast,
    money: forecast.ok ? forecastMoney(forecast.total, series, month, read.prices ?? null) : null,
  };
}

function shortened(name: string, most: number): string {
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
}

/** Two lines on a phone: of 390 px, of which the sandbox leaves 318 px to a title. */
const TITLE_MAX = 56;
/** Names are shortened as far as the title needs it. */
const NAME_MAX = [30, 16, 7];

/** A title, and the sentences that it has no room for. */
type Headline = readonly [title: string, ...rest: readonly (string | null)[]];

/**
 * One conclusion: over a budget, likely over it, unusual, or as usual. It is also the text of the
 * notification. What does not fit, such as the month or the cost of the day, is the first line of the message.
 */
function headlineOf(inputs: Inputs): { readonly title: string; readonly rest: string | null } {
  const all = NAME_MAX.flatMap((most) => headlines(inputs, most));
  const [title = '', ...rest] = all.find(([{ length }]) => length <= TITLE_MAX) ?? all.at(-1) ?? [];
  const texts = rest.flatMap((text) => (text === null ? [] : [capitalized(text)]));
  return { title, rest: texts.length > 0 ? `${texts.join('. ')}.` : null };
}

/** From the one with everything in its title to the shortest one. */
function headlines(inputs: Inputs, nameMax: number): readonly Headline[] {
  const { facts, over, unusual, missing } = inputs;
  const heads = headTexts(inputs);
  const [long = ''] = heads;
  const verdict = verdictText(inputs, nameMax);
  const [worst] = over;
  if (worst) {
    const day = [long, verdict].filter(Boolean).join(', ');
    const [conclusion, amount] = budgetConclusion(worst, facts.scope !== null, nameMax);
    return [
      ...heads.map(
        (head) =>
          [
            `${conclusion}: ${amount} · ${head.replace(/^Yesterday/, 'yesterday')}`,
            verdict,
          ] as const,
      ),
      [`${conclusion}: ${amount}`, day],
      [conclusion, amount, day],
    ];
  }
  const subject = facts.scope === null ? '' : `${shortened(facts.scope, nameMax)}: `;
  const month = monthText(inputs);
  if (missing !== null)
    return heads.map((head) => [`${subject}${head}`, `${missing} could not be read`, month]);
  const titles = heads.map((head) => [subject + head, verdict].filter(Boolean).join(', '));
  return [
    ...titles.flatMap((title): readonly Headline[] =>
      month === null ? [[title]] : [[`${title} · ${month}`], [title, month]],
    ),
    ...(unusual.length > 0
      ? ([[`${subject}${capitalized(verdict ?? '')}`, long, month]] as const)
      : []),
    ...(nameMax === NAME_MAX.at(-1)
      ? heads.map((head) => [subject + head, verdict, month] as const)
      : []),
  ];
}

/** `November over budget` and `9,260 of 9,000`; of a part of the costs always with the name of the budget. */
function budgetConclusion(
  { standing, memory: { step }, isOwn }: DigestBudget,
  isPart: boolean,
  nameMax: number,
): readonly [string, string] {
  const { budget, spent, forecast, period } = standing;
  const name = isOwn && !isPart ? 'budget' : `budget ${shortened(budget.name, nameMax)}`;
  const amount = step === 'over' || !forecast.ok ? roundedCredits(spent) : pointText(forecast);
  return [
    `${formatMonthName(period.first)} ${STEP_WORDS[step]} ${name}`,
    `${amount} of ${roundedCredits(budget.credits)}`,
  ];
}

/** `Yesterday, Thu 19 Nov: 317 credits so far`, and the same without the date, and without money. */
function headTexts(inputs: Inputs): readonly string[] {
  const { facts } = inputs;
  const { covers, today, period } = facts;
  const date = period === 'day' ? formatDay(covers.last) : formatSpan(covers, today);
  const isYesterday = period === 'day' && covers.last === addDays(today, -1);
  const names = isYesterday ? [`Yesterday, ${date}`, 'Yesterday'] : [date];
  return costTexts(inputs).flatMap((cost) =>
    names.map((name) => `${name}: ${cost}${withoutText(facts.read)}`),
  );
}

/** `317 credits (€111) so far`, and without money. */
function costTexts({
  facts: { covers, period },
  states,
  missing,
}: Pick<Inputs, 'facts' | 'states' | 'missing'>): readonly string[] {
  if (missing !== null) return ['not known'];
  const { total, money, open: openDays, missing: none } = dayCountsOf(states, covers);
  if (none.length === lengthOf(covers)) return [period === 'day' ? 'no data yet' : 'no data'];
  const open = openDays.length > 0 ? ' so far' : '';
  const inCredits = `${roundedCredits(total / 1e6)} credits`;
  return [...(money ? [`${inCredits} (${roughMoneyText(money)})`] : []), inCredits].map(
    (text) => `${text}${open}`,
  );
}

/** `unusual: ml-features +61%`, `as usual`, `more by your changes`, `above the usual 233–310`, or for a week `+3% vs 9–15 Nov`. */
function verdictText({ facts, series, unusual }: Inputs, nameMax: number): string | null {
  const { covers, period, today } = facts;
  if (period !== 'day') {
    const before = spanBefore(covers);
    const compared = compare(series, covers, before);
    // Days that still grow would look like a decrease.
    if (!compared?.isFinal || missingText(facts.read, before) !== null) return null;
    return `${changeOf(compared)} vs ${formatSpan(before, today)}`;
  }
  const [first] = unusual;
  if (first) {
    const change = first.relative === null ? first.kind : changeText(first.relative);
    return `unusual: ${shortened(first.name, nameMax)} ${change}`;
  }
  return usualText(series, covers.last, facts.judged.isExplained);
}

/** `November 8,074 of 9,000`, or with a wide range `November 3,858–9,854 of 9,000`. */
function monthText({ facts, forecast, money, monthMissing }: Inputs): string | null {
  const month = formatMonthName(facts.today);
  if (monthMissing !== null) return `${month} not known`;
  if (!forecast.ok) return null;
  const own = facts.budgets.find(({ isOwn }) => isOwn)?.standing;
  const inMoney = bracketed(forecast.isWide ? null : money && roughMoneyText(money));
  return own
    ? `${month} ${pointText(forecast)} of ${roundedCredits(own.budget.credits)}${inMoney}`
    : `${month} heading for ${pointText(forecast)}${inMoney}`;
}

const LINES_MAX = 3;

/** At most three lines to act on, unusual costs with their buttons; or that there is nothing to do. */
function actionParts(inputs: Inputs, rest: string | null): readonly AnswerPart[] {
  const { facts, over, unusual, missing } = inputs;
  const [gap] = facts.read.gaps;
  const of = gap?.organization ? ` of ${gap.organization}` : '';
  const age = gap?.from
    ? `These figures${of} are from ${utcStamp(gap.from)}`
    : `Figures${of} are missing`;
  const [worst, ...others] = over;
  const lines = [
    ...(gap ? [`⚠ ${age}: the usage report cannot be read now (${gap.why}).`] : []),
    // The title says the rest of the worst one.
    ...(worst ? [`⚠ ${WHAT_TO_DO}`] : []),
    ...others.map(({ memory, standing }) => {
      return `⚠ Budget ${standing.budget.name}: ${stepText(memory.step, standing)}`;
    }),
  ].slice(0, LINES_MAX);
  const shown = unusual.slice(0, LINES_MAX - lines.length);
  const more = unusual.length - shown.length;
  const isNothing = lines.length === 0 && unusual.length === 0 && missing === null;
  const first = [rest, isNothing ? nothingText(inputs) : null].filter((text) => text !== null);
  return [
    ...(first.length > 0 ? [{ kind: 'text', text: first.join(' ') } as const] : []),
    ...(lines.length > 0 ? [{ kind: 'text', text: lines.join('\n') } as const] : []),
    ...(worst ? [{ kind: 'offers', offers: budgetOffers(worst) } as const] : []),
    ...shown.flatMap((one, index): readonly AnswerPart[] => {
      const rest =
        more > 0 && index === shown.length - 1 ? ` (and ${more} more in the thread)` : '';
      const text = `⚠ ${unusualText(one)}${rest}`;
      return [{ kind: 'text', text }, incidentButtons(one)];
    }),
  ];
}

const WHAT_TO_DO =
  'See what grew this month, and stop or scale it, or raise the budget in signalbox.yaml.';

/** A question has no words for a warehouse. */
function budgetOffers({ standing: { budget } }: DigestBudget): readonly CommandOffer[] {
  const { services, tags, teams, warehouses } = budget.on ?? {};
  const service = (services ?? []).map(({ name }) => name);
  const scope = { ...ALL_COSTS, service, tag: tags ?? [], team: teams ?? [] };
  const why = ['cost why mtd', ...wordsOfScope(scope)].join(' ');
  const budgets = { label: 'Budgets', line: 'cost budget' };
  return warehouses ? [budgets] : [{ label: 'Why', line: why }, budgets];
}

/** A forecast above a budget is news on its second morning, and never *within budget*. */
function nothingText({ facts: { budgets, judged, period }, day, series }: Inputs): string {
  const usual = period === 'day' && day ? usualRange(series, day) : null;
  const isOutside = usual !== null && usual.side !== 'within' && !judged.isExplained;
  const near = budgets.find(
    ({ standing: { forecast, budget } }) => forecast.ok && forecast.total > budget.credits,
  );
  const isWithin =
    !near && budgets.length > 0 && budgets.every(({ standing }) => standing.missing === null);
  const nothing = isOutside ? 'no single line is unusual' : 'nothing unusual';
  const all = `${capitalized(isWithin ? `within budget, ${nothing}` : nothing)}.`;
  return near ? `${all} Budget ${near.standing.budget.name}: ${headingText(near.standing)}.` : all;
}

const SHOWN_EFFECT_DAYS = 3;

/** `By your changes: analytics-prod stopped (ADHZMF) −13.8 credits per day` */
function changeParts({ judged, covers }: DigestFacts): readonly AnswerPart[] {
  const recent = judged.effects.filter(
    ({ change }) => change.day >= addDays(covers.first, -SHOWN_EFFECT_DAYS),
  );
  const [first] = recent;
  if (!first) return [];
  const texts = recent.slice(0, LINES_MAX).map(effectText);
  const { id } = first.change;
  return [
    { kind: 'text', text: `By your changes: ${texts.join('; ')}` },
    { kind: 'offers', offers: [{ label: `Show ${id}`, line: `change show ${id}` }] },
  ];
}

/** `prod-eu: 210 credits so far`, a line for each of several; not for a part of their services. */
function organizationParts(facts: DigestFacts): readonly AnswerPart[] {
  const { read, covers, selector } = facts;
  if (!read.organizations || Object.keys(selector).length > 0) return [];
  const lines = read.organizations.map(({ name, read: own, isMissing }) => {
    const missing = isMissing ? name : missingText(own, covers);
    const [cost] = costTexts({ facts, states: dayStates(own.rows, covers), missing });
    return `${name}: ${cost}`;
  });
  return [{ kind: 'text', text: lines.join('\n') }];
}

const CHART_DAYS = 14;

function chartOf({ facts, states }: Inputs): AnswerPart | null {
  const { last } = facts.covers;
  return chartPart(states, { first: addDays(last, 1 - CHART_DAYS), last }, facts.today);
}

/** Not final days, what changed until days became final, skipped days, decreases, and the age. */
function greyLine({ facts, states, day }: Inputs): AnswerPart {
  const { read, today, covers, selector, untagged, next, judged, elsewhere } = facts;
  const shown = { first: addDays(covers.last, 1 - CHART_DAYS), last: covers.last };
  const texts = [
    ...openDaysTexts(states, shown, { today }),
    ...(day && !isJudged(day) ? [`${formatDay(covers.last)} seen once`] : []),
    ...finalTexts(facts, states),
    ...skippedTexts(facts, states),
    ...judged.decreased.map(decreaseText),
    ...(elsewhere > 0 ? [`${countWords(elsewhere, 'change')} made without Signalbox`] : []),
    'days in UTC',
    ...scopeNotes({ selector, untagged }),
  ];
  const footer = footerPart(read, read.gaps[0]?.why, texts);
  return next ? { ...footer, next: { label: 'Next digest', at: next } } : footer;
}

const LEAST_REVISION = microOf(0.05);
const REVISIONS_MAX = 3;

/** `became final: Mon 9 Nov +0.4` */
function finalTexts(facts: DigestFacts, states: readonly DayState[]): readonly string[] {
  const posted = totalsPosted(facts);
  const texts = states.flatMap(({ day, state, total }) => {
    const delta = total - (posted.get(day) ?? total);
    if (state !== 'final' || Math.abs(delta) < LEAST_REVISION) return [];
    return [`${formatDay(day)} ${signedFigure(delta)}`];
  });
  return texts.length === 0 ? [] : [`became final: ${texts.slice(-REVISIONS_MAX).join(', ')}`];
}

/** `not reported before: Fri 27 Nov 310.2, Sat 28 Nov 120.4` */
function skippedTexts({ skipped }: DigestFacts, states: readonly DayState[]): readonly string[] {
  const texts = states.flatMap(({ day, state, total }) => {
    if (!skipped.includes(day)) return [];
    return [`${formatDay(day)} ${state === 'no-data' ? 'no data' : figure(total)}`];
  });
  return texts.length === 0 ? [] : [`not reported before: ${texts.join(', ')}`];
}

/** The figures, the lines that changed most and the table by service. */
function threadOf(inputs: Inputs): Answer {
  const { facts } = inputs;
  const { covers, today, read, scope, judged } = facts;
  const label = facts.period === 'day' ? formatDay(covers.last) : formatSpan(covers, today);
  const subject = scope === null ? '' : `${scope}, `;
  const before = spanBefore(covers);
  const isWhole = [covers, before].every((span) => missingText(read, span) === null);
  return {
    title: `Details of ${subject}${label} (UTC)`,
    parts: [
      { kind: 'facts', facts: figuresOf(inputs) },
      ...(isWhole ? changedParts(inputs, before) : []),
      footerPart(read, null, varyingTexts(judged)),
    ],
  };
}

/** What a day costs when it is final is shown if it is known and more. */
const KNOWN_ERROR = 0.1;
const LEAST_GROWTH = 1.02;

function figuresOf(inputs: Inputs) {
  const { facts, states, series, day, missing, monthMissing, forecast, money } = inputs;
  const { covers, budgets, judged, today } = facts;
  if (missing !== null) return [['Not known', `${missing} could not be read`] as const];
  const usual = day && usualRange(series, day);
  const whole = day && !day.final && completed(day);
  // With the day so far, like the budgets below.
  const { first, last } = monthSpan(monthOf(covers.last));
  const month = { first, last: last < today ? last : today };
  const soFar = dayCountsOf(states, month);
  const range = usual && `${rangeText(usual.low, usual.high)} credits`;
  return [
    ...(range ? [[`Usual on ${formatDay(covers.last)}`, range] as const] : []),
    ...(day && whole && whole.error <= KNOWN_ERROR && whole.value >= LEAST_GROWTH * day.value
      ? [['When final', `about ${roundedCredits(whole.value)} credits`] as const]
      : []),
    [formatSpan(month, today), creditsText(soFar.total, soFar.money)] as const,
    ...(forecast.ok && monthMissing === null
      ? [[formatMonthName(today), `${forecastText(forecast, money)}, about 80% sure`] as const]
      : []),
    ...budgets.map(({ standing }) => {
      const { budget, share } = standing;
      const spent = standing.missing === null ? `${shareText(share)} · ` : '';
      return ['Budget', `${budget.name} ${spent}${headingText(standing)}`] as const;
    }),
    ...judged.unusual.map((one) => ['Unusual', unusualText(one)] as const),
  ];
}

/** What changed most against the same days of the week before, and all services. */
function changedParts({ facts, rows, states }: Inputs, before: Span): readonly AnswerPart[] {
  const { covers, read, today } = facts;
  const { pairs, isFinal } = pairsOf(read.rows, covers, before);
  const { movers } = explainChange(rows, pairs);
  const part = isFinal ? '' : ', as reported so far';
  const heading = `Changed most vs ${formatSpan(before, today)}${part}:`;
  const text = [heading, ...movers.map((one) => `• ${moverText(one)}`)].join('\n');
  const changes = lineChanges(rows, read.rows, 'service', { now: covers, before });
  const question = { by: 'service', period: covers, top: null } as const;
  const table = tablePart('service', linesOf(question, rows, states, changes), changes);
  return [...(movers.length > 0 ? [{ kind: 'text', text } as const] : []), table];
}
