import type { View } from '@slack/web-api';
import type { Change, UserId } from '../changes/change.ts';
import { usage } from '../intent/help.ts';
import { commandsFor } from '../policy/explain.ts';
import { deskOf } from '../workflow/look.ts';
import { buttons, fact, lines, message, note, type Part, title } from './blocks.ts';
import type { Bot } from './bot.ts';
import { cardTitle } from './card.ts';
import type { Line } from './rich.ts';

/** What one person finds in the app's own tab: drawn from the database each time it is opened. */
export async function publishHome(bot: Bot, user: UserId): Promise<void> {
  const view = await homeView(bot, user);
  await bot.clients.views.views.publish({ user_id: user, view });
}

async function homeView(bot: Bot, user: UserId): Promise<View> {
  const identity = await bot.world.people.identify(user, { fresh: false });
  const parts = identity.ok
    ? await desk(bot, user, identity.actor.roles)
    : [lines(['Signalbox could not find out who you are, or you are not a member here.'])];
  const { blocks } = message(...parts);
  return { type: 'home', blocks: blocks as never[] };
}

async function desk(bot: Bot, user: UserId, roles: readonly string[]) {
  const { waitingForMe, mine, recent } = await deskOf(bot.world, user, roles);
  const names = bot.commands.map(({ name }) => name);
  const usable = commandsFor(bot.world.policy, names, { id: user, roles });
  const commands = bot.commands.filter(({ name }) => usable.includes(name));
  return [
    title(`Waiting for you (${waitingForMe.length})`),
    ...waitingForMe.flatMap(toDecide),
    ...(waitingForMe.length === 0 ? [note('Nothing is waiting for you.')] : []),
    ...section(`Your requests (${mine.length})`, mine.map(row)),
    ...section('Lately', recent.map(row)),
    ...section(
      'You may',
      commands.map((command): Line => [{ code: usage(command) }]),
    ),
  ];
}

function section(heading: string, rows: readonly Line[]): readonly (Part | null)[] {
  return [title(heading), rows.length > 0 ? lines(...rows) : note('None.')];
}

function row(change: Change): Line {
  return [`${cardTitle(change)} · `, { user: change.requester }, ', ', { at: change.createdAt }];
}

function toDecide(change: Change): readonly (Part | null)[] {
  const { id, plan, reason } = change;
  return [
    lines(row(change), ...(reason ? [fact('Reason', reason)] : []), [
      { code: `${plan.sends} ${JSON.stringify(plan.body)}` },
    ]),
    buttons(
      `home:${id}`,
      { id: 'change.approve', label: 'Approve', value: id, style: 'primary' },
      { id: 'change.reject', label: 'Reject', value: id, style: 'danger' },
    ),
  ];
}
