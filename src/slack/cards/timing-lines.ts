import type { Change, State, Timing } from '../../domain/change.ts';
import {
  SCHEDULE_DAYS,
  scheduleCommandLine,
  scheduleText,
  timesOf,
} from '../../domain/schedules.ts';
import { spanText } from '../../domain/timing.ts';
import type { RevertStopReason } from '../../workflow/messenger-port.ts';
import { type Button, fact } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import { lowerActionText } from './naming.ts';

/** When the change runs and when it reverts, for preview and card. */
export function timingLines(change: Change): readonly Line[] {
  const { parent, plan } = change;
  const reverted = parent ? [fact('Reverts', `${parent} (approved together)`)] : [];
  const { schedule } = plan.timing ?? {};
  const scheduled = schedule ? [fact('Run of schedule', `${schedule} (approved with it)`)] : [];
  return [
    ...reverted,
    ...scheduled,
    ...startLines(change),
    ...(plan.timing?.revert ? backLines(change) : []),
  ];
}

const WAITING: readonly State[] = ['draft', 'pending', 'approved'];
const RAN: readonly State[] = ['executing', 'succeeded', 'failed', 'unknown'];

function startLines({ state, plan: { timing } }: Change): readonly Line[] {
  if (!timing?.startAt || RAN.includes(state)) return [];
  return [
    fact(WAITING.includes(state) ? 'Runs' : 'Was scheduled for', { at: new Date(timing.startAt) }),
  ];
}

function backLines({ state, plan, revertAt, child }: Change): readonly Line[] {
  const back = plan.timing?.revert;
  if (!back) return [];
  if (child) return [childLine(child, revertAt)];
  if (state === 'succeeded') {
    return [fact('Reverts', revertAt ? { at: revertAt } : 'not automatically')];
  }
  const isOpen = [...WAITING, 'executing', 'unknown'].includes(state);
  return isOpen ? [fact('Reverts', laterText(back))] : [];
}

function laterText({ afterMs, label }: NonNullable<Timing['revert']>): string {
  return `${spanText(afterMs)} later (${label})`;
}

// The id is in brackets: a lost card is found by its own id, which follows a dot.
function childLine({ id, state }: NonNullable<Change['child']>, revertAt: Date | null): Line {
  if (state === 'succeeded') return fact('Reverted', `by ${id}`);
  if (state === 'unknown') return fact('Reverted', `outcome unknown (${id})`);
  const isOpen = ['approved', 'executing'].includes(state);
  if (isOpen && revertAt) return fact('Reverts', { at: revertAt }, ` (${id})`);
  return fact('Reverts', `not automatically: ${id} is ${state}`);
}

/** Offered when the revert did not run: the button requests the same revert as a new change. */
export function revertButtons(change: Change): readonly Button[] {
  if (!change.parent || !NOT_REVERTED.includes(change.state)) return [];
  return [revertButton(change, 'Revert anyway')];
}

export function revertButton({ id }: Change, label: string): Button {
  return { id: 'change.take-back', label, value: id };
}

const NOT_REVERTED: readonly State[] = ['stale', 'denied', 'expired', 'cancelled', 'failed'];

const REVERT_STOP_TEXTS: Readonly<Record<RevertStopReason, string>> = {
  restored: 'the database was restored from an older copy, so the revert may have run already',
  'gap-accepted': 'operators accepted a gap of the audit trail, so the revert may have run already',
  moved: 'the target was changed again since',
  gone: 'the server no longer knows the target',
  late: 'Signalbox could not run the revert within a day of its scheduled time',
  upgraded: 'Signalbox was upgraded since',
  'audit-mismatch': 'it does not match the audit trail: the database was modified directly',
  unclear: 'the revert does not fit the current values',
};

/** In the thread of a change whose revert does not run. */
export function revertStoppedLine(change: Change, why: RevertStopReason): Line {
  const what = `“${lowerActionText(change)}” is not reverted automatically`;
  const next = 'Check the target and revert it yourself if needed.';
  return [{ user: change.requester }, ` ${what}: ${REVERT_STOP_TEXTS[why]}. ${next}`];
}

/** In the thread of a revert that a freeze blocked, once the freeze has ended. */
export function unfrozenLine(change: Change): Line {
  const { requester, parent, plan } = change;
  return [
    { user: requester },
    ` ${plan.target.name} is no longer frozen. The freeze blocked “${lowerActionText(change)}”, `,
    `so everything is still as ${parent} left it. Revert it now?`,
  ];
}

/** For a change that missed its scheduled time, or was cancelled before it; null for any other. */
export function scheduleLine(change: Change): Line | null {
  const { state, parent, notBefore } = change;
  const what = `“${lowerActionText(change)}”`;
  if (parent && state === 'cancelled') {
    return [`${what} was cancelled, so everything stays as ${parent} left it.`];
  }
  if (state !== 'expired' || !notBefore) return null;
  const late = parent ? 'a day' : 'an hour';
  return [
    `${what} was scheduled for `,
    { at: notBefore },
    ` and could not start within ${late}. Nothing was done.`,
  ];
}

/** In the thread of a schedule that expires soon, or has expired. */
export function scheduleReminderLine(
  { requester, plan }: Change,
  { until, hasExpired }: { readonly until: Date; readonly hasExpired: boolean },
): Line {
  const what = `the schedule of ${plan.target.name}, ${textOf(plan)},`;
  const when = hasExpired ? ' has expired. Nothing runs any more.' : ' expires ';
  const next = ` Renew it to use it for ${SCHEDULE_DAYS} more days.`;
  return [
    { user: requester },
    ` ${what}${when}`,
    ...(hasExpired ? [] : [{ at: until }, '.']),
    next,
  ];
}

function textOf({ body }: Change['plan']): string {
  return scheduleText(timesOf({ fields: body }));
}

/** Requests the same schedule again: a new change with a preview and its own approvals. */
export function renewButtons({ plan, reason }: Change): readonly Button[] {
  const { id, name } = plan.target;
  const line = scheduleCommandLine({ service: { id, name }, ...timesOf({ fields: plan.body }) });
  // A reason that contains a quote is not quoted: the inner quote would end it.
  const why = reason === null ? '' : reason.includes('"') ? ` ${reason}` : ` "${reason}"`;
  return [{ id: 'command.0', label: 'Renew…', value: `${line}${why}` }];
}
