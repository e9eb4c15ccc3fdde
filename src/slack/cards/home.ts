import type { View } from '@slack/web-api';
import type { Command } from '../../intent/define.ts';
import { usage } from '../../intent/help.ts';
import { commandsFor } from '../../policy/explain.ts';
import { denialOf } from '../../workflow/denial.ts';
import type { HomeContent, HomeLists } from '../../workflow/messenger-port.ts';
import { buttons, lines, type MessagePart, message, noteLine, title } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import { titleOf } from '../forms/form.ts';
import type { Drawing } from './drawing.ts';
import { fitting, homeRow, ownRequest, toDecide, toLookAt } from './home-rows.ts';
import { refusalLine } from './refusals.ts';

type Shown = readonly (MessagePart | null)[];

interface Surroundings {
  readonly drawing: Drawing;
  readonly commands: readonly Command[];
}

const BUTTONS_MAX = 25;
const LINES_MAX = 10;

/** What one person finds in the app's own tab. It always fits, and says how much does not. */
export function homeView(found: HomeContent, { drawing, commands }: Surroundings): View {
  const parts = found.ok
    ? [...desk(found.desk), ...youMay(found.actor, drawing, commands)]
    : [lines(refusalLine(denialOf(found.refusal), drawing))];
  const { blocks } = message(...parts);
  // Blocks newer than Slack's published types are objects all the same.
  return { type: 'home', blocks: blocks as never[] };
}

function desk({ waiting, toReview, mine, running, recent: lately, more, at }: HomeLists): Shown {
  const waits = `${waiting.length}${more ? '+' : ''}`;
  return [
    title(`Waiting for you (${waits})`),
    ...(waiting.length > 0
      ? fitting(waiting, toDecide, { most: 10, bytes: 120_000 })
      : [noteLine('Nothing is waiting for you.')]),
    ...section(toReview, `To review (${toReview.length})`, () =>
      fitting(toReview, toLookAt, { most: 8, bytes: 20_000 }),
    ),
    ...section(mine, `Your requests (${mine.length})`, () =>
      fitting(mine, ownRequest, { most: 8, bytes: 20_000 }),
    ),
    ...section(running, `Running and due back (${running.length})`, () => [
      ...listed(running.map(homeRow)),
      noteLine('As of ', { at }, '. Opened again, this tab is drawn anew; the cards always are.'),
    ]),
    ...section(lately, 'Lately', () => listed(lately.map(homeRow))),
  ];
}

function section(things: readonly unknown[], heading: string, draw: () => Shown): Shown {
  return things.length > 0 ? [title(heading), ...draw()] : [];
}

function listed(all: readonly Line[]): Shown {
  const left = all.length - LINES_MAX;
  return [
    lines(...all.slice(0, LINES_MAX)),
    left > 0 ? noteLine(`Not shown here, for lack of room: ${left}.`) : null,
  ];
}

/** Changes as buttons that open their forms; what only looks is typed, for it needs a name. */
function youMay(
  actor: (HomeContent & { ok: true })['actor'],
  { policy }: Drawing,
  commands: readonly Command[],
): Shown {
  const names = commands.map(({ name }) => name);
  const usable = commandsFor(policy, names, actor);
  const own = commands.filter(({ name }) => usable.includes(name));
  const changes = own.filter(({ kind }) => kind === 'change').slice(0, BUTTONS_MAX);
  const looks = own.filter(({ kind }) => kind === 'query');
  return [
    title('You may'),
    own.length === 0 ? noteLine('No rule of the policy lets you use a command.') : null,
    buttons('home:commands', ...changes.map(commandButton)),
    lines(...looks.map((query): Line => [{ code: usage(query) }, `  ${query.summary}`])),
  ];
}

function commandButton(command: Command) {
  const id = `command.${command.name.replaceAll(' ', '.')}`;
  return { id, label: titleOf(command), value: command.name };
}
