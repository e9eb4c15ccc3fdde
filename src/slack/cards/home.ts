import type { View } from '@slack/web-api';
import { type Command, titleOf } from '../../commands/define.ts';
import { unreadableText } from '../../domain/answer.ts';
import { createDenial } from '../../domain/gate.ts';
import { commandsFor } from '../../domain/policy.ts';
import { scheduleLineWords } from '../../domain/schedules.ts';
import type { HomeContent } from '../../workflow/messenger-port.ts';
import { buttons, lines, type MessagePart, message, noteLine, title } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import type { DrawContext } from './draw-context.ts';
import { fitting, homeRow, ownRequest, toAnswerRow, toDecide } from './home-rows.ts';
import { rolesLine } from './naming.ts';
import { refusalLine } from './refusals.ts';

type HomeParts = readonly (MessagePart | null)[];

interface HomeOptions {
  readonly drawing: DrawContext;
  readonly commands: readonly Command[];
}

const BUTTONS_MAX = 25;
const LINES_MAX = 10;

/** The Home tab of one user. It always fits; what does not is counted. */
export function homeView(found: HomeContent, { drawing, commands }: HomeOptions): View {
  const parts = found.ok
    ? [...listSections(found, drawing), ...commandSection(found.actor, drawing, commands)]
    : [lines(refusalLine(createDenial(found.refusal), drawing))];
  const { blocks } = message(...parts);
  // Blocks newer than Slack's published types are objects all the same.
  return { type: 'home', blocks: blocks as never[] };
}

function listSections(
  { actor, lists }: HomeContent & { ok: true },
  drawing: DrawContext,
): HomeParts {
  const { linkOf } = drawing;
  const { waiting, toAnswer, mine, running, recent, schedules } = lists;
  const { costs, unreadable, more, at } = lists;
  const answers = toAnswer.map(({ change }) => change);
  const mayAnswer = new Set(toAnswer.flatMap((each) => (each.mayAnswer ? [each.change.id] : [])));
  const waits = `${waiting.length}${more ? '+' : ''}`;
  return [
    // A user without a role decides nothing: the section would only raise questions.
    ...section(actor.roles.length > 0 ? [actor] : waiting, `Waiting for you (${waits})`, () =>
      waiting.length > 0
        ? fitting(waiting, (change) => toDecide(change, linkOf), { most: 10, bytes: 120_000 })
        : [noteLine('Nothing is waiting for you.')],
    ),
    ...section(toAnswer, `Needs your answer (${toAnswer.length})`, () =>
      fitting(answers, (change) => toAnswerRow(change, mayAnswer.has(change.id), drawing), {
        most: 8,
        bytes: 20_000,
      }),
    ),
    ...section(mine, `Your requests (${mine.length})`, () =>
      fitting(mine, (change) => ownRequest(change, drawing), { most: 8, bytes: 20_000 }),
    ),
    ...section(running, `In progress (${running.length})`, () => [
      ...listed(running.map((change) => homeRow(change, drawing))),
      noteLine('As of ', { at }, '. Reopen this tab to refresh it.'),
    ]),
    ...section(schedules, `Schedules (${schedules.length})`, () =>
      listed(schedules.map(scheduleLineWords)),
    ),
    ...section(recent, 'Recent', () => listed(recent.map((change) => homeRow(change, drawing)))),
    ...(costs
      ? [title(costs.title), lines(...costs.lines.map((text) => [text])), asOfNote(costs.asOf)]
      : []),
    unreadable.length > 0 ? noteLine(unreadableText(unreadable)) : null,
  ];
}

function asOfNote(at: Date): MessagePart {
  return noteLine('As of ', { at }, '.');
}

function section(things: readonly unknown[], heading: string, draw: () => HomeParts): HomeParts {
  return things.length > 0 ? [title(heading), ...draw()] : [];
}

function listed(all: readonly Line[]): HomeParts {
  const left = all.length - LINES_MAX;
  return [lines(...all.slice(0, LINES_MAX)), left > 0 ? noteLine(`${left} more not shown.`) : null];
}

/** The commands that this user may use, as buttons: changes open their forms, queries answer. */
function commandSection(
  actor: (HomeContent & { ok: true })['actor'],
  { policy }: DrawContext,
  commands: readonly Command[],
): HomeParts {
  const names = commands.map(({ name }) => name);
  const usable = commandsFor(policy, names, actor);
  const own = commands.filter(({ name }) => usable.includes(name));
  const group = (kind: Command['kind']) => own.filter((command) => command.kind === kind);
  if (own.length === 0) {
    const none = noteLine('No rule of the policy allows you a command.');
    return [title('Commands'), lines(rolesLine(policy, actor.roles)), none];
  }
  return [
    title('Commands'),
    noteLine('Answers appear in the Messages tab.'),
    buttons('home:commands', ...group('change').slice(0, BUTTONS_MAX).map(commandButton)),
    buttons('home:queries', ...group('query').slice(0, BUTTONS_MAX).map(commandButton)),
  ];
}

function commandButton(command: Command) {
  const id = `command.${command.name.replaceAll(' ', '.')}`;
  return { id, label: titleOf(command), value: command.name };
}
