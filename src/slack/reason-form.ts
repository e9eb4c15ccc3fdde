import type { KnownBlock } from '@slack/types';
import type { View } from '@slack/web-api';
import { z } from 'zod';
import type { FieldProblem } from '../base/errors.ts';
import { spanText } from '../base/text.ts';
import {
  type ChangeCommand,
  type Command,
  type Field,
  type FieldContext,
  fieldContext,
  fieldsOf,
  type Intent,
  resolveNames,
  type TypedValues,
  type Vocabulary,
} from '../commands/index.ts';
import type { Change, Plan, Target, UserId, Verb } from '../domain/change.ts';
import { boundsOf, dimensionsOf } from '../domain/narrow.ts';
import type { Place } from '../domain/place.ts';
import { reasonFor } from '../domain/policy.ts';
import { lines, message, modal, section } from './blocks.ts';
import { planLines, redacted, timingLines } from './card-plan.ts';
import { answerLabel, followUp, offeredNote } from './card-state.ts';
import type { SlackContext } from './context.ts';
import { elementFor, inputOf, text } from './inputs.ts';
import { actionText, type DrawContext } from './naming.ts';
import { ChangeOf, PrivateMessageOf } from './payload.ts';
import type { Places } from './place.ts';
import { bounded } from './rich-text.ts';

const REASON_FORMS = {
  reject: { title: 'Reject', label: 'Reason', submit: 'Reject', note: null },
  'break-glass': {
    title: 'Use break-glass',
    label: "Why can't this wait?",
    submit: 'Use break-glass',
    note:
      'This runs now, without the approvals that its rule requires. The approvers and the ' +
      'channel see your name and your reason. Someone else must review it afterwards. Freezes ' +
      'still apply.',
  },
  review: {
    title: 'Mark as reviewed',
    label: 'What did you find?',
    submit: 'Save',
    note: 'This change ran without approval. Signalbox adds your note to its card and audit trail.',
  },
  happened: { title: null, label: 'What did you find?', submit: 'Save', note: null },
  'did-not-happen': { title: null, label: 'What did you find?', submit: 'Save', note: null },
} as const;
export type ReasonFormKind = keyof typeof REASON_FORMS;

/** Whether a modal requests a reason, a note or lower values before a decision is stored. */
export function needsForm(verb: Verb): verb is ReasonFormKind | 'narrow' {
  return verb === 'narrow' || Object.hasOwn(REASON_FORMS, verb);
}

const Metadata = z.object({
  change: ChangeOf,
  home: z.boolean(),
  preview: PrivateMessageOf.nullable().catch(null),
  // Signed, so that its parts are not checked.
  place: z.custom<Place>(),
  seen: z.object({ version: z.int(), hash: z.string() }).nullable(),
});
/**
 * The change, whether the button was on the Home tab, the preview with the button, and where the button was pressed.
 * The answer replaces that preview, because its buttons no longer work by then.
 */
export type ReasonFormMetadata = z.infer<typeof Metadata>;

type FormOf = { readonly kind: Verb; readonly by: UserId };

/** The metadata of a reason form, signed for the user for whom it opens. */
export function writeReasonFormMetadata(
  places: Places,
  form: FormOf,
  metadata: ReasonFormMetadata,
): string {
  return JSON.stringify({ ...metadata, mac: places.sign(signedIn(form, metadata)) });
}

function signedIn({ kind, by }: FormOf, { change, place, seen }: ReasonFormMetadata) {
  const about = JSON.stringify([place, seen]);
  return { change, action: `change.${kind}`, user: by, kind: 'form', about } as const;
}

/**
 * Reads the metadata of a submitted reason form; null when it is not valid. The place is unknown where Signalbox did
 * not sign it for this form and user.
 */
export function readReasonFormMetadata(
  places: Places,
  form: FormOf,
  written: string,
): ReasonFormMetadata | null {
  try {
    const given = JSON.parse(written);
    const metadata = Metadata.parse(given);
    const isSigned = places.isSigned(signedIn(form, metadata), String(given.mac));
    return isSigned ? metadata : { ...metadata, place: { kind: 'unknown' }, seen: null };
  } catch {
    return null;
  }
}

/** The modal that requests the reason or note of a decision. */
export function reasonForm(
  kind: ReasonFormKind,
  change: Change,
  { metadata, commands }: { readonly metadata: string } & Pick<DrawContext, 'commands'>,
): View {
  const { title, label, submit, note } = REASON_FORMS[kind];
  const isOutcome = kind === 'happened' || kind === 'did-not-happen';
  const shown = isOutcome ? outcomeLines(change, kind === 'happened') : null;
  const offered = isOutcome ? offeredNote(change, kind === 'happened') : null;
  const element = text('reason', bounded(offered ?? '', 500), true);
  return modal(title ?? answerLabel(change, kind === 'happened', commands), {
    ...{ id: `change.${kind}`, metadata, submit, close: 'Back' },
    blocks: [
      section(`${actionText(change)} (${change.id})`),
      ...(note === null ? [] : [section(note)]),
      ...(shown === null ? [] : [shown.block]),
      inputOf('reason', label, element, { hasFocus: true }),
    ],
  });
}

const LESS_NOTE =
  'Your values replace those of the request, and count as your approval. Each one can only be less. ' +
  'Earlier approvals stay.';

/** The modal in which an approver lowers what was requested: only what this change has, or may get. */
export function narrowForm(
  change: Change,
  command: ChangeCommand,
  metadata: string,
  vocabulary: Pick<Vocabulary, 'organizations' | 'services'>,
): View {
  const { plan } = change;
  const among = fieldContext(vocabulary, typedArgs(plan));
  const fields = dimensionsOf(plan, command.timed).flatMap((name) =>
    fieldsOf(command.args).filter((field) => field.name === name),
  );
  return modal('Approve with less', {
    ...{ id: 'change.narrow', metadata, submit: 'Approve', close: 'Back' },
    blocks: [
      section(`${actionText(change)} (${change.id})`),
      ...message(lines(...planLines(redacted(plan)), ...timingLines(change))).blocks,
      section(LESS_NOTE),
      ...fields.map((field) => lowerInput(field, plan, among)),
    ],
  });
}

/** The values of a request as they are typed. */
export function typedArgs({ args }: Plan): TypedValues {
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, String(value)]));
}

/** An input with the values that are not more; a time is empty, because the requester may have another zone. */
function lowerInput(field: Field, plan: Plan, among: FieldContext): KnownBlock {
  const { name, label, input } = field;
  const current = plan.body[name];
  const value = typeof current === 'number' ? String(current) : '';
  const less = { ...field, ...(input && { input: upTo(input, plan, name) }) };
  const element = elementFor(less, { value, chosen: null, among, isPicked: false });
  return inputOf(name, label, element, { optional: true, hint: LESS_HINTS[name] });
}

const LESS_HINTS: Readonly<Record<string, string>> = {
  at: 'A later start: 20:00 or monday 8:00, in your time zone. An end stays where it is. Leave empty to keep.',
  for: 'A shorter time, for example 2h. Leave empty to keep.',
  until: 'An earlier end: 20:00 or monday 8:00, in your time zone. Leave empty to keep.',
};

function upTo(input: NonNullable<Field['input']>, plan: Plan, name: string): typeof input {
  const { least, most } = boundsOf(plan, name);
  if (input.kind === 'number') return { ...input, min: least, max: most };
  if (input.kind !== 'choice') return input;
  const isLess = (option: string) => Number(option) >= least && Number(option) <= most;
  return { ...input, options: (among) => input.options(among).filter(isLess) };
}

/** What the server shows of the target, and what the answer does. */
function outcomeLines(change: Change, happened: boolean) {
  const { target, timing } = change.plan;
  const { lines: shown } = followUp(change);
  const fact = happened
    ? 'Signalbox records that the change was applied.'
    : 'Signalbox records that the change was not applied.';
  const revert = timing?.revert
    ? [[`Its revert runs ${spanText(timing.revert.afterMs)} after the request.`]]
    : [];
  return lines(
    ...shown,
    [`${fact} Other changes of ${target.name} can run again.`],
    ['Signalbox does not send the request again.'],
    ...(happened ? revert : []),
  );
}

/** Whether the form requires a reason for the target that it names so far. */
export function needsReason(
  { context }: SlackContext,
  command: Command,
  given: TypedValues,
  vocabulary: Vocabulary,
): boolean {
  if (command.kind !== 'change') return false;
  const named = namedIn(command, given, vocabulary);
  const target = named && command.target(named, context.commandContext());
  return reasonFor(context.policy, command, target) > 0;
}

/** The items that the fields of an incomplete form name; null if one is missing or unknown. */
function namedIn(command: ChangeCommand, given: TypedValues, vocabulary: Vocabulary) {
  const naming = fieldsOf(command.args).filter(({ names }) => names !== undefined);
  if (naming.length === 0 || naming.some(({ name }) => !given[name])) return null;
  const resolved = resolveNames({ command, given, reason: '' }, naming, given, vocabulary);
  return resolved.ok ? resolved.args : null;
}

/** The problem of a reason that is missing or too short for the rule that decides. */
export function reasonProblem(
  { context }: SlackContext,
  { command, args, reason }: Pick<Intent, 'command' | 'args' | 'reason'>,
): FieldProblem | null {
  if (command.kind !== 'change') return null;
  const target: Target = command.target(args, context.commandContext());
  const least = reasonFor(context.policy, command, target);
  if ([...(reason ?? '')].length >= least) return null;
  const minimum = least > 1 ? ` of at least ${least} characters` : '';
  return { field: 'reason', problem: `Add a reason${minimum} for the approvers.` };
}
