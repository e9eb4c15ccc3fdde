import type { Json, Place, ViewValues } from '../../protocol.ts';
import { stateValues } from '../block-elements.ts';
import { messageAt, messageJson, type StoredMessage, sees } from '../messages.ts';
import type { World } from '../state.ts';
import { modalsOf, type StoredView, viewJson } from '../views.ts';
import { type Member, roomOf } from '../workspace.ts';
import { ImpossibleGesture, roomJson } from './actor.ts';
import { issueResponseUrl } from './response-urls.ts';

/** Where something was pressed, and what Slack tells the app about it. */
export interface Scene {
  readonly blocks: readonly Json[];
  readonly fields: Json;
  readonly modal: StoredView | null;
}

export function sceneOf(
  world: World,
  person: Member,
  { place, values }: { readonly place: Place; readonly values?: ViewValues | undefined },
): Scene {
  if (place.in === 'message') {
    const message = visibleMessage(world, person, place);
    return messageScene(world, person, { message, values: values ?? {} });
  }
  const view = viewAt(world, person, place);
  if (values) view.values = values;
  return {
    blocks: view.blocks,
    modal: view.type === 'modal' ? view : null,
    fields: {
      container: { type: 'view', view_id: view.id },
      view: viewJson(world, view),
    },
  };
}

/** What stands at a place now, for whoever looks there. */
export function blocksAt(world: World, person: Member, place: Place): readonly Json[] {
  const shown =
    place.in === 'message' ? visibleMessage(world, person, place) : viewAt(world, person, place);
  return shown.blocks;
}

function visibleMessage(
  world: World,
  person: Member,
  { channel, ts }: { readonly channel: string; readonly ts: string },
): StoredMessage {
  const message = messageAt(world, channel, ts);
  if (message && sees(world, person, message)) return message;
  throw new ImpossibleGesture(`${person.realName} sees no message ${ts} in ${channel}`);
}

function viewAt(
  world: World,
  person: Member,
  place: Exclude<Place, { readonly in: 'message' }>,
): StoredView {
  return place.in === 'home' ? homeOf(world, person) : modalOf(world, person, place.viewId);
}

function messageScene(
  world: World,
  person: Member,
  { message, values }: { readonly message: StoredMessage; readonly values: ViewValues },
): Scene {
  const room = roomOf(world.workspace, message.channel);
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
      ...(room && { channel: roomJson(room) }),
      // Slack does not keep ephemeral messages, so it cannot send them along either.
      ...(!ephemeral && { message: messageJson(world, message) }),
      state: { values: stateValues(message.blocks, values) },
      response_url: issueResponseUrl(world, source),
    },
  };
}

export function modalOf(world: World, person: Member, id: string): StoredView {
  const view = modalsOf(world, person.id).find((one) => one.id === id);
  if (view) return view;
  throw new ImpossibleGesture(`${person.realName} has no open modal ${id}`);
}

function homeOf(world: World, person: Member): StoredView {
  const view = world.homes.get(person.id);
  if (view) return view;
  throw new ImpossibleGesture(`${person.realName} has no home tab yet`);
}
