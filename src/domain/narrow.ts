// Approving with less: which part of a plan an approver may lower, whether another plan is narrower in each of them, and
// how people read the difference. A wider plan covers every narrower one, also over a chain of them.

import { canonical, spanText } from '../base/text.ts';
import type { InlinePart } from './answer.ts';
import type { Change, Plan, Refusal, Timing } from './change.ts';
import { isTimingKey, type TimingSupport } from './timing.ts';

/** The fields of a request of which a lower number is less. */
const LOWERED = ['maxReplicaMemoryGb', 'numReplicas', 'uses'] as const;
type Lowered = (typeof LOWERED)[number];
/** What an approver may lower, by the names of the arguments. */
export type Dimension = Lowered | 'for' | 'until' | 'at';

function isLowered(field: string): field is Lowered {
  return LOWERED.some((each) => each === field);
}

/** What this plan has, or may get, that an approver may lower; the run of a schedule was approved with it. */
export function dimensionsOf(
  { body, timing }: Plan,
  timed: TimingSupport | undefined,
): readonly Dimension[] {
  if (timing?.schedule) return [];
  const end: Dimension = timing?.revert?.until === undefined ? 'for' : 'until';
  const start: Dimension = 'at';
  return [
    ...LOWERED.filter((field) => typeof body[field] === 'number'),
    ...(timed === undefined ? [] : [start]),
    ...(timed === 'start and revert' ? [end] : []),
  ];
}

/** The values among which an approver chooses: below what is requested, and not on the other side of the current one. */
export function boundsOf({ body, before }: Plan, field: string) {
  const [most, now] = [Number(body[field]), before?.fields[field]];
  // Less than now would turn more into less: another change than the one that people agree to.
  return { most, least: typeof now === 'number' && most >= now ? now : 1 };
}

interface NotNarrower {
  readonly refusal: Extract<Refusal, 'wider' | 'not-narrower'>;
  /** The argument that is wider; null: none of its own. */
  readonly field: Dimension | null;
}

/**
 * Whether `plan` is `wider` with less: null if it is; else why not. Target, command, state before and every other argument
 * are the same, each value is lower or the same, and at least one is lower. Without an end, a change is wider than with any.
 */
export function notNarrower(wider: Plan, plan: Plan, now: Date): NotNarrower | null {
  const fields = Object.keys(wider.body).filter(isLowered);
  const field = fields.find((each) => !isWithin(wider, plan, each)) ?? widerTime(wider, plan, now);
  if (field) return { refusal: 'wider', field };
  if (canonical(fixedOf(wider)) !== canonical(fixedOf(plan))) {
    return { refusal: 'wider', field: null };
  }
  const isSame = canonical(loweredOf(wider)) === canonical(loweredOf(plan));
  return isSame ? { refusal: 'not-narrower', field: null } : null;
}

function isWithin(wider: Plan, { body }: Plan, field: Lowered): boolean {
  const value = body[field];
  const { most, least } = boundsOf(wider, field);
  if (value === wider.body[field]) return true;
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

/** What no approver may change. */
function fixedOf({ target, args, sends, body, before, rows, unchangedFields, gaps, timing }: Plan) {
  const own = (fields: object, isOwn: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => isOwn(name)));
  const isFixed = (name: string) => !isLowered(name);
  return JSON.parse(
    JSON.stringify({
      ...{ target, sends, before, unchangedFields, gaps, schedule: timing?.schedule },
      args: own(args, (name) => isFixed(name) && !isTimingKey(name)),
      body: own(body, isFixed),
      lowered: Object.keys(body).filter(isLowered).toSorted(),
      rows: rows.filter((row) => isFixed(row.field) || row.after !== body[row.field]),
    }),
  );
}

function loweredOf({ body, timing }: Plan) {
  return [...LOWERED.map((field) => body[field] ?? null), startOf(timing), spanOf(timing)];
}

/** The end as it was requested: a moment, or milliseconds after the start. */
function spanOf(timing: Timing | undefined): string | number | null {
  const { revert = null } = timing ?? {};
  return revert && (revert.until ?? revert.afterMs);
}

/** The part of the timing that begins earlier or ends later; what begins once approved may begin now. */
function widerTime({ timing: wider }: Plan, { timing }: Plan, now: Date): Dimension | null {
  const [first, start] = [startOf(wider), startOf(timing)];
  const isMoved = start !== first;
  if (isMoved && (start === null || start <= (first ?? now.getTime()))) return 'at';
  const [had, has] = [wider?.revert ?? null, timing?.revert ?? null];
  if (had === null && has === null) return null;
  const kind = has?.until === undefined ? 'for' : 'until';
  if (has === null) return had?.until === undefined ? 'for' : 'until';
  const begins = start ?? now.getTime();
  if (has.afterMs <= 0 || endOf(has, begins) <= begins) return kind;
  if (had === null) return null;
  // A moment stays a moment: the end after a duration moves with the start.
  if (had.until !== undefined && has.until === undefined) return 'until';
  const isSame = had.line === has.line && had.label === has.label;
  const isLater = endOf(has, begins) > endOf(had, first ?? now.getTime());
  if (!isSame) return kind;
  if (!isLater) return null;
  return isMoved && had.afterMs === has.afterMs ? 'at' : kind;
}

function startOf(timing: Timing | undefined): number | null {
  return timing?.startAt ? Date.parse(timing.startAt) : null;
}

function endOf({ until, afterMs }: NonNullable<Timing['revert']>, begins: number): number {
  return until === undefined ? begins + afterMs : Date.parse(until);
}

/** The timing of a narrower plan: the start that the approver gave, and an end that is not later because of it. */
export function delayed(timing: Timing | undefined, startAt: Date, now: Date): Timing {
  const revert = timing?.revert ?? null;
  if (revert === null) return { ...timing, startAt: startAt.toISOString(), revert };
  const end = endOf(revert, startOf(timing) ?? now.getTime());
  const afterMs = end - startAt.getTime();
  return { ...timing, startAt: startAt.toISOString(), revert: { ...revert, afterMs } };
}

/** Whether people who agreed to this digest agreed to the change as it is: to its plan, or to a wider one. */
export function coversPlan(
  { digest, narrowings = [] }: Pick<Change, 'digest' | 'narrowings'>,
  approved: string,
): boolean {
  return approved === digest || narrowings.some(({ wider }) => wider.digest === approved);
}

/** The digest of the plan that a message of this version showed; null: the message had no version. */
export function digestShown(
  { digest, narrowings = [] }: Pick<Change, 'digest' | 'narrowings'>,
  version: number | null,
): string {
  const later = version === null ? undefined : narrowings.find((each) => each.version > version);
  return later?.wider.digest ?? digest;
}

/** `Replicas 3 → 2, reverts 4 h → 2 h later`: how a narrower plan differs. */
export function lessParts(wider: Plan, plan: Plan): readonly InlinePart[] {
  const sizes = LOWERED.flatMap((field): readonly (readonly InlinePart[])[] => {
    if (wider.body[field] === plan.body[field]) return [];
    const label = wider.rows.find((row) => row.field === field)?.label ?? field;
    return [[`${label} ${wider.body[field]} → ${plan.body[field]}`]];
  });
  const [first, start] = [startOf(wider.timing), startOf(plan.timing)];
  const runs: readonly InlinePart[] =
    first === start ? [] : ['runs ', whenOf(first), ' → ', whenOf(start)];
  const reverts: readonly InlinePart[] =
    spanOf(wider.timing) === spanOf(plan.timing)
      ? []
      : ['reverts ', endText(wider.timing), ' → ', endText(plan.timing)];
  const all = [...sizes, runs, reverts].filter((parts) => parts.length > 0);
  return all.flatMap((parts, index) => [...(index > 0 ? [', '] : []), ...parts]);
}

function whenOf(at: number | null): InlinePart {
  return at === null ? 'once approved' : { at: new Date(at) };
}

function endText(timing: Timing | undefined): InlinePart {
  const { revert = null } = timing ?? {};
  if (revert === null) return 'never';
  return revert.until === undefined
    ? `${spanText(revert.afterMs)} later`
    : { at: new Date(revert.until) };
}
