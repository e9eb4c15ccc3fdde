import type { Json } from '../../protocol.ts';
import { messageAt, messageJson, type StoredMessage } from '../messages.ts';
import { changed, type World } from '../state.ts';
import { directRoom, isIn, memberOf, type Room } from '../workspace.ts';
import { conversationJson, scopeFor, visibleRoom } from './channels.ts';
import {
  flag,
  type Methods,
  method,
  missingScope,
  page,
  type Reply,
  refuse,
  TIER,
  text,
} from './method.ts';

function open(world: World, args: Json): Reply {
  const [id, ...others] = (text(args, 'users') ?? '').split(',');
  if (others.length > 0) return refuse('method_not_supported_for_channel_type');
  const member = memberOf(world.workspace, id ?? '');
  if (!member) return refuse('user_not_found');
  if (member.deleted) return refuse('user_disabled');
  if (member.kind === 'bot') return refuse('cannot_dm_bot');
  if (member.teamId !== world.workspace.teamId) return refuse('user_not_visible');
  const room = directRoom(world.workspace, member.id);
  changed(world);
  const channel = flag(args, 'return_im') ? conversationJson(world, room) : { id: room.id };
  return { ok: true, channel };
}

function info(world: World, args: Json): Reply {
  const room = visibleRoom(world, text(args, 'channel'));
  if (!room) return refuse('channel_not_found');
  const needed = scopeFor(room, 'read');
  if (!world.manifest.scopes.includes(needed)) return missingScope(world, needed);
  return { ok: true, channel: conversationJson(world, room) };
}

const kinds: ReadonlyMap<string, readonly Room['kind'][]> = new Map([
  ['public_channel', ['public', 'external']],
  ['private_channel', ['private']],
  ['im', ['dm']],
  ['mpim', []],
]);

function list(world: World, args: Json): Reply {
  const types = (text(args, 'types') ?? 'public_channel').split(',').map((type) => type.trim());
  if (!types.every((type) => kinds.has(type))) return refuse('invalid_types');
  const wanted = types.flatMap((type) => kinds.get(type) ?? []);
  const all = world.workspace.channels.filter(
    (room) =>
      wanted.includes(room.kind) &&
      visibleRoom(world, room.id) &&
      !(room.archived && flag(args, 'exclude_archived')),
  );
  const lacking = all.find((room) => !world.manifest.scopes.includes(scopeFor(room, 'read')));
  if (lacking) return missingScope(world, scopeFor(lacking, 'read'));
  const { items, response_metadata } = page(all, args, 100);
  return {
    ok: true,
    channels: items.map((room) => conversationJson(world, room)),
    response_metadata,
  };
}

function members(world: World, args: Json): Reply {
  const room = visibleRoom(world, text(args, 'channel'));
  if (!room) return refuse('channel_not_found');
  const needed = scopeFor(room, 'read');
  if (!world.manifest.scopes.includes(needed)) return missingScope(world, needed);
  const { items, response_metadata } = page(room.members, args, 100);
  return { ok: true, members: items, response_metadata };
}

function join(world: World, args: Json): Reply {
  const room = visibleRoom(world, text(args, 'channel'));
  if (!room) return refuse('channel_not_found');
  if (room.kind !== 'public') return refuse('method_not_supported_for_channel_type');
  if (room.archived) return refuse('is_archived');
  const { botUserId } = world.workspace;
  if (!isIn(room, botUserId)) room.members.push(botUserId);
  return { ok: true, channel: conversationJson(world, room) };
}

/** The room whose messages the app may read, or Slack's refusal. */
function readableRoom(world: World, args: Json): Room | Reply {
  const room = visibleRoom(world, text(args, 'channel'));
  if (!room) return refuse('channel_not_found');
  const needed = scopeFor(room, 'history');
  if (!world.manifest.scopes.includes(needed)) return missingScope(world, needed);
  return isIn(room, world.workspace.botUserId) ? room : refuse('not_in_channel');
}

function history(world: World, args: Json): Reply {
  const room = readableRoom(world, args);
  if ('ok' in room) return room;
  const oldest = text(args, 'oldest') ?? '0';
  const latest = text(args, 'latest') ?? '9999999999.999999';
  const inclusive = flag(args, 'inclusive');
  const within = ({ ts, threadTs }: StoredMessage) =>
    (threadTs === null || threadTs === ts) &&
    ((ts > oldest && ts < latest) || (inclusive && (ts === oldest || ts === latest)));
  return shown(world, args, kept(world, room).filter(within).reverse());
}

function replies(world: World, args: Json): Reply {
  const room = readableRoom(world, args);
  if ('ok' in room) return room;
  const ts = text(args, 'ts') ?? '';
  if (!messageAt(world, room.id, ts)) return refuse('thread_not_found');
  const thread = kept(world, room).filter((one) => one.ts === ts || one.threadTs === ts);
  return shown(world, args, thread);
}

/** Ephemeral messages are never kept by Slack. */
function kept(world: World, room: Room): StoredMessage[] {
  return world.messages.filter(
    ({ channel, ephemeralFor }) => channel === room.id && ephemeralFor === null,
  );
}

function shown(world: World, args: Json, messages: readonly StoredMessage[]): Reply {
  const { items, response_metadata } = page(messages, args, 100);
  const withMetadata = flag(args, 'include_all_metadata');
  const written = items.map((message) => {
    const { metadata, ...rest } = messageJson(world, message);
    return withMetadata && metadata !== undefined ? { ...rest, metadata } : rest;
  });
  const more = response_metadata.next_cursor !== '';
  return { ok: true, messages: written, has_more: more, response_metadata };
}

export const conversationMethods: Methods = {
  'conversations.open': method(open, {
    scopes: ['im:write', 'mpim:write', 'groups:write', 'channels:manage'],
  }),
  'conversations.info': method(info),
  'conversations.members': method(members),
  'conversations.list': method(list, { perMinute: TIER.two }),
  'conversations.join': method(join, { scopes: ['channels:join'] }),
  'conversations.history': method(history),
  'conversations.replies': method(replies),
};
