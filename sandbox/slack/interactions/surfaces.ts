import type { Json } from '../../json.ts';
import type { Place, ViewValues } from '../../protocol.ts';
import { stateValues } from '../input-state.ts';
import { messageJson } from '../messages.ts';
import type { StoredMessage, StoredView } from '../records.ts';
import type { SlackState } from '../state.ts';
import { viewJson } from '../views.ts';
import { conversationOf, type Member } from '../workspace/workspace.ts';
import { conversationRefJson, ImpossibleInteraction, visibleMessage } from './actor.ts';
import { issueResponseUrl } from './response-urls.ts';

/** The message or view in which a person acts, and the fields about it in the app's payload. */
export function surfacePayload(
  slack: SlackState,
  person: Member,
  { place, values }: { readonly place: Place; readonly values?: ViewValues | undefined },
) {
  const surface = surfaceAt(slack, person, place);
  const { blocks } = surface;
  if ('channel' in surface) {
    return { blocks, fields: messageFields(slack, person, surface, values) };
  }
  if (values) surface.values = values;
  const container = { type: 'view', view_id: surface.id };
  return { blocks, fields: { container, view: viewJson(slack, surface) } };
}

export function surfaceAt(
  slack: SlackState,
  person: Member,
  place: Place,
): StoredMessage | StoredView {
  if (place.in === 'message') return visibleMessage(slack, person, place);
  if (place.in === 'view') return modalOf(slack, person, place.viewId);
  const home = slack.homes.get(person.id);
  if (home) return home;
  throw new ImpossibleInteraction(`${person.realName} has no Home tab yet`);
}

export function modalOf(slack: SlackState, person: Member, id: string): StoredView {
  const view = slack.modals.get(person.id);
  if (view?.id === id) return view;
  throw new ImpossibleInteraction(`${person.realName} has no open modal ${id}`);
}

function messageFields(
  slack: SlackState,
  person: Member,
  message: StoredMessage,
  values: ViewValues | undefined,
): Json {
  const { channel, threadTs } = message;
  const conversation = conversationOf(slack.workspace, channel);
  const isEphemeral = message.ephemeralFor !== null;
  const target = { person: person.id, channel, threadTs, message, typed: null };
  return {
    container: {
      type: 'message',
      message_ts: message.ts,
      channel_id: channel,
      is_ephemeral: isEphemeral,
      ...(threadTs && { thread_ts: threadTs }),
    },
    ...(conversation && { channel: conversationRefJson(conversation) }),
    // Slack does not store ephemeral messages, so the payload does not contain them.
    ...(!isEphemeral && { message: messageJson(slack, message) }),
    state: { values: stateValues(message.blocks, values) },
    response_url: issueResponseUrl(slack, target),
  };
}
