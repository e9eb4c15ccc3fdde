import type {
  ActionTriggered,
  ClientState,
  CommandInput,
  Delivery,
  HomeOpening,
  MessageInput,
  OptionsRequested,
  Place,
  ShortcutUsed,
  Suggestions,
  ViewValues,
} from '../protocol.ts';
import { type Admin, adminOf } from './admin.ts';
import { elementsIn } from './block-elements.ts';
import { redeliver } from './delivery/events.ts';
import { actingPerson, ImpossibleInteraction } from './interactions/actor.ts';
import { command } from './interactions/command.ts';
import { openHome, sendMessage } from './interactions/home-and-messages.ts';
import { press, suggest } from './interactions/press.ts';
import { shortcut } from './interactions/shortcut.ts';
import { close, submit } from './interactions/submit.ts';
import { blocksAt } from './interactions/surfaces.ts';
import { stringOr } from './json.ts';
import type { MentionRecord } from './mentions.ts';
import type { StoredMessage } from './messages.ts';
import { clientState } from './page/client-state.ts';
import type { AppConnection } from './server.ts';
import { changed, type SentEvent, type SlackState } from './state.ts';
import { callsOf, type WebApiCall } from './web-api/calls.ts';
import type { SlackFault } from './web-api/faults.ts';
import { conversationOf, type Workspace } from './workspace.ts';

/** All that tests and the sandbox can do with the stand-in. */
export interface SlackSimulator extends Omit<AppConnection, 'close'> {
  readonly url: string;
  readonly apiUrl: string;
  readonly botToken: string;
  readonly appToken: string;
  readonly workspace: Workspace;
  readonly stop: () => Promise<void>;

  readonly command: (as: string, channel: string, text: string) => Promise<Delivery>;
  readonly press: (pressed: ActionTriggered) => Promise<Delivery>;
  /** Presses the button of that name where the person sees it. */
  readonly click: (as: string, place: Place, actionId: string) => Promise<Delivery>;
  readonly suggest: (searched: OptionsRequested) => Promise<Suggestions>;
  readonly submit: (as: string, viewId: string, values?: ViewValues) => Promise<Delivery>;
  readonly close: (as: string, viewId: string) => Promise<Delivery>;
  readonly shortcut: (used: ShortcutUsed) => Promise<Delivery>;
  readonly openHome: (opened: HomeOpening) => Promise<Delivery>;
  readonly sendMessage: (typed: MessageInput) => Promise<Delivery>;

  readonly clientState: (as: string) => ClientState;
  /** Every message of a channel, by id or name, private ones too; oldest first. */
  readonly messages: (channel: string) => readonly StoredMessage[];
  readonly calls: (method?: string) => WebApiCall[];
  readonly mentions: () => readonly MentionRecord[];
  readonly events: () => readonly SentEvent[];
  readonly redeliver: (eventId: string) => Promise<void>;
  readonly failNext: (fault: SlackFault) => void;
  readonly clearFaults: () => void;
  readonly admin: Admin;
  /** Makes every open page look again. */
  readonly changed: () => void;
}

export function slackSimulator(
  slack: SlackState,
  {
    stop,
    deliverTo,
    connections,
    refreshSockets,
  }: AppConnection & { readonly stop: () => Promise<void> },
): SlackSimulator {
  return {
    url: slack.url,
    apiUrl: `${slack.url}/api/`,
    botToken: slack.tokens.bot,
    appToken: slack.tokens.app,
    workspace: slack.workspace,
    stop,
    deliverTo,
    connections,
    refreshSockets,
    ...interactionsOf(slack),
    clientState: (as) => clientState(slack, as),
    messages: (channel) => {
      const id = conversationOf(slack.workspace, channel)?.id ?? channel;
      return slack.messages.filter((message) => message.channel === id);
    },
    calls: (method) => callsOf(slack.calls, method),
    mentions: () => slack.mentions,
    events: () => slack.events,
    redeliver: (eventId) => redeliver(slack, eventId),
    failNext: (fault) => {
      slack.faults.push({ ...fault, left: fault.times });
    },
    clearFaults: () => {
      slack.faults.length = 0;
    },
    admin: adminOf(slack),
    changed: () => changed(slack),
  };
}

function interactionsOf(slack: SlackState) {
  return {
    command: (as: string, channel: string, text: string) => {
      const typed: CommandInput = {
        as,
        channel: conversationOf(slack.workspace, channel)?.id ?? '',
        text,
      };
      return command(slack, typed);
    },
    press: (pressed: ActionTriggered) => press(slack, pressed),
    click: (as: string, place: Place, actionId: string) => click(slack, as, place, actionId),
    suggest: (searched: OptionsRequested) => suggest(slack, searched),
    submit: (as: string, viewId: string, values: ViewValues = {}) =>
      submit(slack, { as, viewId, values }),
    close: (as: string, viewId: string) => close(slack, { as, viewId }),
    shortcut: (used: ShortcutUsed) => shortcut(slack, used),
    openHome: (opened: HomeOpening) => openHome(slack, opened),
    sendMessage: (typed: MessageInput) => sendMessage(slack, typed),
  };
}

async function click(
  slack: SlackState,
  as: string,
  place: Place,
  actionId: string,
): Promise<Delivery> {
  const blocks = blocksAt(slack, actingPerson(slack, as), place);
  const found = elementsIn(blocks).find(({ element }) => element.action_id === actionId);
  if (!found) throw new ImpossibleInteraction(`there is nothing called ${actionId} to press`);
  const element = { type: stringOr(found.element.type, '') };
  return press(slack, { as, place, blockId: found.blockId, actionId, element });
}
