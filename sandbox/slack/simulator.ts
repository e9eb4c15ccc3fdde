import type {
  CommandTyped,
  Delivery,
  HomeOpened,
  MessageTyped,
  Place,
  Pressed,
  Screen,
  Searched,
  ShortcutUsed,
  Suggestions,
  ViewValues,
} from '../protocol.ts';
import { type Admin, adminOf } from './admin.ts';
import { elementsIn } from './block-elements.ts';
import { redeliver } from './delivery/events.ts';
import { actingPerson, ImpossibleGesture } from './interactions/actor.ts';
import { command } from './interactions/command.ts';
import { openHome, say } from './interactions/home-and-messages.ts';
import { press, suggest } from './interactions/press.ts';
import { shortcut } from './interactions/shortcut.ts';
import { close, submit } from './interactions/submit.ts';
import { blocksAt } from './interactions/surfaces.ts';
import { stringOr } from './json.ts';
import type { Ping } from './mentions.ts';
import type { StoredMessage } from './messages.ts';
import { screen } from './page/client-state.ts';
import type { Link } from './server.ts';
import { changed, type SentEvent, type World } from './state.ts';
import { type Call, callsOf } from './web-api/calls.ts';
import type { Fault } from './web-api/faults.ts';
import { roomOf, type Workspace } from './workspace.ts';

/** All that tests and the sandbox can do with the stand-in. */
export interface Handle extends Omit<Link, 'close'> {
  readonly url: string;
  readonly apiUrl: string;
  readonly botToken: string;
  readonly appToken: string;
  readonly workspace: Workspace;
  readonly stop: () => Promise<void>;

  readonly command: (as: string, channel: string, text: string) => Promise<Delivery>;
  readonly press: (pressed: Pressed) => Promise<Delivery>;
  /** Presses the button of that name where the person sees it. */
  readonly click: (as: string, place: Place, actionId: string) => Promise<Delivery>;
  readonly suggest: (searched: Searched) => Promise<Suggestions>;
  readonly submit: (as: string, viewId: string, values?: ViewValues) => Promise<Delivery>;
  readonly close: (as: string, viewId: string) => Promise<Delivery>;
  readonly shortcut: (used: ShortcutUsed) => Promise<Delivery>;
  readonly openHome: (opened: HomeOpened) => Promise<Delivery>;
  readonly say: (typed: MessageTyped) => Promise<Delivery>;

  readonly screen: (as: string) => Screen;
  /** Every message of a channel, by id or name, private ones too; oldest first. */
  readonly messages: (channel: string) => readonly StoredMessage[];
  readonly calls: (method?: string) => Call[];
  readonly pings: () => readonly Ping[];
  readonly events: () => readonly SentEvent[];
  readonly redeliver: (eventId: string) => Promise<void>;
  readonly failNext: (fault: Fault) => void;
  readonly clearFaults: () => void;
  readonly admin: Admin;
  /** Makes every open page look again. */
  readonly changed: () => void;
}

export function handleOf(
  world: World,
  { stop, deliverTo, connections, refreshSockets }: Link & { readonly stop: () => Promise<void> },
): Handle {
  return {
    url: world.url,
    apiUrl: `${world.url}/api/`,
    botToken: world.tokens.bot,
    appToken: world.tokens.app,
    workspace: world.workspace,
    stop,
    deliverTo,
    connections,
    refreshSockets,
    ...gestures(world),
    screen: (as) => screen(world, as),
    messages: (channel) => {
      const id = roomOf(world.workspace, channel)?.id ?? channel;
      return world.messages.filter((message) => message.channel === id);
    },
    calls: (method) => callsOf(world.calls, method),
    pings: () => world.pings,
    events: () => world.events,
    redeliver: (eventId) => redeliver(world, eventId),
    failNext: (fault) => {
      world.faults.push({ ...fault, left: fault.times });
    },
    clearFaults: () => {
      world.faults.length = 0;
    },
    admin: adminOf(world),
    changed: () => changed(world),
  };
}

function gestures(world: World) {
  return {
    command: (as: string, channel: string, text: string) => {
      const typed: CommandTyped = { as, channel: roomOf(world.workspace, channel)?.id ?? '', text };
      return command(world, typed);
    },
    press: (pressed: Pressed) => press(world, pressed),
    click: (as: string, place: Place, actionId: string) => click(world, as, place, actionId),
    suggest: (searched: Searched) => suggest(world, searched),
    submit: (as: string, viewId: string, values: ViewValues = {}) =>
      submit(world, { as, viewId, values }),
    close: (as: string, viewId: string) => close(world, { as, viewId }),
    shortcut: (used: ShortcutUsed) => shortcut(world, used),
    openHome: (opened: HomeOpened) => openHome(world, opened),
    say: (typed: MessageTyped) => say(world, typed),
  };
}

async function click(world: World, as: string, place: Place, actionId: string): Promise<Delivery> {
  const blocks = blocksAt(world, actingPerson(world, as), place);
  const found = elementsIn(blocks).find(({ element }) => element.action_id === actionId);
  if (!found) throw new ImpossibleGesture(`there is nothing called ${actionId} to press`);
  const element = { type: stringOr(found.element.type, '') };
  return press(world, { as, place, blockId: found.blockId, actionId, element });
}
