import {
  type Change,
  isEnded,
  isPerson,
  type Plan,
  type PlanRow,
  type State,
} from '../domain/change.ts';
import { dimensionsOf } from '../domain/narrow.ts';
import { standingOf } from '../domain/standing.ts';
import {
  type Button,
  buttons,
  fact,
  lines,
  type Message,
  type MessagePart,
  message,
} from './blocks.ts';
import {
  aboutLines,
  changedLines,
  costLines,
  narrowingLines,
  redacted,
  rowText,
  shownPlan,
  stateCheckLines,
  storedInstant,
  timingLines,
  warningLines,
} from './card-plan.ts';
import { answerLabel, cardTitle, ending, newsLines } from './card-state.ts';
import {
  type DrawContext,
  lowerActionText,
  lowerFirst,
  requestedAction,
  requesterLine,
  roleText,
} from './naming.ts';
import { stoppedLine } from './refusals.ts';
import { bounded, either, type Line, type RichInline } from './rich-text.ts';
import { beforeAfterTable } from './tables.ts';

// A card from top to bottom: its parts for open and ended changes, then its buttons.

type Drawing = Pick<DrawContext, 'commands'>;

/** The public message of a change. Signalbox redraws it whole in every state. */
export function changeCard(
  change: Change,
  drawing: DrawContext,
  { hidden = [], block = `card:${change.version}`, news = [] }: CardOptions = {},
): Message {
  const own = (BUTTONS[change.state] ?? notRun)(change, drawing);
  const shown = own.filter(({ id }) => !hidden.includes(id));
  return message(
    ...(isEnded(change) || change.state === 'unknown'
      ? endedParts(change, drawing)
      : openParts(change, drawing)),
    lines(...news),
    buttons(block, ...shown),
  );
}

interface CardOptions {
  /** The buttons that are left out. */
  readonly hidden?: readonly string[];
  /** The block id of the others. */
  readonly block?: string;
  /** What happened since, below everything else. */
  readonly news?: readonly Line[];
}

/** What approvers need to decide, and what a user may still stop; `more` is shown below it. */
export function openParts(change: Change, drawing: DrawContext, more: readonly Line[] = []) {
  const facts = [...approvalLines(change, drawing), ...ending(change, drawing).facts, ...more];
  const plan = redacted(change.plan);
  return decisionParts(change, drawing, { head: titleLines(change, drawing), plan, facts });
}

/**
 * What everyone who decides about a change reads, in this order: its requester on the preview, approvers on the card,
 * its copies and Home. What changes comes before what surrounds it.
 */
export function decisionParts(
  change: Change,
  drawing: DrawContext,
  { head, plan, facts }: Summary,
) {
  const { breakGlass } = change;
  return summaryParts({
    head,
    plan,
    facts: [
      ...narrowingLines(change),
      ...aboutLines(change),
      ...newsLines(change, drawing),
      ...warningLines(plan),
      ...costLines(plan),
      ...timingLines(change),
      ...facts,
      // An emergency has its reason below the title.
      ...reasonLines(breakGlass ? { ...change, reason: null } : change),
    ],
  });
}

/** How the change ended, who decided, and what to do next. */
function endedParts(change: Change, drawing: DrawContext) {
  const { state, plan, stopReason, rejection, cancelledBy } = change;
  const { facts, extras, warnings } = ending(change, drawing);
  return summaryParts({
    head: [...titleLines(change, drawing), ...stateCheckLines(change), ...warnings],
    plan: { ...redacted(shownPlan(change)), unchangedFields: [] },
    facts: [
      ...(rejection ? [fact('Rejected by', { user: rejection.by }, ': ', rejection.reason)] : []),
      ...(cancelledBy ? [fact('Cancelled by', { user: cancelledBy })] : []),
      ...(stopReason ? [stoppedLine(change, drawing)] : []),
      ...facts,
      ...timingLines(change),
      ...narrowingLines(change),
      peopleLine(change),
      ...reasonLines(change),
      // An unknown outcome is settled by what the target shows: its estimated cost does not help.
      ...(state === 'unknown'
        ? [...aboutLines(change), ...newsLines(change, drawing)]
        : costLines(plan)),
      ...extras,
    ],
  });
}

/** The reason; and `copilot (agent): “the night load is over”`: a line of its own, because only the agent vouches for it. */
export function reasonLines({ reason, via, words }: Change): readonly Line[] {
  const said: readonly Line[] = via && words ? [[{ quoted: words, by: via.agent }]] : [];
  return [...(reason ? [fact('Reason', reason)] : []), ...said];
}

const ACTION_MAX = 100;

/** The first lines of a card: requester, action and target, or the state; for an emergency, why. */
function titleLines(change: Change, { commands }: Drawing): readonly Line[] {
  const { id, state, breakGlass, expiresAt, plan } = change;
  if (breakGlass) return [...emergencyLines(change, breakGlass), stateLine(change, commands)];
  if (state !== 'pending') return [stateLine(change, commands)];
  const until = plan.timing?.startAt ? 'approve by' : 'expires';
  const asked = lowerFirst(bounded(requestedAction(change), ACTION_MAX));
  const title: Line = [{ bold: '○ ' }, ...requesterLine(change), { bold: ` requests: ${asked}` }];
  return [[...title, ` · ${id} · ${until} `, { at: expiresAt }]];
}

function stateLine(change: Change, commands: Drawing['commands']): Line {
  return [{ bold: cardTitle(change, commands) }, ` · ${change.id}`];
}

function emergencyLines(
  change: Change,
  { by, at, reason }: NonNullable<Change['breakGlass']>,
): readonly Line[] {
  const action = bounded(lowerActionText(change), ACTION_MAX);
  return [
    [{ bold: '⚠ EMERGENCY · ' }, { user: by }, { bold: `: ${action} without approval` }],
    fact('Reason', reason),
    reviewLine(change, ' · used ', { at }),
  ];
}

/** Who reviewed a break-glass use; `unreviewed` continues the line of one that nobody reviewed. */
export function reviewLine({ review }: Change, ...unreviewed: Line): Line {
  if (!review) return fact('Reviewed by', 'nobody yet', ...unreviewed);
  return fact('Reviewed by', { user: review.by }, ', ', { at: review.at }, ': ', review.note);
}

/** `Approved  Ben (1 of 2 from @db-leads) · @db-operators too after 17:40` */
function approvalLines(change: Change, drawing: DrawContext): readonly Line[] {
  const { approvals, requires, state } = change;
  if (requires.count === 0 || state !== 'pending') return [peopleLine(change)];
  const names: Line = approvals.length > 0 ? namesOf(approvals) : ['nobody yet'];
  const counted: Line = [` (${approvals.length} of ${requires.count} from `];
  const from = approversOf(change, drawing);
  return [fact('Approved', ...names, ...counted, ...from, ')', ...escalation(change, drawing))];
}

// The mention notifies the approvers once: Slack sends no notification for an edited message.
function approversOf({ requires: { from } }: Change, { groupIds }: DrawContext): Line {
  const groups = from === null ? [] : groupIds(from).map((group) => ({ group }));
  return groups.length > 0 ? either(groups) : [`the role ${from}`];
}

function escalation({ requires, confirmedAt }: Change, { policy }: DrawContext): Line {
  if (!requires.escalation || !confirmedAt) return [];
  const at = new Date(confirmedAt.getTime() + requires.escalation.afterMs);
  return [` · ${roleText(policy, requires.escalation.to)} too after `, { at }];
}

/** `Requested by Ana · approved by Ben, Cleo (2 of 2)` */
function peopleLine(change: Change): Line {
  const { approvals, requires } = change;
  const words: Line = ['Requested by ', ...requesterLine(change)];
  if (approvals.length === 0) return words;
  const counted = ` (${approvals.length} of ${requires.count})`;
  return [...words, ' · approved by ', ...namesOf(approvals), counted];
}

/** `Ben, Cleo`, as mentions. */
export function namesOf(approvals: Change['approvals']): Line {
  return approvals.flatMap(({ by }, index): RichInline[] => [
    ...(index > 0 ? [', '] : []),
    { user: by },
  ]);
}

/** The content of a card or preview, in the order in which it is shown: its plan as the readers of the message may see it. */
interface Summary {
  readonly head: readonly Line[];
  readonly plan: Plan;
  readonly facts: readonly Line[];
}

/** A summary as blocks. An update that sends all fields has its changed ones in a table. */
function summaryParts(summary: Summary): readonly (MessagePart | null)[] {
  const { head, plan, facts } = summary;
  const below = [...unchangedLine(plan), ...facts];
  if (plan.unchangedFields.length === 0 || plan.rows.length === 0) {
    return [lines(...head, ...shownRows(plan), ...below)];
  }
  const cells = plan.rows.map(
    ({ field, label, before, after }) =>
      [label, cellOf(field, before), cellOf(field, after)] as const,
  );
  return [lines(...head), beforeAfterTable(cells), lines(...below)];
}

/** With more fields than a scale has, for example of a new endpoint, a line for each hides the rest. */
const OWN_LINES_MAX = 5;

function shownRows(plan: Plan): readonly Line[] {
  const own = changedLines(plan);
  if (own.length <= OWN_LINES_MAX) return own;
  return [own.flatMap((line, index): Line => (index === 0 ? line : [' · ', ...line]))];
}

/** The labels only: *Show request* has what the fields refer to. */
function unchangedLine({ unchangedFields }: Summary['plan']): readonly Line[] {
  const labels = unchangedFields.map((field) => field.replace(/ \(.*$/s, ''));
  return labels.length > 0 ? [[`Unchanged: ${labels.join(', ')}`]] : [];
}

function cellOf(field: string, value: PlanRow['before']): string | Date {
  return storedInstant(value)?.at ?? (value === null ? '–' : rowText(field, value));
}

type Buttons = (change: Change, drawing: Drawing) => readonly Button[];

/** The buttons that the state leaves open, of a change that was not refused or ended before it ran. */
const BUTTONS: Readonly<Partial<Record<State, Buttons>>> = {
  draft: () => [],
  pending: (change, { commands }) => [
    ...decideButtons(change),
    ...(mayRun(change) ? narrowButtons(change, commands) : []),
    showRequest(change),
    ...(mayRun(change) ? breakGlassButtons(change) : []),
    ...cancelButtons(change),
  ],
  approved: (change) => [...cancelButtons(change), showRequest(change)],
  executing: (change) => [showRequest(change)],
  succeeded: acceptedButtons,
  unknown: (change, drawing) => [...outcomeButtons(change, drawing), showRequest(change)],
};

export function decideButtons(change: Change): readonly Button[] {
  const { id: value } = change;
  const approve = { id: 'change.approve', label: 'Approve', value, style: 'primary' } as const;
  const reject = { id: 'change.reject', label: 'Reject', value, style: 'danger' } as const;
  return mayRun(change) ? [approve, reject] : [reject];
}

function narrowButtons(change: Change, commands: Drawing['commands']): readonly Button[] {
  const { id: value, command, plan } = change;
  if (dimensionsOf(plan, commands.get(command)?.timed).length === 0) return [];
  return [{ id: 'change.narrow', label: 'Approve with less…', value, inMenu: true }];
}

/** Nothing that cannot lead to a run is offered. */
function mayRun({ news }: Change): boolean {
  return (news?.refusal ?? null) === null;
}

export function showRequest({ id }: Change): Button {
  return { id: 'change.details', label: 'Show request', value: id, inMenu: true };
}

/** What a program asked for itself is rejected before the approval, and cancelled by its approvers after it. */
function cancelButtons({ id, requester, state }: Change): readonly Button[] {
  if (!isPerson(requester) && state === 'pending') return [];
  return [{ id: 'change.cancel', label: 'Cancel', value: id, inMenu: true }];
}

function breakGlassButtons({ id, requires }: Change): readonly Button[] {
  if (requires.breakGlass === null) return [];
  return [{ id: 'change.break-glass', label: 'Use break-glass…', value: id, inMenu: true }];
}

function acceptedButtons(change: Change, { commands }: Drawing): readonly Button[] {
  const { id: value, plan } = change;
  const command = commands.get(change.command);
  const undo = change.isOver ? null : command?.undo?.(plan.target, plan.before, plan.body);
  return [
    ...(undo ? [{ id: 'change.undo', label: undo.label, value }] : []),
    ...revokeButtons(change),
    ...(command?.hasSecret && !change.passwordShown
      ? [{ id: 'change.reveal', label: 'Show the password', value }]
      : []),
    ...reviewButtons(change),
    showRequest(change),
  ];
}

/** Of a standing approval that is in force. */
export function revokeButtons(change: Change): readonly Button[] {
  if (change.isOver || change.revoked || standingOf(change) === null) return [];
  return [{ id: 'change.revoke', label: 'Revoke', value: change.id, style: 'danger' }];
}

/** The two answers about an unknown outcome, named by the command. */
export function outcomeButtons(change: Change, { commands }: Drawing): readonly Button[] {
  const value = change.id;
  return [
    { id: 'change.happened', label: answerLabel(change, true, commands), value },
    { id: 'change.did-not-happen', label: answerLabel(change, false, commands), value },
  ];
}

function notRun(change: Change): readonly Button[] {
  return [
    ...requestAgainButtons(change),
    ...revertButtons(change),
    ...reviewButtons(change),
    showRequest(change),
  ];
}

/** Whether *Request again* is offered. A revert has a button of its own: nobody typed its command. */
export function mayRequestAgain(change: Change): boolean {
  const { state, parent } = change;
  return isEnded(change) && state !== 'succeeded' && !parent;
}

export function requestAgainButtons(change: Change): readonly Button[] {
  if (!mayRequestAgain(change)) return [];
  const current = change.stopReason === 'target-changed' ? ' with current values' : '';
  return [{ id: 'change.request-again', label: `Request again${current}`, value: change.id }];
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

/** A break-glass change is reviewed however it ended, because nobody approved it. */
export function reviewButtons(change: Change): readonly Button[] {
  const { id, breakGlass, review } = change;
  if (!breakGlass || review || !isEnded(change)) return [];
  return [{ id: 'change.review', label: 'Mark as reviewed…', value: id }];
}

/** The buttons of a preview, which only its requester sees. */
export function previewButtons(draft: Change): readonly Button[] {
  const { id: value, requires, plan } = draft;
  const run = plan.timing?.startAt ? 'Schedule' : 'Run now';
  const label = requires.count > 0 && !draft.standing ? 'Request approval' : run;
  return [
    ...(mayRun(draft) ? [{ id: 'change.confirm', label, value, style: 'primary' } as const] : []),
    { id: 'change.edit', label: 'Edit', value },
    { id: 'change.cancel', label: 'Cancel', value },
    showRequest(draft),
    ...(requires.count > 0 ? breakGlassButtons(draft) : []),
  ];
}

const PREVIEW = 'preview:';
const OWN = 'own:';

/** The block id of the buttons of a preview. */
export function previewBlock(id: string): string {
  return `${PREVIEW}${id}`;
}

/** The block id of the buttons of a card that only its reader sees. */
export function ownBlock(id: string): string {
  return `${OWN}${id}`;
}

/**
 * Whether the pressed buttons are in a private message. A direct message can also be the card itself,
 * in a workspace without an approvals channel.
 */
export function isPrivateBlock(id: string): boolean {
  return [PREVIEW, OWN].some((each) => id.startsWith(each));
}

export function isPreview({ blocks }: Message): boolean {
  return blocks.some(({ block_id = '' }) => block_id.startsWith(PREVIEW));
}
