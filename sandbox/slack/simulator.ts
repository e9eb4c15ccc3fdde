import { list, stringOf } from '../json.ts';
import type {
  ActionRequest,
  ClientState,
  Delivery,
  HomeOpening,
  MessageInput,
  OptionsRequest,
  Place,
  ShortcutRequest,
  Suggestions,
  ViewValues,
} from '../protocol.ts';
import { type Admin, adminOf } from './admin.ts';
import type { AppConnection } from './delivery/delivery.ts';
import { redeliver } from './delivery/events.ts';
import { type BlockElement, elementsIn } from './input-state.ts';
import { actingPerson, ImpossibleInteraction } from './interactions/actor.ts';
import { command } from './interactions/command.ts';
import { openHome, sendMessage } from './interactions/home-and-messages.ts';
import { press, suggest } from './interactions/press.ts';
import { shortcut } from './interactions/shortcut.ts';
import { close, submit } from './interactions/submit.ts';
import { surfaceAt } from './interactions/surfaces.ts';
import { clientState, markRead } from './page/client-state.ts';
import type {
  MentionRecord,
  SentEvent,
  StoredMessage,
  UserInteraction,
  WebApiCall,
} from './records.ts';
import { notifyWatchers, type SlackState } from './state.ts';
import type { SlackFault } from './web-api/faults.ts';
import { conversationOf, type Workspace } from './workspace/workspace.ts';

/** Everything that tests and the sandbox can do with the Slack simulator. */
export interface SlackSimulator extends Omit<AppConnection, 'close'> {
  readonly url: string;
  readonly apiUrl: string;
  readonly botToken: string;
  readonly appToken: string;
  readonly workspace: Workspace;
  readonly stop: () => Promise<void>;

  readonly command: (as: string, channel: string, text: string) => Promise<Delivery>;
  readonly press: (triggered: ActionRequest) => Promise<Delivery>;
  /** Presses the button with this action_id where the person sees it. */
  readonly click: (as: string, place: Place, actionId: string) => Promise<Delivery>;
  readonly suggest: (requested: OptionsRequest) => Promise<Suggestions>;
  readonly submit: (as: string, viewId: string, values?: ViewValues) => Promise<Delivery>;
  readonly close: (as: string, viewId: string) => Promise<Delivery>;
  readonly shortcut: (used: ShortcutRequest) => Promise<Delivery>;
  readonly openHome: (opened: HomeOpening) => Promise<Delivery>;
  readonly sendMessage: (typed: MessageInput) => Promise<Delivery>;

  readonly clientState: (as: string) => ClientState;
  /** Records that a person has read all messages of a channel. */
  readonly markRead: (as: string, channel: string) => void;
  /** Every message of a channel, by id or name, ephemeral ones included; oldest first. */
  readonly messages: (channel: string) => readonly StoredMessage[];
  readonly calls: (method?: string) => WebApiCall[];
  /** The commands and buttons that people used, oldest first. */
  readonly interactions: () => readonly UserInteraction[];
  readonly mentions: () => readonly MentionRecord[];
  readonly events: () => readonly SentEvent[];
  readonly redeliver: (eventId: string) => Promise<void>;
  readonly failNext: (fault: SlackFault) => void;
  readonly clearFaults: () => void;
  /** Makes the Web API unreachable for the app, or reachable again. */
  readonly setReachable: (reachable: boolean) => void;
  readonly admin: Admin;
  /** Makes every open page read the state again. */
  readonly changed: () => void;
}

export function slackSimulator(
  slack: SlackState,
  { close: _, ...connection }: AppConnection,
  stop: () => Promise<void>,
): SlackSimulator {
  const idOf = (channel: string) => conversationOf(slack.workspace, channel)?.id;
  return {
    ...connection,
    url: slack.url,
    apiUrl: `${slack.url}/api/`,
    botToken: slack.tokens.bot,
    appToken: slack.tokens.app,
    workspace: slack.workspace,
    stop,
    command: (as, channel, text) => command(slack, { as, channel: idOf(channel) ?? '', text }),
    press: (triggered) => press(slack, triggered),
    click: (as, place, actionId) => click(slack, as, place, actionId),
    suggest: (requested) => suggest(slack, requested),
    submit: (as, viewId, values = {}) => submit(slack, { as, viewId, values }),
    close: (as, viewId) => close(slack, { as, viewId }),
    shortcut: (used) => shortcut(slack, used),
    openHome: (opened) => openHome(slack, opened),
    sendMessage: (typed) => sendMessage(slack, typed),
    clientState: (as) => clientState(slack, as),
    markRead: (as, channel) => markRead(slack, as, idOf(channel) ?? channel),
    messages: (channel) => {
      const id = idOf(channel) ?? channel;
      return slack.messages.filter((message) => message.channel === id);
    },
    calls: (method) => slack.calls.filter((call) => (method ?? call.method) === call.method),
    interactions: () => slack.interactions,
    mentions: () => slack.mentions,
    events: () => slack.events,
    redeliver: (eventId) => redeliver(slack, eventId),
    failNext: (fault) => void slack.faults.push({ ...fault, remaining: fault.times }),
    clearFaults: () => void slack.faults.splice(0),
    setReachable: (reachable) => {
      slack.reachable = reachable;
    },
    admin: adminOf(slack),
    changed: () => notifyWatchers(slack),
  };
}

async function click(
  slack: SlackState,
  as: string,
  place: Place,
  actionId: string,
): Promise<Delivery> {
  const { blocks } = surfaceAt(slack, actingPerson(slack, as), place);
  const all = elementsIn(blocks);
  const found = all.find(({ element }) => element.action_id === actionId);
  const chosen = found ? undefined : all.flatMap((one) => optionFor(one, actionId))[0];
  if (chosen) return press(slack, { as, place, ...chosen });
  if (!found) throw new ImpossibleInteraction(`there is no element with action_id ${actionId}`);
  const element = { type: stringOf(found.element.type) };
  return press(slack, { as, place, blockId: found.blockId, actionId, element });
}

/** The option of an overflow menu whose value begins with this id. */
function optionFor({ blockId, element }: BlockElement, id: string) {
  if (element.type !== 'overflow') return [];
  const options = list(element.options).filter(({ value }) => stringOf(value).startsWith(`${id} `));
  return options.map((option) => ({
    blockId,
    actionId: stringOf(element.action_id),
    element: { type: 'overflow', selected_option: option },
  }));
}
