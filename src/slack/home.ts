import type { View } from '@slack/web-api';
import { type Command, titleOf } from '../commands/index.ts';
import type { AnswerRow } from '../domain/answer.ts';
import type { Change } from '../domain/change.ts';
import { createDenial } from '../domain/gate.ts';
import { commandsFor } from '../domain/policy.ts';
import { scheduleLineWords } from '../domain/schedules.ts';
import type { HomeContent } from '../workflow/index.ts';
import {
  type Button,
  buttons,
  fact,
  lines,
  type MessagePart,
  menu,
  message,
  noteLine,
  row,
  title,
} from './blocks.ts';
import {
  decideButtons,
  openParts,
  outcomeButtons,
  reviewButtons,
  reviewLine,
  revokeButtons,
  showRequest,
} from './card.ts';
import { timingLines } from './card-plan.ts';
import { cardTitle } from './card-state.ts';
import { cardPlace, type LinkOf } from './links.ts';
import { type DrawContext, requesterLine, rolesLine, roleText } from './naming.ts';
import { NO_COMMAND, refusalLine } from './refusals.ts';
import type { Line } from './rich-text.ts';

type HomeParts = readonly (MessagePart | null)[];

interface HomeOptions {
  readonly drawing: DrawContext;
  readonly commands: readonly Command[];
}

/** The Home tab of one user. It always fits; what does not is counted. */
export function homeView(found: HomeContent, { drawing, commands }: HomeOptions): View {
  const parts = found.ok
    ? [...listSections(found, drawing), ...commandSection(found.actor, drawing, commands)]
    : [lines(refusalLine(createDenial(found.refusal), drawing))];
  const { blocks } = message(...parts);
  return { type: 'home', blocks: [...blocks] };
}

function listSections(
  { actor, lists }: HomeContent & { ok: true },
  drawing: DrawContext,
): HomeParts {
  const { waiting, toAnswer, mine, running, recent, schedules, standing } = lists;
  const { services, costs, more, at } = lists;
  const answers = toAnswer.map(({ change }) => change);
  const mayAnswer = new Set(toAnswer.flatMap((each) => (each.mayAnswer ? [each.change.id] : [])));
  const waits = `${waiting.length}${more ? '+' : ''}`;
  return [
    // A user without a role decides nothing: the section would only raise questions.
    ...section(actor.roles.length > 0 ? [actor] : waiting, `Waiting for you (${waits})`, () =>
      waiting.length > 0
        ? fitting(waiting, (change) => toDecide(change, drawing), { most: 10, bytes: 120_000 })
        : [noteLine('Nothing is waiting for you.')],
    ),
    ...section(toAnswer, `Needs your answer (${toAnswer.length})`, () =>
      fitting(answers, (change) => toAnswerRow(change, mayAnswer.has(change.id), drawing)),
    ),
    ...section(mine, `Your requests (${mine.length})`, () =>
      fitting(mine, (change) => ownRequest(change, drawing)),
    ),
    ...section(running, `In progress (${running.length})`, () => [
      ...listed(running.map((change) => homeRow(change, drawing))),
      noteLine('As of ', { at }, '. Reopen this tab to refresh it.'),
    ]),
    ...(services
      ? [title(services.title), ...services.rows.slice(0, SERVICES_MAX).map(rowWithButton)]
      : []),
    ...(costs
      ? [title(costs.title), noteLine(`${costs.lines.join(' ')} As of `, { at: costs.asOf }, '.')]
      : []),
    ...section(standing, `Standing approvals (${standing.length})`, () =>
      fitting(standing, (change) => [
        lines(homeRow(change, drawing)),
        actions(change, ...revokeButtons(change)),
      ]),
    ),
    ...section(schedules, `Schedules (${schedules.length})`, () =>
      listed(schedules.map(scheduleLineWords)),
    ),
    ...section(recent, 'Recent', () => listed(recent.map((change) => homeRow(change, drawing)))),
  ];
}

const SERVICES_MAX = 5;

/** A row of a list, with the button of its command. */
export function rowWithButton(shown: Omit<AnswerRow, 'about'> & { readonly about: Line }) {
  const { text, about, show, label = 'Show' } = shown;
  return row(text, about, show === null ? null : { id: 'command.show', label, value: show });
}

function section(things: readonly unknown[], heading: string, draw: () => HomeParts): HomeParts {
  return things.length > 0 ? [title(heading), ...draw()] : [];
}

/** As many whole changes as fit into a Slack view, so that no plan is cut; the rest is counted. */
function fitting(
  changes: readonly Change[],
  draw: (change: Change) => HomeParts,
  { most, bytes } = { most: 8, bytes: 20_000 },
): HomeParts {
  const shown: (MessagePart | null)[] = [];
  let [drawn, size] = [0, 0];
  for (const change of changes.slice(0, most)) {
    const parts = draw(change);
    size += Buffer.byteLength(JSON.stringify(parts.map((part) => part?.block)));
    if (size > bytes) break;
    shown.push(...(drawn > 0 ? [DIVIDER] : []), ...parts);
    drawn += 1;
  }
  const left = changes.length - drawn;
  return [...shown, left > 0 ? noteLine(`${left} more not shown. Each has its card.`) : null];
}

const DIVIDER: MessagePart = { block: { type: 'divider' }, text: '' };

/** Everything that the card shows before a change runs, for an approver who decides here. */
function toDecide(change: Change, drawing: DrawContext): HomeParts {
  const card = placeOf(change, drawing.linkOf).slice(1);
  return [
    ...openParts(change, drawing, card.length > 0 ? [card] : []),
    actions(change, ...decideButtons(change), showRequest(change)),
  ];
}

/** An unknown outcome, or an emergency change to review. Other users read who can record the outcome. */
function toAnswerRow(change: Change, mayAnswer: boolean, drawing: DrawContext): HomeParts {
  const { id, requires } = change;
  const isUnknown = change.state === 'unknown';
  const who = roleText(drawing.policy, requires.from ?? requires.to);
  const blocked = 'Other changes to this target are blocked until the outcome is recorded.';
  return [
    lines(
      [`${cardTitle(change, drawing.commands)} · ${id}`, ...placeOf(change, drawing.linkOf)],
      ...breakGlassLines(change),
      ...(isUnknown ? [[blocked]] : []),
      ...(mayAnswer ? [] : [[`${who} can record it after a check of the console.`]]),
    ),
    mayAnswer
      ? actions(change, ...(isUnknown ? outcomeButtons(change, drawing) : reviewButtons(change)))
      : null,
  ];
}

/** Who used break-glass and why, and who reviewed it. */
function breakGlassLines(change: Change): readonly Line[] {
  if (!change.breakGlass) return [];
  const { by, at, reason } = change.breakGlass;
  return [fact('⚠ Break-glass by', { user: by }, ', ', { at }, ': ', reason), reviewLine(change)];
}

function ownRequest(change: Change, { linkOf, commands }: RowDrawing): HomeParts {
  const { id, state, approvals, requires } = change;
  const counted = state === 'pending' ? ` (${approvals.length} of ${requires.count})` : '';
  return [
    lines(
      [`${cardTitle(change, commands)}${counted} · ${id}`, ...placeOf(change, linkOf)],
      ...timingLines(change),
    ),
    actions(change, { id: 'change.cancel', label: 'Cancel', value: id }),
  ];
}

// The id names the buttons, because one change can be in two lists of the same view.
function actions({ id, version }: Change, ...all: readonly Button[]): MessagePart | null {
  const kinds = all.map((button) => button.id).join(' ');
  return buttons(`home:${id}:${version}:${kinds}`, ...all);
}

/** What a row of a change needs for drawing. */
export type RowDrawing = Pick<DrawContext, 'linkOf' | 'commands'>;

/** One line for a change that is in progress or has ended. */
export function homeRow(change: Change, drawing: RowDrawing): Line {
  const { text, about } = rowOfChange(change, drawing);
  return [`${text} · `, ...about];
}

/** Title and state of a change, and apart from them who requested it, when, and its card. */
export function rowOfChange(
  change: Change,
  { linkOf, commands }: RowDrawing,
): { readonly text: string; about: Line } {
  const requested: Line = [...requesterLine(change), ', ', { at: change.createdAt }];
  const timing = timingLines(change).flatMap((line): Line => [' · ', ...line]);
  return {
    text: cardTitle(change, commands),
    about: [...requested, ...timing, ...placeOf(change, linkOf)],
  };
}

function placeOf(change: Change, linkOf: LinkOf): Line {
  const place = cardPlace(change, 'card', linkOf);
  return place.length > 0 ? [' · ', ...place] : [];
}

const LINES_MAX = 10;

function listed(all: readonly Line[]): HomeParts {
  const left = all.length - LINES_MAX;
  return [lines(...all.slice(0, LINES_MAX)), left > 0 ? noteLine(`${left} more not shown.`) : null];
}

/** The most frequent tasks; the first four that the user may do are buttons. */
const FREQUENT = [
  ...['service stop', 'service scale', 'alert list', 'cost', 'service list', 'change list'],
  ...['service show', 'change log'],
];
const BUTTONS_MAX = 4;

/** Four frequent actions as buttons, and every command that this user may use in one menu. */
function commandSection(
  actor: (HomeContent & { ok: true })['actor'],
  { policy }: DrawContext,
  commands: readonly Command[],
): HomeParts {
  const names = commands.map(({ name }) => name);
  const usable = commandsFor(policy, names, actor);
  const own = commands.filter(({ name }) => usable.includes(name));
  if (own.length === 0) {
    const none = noteLine(NO_COMMAND);
    return [title('Commands'), lines(rolesLine(policy, actor.roles)), none];
  }
  const choices = own.map((command) => ({ label: titleOf(command), value: command.name }));
  const frequent = FREQUENT.flatMap(
    (name) => choices.find(({ value }) => value === name) ?? [],
  ).map((choice) => ({ ...choice, id: `command.${choice.value.replaceAll(' ', '.')}` }));
  return [
    DIVIDER,
    buttons('home:commands', ...frequent.slice(0, BUTTONS_MAX)),
    menu('command.menu', 'All commands…', choices),
    noteLine('Answers appear in the Messages tab.'),
  ];
}
