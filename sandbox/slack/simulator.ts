import { list, stringOf } from '../json.ts';
import type {
  ActionRequest,
  Delivery,
  HomeOpening,
  MessageInput,
  OptionsRequest,
  Place,
  ShortcutRequest,
  ViewValues,
} from '../protocol.ts';
import { adminOf } from './admin.ts';
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
import type { MentionRecord, SentEvent, StoredMessage, UserInteraction } from './records.ts';
import { notifyWatchers, type SlackState } from './state.ts';
import type { SlackFault } from './web-api/faults.ts';
import { conversationOf } from './workspace/workspace.ts';

/** Everything that tests and the sandbox can do with the Slack simulator. */
export type SlackSimulator = ReturnType<typeof slackSimulator>;

export function slackSimulator(
  slack: SlackState,
  { close: _, ...connection }: AppConnection,
  stop: () => Promise<void>,
) {
  const idOf = (channel: string) => conversationOf(slack.workspace, channel)?.id;
  return {
    ...connection,
    url: slack.url,
    apiUrl: `${slack.url}/api/`,
    botToken: slack.tokens.bot,
    appToken: slack.tokens.app,
    workspace: slack.workspace,
    stop,
    command: (as: string, channel: string, text: string) =>
      command(slack, { as, channel: idOf(channel) ?? '', text }),
    press: (triggered: ActionRequest) => press(slack, triggered),
    /** Presses the button with this action_id where the person sees it. */
    click: (as: string, place: Place, actionId: string) => click(slack, as, place, actionId),
    suggest: (requested: OptionsRequest) => suggest(slack, requested),
    submit: (as: string, viewId: string, values: ViewValues = {}) =>
      submit(slack, { as, viewId, values }),
    close: (as: string, viewId: string) => close(slack, { as, viewId }),
    shortcut: (used: ShortcutRequest) => shortcut(slack, used),
    openHome: (opened: HomeOpening) => openHome(slack, opened),
    sendMessage: (typed: MessageInput) => sendMessage(slack, typed),
    clientState: (as: string) => clientState(slack, as),
    /** Records that a person has read all messages of a channel. */
    markRead: (as: string, channel: string) => markRead(slack, as, idOf(channel) ?? channel),
    /** Every message of a channel, by id or name, ephemeral ones included; oldest first. */
    messages: (channel: string): readonly StoredMessage[] => {
      const id = idOf(channel) ?? channel;
      return slack.messages.filter((message) => message.channel === id);
    },
    calls: (method?: string) =>
      slack.calls.filter((call) => (method ?? call.method) === call.method),
    /** The commands and buttons that people used, oldest first. */
    interactions: (): readonly UserInteraction[] => slack.interactions,
    mentions: (): readonly MentionRecord[] => slack.mentions,
    events: (): readonly SentEvent[] => slack.events,
    redeliver: (eventId: string) => redeliver(slack, eventId),
    failNext: (fault: SlackFault) => void slack.faults.push({ ...fault, remaining: fault.times }),
    clearFaults: () => void slack.faults.splice(0),
    /** Makes the Web API unreachable for the app, or reachable again. */
    setReachable: (reachable: boolean): void => {
      slack.reachable = reachable;
    },
    admin: adminOf(slack),
    /** Makes every open page read the state again. */
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
