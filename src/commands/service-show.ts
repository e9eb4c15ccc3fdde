import { z } from 'zod';
import type { Answer, AnswerPart, Caller } from '../domain/answer.ts';
import type { Change } from '../domain/change.ts';
import type { ServiceSchedule } from '../domain/schedules.ts';
import { scheduleWords } from '../domain/schedules.ts';
import { type Service, serviceTarget } from '../domain/targets.ts';
import { type ElsewhereRead, elsewhereLines } from '../intent/answers/activity-text.ts';
import { detailFacts } from '../intent/answers/service-details.ts';
import { type Fact, overviewFacts, type ServiceView } from '../intent/answers/service-overview.ts';
import { unknownText } from '../intent/answers/unknown-read.ts';
import { choiceField, ServiceName } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';
import type { CommandContext } from '../intent/ports/command-context.ts';

const DETAILS = 'details';
const Details = choiceField(z.enum([DETAILS], `must be ${DETAILS}`), () => [DETAILS], {
  label: 'Details',
  typedOnly: true,
});

export const serviceShow = queryCommand({
  name: 'service show',
  title: 'Look up a service',
  summary: 'Show the state, size and last changes of a service',
  examples: ['service show analytics-prod', 'service show analytics-prod details'],
  args: z.strictObject({ service: ServiceName, details: Details }),

  target: ({ service }) => serviceTarget(service),
  answer: async ({ service, details }, context, asker) => {
    const shown = await gather(service, context, asker);
    return details === undefined ? overview(shown) : allDetails(shown);
  },
});

interface Shown {
  readonly view: ServiceView;
  readonly changes: readonly Change[];
  readonly elsewhere: ElsewhereRead;
  readonly weekly: ServiceSchedule | null;
}

async function gather(service: Service, context: CommandContext, asker: Caller): Promise<Shown> {
  const target = serviceTarget(service);
  const [view, changes, elsewhere, weekly] = await Promise.all([
    readView(service, context),
    context.changes.latestOf(target, asker),
    readElsewhere(service, context, asker),
    context.schedules.of(service.id),
  ]);
  return { view, changes, elsewhere, weekly };
}

async function readView(service: Service, { reads }: CommandContext): Promise<ServiceView> {
  const read = await reads.cloud.service(service.id, WAITING);
  if (!read.known) return { service, read, schedule: read };
  const { scalingSchedule, currentScaling } = read.value;
  // Servers that report the applied size have the schedule in the service itself.
  const isComplete = scalingSchedule !== null || currentScaling !== null;
  const schedule = isComplete
    ? { ...read, value: scalingSchedule }
    : await reads.cloud.schedule(service.id, WAITING);
  return { service, read, schedule };
}

const WAITING = { waiting: true };
const DAYS_BACK = 6;
const DAY_MS = 86_400_000;

async function readElsewhere(
  service: Service,
  { reads, now, isOperatorOf }: CommandContext,
  { by }: Caller,
): Promise<ElsewhereRead> {
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
  const today = now().getTime();
  const period = { from_date: dayOf(today - DAYS_BACK * DAY_MS), to_date: dayOf(today) };
  const read = await reads.cloud.activities(period, WAITING);
  if (!read.known) return read;
  const isOperator = await isOperatorOf(serviceTarget(service), by);
  return { ...read, value: elsewhereLines(read.value, service.id, isOperator) };
}

/** At most eight lines before the buttons; the rest is behind a button. */
function overview({ view, changes, elsewhere, weekly }: Shown): Answer {
  const [last, ...others] = elsewhere.known ? elsewhere.value : [];
  const more = others.length > 0 ? ` · ${others.length} more in 7 days` : '';
  const lastLine: readonly Fact[] = last ? [['Elsewhere', [...last, more]]] : [];
  return {
    title: view.service.name,
    parts: [
      { kind: 'facts', facts: [...overviewFacts(view), ...weeklyFacts(weekly), ...lastLine] },
      ...unknownPart(changes),
      ...changesPart(changes.filter(({ state }) => state !== 'unknown').slice(0, 1)),
      offersPart(view, true),
      ...notePart(view),
    ],
  };
}

function allDetails({ view, changes, elsewhere, weekly }: Shown): Answer {
  const lines: readonly Fact[] = elsewhere.known
    ? elsewhere.value.slice(0, LINES_MAX).map((line) => ['Elsewhere', line])
    : [['Elsewhere', unknownText(elsewhere)]];
  const none: readonly Fact[] = [['Elsewhere', 'no change in the last 7 days']];
  return {
    title: view.service.name,
    parts: [
      { kind: 'facts', facts: [...detailFacts(view), ...weeklyFacts(weekly)] },
      { kind: 'facts', facts: lines.length === 0 ? none : lines },
      ...unknownPart(changes),
      ...changesPart(changes.filter(({ state }) => state !== 'unknown')),
      offersPart(view, false),
      ...notePart(view),
    ],
  };
}

function weeklyFacts(weekly: ServiceSchedule | null): readonly Fact[] {
  return weekly ? [['Stops and starts', [...scheduleWords(weekly), ` · ${weekly.id}`]]] : [];
}

const LINES_MAX = 10;

function changesPart(changes: readonly Change[]): readonly AnswerPart[] {
  return changes.length === 0 ? [] : [{ kind: 'changes', changes }];
}

/** An unknown outcome blocks the service, so its question is asked here as well. */
function unknownPart(changes: readonly Change[]): readonly AnswerPart[] {
  return changes
    .filter(({ state }) => state === 'unknown')
    .flatMap((change): readonly AnswerPart[] => [
      { kind: 'changes', changes: [change] },
      { kind: 'text', text: BLOCKED },
      { kind: 'outcome', change },
    ]);
}

const BLOCKED =
  'Other changes of this service are blocked. Check the console, then record what you found.';

function offersPart({ service: { id } }: ServiceView, isOverview: boolean): AnswerPart {
  const offers = [
    { label: 'Stop…', line: `service stop ${id}` },
    { label: 'Start…', line: `service start ${id}` },
    { label: 'Scale…', line: `service scale ${id}` },
    ...(isOverview ? [{ label: 'Show details', line: `service show ${id} ${DETAILS}` }] : []),
  ];
  return { kind: 'offers', offers };
}

function notePart({ read }: ServiceView): readonly AnswerPart[] {
  return read.known ? [] : [{ kind: 'note', text: `Current state: ${unknownText(read)}` }];
}
