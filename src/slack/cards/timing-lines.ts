import type { Change, State, Timing } from '../../changes/change.ts';
import { spanText } from '../../intent/arguments/timing.ts';
import type { RevertStopReason } from '../../workflow/messenger-port.ts';
import { type Button, fact } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import { lowerActionText } from './naming.ts';

/** When it runs and what takes it back, for preview and card alike. */
export function timingLines(change: Change): readonly Line[] {
  const { parent, plan } = change;
  const of = parent ? [fact('Takes back', `${parent}, with which it was approved`)] : [];
  return [...of, ...startLines(change), ...(plan.timing?.back ? backLines(change) : [])];
}

const WAITING: readonly State[] = ['draft', 'pending', 'approved'];
const RAN: readonly State[] = ['executing', 'succeeded', 'failed', 'unknown'];

function startLines({ state, plan: { timing } }: Change): readonly Line[] {
  if (!timing?.startAt || RAN.includes(state)) return [];
  return [fact(WAITING.includes(state) ? 'Runs' : 'Was to run', { at: new Date(timing.startAt) })];
}

function backLines({ state, plan, backAt, child }: Change): readonly Line[] {
  const back = plan.timing?.back;
  if (!back) return [];
  if (child) return [childLine(child, backAt)];
  if (state === 'succeeded') {
    return [backAt ? fact('Goes back', { at: backAt }) : fact('Goes back', 'not by itself')];
  }
  const isOpen = [...WAITING, 'executing', 'unknown'].includes(state);
  return isOpen ? [fact('Goes back', afterText(back))] : [];
}

export function afterText({ afterMs, label }: NonNullable<Timing['back']>): string {
  return `${spanText(afterMs)} after (${label})`;
}

// In brackets, for a card is found again by the id behind its dot.
function childLine({ id, state }: NonNullable<Change['child']>, backAt: Date | null): Line {
  if (state === 'succeeded') return fact('Taken back', `by ${id}`);
  if (state === 'unknown') return fact('Taken back', `nobody knows yet (${id})`);
  const isOpen = ['approved', 'executing'].includes(state);
  if (isOpen && backAt) return fact('Goes back', { at: backAt }, ` (${id})`);
  return fact('Goes back', `not by itself: ${id} is ${state}`);
}

/** What nothing takes back by itself any more, a person still may: it types the same words anew. */
export function revertButtons(change: Change): readonly Button[] {
  if (!change.parent || !NOT_TAKEN_BACK.includes(change.state)) return [];
  return [revertButton(change, 'Take it back anyway')];
}

export function revertButton({ id }: Change, label: string): Button {
  return { id: 'change.take-back', label, value: id };
}

const NOT_TAKEN_BACK: readonly State[] = ['stale', 'denied', 'expired', 'cancelled', 'failed'];

const BECAUSE: Readonly<Record<RevertStopReason, string>> = {
  restored: 'the database was restored from an older copy, and it may have happened already',
  moved: 'what it changed is not as it left it any more',
  gone: 'the server does not know what it changed any more',
  late: 'Signalbox could not see to it within a day of its hour',
  unclear: 'the way back does not fit what is there now',
};

/** In the thread of what was to hold for a while only. */
export function revertStoppedLine(change: Change, why: RevertStopReason): Line {
  const what = `“${lowerActionText(change)}” is not taken back by itself: ${BECAUSE[why]}. `;
  return [
    { user: change.requester },
    ' ',
    what,
    'Look, and take it back yourself where it should.',
  ];
}

/** In the thread of what was to take something back, once the freeze that held it up is over. */
export function unfrozenLine(change: Change): Line {
  const { requester, parent, plan } = change;
  return [
    { user: requester },
    ` ${plan.target.name} is not frozen any more. “${lowerActionText(change)}” was not run because of `,
    `that, so all still is as ${parent} left it. Take it back now?`,
  ];
}

/** What could not begin in time, or was called off before its hour. */
export function scheduleLine(change: Change): Line | null {
  const { state, parent, notBefore } = change;
  const what = `“${lowerActionText(change)}”`;
  if (parent && state === 'cancelled') {
    return [`${what} was cancelled, so that all stays as ${parent} left it.`];
  }
  if (state !== 'expired' || !notBefore) return null;
  const late = parent ? 'a day' : 'an hour';
  return [
    `${what} was to run `,
    { at: notBefore },
    ` and could not within ${late}. Nothing was done.`,
  ];
}
