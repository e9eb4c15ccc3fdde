import { type Change, hasAuditMismatch, isEnded, type State } from '../../../domain/change.ts';
import type { Button } from '../../blocks/blocks.ts';
import { breakGlassButton, reviewButtons } from '../break-glass.ts';
import type { DrawContext } from '../draw-context.ts';
import { revertButtons } from '../timing-lines.ts';
import { answerLabel } from './state-text.ts';

type Drawing = Pick<DrawContext, 'commands'>;

/** The buttons that the state leaves open, without those in `hidden`; the last ones in a menu. */
export function cardButtons(
  change: Change,
  drawing: Drawing,
  hidden: readonly string[],
): readonly Button[] {
  if (hasAuditMismatch(change)) return [];
  const { state } = change;
  const own = BUTTONS[state](change, drawing);
  return own.filter(({ id }) => !hidden.includes(id));
}

/** The buttons of a preview, which only its requester sees. */
export function previewButtons(draft: Change): readonly Button[] {
  const { id: value, requires, plan } = draft;
  const run = plan.timing?.startAt ? 'Schedule' : 'Run now';
  const label = requires.count > 0 ? 'Request approval' : run;
  return [
    { id: 'change.confirm', label, value, style: 'primary' },
    { id: 'change.edit', label: 'Edit', value },
    { id: 'change.cancel', label: 'Cancel', value },
    showRequest(draft),
    ...(requires.count > 0 ? breakGlassButtons(draft) : []),
  ];
}

export function showRequest({ id }: Change): Button {
  return { id: 'change.details', label: 'Show request', value: id, inMenu: true };
}

function cancel({ id }: Change): Button {
  return { id: 'change.cancel', label: 'Cancel', value: id, inMenu: true };
}

function breakGlassButtons(change: Change): readonly Button[] {
  return change.requires.breakGlass === null ? [] : [breakGlassButton(change)];
}

/** The two answers about an unknown outcome, named by the command. */
export function outcomeButtons(change: Change, { commands }: Drawing): readonly Button[] {
  const value = change.id;
  return [
    { id: 'change.happened', label: answerLabel(change, true, commands), value },
    { id: 'change.did-not-happen', label: answerLabel(change, false, commands), value },
  ];
}

const notRun = (change: Change): readonly Button[] => [
  ...requestAgainButtons(change),
  ...revertButtons(change),
  ...reviewButtons(change),
  showRequest(change),
];

const BUTTONS: Readonly<Record<State, (change: Change, drawing: Drawing) => readonly Button[]>> = {
  draft: () => [],
  pending: (change) => [
    { id: 'change.approve', label: 'Approve', value: change.id, style: 'primary' },
    { id: 'change.reject', label: 'Reject', value: change.id, style: 'danger' },
    showRequest(change),
    ...breakGlassButtons(change),
    cancel(change),
  ],
  approved: (change) => [cancel(change), showRequest(change)],
  executing: (change) => [showRequest(change)],
  succeeded: acceptedButtons,
  unknown: (change, drawing) => [...outcomeButtons(change, drawing), showRequest(change)],
  failed: notRun,
  rejected: notRun,
  cancelled: notRun,
  expired: notRun,
  stale: notRun,
  denied: notRun,
};

function acceptedButtons(change: Change, { commands }: Drawing): readonly Button[] {
  const { id: value, plan } = change;
  const command = commands.get(change.command);
  const undo = command?.undo(plan.target, plan.before, plan.body);
  return [
    ...(undo ? [{ id: 'change.undo', label: undo.label, value }] : []),
    ...(command?.hasSecret ? [{ id: 'change.reveal', label: 'Show the password', value }] : []),
    ...reviewButtons(change),
    showRequest(change),
  ];
}

/** Whether *Request again* is offered. A revert has a button of its own: nobody typed its command. */
export function mayRequestAgain(change: Change): boolean {
  const { state, parent } = change;
  return isEnded(change) && state !== 'succeeded' && !parent && !hasAuditMismatch(change);
}

export function requestAgainButtons(change: Change): readonly Button[] {
  if (!mayRequestAgain(change)) return [];
  const current = change.stopReason === 'target-changed' ? ' with current values' : '';
  return [{ id: 'change.request-again', label: `Request again${current}`, value: change.id }];
}
