import type { Json, Place, ViewValues } from '../../protocol.ts';
import { stateValues } from '../block-elements.ts';
import { messageAt, messageJson, type StoredMessage, sees } from '../messages.ts';
import type { SlackState } from '../state.ts';
import { modalsOf, type StoredView, viewJson } from '../views.ts';
import { conversationOf, type Member } from '../workspace.ts';
import { conversationRefJson, ImpossibleInteraction } from './actor.ts';
import { issueResponseUrl } from './response-urls.ts';

/** Where something was pressed, and what Slack tells the app about it. */
export interface SurfacePayload {
  readonly blocks: readonly Json[];
  readonly fields: Json;
  readonly modal: StoredView | null;
}

export function surfacePayload(
  slack: SlackState,
  person: Member,
  { place, values }: { readonly place: Place; readonly values?: ViewValues | undefined },
): SurfacePayload {
  if (place.in === 'message') {
    const message = visibleMessage(slack, person, place);
    return messagePayload(slack, person, { message, values: values ?? {} });
  }
  const view = viewAt(slack, person, place);
  if (values) view.values = values;
  return {
    blocks: view.blocks,
    modal: view.type === 'modal' ? view : null,
    fields: {
      container: { type: 'view', view_id: view.id },
      view: viewJson(slack, view),
    },
  };
}

/** What stands at a place now, for whoever looks there. */
export function blocksAt(slack: SlackState, person: Member, place: Place): readonly Json[] {
  const shown =
    place.in === 'message' ? visibleMessage(slack, person, place) : viewAt(slack, person, place);
  return shown.blocks;
}

function visibleMessage(
  slack: SlackState,
  person: Member,
  { channel, ts }: { readonly channel: string; readonly ts: string },
): StoredMessage {
  const message = messageAt(slack, channel, ts);
  if (message && sees(slack, person, message)) return message;
  throw new ImpossibleInteraction(`${person.realName} sees no message ${ts} in ${channel}`);
}

function viewAt(
  slack: SlackState,
  person: Member,
  place: Exclude<Place, { readonly in: 'message' }>,
): StoredView {
  return place.in === 'home' ? homeOf(slack, person) : modalOf(slack, person, place.viewId);
}

function messagePayload(
  slack: SlackState,
  person: Member,
  { message, values }: { readonly message: StoredMessage; readonly values: ViewValues },
): SurfacePayload {
  const conversation = conversationOf(slack.workspace, message.channel);
  const ephemeral = message.ephemeralFor !== null;
  const source = {
    person: person.id,
    channel: message.channel,
    threadTs: message.threadTs,
    message,
    typed: null,
  };
  return {
    blocks: message.blocks,
    modal: null,
    fields: {
      container: {
        type: 'message',
        message_ts: message.ts,
        channel_id: message.channel,
        is_ephemeral: ephemeral,
        ...(message.threadTs && { thread_ts: message.threadTs }),
      },
      ...(conversation && { channel: conversationRefJson(conversation) }),
      // Slack does not keep ephemeral messages, so it cannot send them along either.
      ...(!ephemeral && { message: messageJson(slack, message) }),
      state: { values: stateValues(message.blocks, values) },
      response_url: issueResponseUrl(slack, source),
    },
  };
}

export function modalOf(slack: SlackState, person: Member, id: string): StoredView {
  const view = modalsOf(slack, person.id).find((one) => one.id === id);
  if (view) return view;
  throw new ImpossibleInteraction(`${person.realName} has no open modal ${id}`);
}

function homeOf(slack: SlackState, person: Member): StoredView {
  const view = slack.homes.get(person.id);
  if (view) return view;
  throw new ImpossibleInteraction(`${person.realName} has no home tab yet`);
}
