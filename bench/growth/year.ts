import type { Change, ChangeId, ChannelId, State, UserId } from '../../src/domain/change.ts';
import { changeIdFrom } from '../../src/domain/change.ts';
import { planDigest } from '../../src/domain/draft.ts';
import type { AuditEvent } from '../../src/log/old/chain.ts';
import { changeIn } from '../../test/domain/changes-fixtures.ts';
import { userIds } from '../../test/harness/generated-users.ts';
import { copiesOfStaging } from '../../test/harness/services.ts';

/** The size of a year of a large organization. */
export const YEAR = { changes: 200_000, eventsPerChange: 15, people: 10_000, services: 500 };
export const PEOPLE = userIds('CROWD', YEAR.people) as readonly UserId[];
export const SERVICES = copiesOfStaging(YEAR.services, 'shard-of-team');

const APART_MS = (365 * 86_400_000) / YEAR.changes;
const DAY_MS = 86_400_000;
/** Four generations of 100 schedules; the last one began 85 days before the end. */
const GENERATION = 51_200;
const SCHEDULED = 100;
const REVERT_AFTER = 98;
const OPEN = 300;

/** One step of the life of a change: its audit event, without the digest. */
export interface Step {
  readonly kind: string;
  readonly by: UserId | 'signalbox';
  readonly to: State;
  readonly facts?: AuditEvent['body'];
}

export interface YearChange {
  readonly change: Change;
  readonly steps: readonly Step[];
  /** The change of a schedule of which this one is a run. */
  readonly runOf: ChangeId | null;
  readonly isPlannedRevert: boolean;
}

export function idOf(n: number): ChangeId {
  let rest = (n * 104_729_011) % 30 ** 6;
  const digits = Array.from({ length: 6 }, () => {
    const digit = rest % 30;
    rest = Math.floor(rest / 30);
    return digit;
  });
  return changeIdFrom(Uint8Array.from(digits));
}

export function timeOf(n: number, end: Date): Date {
  return new Date(Math.round(end.getTime() - (YEAR.changes - n) * APART_MS));
}

/** The numbers of the changes that created a schedule, with its service. */
export function scheduleNumbers() {
  return [0, 1, 2, 3].flatMap((generation) =>
    Array.from({ length: SCHEDULED }, (_, service) => {
      return { n: generation * GENERATION + service * 4, service, generation };
    }),
  );
}

/** The rows of the schedules: 90 days, unless the next one of the service replaces it. */
export function scheduleRows(end: Date) {
  return scheduleNumbers().map(({ n, service, generation }) => {
    const at = timeOf(n, end);
    const ended = generation < 3 ? timeOf(n + GENERATION, end) : null;
    return { id: idOf(n), service, at, until: new Date(at.getTime() + 90 * DAY_MS), ended };
  });
}

const isSchedule = (n: number) => n % 4 === 0 && n % GENERATION < SCHEDULED * 4;
const isRun = (n: number) =>
  n % 4 === 1 && n % GENERATION > SCHEDULED * 4 && n < YEAR.changes - OPEN;
const isTimed = (n: number) =>
  n % 20 === 6 && n < YEAR.changes - OPEN - REVERT_AFTER && endOf(n) === 'succeeded';
const isRevert = (n: number) =>
  !isSchedule(n) && n % 20 === 4 && n >= REVERT_AFTER && isTimed(n - REVERT_AFTER);

/** 85 % succeed; the last 300 are open. */
function endOf(n: number): State {
  const left = YEAR.changes - n;
  if (left <= OPEN) return openState(left);
  const share = (n * 7_919) % 100;
  const ends: readonly (readonly [number, State])[] = [
    [85, 'succeeded'],
    [87, 'failed'],
    [90, 'rejected'],
    [94, 'cancelled'],
    [98, 'expired'],
    [99, 'stale'],
  ];
  return ends.find(([below]) => share < below)?.[1] ?? 'denied';
}

function openState(left: number): State {
  if (left <= 60) return 'draft';
  if (left <= 220) return 'pending';
  return left <= 270 ? 'approved' : left <= 280 ? 'executing' : 'unknown';
}

export function yearChange(n: number, end: Date): YearChange {
  const inherits = isRun(n) || isRevert(n);
  const state = isSchedule(n) || inherits ? 'succeeded' : endOf(n);
  const steps = inherits ? inheritedSteps(n) : ownSteps(n, state);
  const service = SERVICES[isRun(n) || isSchedule(n) ? Math.floor(n / 4) % SCHEDULED : n % 500];
  const requester = personOf(isRevert(n) ? n - REVERT_AFTER : n);
  const at = timeOf(n, end);
  const later = (ms: number) => new Date(at.getTime() + ms);
  const base = changeIn(state);
  const runOf = isRun(n) ? scheduleOf(n) : null;
  const approvers = steps.filter(({ kind }) => kind === 'approved');
  const isPrivate = state === 'draft' || (steps.length === 2 && steps[1]?.to === state);
  const over: Partial<Change> = {
    id: idOf(n),
    command: commandOf(n),
    requester,
    createdAt: at,
    confirmedAt: isPrivate ? null : later(10_000),
    expiresAt: later((state === 'expired' ? 0.01 : 30) * DAY_MS),
    version: steps.length,
    approvals: inherits
      ? [{ by: PEOPLE[n % 400] ?? requester, at }]
      : approvers.map(({ by }, index) => ({ by: by as UserId, at: later(20_000 + index * 9_000) })),
    outcome: base.outcome && { ...base.outcome, at: later(60_000) },
    lease: state === 'executing' ? { owner: 'replica-2', until: later(30 * DAY_MS) } : null,
    notBefore: state === 'approved' ? later(20 * DAY_MS) : null,
    revertAt: isTimed(n) ? later(4 * 3_600_000) : null,
    parent: isRevert(n) ? idOf(n - REVERT_AFTER) : null,
    ...(n % 500 === 3 && state === 'succeeded' && !inherits ? brokenGlass(n, later) : {}),
    cancelledBy: state === 'cancelled' ? requester : null,
    card: isPrivate
      ? null
      : { channel: 'C0APPROVALS' as ChannelId, ts: `${1_700_000_000 + n}.000100` },
    plan: {
      ...base.plan,
      target: {
        ...{ kind: isSchedule(n) ? 'schedule' : 'service', id: service?.id ?? '' },
        ...{ name: service?.name ?? '', tags: [n % 2 ? 'dev' : 'prod'], warehouse: 'lab' },
      },
      body: isSchedule(n)
        ? { stop: 'weekdays 20:00', start: 'weekdays 07:00', zone: 'Europe/Berlin' }
        : base.plan.body,
      ...(runOf ? { timing: { startAt: null, revert: null, schedule: runOf } } : {}),
    },
  };
  const change = { ...base, ...over };
  return {
    change: { ...change, digest: planDigest(change) },
    ...{ steps, runOf, isPlannedRevert: isTimed(n) },
  };
}

function brokenGlass(n: number, later: (ms: number) => Date): Partial<Change> {
  const [by, other] = [personOf(n), personOf(n + 1)];
  const isReviewed = n < YEAR.changes - 5_000;
  return {
    breakGlass: { by, at: later(15_000), reason: 'production is down' },
    review: isReviewed ? { by: other, at: later(100_000), note: 'correct' } : null,
  };
}

function personOf(n: number): UserId {
  return PEOPLE[(n * 31) % YEAR.people] as UserId;
}

function scheduleOf(n: number): ChangeId {
  const service = Math.floor(n / 4) % SCHEDULED;
  return idOf(Math.floor(n / GENERATION) * GENERATION + service * 4);
}

function commandOf(n: number): string {
  if (isSchedule(n)) return 'service schedule';
  return n % 3 === 0 ? 'service scale' : n % 3 === 1 ? 'service stop' : 'service start';
}

function inheritedSteps(n: number): readonly Step[] {
  const approvers = [PEOPLE[n % 400] as UserId];
  const facts = isRun(n)
    ? { approvers, schedule: scheduleOf(n) }
    : { approvers, parent: idOf(n - REVERT_AFTER) };
  const kind = isRun(n) ? 'scheduled' : 'planned-return';
  return [
    { kind, by: 'signalbox', to: 'approved', facts },
    { kind: 'claimed', by: 'signalbox', to: 'executing' },
    { kind: 'succeeded', by: 'signalbox', to: 'succeeded' },
  ];
}

function ownSteps(n: number, state: State): readonly Step[] {
  const by = personOf(n);
  const drafted = { kind: 'drafted', by, to: 'draft' } as const;
  if (state === 'draft') return [drafted];
  const ended: Step = { kind: state, by: state === 'cancelled' ? by : 'signalbox', to: state };
  // Half of what is cancelled or expires was never confirmed.
  if (['cancelled', 'expired'].includes(state) && n % 2 === 0) return [drafted, ended];
  const confirmed: Step = { kind: 'confirmed', by, to: 'pending' };
  const asked = [drafted, confirmed];
  if (state === 'pending') return asked;
  if (['rejected', 'cancelled', 'expired'].includes(state)) return [...asked, ended];
  const [one, two] = [PEOPLE[n % 400], PEOPLE[(n + 1) % 400]] as [UserId, UserId];
  const approved: readonly Step[] = [
    { kind: 'approved', by: one, to: 'pending' },
    { kind: 'approved', by: two, to: 'approved' },
  ];
  if (state === 'approved') return [...asked, ...approved];
  const claimed: Step = { kind: 'claimed', by: 'signalbox', to: 'executing' };
  if (state === 'executing') return [...asked, ...approved, claimed];
  return ['stale', 'denied'].includes(state)
    ? [...asked, ...approved, ended]
    : [...asked, ...approved, claimed, ended];
}
